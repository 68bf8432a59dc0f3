"""From the options of a command to its settings and an open memory."""

import logging
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from thinkback.apps.cli.options import Common, Embedder, Models
from thinkback.apps.cli.output import FetchProgress, UpgradeProgress
from thinkback.errors import InvalidFile, InvalidInput, NotFound, RecipeError, StoreReadOnly
from thinkback.settings import NONE, Settings, load

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.search.recipes.model import Recipe

NO_MODELS = Models(embedder=NONE, reranker=NONE)


def settings_of(common: Common, models: Embedder | None = None) -> Settings:
    """The settings in force, with the options of this command on top."""
    settings = load(
        store=common.store,
        space=common.space,
        embedder=models.embedder if models else None,
        reranker=models.reranker if isinstance(models, Models) else None,
    )
    logging.getLogger("thinkback").setLevel(settings.log_level.upper())
    return settings


def existing_memory(common: Common, models: Embedder = NO_MODELS) -> "AbstractContextManager[Memory]":
    """The memory of a command that needs an existing store; by default without models."""
    return open_memory(settings_of(common, models))


@contextmanager
def open_memory(settings: Settings, *, create: bool = False) -> "Iterator[Memory]":
    """Open the store of the settings, read-only if the file cannot be written; only with `create` may it be absent."""
    if settings.database is not None:
        with _open(settings, create=create) as memory:
            yield memory
        return
    path = settings.store_path if create else existing(settings.store_path)
    try:
        memory = _open(settings)
    except StoreReadOnly:
        if create and not path.exists():
            raise
        if create:
            raise _unwritable(path) from None
        memory = _open(settings, read_only=True)
    with memory:
        try:
            yield memory
        except StoreReadOnly:
            raise _unwritable(path) from None


def has_store(path: Path) -> bool:
    """Whether there is a store; an empty file is none, and opening it would make it one."""
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def existing(path: Path) -> Path:
    """The path, if there is a store."""
    if has_store(path):
        return path
    empty = ", only an empty file" if path.exists() else ""
    raise NotFound(f"there is no store at {path}{empty}; `thinkback remember` makes one, `--store FILE` names another")


def _unwritable(path: Path) -> StoreReadOnly:
    return StoreReadOnly(f"{path} cannot be written; make it writable, or name another with `--store FILE`")


def _open(settings: Settings, *, read_only: bool = False, create: bool = True) -> "Memory":
    from thinkback.opening import Opener

    with file_errors():  # the store reports its own errors; nothing else here was typed by the user
        opener = Opener(settings, progress=FetchProgress(), upgrading=UpgradeProgress())
        return opener(read_only=read_only, create=create)


@contextmanager
def file_errors() -> Iterator[None]:
    """Report errors in files and settings with exit code 1, not as usage errors."""
    try:
        yield
    except (InvalidInput, RecipeError) as error:
        raise InvalidFile(error.message, code=error.code, remedy=error.remedy) from None


def recipe_of(name: str | None, settings: Settings) -> "Recipe":
    """The named recipe, else that of the settings."""
    return typed_recipe(settings.recipe, typed=False) if name is None else typed_recipe(name)


def typed_recipe(name: str, typed: bool = True) -> "Recipe":
    """A recipe by its name or TOML file; only a mistyped name is wrong usage."""
    from thinkback.search.recipes.toml import resolve

    with nullcontext() if typed and not name.endswith(".toml") else file_errors():
        return resolve(name)


def read_argument(argument: str) -> str:
    """The argument itself, or the text on stdin for `-`."""
    return sys.stdin.read().rstrip("\n") if argument == "-" else argument


@contextmanager
def open_lines(argument: str) -> Iterator[Iterator[str]]:
    """The lines of a file, or of stdin for `-`; invalid UTF-8 becomes lone surrogates, which the reader rejects."""
    if argument == "-":
        yield iter(sys.stdin)
        return
    try:
        with Path(argument).open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            yield iter(file)
    except OSError as error:
        raise InvalidFile(f"cannot read {argument}: {error.strerror or error}") from None
