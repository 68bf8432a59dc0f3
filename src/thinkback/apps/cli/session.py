"""From the options of a command to an open memory."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.apps.cli.options import Common, Embedder, Models
from thinkback.apps.cli.output import note, size
from thinkback.errors import InvalidFile, InvalidInput, NotFound, RecipeError, StoreReadOnly
from thinkback.settings import Settings, load

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.search.recipes.model import Recipe


def settings_of(common: Common, models: Embedder | None = None) -> Settings:
    """The settings in force, with what this command was given."""
    settings = load(
        store=common.store,
        embedder=models.embedder if models else None,
        reranker=models.reranker if isinstance(models, Models) else None,
    )
    logging.getLogger("thinkback").setLevel(settings.log_level.upper())
    return settings


@contextmanager
def writing(common: Common, models: Embedder | None = None) -> "Iterator[Memory]":
    """The memory of a command that writes; the file is made if it is absent."""
    settings = settings_of(common, models)
    try:
        memory = _opened(settings)
    except StoreReadOnly:
        if settings.store_path.exists():
            raise _unwritable(settings.store_path) from None
        raise
    with memory:
        yield memory


@contextmanager
def reading(common: Common, models: Embedder | None = None) -> "Iterator[Memory]":
    """The memory of a command that reads; an absent file is a mistake, and a file that cannot be written is none."""
    settings = settings_of(common, models)
    path = existing(settings.store_path)
    try:
        memory = _opened(settings)
    except StoreReadOnly:
        with _opened(settings, read_only=True) as memory:
            try:
                yield memory
            except StoreReadOnly:
                raise _unwritable(path) from None
    else:
        with memory:
            yield memory


def has_store(path: Path) -> bool:
    """Whether something is there; an empty file is nothing yet, and looking at it must not make it a store."""
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def existing(path: Path) -> Path:
    """The path, if a store is there."""
    if not has_store(path):
        empty = ", only an empty file" if path.exists() else ""
        raise NotFound(
            f"there is no store at {path}{empty}; `thinkback remember` makes one, `--store FILE` names another"
        )
    return path


def _unwritable(path: Path) -> StoreReadOnly:
    return StoreReadOnly(f"{path} cannot be written; make it writable, or name another with `--store FILE`")


def _opened(settings: Settings, *, read_only: bool = False) -> "Memory":
    from thinkback.opening import Opener

    with in_file():  # nothing here was typed but the store, and that has errors of its own
        return Opener(settings, progress=Fetching())(read_only=read_only)


@contextmanager
def in_file() -> Iterator[None]:
    """Where files and settings are read: report their errors with exit code 1, not as usage errors."""
    try:
        yield
    except (InvalidInput, RecipeError) as error:
        raise InvalidFile(error.message, code=error.code, remedy=error.remedy) from None


def recipe_of(name: str | None, settings: Settings) -> "Recipe":
    """The recipe that was typed, else that of the settings."""
    from thinkback.search.recipes.toml import resolve

    typed = name is not None and not name.endswith(".toml")
    with nullcontext() if typed else in_file():
        return resolve(name or settings.recipe)


class Fetching:
    """Says that weights are being fetched, and how far: a bar on a terminal, one line elsewhere."""

    def __init__(self) -> None:
        self._label = ""
        self._bars: Any = None
        self._task: Any = None

    def __call__(self, done: int, total: int, label: str) -> None:
        if label != self._label:
            self._label = label
            self._begin(total)
        if self._bars is not None:
            self._bars.update(self._task, completed=done, total=total or None)
            if total and done >= total:
                self._bars.stop()
                self._bars = None

    def _begin(self, total: int) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None
        if not sys.stderr.isatty():
            note(f"fetching {self._label}" + (f" ({size(total)})" if total else ""))
            return
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        from thinkback.apps.cli.output import stderr

        columns = (TextColumn("fetching {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._bars = Progress(*columns, console=stderr(), transient=True)
        self._task = self._bars.add_task(self._label, total=total or None)
        self._bars.start()


def text_of(argument: str) -> str:
    """What was written, or what stands on stdin for `-`."""
    return sys.stdin.read().rstrip("\n") if argument == "-" else argument


@contextmanager
def lines_of(argument: str) -> Iterator[Iterator[str]]:
    """The lines of a file, or of stdin for `-`; bytes that are no UTF-8 arrive as lone surrogates, for the reader to refuse."""
    if argument == "-":
        yield iter(sys.stdin)
        return
    try:
        with Path(argument).open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            yield iter(file)
    except OSError as error:
        raise InvalidFile(f"cannot read {argument}: {error.strerror or error}") from None
