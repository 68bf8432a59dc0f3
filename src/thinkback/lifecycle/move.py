"""Moving a space from one store to another: everything in it, in batches that can be resumed, then compared."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from thinkback.errors import InvalidInput, Notice, StoreError
from thinkback.fields import FIELDS
from thinkback.model import Draft, Filter, Passages, StoredRecord, Vector
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace, Store, StoreState
from thinkback.values import dataclass

BATCH = 1000
QUESTIONS = 20  # asked of both stores before a move is done
_DEPTH = 50
_WORDS = 8  # of a text, taken as a question
_FROM = "move.from"  # the store whose move into this one is not finished
_CAME = "move.came"  # the store that was moved into this one
_OWN = ("scrub.owed", "index.nonce", _FROM, _CAME)  # settings about the store itself
_DRAFTED = tuple(field.name for field in FIELDS if field.draft)

T = TypeVar("T")
Version = tuple[str, int, int | None, str]
_ALL = (1 << 31) - 1
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Moved:
    """Counts of what a move copied; a repeated run copies only what is missing."""

    memories: int
    versions: int
    edges: int
    judgements: int
    journal: int
    compared: int  # questions that both stores answered alike
    warnings: tuple[Notice, ...] = ()


NOTHING = Moved(0, 0, 0, 0, 0, 0, (Notice("moved_before", "it was moved before, and is left as it is"),))


def move(
    source: Store, target: Store, now: int, progress: Progress = lambda done, total: None, name: str = ""
) -> Moved:
    """Copy a space into an empty one; run again after an interruption, it continues. The source stays as it is.

    `name` is that of the space, for errors.
    """
    before = source.state()
    _claim(target, before.store_id, name)
    total = source.stats()["versions"]
    memories = versions = done = 0
    past: dict[Version, tuple[Vector, Passages | None]] = {}
    with source.snapshot(vectors=True, retired=True) as found:
        while batch := list(islice(found.records, BATCH)):
            versions += target.restore_versions([record for record, _, _ in batch if record.retired_at is not None])
            memories += _add(target, [row for row in batch if row[0].retired_at is None], found.space, now)
            past |= {_version(r): (v, its) for r, v, its in batch if v is not None and r.retired_at is not None}
            done += len(batch)
            progress(done, total)
        _embed_past(target, past, found.space)
        for edges in _batches(found.edges):
            target.link(edges, now)
        for judgements in _batches(found.judgements):
            target.judge(judgements)
        for key, value in found.settings.items():
            if key not in _OWN:
                target.set_setting(key, value)
    entries = list(reversed(source.journal()))
    for some in _batches(entries):
        target.log(some)
    compared = compare(source, target, now)
    with target.transaction():
        target.set_setting(_CAME, before.store_id)
        target.set_setting(_FROM, None)
    return Moved(
        memories, versions, len(found.edges), len(found.judgements), len(entries), compared, _warnings(source, before)
    )


def was_moved(source: Store, target: Store) -> bool:
    """Whether an earlier move of the source into this target was finished, and the target still holds memories."""
    return target.setting(_CAME) == source.state().store_id and bool(target.stats()["versions"])


def _claim(target: Store, origin: str, name: str) -> None:
    """Refuse a store that holds memories, unless they came from an unfinished move of the same origin."""
    if target.setting(_FROM) == origin:
        return
    if target.stats()["versions"]:
        raise InvalidInput(
            f"the target{f' {name!r}' if name else ''} holds memories already; move into an empty space, or import into this one",
            code="target_not_empty",
        )
    target.set_setting(_FROM, origin)


def _add(
    target: Store,
    rows: Sequence[tuple[StoredRecord, Vector | None, Passages | None]],
    space: EmbeddingSpace | None,
    now: int,
) -> int:
    there = target.get([record.id for record, _, _ in rows])
    drafts = [
        Draft(**{name: getattr(record, name) for name in _DRAFTED}, vector=vector, passages=passages)
        for record, vector, passages in rows
        if record.id not in there
    ]
    target.add(drafts, now, space)
    return len(drafts)


def _version(record: StoredRecord) -> Version:
    return record.id, record.recorded_at, record.retired_at, record.text


def _embed_past(
    target: Store, past: dict[Version, tuple[Vector, Passages | None]], space: EmbeddingSpace | None
) -> None:
    """Give retired versions the vectors they had; the target numbers versions itself."""
    if not past or space is None:
        return
    waiting = {seq: _version(record) for seq, record in target.unembedded(_ALL).items()}
    had = {seq: past[version] for seq, version in waiting.items() if version in past}
    passages = {seq: its for seq, (_, its) in had.items() if its is not None}
    target.put_vectors({seq: vector for seq, (vector, _) in had.items()}, space, passages)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))


def _warnings(source: Store, before: StoreState) -> tuple[Notice, ...]:
    notices = []
    if source.state() != before:
        notices.append(Notice("source_changed", "the source was written meanwhile; what came later was not moved"))
    return tuple(notices)


def compare(source: Store, target: Store, now: int) -> int:
    """Ask both stores sample questions, by keyword and by vector; StoreError if an answer differs."""
    questions = _questions(source, now)
    vectors = source.vectors([id for id, _ in questions])
    filter = Filter(now=now, everything=True)
    for id, text in questions:
        query = parse_keywords(text)
        same = source.search_keywords(query, filter, _DEPTH) == target.search_keywords(query, filter, _DEPTH)
        if same and id in vectors:
            same = all(
                getattr(source, leg)(vectors[id], filter, _DEPTH) == getattr(target, leg)(vectors[id], filter, _DEPTH)
                for leg in ("search_vectors", "search_passages")
            )
        if not same:
            raise StoreError(
                f"the two stores answer {text!r} differently; the source is as it was", code="move_differs"
            )
    return len(questions)


def _questions(source: Store, now: int) -> list[tuple[str, str]]:
    """Judged queries, and the first words of memories spread over the store."""
    judged = [(judgement.memory_id, judgement.query) for judgement in source.judgements()][:QUESTIONS]
    records = source.list(Filter(now=now, everything=True), None)
    step = max(1, len(records) // QUESTIONS)
    texts = [(record.id, " ".join(record.text.split()[:_WORDS])) for record in records[::step][:QUESTIONS]]
    return [*judged, *texts]
