"""The memory files of agents as sources: CLAUDE.md, AGENTS.md, Cursor's rules and Claude Code's memory folder.

A file becomes one memory a section. When it changes, changed sections are updated and sections that are gone are forgotten.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from thinkback.memory import Memory

SOURCE = "file:"
MOST_BYTES = 256 << 10
_HEADING = re.compile(r"^#{1,6}\s+\S")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# The files that an agent reads by itself, so that it need not be told of them.
OWN_FILES: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("CLAUDE.md", "CLAUDE.local.md", ".claude/", "memory/"),
    "codex": ("AGENTS.md",),
    "cursor": ("AGENTS.md", ".cursor/"),
}


def memory_files(folder: Path, home: Path) -> Iterator[tuple[str, Path]]:
    """The memory files of a project, each with the name it has as a source."""
    for name in ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", ".cursorrules"):
        yield name, folder / name
    for path in sorted((folder / ".cursor" / "rules").glob("*.mdc")):
        yield f".cursor/rules/{path.name}", path
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    for path in sorted((home / ".claude" / "projects" / slug / "memory").glob("*.md")):
        yield f"memory/{path.name}", path


def sync(memory: Memory, name: str, text: str) -> int:
    """Bring the memories of a file up to date with its text; returns how many were written, changed or forgotten."""
    found = {_id(name, title): body for title, body in sections(text)}
    gone_for_good = memory.buried(found.items())
    wanted = {id: body for (id, body), buried in zip(found.items(), gone_for_good, strict=True) if not buried}
    source = SOURCE + name
    known = {record.id: record.text for record in memory.list(limit=10_000, sources=[source])}
    gone = [id for id in known if id not in wanted]
    new = [{"id": id, "text": body, "source": source, "kind": "note"} for id, body in wanted.items() if id not in known]
    changed = [id for id, body in wanted.items() if id in known and known[id] != body]
    if gone:
        memory.forget(*gone, tombstone=False)  # a section may come back
    memory.remember_many(new)
    for id in changed:
        memory.update(id, text=wanted[id])
    return len(gone) + len(new) + len(changed)


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Each section with its heading; equal headings are numbered."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    fenced = False
    for line in (*_FRONT_MATTER.sub("", text).splitlines(), "# "):
        fenced ^= line.lstrip().startswith("```")
        if (not fenced and _HEADING.match(line)) or line == "# ":
            body = "\n".join(lines).strip()
            title = lines[0] if lines else ""
            if body and not (_HEADING.match(body) and "\n" not in body):  # a heading alone says nothing
                seen[title] = seen.get(title, 0) + 1
                yield f"{title}#{seen[title]}", body
            lines = []
        lines.append(line)


def digest(path: Path) -> tuple[str, str] | None:
    """The text of a file and its hash; None if there is none, or it is not a text."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        data = path.read_bytes()
        return data.decode("utf-8"), hashlib.sha256(data).hexdigest()
    except (OSError, UnicodeDecodeError):
        return None


def _id(name: str, title: str) -> str:
    return "file-" + hashlib.sha256(f"{name}\0{title}".encode()).hexdigest()[:24]
