"""Files of Markdown and text as memories: one for each headed section, kept in step with the files.

A section's id is made from the file's path and its headings, so that reading a file again updates what changed, forgets what is
gone and leaves the rest alone. `source` is the file's absolute path; the headings stand in the essence and the metadata.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thinkback.clock import from_us
from thinkback.errors import InvalidFile, Notice
from thinkback.lifecycle.result import Result
from thinkback.values import dataclass

MARKDOWN = (".md", ".markdown", ".mdx")
SUFFIXES = (*MARKDOWN, ".txt", ".text", ".rst")
HEADINGS = "headings"  # in the metadata of every memory that was read from a file
_HEADING = re.compile(r"(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_UNDERLINE = re.compile(r"(=+|-+)\s*$")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False)
class Synced(Result):
    """What reading files did: the ids of memories added, updated and forgotten, and how many were unchanged."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    unchanged: int = 0
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text below its headings, outermost first."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Files:
    """What was read: memories by id, and a condition that holds for every memory ever read from the same place."""

    memories: Mapping[str, dict[str, Any]]
    place: Mapping[str, Any]
    warnings: tuple[Notice, ...] = ()


def read(path: str | Path) -> Files:
    """The memories of a file, or of every text file below a folder; hidden files and folders are left out."""
    root = Path(path).expanduser().absolute()
    if not root.exists():
        raise InvalidFile(f"there is no file or folder {path}", code="no_file")
    folder = f"{root}/"
    below = {"source": {"gte": folder, "lt": f"{folder[:-1]}0"}} if root.is_dir() else {"source": str(root)}
    memories: dict[str, dict[str, Any]] = {}
    warnings: list[Notice] = []
    for file in _files(root):
        try:
            memories |= {one["id"]: one for one in memories_of(file)}
        except (OSError, UnicodeDecodeError) as error:
            warnings.append(Notice("file_not_read", f"{file} was not read: {error}"))
    return Files(memories, {**below, f"metadata.{HEADINGS}": {"exists": True}}, tuple(warnings))


def memories_of(file: Path) -> Iterator[dict[str, Any]]:
    """One mapping for `remember_many` for every section of a file."""
    text = file.read_text(encoding="utf-8-sig")
    written = from_us(file.stat().st_mtime_ns // 1000)
    parts = sections(text) if file.suffix.lower() in MARKDOWN else [Section((), text.strip())]
    seen: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        if part.text:
            yield {
                "id": _id(str(file), part.headings, seen[part.headings]),
                "text": part.text,
                "essence": " › ".join((file.stem, *part.headings)),
                "kind": "note",
                "source": str(file),
                "created_at": written,
                "metadata": {HEADINGS: list(part.headings)},
            }
        seen[part.headings] += 1


def sections(text: str) -> list[Section]:
    """The headed parts of a Markdown text, in order; a heading inside a code block is none, front matter is left out."""
    lines = without_front_matter(text.replace("\r\n", "\n")).split("\n")
    path: list[tuple[int, str]] = []
    found: list[Section] = []
    body: list[str] = []
    fence = ""

    def close() -> None:
        words = "\n".join(body).strip()
        headed = f"{path[-1][1]}\n\n{words}" if path else words
        found.append(Section(tuple(title for _, title in path), headed if words else ""))
        body.clear()

    for line in lines:
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else _heading(line, body)
        if heading is None:
            body.append(line)
            continue
        close()
        path = [(level, title) for level, title in path if level < heading[0]] + [heading]
    close()
    return found


def without_front_matter(text: str) -> str:
    """A Markdown text without the block of properties at its head."""
    return _FRONT_MATTER.sub("", text, count=1)


def front_matter(text: str) -> str:
    """The block of properties at the head of a Markdown text; empty if there is none."""
    found = _FRONT_MATTER.match(text.replace("\r\n", "\n"))
    return found[1] if found else ""


def _heading(line: str, body: list[str]) -> tuple[int, str] | None:
    """The level and title of a heading; one that is underlined is taken out of the body."""
    if found := _HEADING.match(line):
        return len(found[1]), found[2]
    alone = body and body[-1].strip() and (len(body) == 1 or not body[-2].strip())
    if alone and _UNDERLINE.match(line) and not body[-1].lstrip().startswith(("-", "*", ">", "|")):
        return (1 if line.startswith("=") else 2), body.pop().strip()
    return None


def _files(root: Path) -> Sequence[Path]:
    if root.is_file():
        return [root]
    found = (path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts))


def _id(file: str, headings: Sequence[str], nth: int) -> str:
    return f"file-{hashlib.sha256(chr(0).join([file, *headings, str(nth)]).encode()).hexdigest()[:20]}"
