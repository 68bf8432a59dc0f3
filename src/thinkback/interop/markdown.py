"""Folders of Markdown notes: Obsidian's vaults and basic-memory's knowledge; and a store written as Markdown."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.clock import from_us
from thinkback.interop.drafts import draft, edge, moment, tags_of
from thinkback.interop.streams import Progress
from thinkback.lifecycle.documents import MARKDOWN, Section, front_matter, sections
from thinkback.lifecycle.transfer import Value
from thinkback.model import Draft, StoredEdge, StoredRecord
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.memory import Memory

_WIKILINK = re.compile(r"!?\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]")
_HASHTAG = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]*)")
_PROPERTY = re.compile(r"([A-Za-z_][\w -]*):\s*(.*)$")
_OBSERVATION = re.compile(r"\s*[-*]\s+\[([^\]\[]+)\]\s+(.*\S)\s*$")
_RELATION = re.compile(r"\s*[-*]\s+([^\[\]]*?)\s*\[\[([^\]|#]+)[^\]]*\]\](?:\s*\((.*)\))?\s*$")
_CHECKBOX = (" ", "x", "X", "-")
LISTS = ("observations", "relations")  # headings whose lists basic-memory reads


@dataclass(slots=True)
class _Note:
    """A file as read: its memories, and the names it links to, each with what the link is called."""

    head: str
    names: tuple[str, ...]
    drafts: list[Draft] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)  # from a memory, to a name, kind


def notes(root: Path, progress: Progress | None = None, basic: bool = False) -> Iterator[Value]:
    """Every section, observation and link of a folder; properties become metadata, links lead to the first part of a note.

    Observations and relations are read in basic-memory's notes, which have a permalink, or in all if the folder is its own.
    """
    files = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in MARKDOWN and path.is_file()]
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(root).parts)]
    heads: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []
    for done, file in enumerate(files, 1):
        note = _read(root, file, basic)
        yield from note.drafts
        links += note.links
        for name in note.names:
            heads.setdefault(name.lower(), note.head)
        if progress is not None:
            progress(done, len(files))
    yield from _edges(links, heads)


def _edges(links: Sequence[tuple[str, str, str]], heads: dict[str, str]) -> Iterator[StoredEdge]:
    """Links to notes that exist; several of one kind between two memories are one."""
    for from_id, name, kind in dict.fromkeys(links):
        to_id = heads.get(name.strip().lower())
        if to_id is not None and to_id != from_id:
            yield edge(from_id, to_id, kind)


def _read(root: Path, file: Path, basic: bool) -> _Note:
    text = file.read_text(encoding="utf-8-sig")
    given = properties(front_matter(text))
    title = str(given.get("title") or file.stem)
    place = file.relative_to(root).with_suffix("").as_posix()
    written = file.stat().st_mtime_ns // 1000
    shared: dict[str, Any] = {
        "created_at": _date(given, written),
        "recorded_at": written,
        "source": f"{root.name}/{place}",
        "kind": "note",
    }
    note = _Note(_id(root, place, "head"), (title, place, file.stem, str(given.get("permalink") or place)))
    basic = basic or "permalink" in given
    own = {name: value for name, value in given.items() if name != "tags"}
    parts = [part for part in sections(text) if part.text] or [Section((), title)]
    for number, part in enumerate(parts):
        body, facts, relations = _lists(part.text) if basic else (part.text, [], [])
        id = note.head if number == 0 else _id(root, place, *part.headings, str(number))
        if number == 0 or body:
            tags = tags_of([*_listed(given.get("tags")), *_HASHTAG.findall(body)])
            essence = " › ".join((title, *part.headings))
            note.drafts.append(draft(id, body or title, essence=essence, tags=tags, metadata=own, **shared))
        note.links += [(id if body else note.head, name, "links_to") for name in _WIKILINK.findall(body)]
        note.links += [(note.head, name, kind) for kind, name in relations]
        for category, fact in facts:
            fact_id = _id(root, place, "observation", category, fact)
            tags = tags_of([category, *_HASHTAG.findall(fact)])
            about = {"note": title, "category": category}
            note.drafts.append(draft(fact_id, fact, tags=tags, metadata=about, **{**shared, "kind": "fact"}))
            note.links.append((fact_id, title, "about"))
    return note


def _lists(text: str) -> tuple[str, list[tuple[str, str]], list[tuple[str, str]]]:
    """A section without its observations and relations, the observations, and the relations by kind and name."""
    rest, facts, relations = [], [], []
    for line in text.split("\n"):
        observed, related = _OBSERVATION.match(line), _RELATION.match(line)
        if observed and observed[1] not in _CHECKBOX:
            facts.append((observed[1], observed[2]))
        elif related:
            relations.append((related[1].strip().replace(" ", "_") or "relates_to", related[2].strip()))
        else:
            rest.append(line)
    body = "\n".join(rest).strip()
    return ("" if body.lower() in LISTS else body), facts, relations


def properties(block: str) -> dict[str, Any]:
    """The simple properties of a front matter: texts, and lists in brackets or below their name."""
    found: dict[str, Any] = {}
    name = ""
    for line in block.split("\n"):
        if line.lstrip().startswith("- ") and name:
            found[name] = [*_listed(found.get(name)), line.split("- ", 1)[1].strip().strip("\"'")]
        elif match := _PROPERTY.match(line):
            name, value = match[1].strip(), match[2].strip()
            inner = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else None
            words = None if inner is None else [one.strip().strip("\"'") for one in inner if one.strip()]
            found[name] = value.strip("\"'") if words is None else words
    return {name: value for name, value in found.items() if value != ""}


def _listed(given: Any) -> list[str]:
    if isinstance(given, str):
        return [word for word in re.split(r"[,\s]+", given) if word]
    return list(given or ())


def _date(given: dict[str, Any], written: int) -> int:
    for name in ("created", "created_at", "date"):
        try:
            return moment(given.get(name)) or written
        except ValueError:
            continue
    return written


def _id(root: Path, *parts: str) -> str:
    return f"note-{hashlib.sha256(chr(0).join([root.name, *parts]).encode()).hexdigest()[:20]}"


def export_markdown(memory: "Memory") -> Iterator[str]:
    """The present memories as Markdown, a heading for each thread, oldest first; what is archived is left out."""
    with memory.export() as snapshot:
        present = [one for one, *_ in snapshot.records if one.retired_at is None and one.archived_at is None]
    threads: dict[str, list[StoredRecord]] = {}
    for record in sorted(present, key=lambda one: (one.thread or "", one.position or 0, one.date, one.id)):
        threads.setdefault(record.thread or "", []).append(record)
    yield "# Memories"
    for thread, records in threads.items():
        yield f"\n## {thread or 'Without a thread'}\n"
        for record in records:
            yield _bullet(record)


def _bullet(record: StoredRecord) -> str:
    named = record.speaker is None or record.text.lstrip().lower().startswith(f"{record.speaker.lower()}:")
    who = "" if named else f" **{record.speaker}:**"
    text = record.text.replace("\r\n", "\n").replace("\n", "\n  ")
    tags = "".join(f" #{tag.replace(' ', '-')}" for tag in record.tags)
    return f"- {from_us(record.date).date().isoformat()}{who} {text}{tags}"
