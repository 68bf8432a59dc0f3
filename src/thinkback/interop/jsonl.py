"""A whole store as JSON Lines, exported and imported without loss.

The first line is a header; then one object a line: memories (each version its own line, older ones with `retired_at`), links and
judgements, distinguished by `type`. A line without a type is a memory, so `{"text": "…"}` alone is a valid file. Unknown fields are
refused rather than dropped: fields of your own belong under `metadata`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput
from thinkback.inputs import canonical_json
from thinkback.interop.jsonl_lines import TYPES, header_line, judgement_line, link_line, memory_line, plain, read_line
from thinkback.lifecycle.transfer import BATCH, ImportReport, Line, Value
from thinkback.model import Draft, StoredRecord
from thinkback.stores.sqlite.temp_counter import TempCounter

if TYPE_CHECKING:
    from thinkback.memory import Memory

Progress = Callable[[int, int], None]


def export_lines(memory: "Memory", vectors: bool = False) -> Iterator[str]:
    """Everything in a store at one moment, line by line, without line ends; `vectors` adds those of present memories."""
    with memory.export(vectors) as found:
        yield header_line(found.space, found.settings)
        for record, vector, passages in found.records:
            yield memory_line(record, vector, passages)
        yield from map(link_line, found.edges)
        yield from map(judgement_line, found.judgements)


def import_lines(
    memory: "Memory",
    lines: Iterable[str],
    skip_bad: bool = False,
    progress: Progress | None = None,
    types: Sequence[str] = TYPES,
    longest: int | None = None,
) -> ImportReport:
    """Import lines in one transaction; a bad line fails the whole import or, with `skip_bad`, is left out.

    The store keeps what it has, so importing twice adds nothing; a version recorded later than the store's follows it. Nothing is
    embedded here; `embed_missing` does that. Lines may be of the given types only; one without a type is of the first. A text may
    have `longest` characters.
    """
    return memory.import_values(_read(lines, progress, types, longest), skip_bad)


def _read(lines: Iterable[str], progress: Progress | None, types: Sequence[str], longest: int | None) -> Iterator[Line]:
    repeats = TempCounter()
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            try:
                yield number, _with_id(_within(read_line(text, types), longest), repeats)
            except InvalidInput as error:
                yield number, error
        if progress and number % BATCH == 0:
            progress(number, 0)


def _within(value: Value, longest: int | None) -> Value:
    """The value, unless its text is longer than a request may have."""
    if longest is not None and isinstance(value, Draft | StoredRecord):
        for name in ("text", "essence"):
            if len(getattr(value, name) or "") > longest:
                raise InvalidInput(f"{name} has more than {longest} characters", code="too_long")
    return value


def _with_id(value: Value, repeats: TempCounter) -> Value:
    """A memory without an id gets one from its content; equal lines of one file are as many memories, the same on every import."""
    if not isinstance(value, Draft) or value.id is not None:
        return value
    digest = hashlib.sha256(canonical_json(plain(replace(value, vector=None))).encode()).hexdigest()[:20]
    return replace(value, id=f"import-{digest}-{repeats.add(digest)}")
