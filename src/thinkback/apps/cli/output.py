"""What the command line prints: results on stdout, everything else on stderr, colour only on a terminal."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from thinkback.apps.cli.remedies import WORDS
from thinkback.clock import from_us
from thinkback.errors import Notice, ThinkbackError, worded

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

Progress = Callable[[int, int], None]

WIDTH_OF_A_PIPE = 120
# A memory's text is somebody else's: what would steer a terminal is shown, not obeyed.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def stdout() -> "Console":
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)


def stderr() -> "Console":
    """Where warnings, errors and progress go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def show(*parts: "RenderableType") -> None:
    """Prints for people."""
    console = stdout()
    for part in parts:
        console.print(part)


def show_json(data: Mapping[str, object]) -> None:
    """Prints one object on one line."""
    show_lines([data])


def show_lines(rows: Iterable[Mapping[str, object]]) -> None:
    """Prints one object a line, at once, whatever the command has still to do."""
    for row in rows:
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    sys.stdout.flush()


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
    """Text that is printed as it is, whatever brackets it holds; added together, each keeps its own style."""
    from rich.text import Text

    made = Text(plain(text))
    if style:
        made.stylize(style)
    return made


def table(*columns: str, title: str | None = None) -> "Table":
    """An empty table in the one style."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", header_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
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
    """A bar on stderr, only on a terminal; call it with how much is done and how much there is (0 if unknown)."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    import rich.progress
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bars = rich.progress.Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=stderr(),
        transient=True,
    )
    with bars:
        task = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total or None)
