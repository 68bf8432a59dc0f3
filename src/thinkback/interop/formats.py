"""The formats of other programs, by name: how each is recognised, read into values, and written.

Ids come from the file, or from the contents where it has none, so importing twice changes nothing. Links are written last, when
both of their ends are there.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidFile, InvalidInput, ThinkbackError, did_you_mean
from thinkback.interop import chats, markdown, stores
from thinkback.interop.mcp_memory import export_mcp
from thinkback.interop.streams import Progress, values
from thinkback.lifecycle.transfer import ImportReport, Line, Value
from thinkback.model import StoredEdge
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.memory import Memory

Reader = Callable[[Any, int], Iterator[Value]]
OURS, BASIC = "thinkback", "basic-memory"


@dataclass(frozen=True, slots=True)
class Format:
    """One format: whether a JSON value is of it, and the memories and links in the value."""

    about: str
    is_it: Callable[[Any], bool] = lambda value: False
    read: Reader | None = None  # None: a folder of Markdown


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Mapping) and all(name in value for name in names)


def _each(read: Callable[[Any], Iterator[Value]]) -> Reader:
    return lambda value, number: read(value)


FORMATS: dict[str, Format] = {
    "chatgpt": Format("conversations.json or the ZIP of a ChatGPT export", _has("mapping"), _each(chats.chatgpt)),
    "claude": Format("conversations.json or the ZIP of a Claude export", _has("chat_messages"), _each(chats.claude)),
    "mem0": Format("the JSON of mem0's get_all or export", _has("id", "memory"), _each(stores.mem0)),
    "engrava": Format("the JSON Lines of engrava snapshot", _has("_type"), _each(stores.engrava)),
    "mcp": Format(
        "the JSON Lines of the MCP reference memory",
        lambda value: isinstance(value, Mapping) and value.get("type") in ("entity", "relation"),
        _each(stores.mcp),
    ),
    "langgraph": Format("items of a LangGraph store", _has("namespace", "key", "value"), _each(stores.langgraph)),
    "chat": Format(
        "lists of messages with role and content",
        lambda value: _has("messages")(value) or _has("role", "content")(value) or isinstance(value, list),
        chats.chat,
    ),
    "obsidian": Format("a folder of Markdown notes with [[links]] and #tags"),
    BASIC: Format("a folder of basic-memory's Markdown, with its observations and relations"),
}
EXPORTS: dict[str, Callable[["Memory"], Iterator[str]]] = {"markdown": markdown.export_markdown, "mcp": export_mcp}


def detect(path: Path) -> str:
    """The format of a file or folder, by its first value; ours, if it is none of the others."""
    if path.is_dir():
        found = any(
            "permalink:" in file.read_text(encoding="utf-8", errors="replace")[:2000] for file in path.rglob("*.md")
        )
        return BASIC if found else "obsidian"
    try:
        first = next(values(path), None)
    except InvalidInput:
        return OURS
    return next((name for name, format in FORMATS.items() if format.is_it(first)), OURS)


def import_file(
    memory: "Memory",
    path: Path,
    format: str,
    *,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file or folder in one transaction; `progress` hears bytes, or files, done and in all."""
    if format not in FORMATS:
        raise InvalidInput(
            f"unknown format {format!r}; one of {', '.join(FORMATS)}.{did_you_mean(format, FORMATS)}",
            code="unknown_format",
        )
    if (FORMATS[format].read is None) != path.is_dir():
        wanted = "a folder" if FORMATS[format].read is None else "a file"
        raise InvalidFile(f"{format} is {wanted}: {path}", code="unknown_format")
    return memory.import_values(_lines(path, format, progress), skip_bad)


def _lines(path: Path, format: str, progress: Progress | None) -> Iterator[Line]:
    """Values with their number in the file, from 1; links come last."""
    read = FORMATS[format].read
    found = _folder(path, progress, format == BASIC) if read is None else _numbered(path, read, progress)
    edges: list[Line] = []
    for number, value in found:
        if isinstance(value, StoredEdge):
            edges.append((number, value))
        else:
            yield number, value
    yield from edges


def _folder(path: Path, progress: Progress | None, basic: bool) -> Iterator[Line]:
    yield from ((number, value) for number, value in enumerate(markdown.notes(path, progress, basic), 1))


def _numbered(path: Path, read: Reader, progress: Progress | None) -> Iterator[Line]:
    for number, value in enumerate(_conversations(path, read, progress), 1):
        try:
            yield from ((number, one) for one in read(value, number))
        except ThinkbackError as error:
            yield number, error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            yield number, InvalidInput(f"the object has another form: {type(error).__name__} {error}", code="bad_line")


def _conversations(path: Path, read: Reader, progress: Progress | None) -> Iterator[Any]:
    """Every value of a file; messages that stand there one by one are one conversation."""
    found = values(path, progress)
    if read is not chats.chat:
        yield from found
        return
    loose: list[Any] = []
    for value in found:
        if _has("role", "content")(value):
            loose.append(value)
        else:
            yield value
    if loose:
        yield loose
