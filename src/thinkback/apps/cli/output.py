"""Output of the command line: results on stdout, everything else on stderr, colour only on a terminal."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from thinkback.apps.cli.remedies import WORDS
from thinkback.clock import from_us
from thinkback.errors import Notice, ThinkbackError, worded

if TYPE_CHECKING:
    import rich.progress
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from thinkback.apps.cli.options import Common

T = TypeVar("T")
Progress = Callable[[int, int], None]

PIPE_WIDTH = 120
# A memory's text may come from anybody: control sequences are printed, never sent to the terminal.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def stdout() -> "Console":
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def stderr() -> "Console":
    """Where warnings, errors and progress go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def show(*parts: "RenderableType") -> None:
    """Print for people; a plain string is printed as it is."""
    console = stdout()
    for part in parts:
        console.print(styled(part) if isinstance(part, str) else part)


def show_json(*rows: Mapping[str, object]) -> None:
    """Print one JSON object a line, and flush."""
    for row in rows:
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def show_result(common: "Common", data: Mapping[str, object], *parts: "RenderableType") -> None:
    """Print one object: with `--json` its data, else its parts for people."""
    if common.json:
        show_json(data)
    else:
        show(*parts)


def show_list(
    common: "Common",
    items: Sequence[T],
    to_json: Callable[[T], Mapping[str, object]],
    to_table: "Callable[[Sequence[T]], RenderableType]",
) -> None:
    """Print many: with `--json` one object a line, else a table."""
    if common.json:
        show_json(*map(to_json, items))
    else:
        show(to_table(items))


def warn(about: str | ThinkbackError | Notice) -> None:
    """A warning: the command succeeded, but not in every part."""
    _print_label("warning: ", "yellow", about)


def fail(about: str | ThinkbackError | Notice) -> None:
    """An error, without a traceback."""
    _print_label("error: ", "bold red", about)


def note(message: str) -> None:
    """A remark beside the result."""
    stderr().print(styled(message, "dim"))


def _print_label(label: str, style: str, about: str | ThinkbackError | Notice) -> None:
    stderr().print(styled(label, style) + styled(about if isinstance(about, str) else worded(about, WORDS)))


def plain(text: str) -> str:
    """The text with control characters made visible."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def styled(text: str, style: str = "") -> "Text":
    """Text printed as it is, brackets included; when added together, each keeps its own style."""
    from rich.text import Text

    made = Text(plain(text))
    if style:
        made.stylize(style)
    return made


def table(columns: Mapping[str, str], rows: "Iterable[Sequence[str | Text]]") -> "Table":
    """A table of columns with their styles; plain strings are printed as they are."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, style in columns.items():
        made.add_column(name, style=style, overflow="fold")
    for row in rows:
        made.add_row(*(styled(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def facts(data: Mapping[str, Any]) -> "Table":
    """Names and values, one a line."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2))
    made.add_column(style="cyan", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in data.items():
        made.add_row(styled(name), styled(shown(value)))
    return made


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None or value == "" or value == [] or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(one) for one in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)


def moment(when: int | datetime | None) -> str:
    """ISO 8601 to the minute, or the date alone at midnight; `--json` has every microsecond."""
    if when is None:
        return "–"
    time = from_us(when) if isinstance(when, int) else when
    if (time.hour, time.minute, time.second) == (0, 0, 0):
        return time.date().isoformat()
    return time.isoformat(timespec="minutes").replace("+00:00", "Z")


def size(count: float) -> str:
    """A number of bytes as people read it."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar on stderr, only on a terminal; call it with the number done and the total (0 if unknown)."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with _bars(MofNCompleteColumn(), TimeRemainingColumn()) as bars:
        task = bars.add_task(label, total=None, visible=False)  # until the total is known
        yield lambda done, total: bars.update(task, completed=done, total=total or None, visible=True)


class FetchProgress:
    """Reports the download of model weights: a bar on a terminal, one line elsewhere."""

    def __init__(self) -> None:
        self._label = ""
        self._bars: rich.progress.Progress | None = None

    def __call__(self, done: int, total: int, label: str) -> None:
        if label != self._label:
            self._label = label
            self._begin(total)
        if self._bars is not None:
            self._bars.update(self._bars.task_ids[0], completed=done, total=total or None)
            if total and done >= total:
                self._end()

    def _begin(self, total: int) -> None:
        self._end()
        if not sys.stderr.isatty():
            note(f"fetching {self._label}" + (f" ({size(total)})" if total else ""))
            return
        from rich.progress import DownloadColumn, TransferSpeedColumn

        self._bars = _bars(DownloadColumn(), TransferSpeedColumn())
        self._bars.add_task(f"fetching {self._label}", total=total or None)
        self._bars.start()

    def _end(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


class UpgradeProgress:
    """Reports the upgrade of a file of an older version: a bar on a terminal, one line elsewhere; nothing if there is none."""

    def __init__(self) -> None:
        self._bars: rich.progress.Progress | None = None
        self._begun = False

    def __call__(self, done: int, total: int) -> None:
        if not self._begun:
            self._begin(total)
        if self._bars is not None:
            self._bars.update(self._bars.task_ids[0], completed=done)
            if done >= total:
                self._bars.stop()

    def _begin(self, total: int) -> None:
        self._begun = True
        if not sys.stderr.isatty():
            note(f"bringing {total} memories to the present format, once")
            return
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        self._bars = _bars(MofNCompleteColumn(), TimeRemainingColumn())
        self._bars.add_task("upgrading the file, once", total=total)
        self._bars.start()


def _bars(*columns: "rich.progress.ProgressColumn") -> "rich.progress.Progress":
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(TextColumn("{task.description}"), BarColumn(), *columns, console=stderr(), transient=True)
