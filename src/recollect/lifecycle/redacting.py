"""Redaction: secrets are taken out of every version of a memory, as if they had never been written.

A memory that holds one is forgotten and written again without it, under its id, with its history, links and judgements, in one
transaction; so no index keeps the secret. Where its text held one, its vector is made anew from the redacted text; where that
fails it has none until someone embeds it, for the old one was made from the secret, and the warnings say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from recollect.errors import RecollectError
from recollect.lifecycle import journal
from recollect.lifecycle.auditing import held_secrets
from recollect.lifecycle.journal import Action
from recollect.lifecycle.secrets import redacted, redacted_json
from recollect.model import Draft, Edge, Record
from recollect.pipeline import members
from recollect.reflect.promotion import RAISED
from recollect.reflect.rebuilding import derived_from, rebuild
from recollect.stores.base import EmbeddingSpace, JournalEntry, Judgement, Store

Fill = Callable[[Sequence[Draft]], tuple[list[Draft], EmbeddingSpace | None, RecollectError | None]]
_ALL = 10_000_000
_MOST_NAMED = 5
_OF_A_DRAFT = [field.name for field in fields(Draft) if field.name != "vector"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """The memories that were rewritten, whether the log was cleared of what they held, and what could not be kept."""

    ids: tuple[str, ...]
    log_cleared: bool = True
    warnings: tuple[str, ...] = ()


def redact(store: Store, ids: Sequence[str] | None, now: int, fill: Fill) -> Redacted:
    """Takes likely secrets out of these memories, or out of all; a memory without any is not touched."""
    while True:
        work = _look(store, ids)
        if not work.versions:
            return Redacted(())
        drafts, space, failure = fill(_drafts(store, work))
        with store.transaction():
            # Embedding takes a while; what was changed, judged or embedded anew meanwhile is looked at again.
            if _look(store, list(work.versions)) == work:
                lost = _rewrite(store, work, drafts, space, now)
                break
    return Redacted(tuple(work.versions), store.scrub(), _warnings(work, drafts, lost, failure))


@dataclass(frozen=True, slots=True)
class _Work:
    versions: Mapping[str, Sequence[Record]]  # of the memories that hold a secret, as they are
    clean: Mapping[str, Sequence[Record]]  # and as they should be
    judged: Sequence[Judgement]
    space: EmbeddingSpace | None  # of the vectors that are kept


def _look(store: Store, ids: Sequence[str] | None) -> _Work:
    space = store.embedding_space()
    chosen = list(ids) if ids is not None else list(dict.fromkeys(f.id for f in held_secrets(store)))
    before = {id: versions for id in chosen if (versions := store.history(id)) and not members(versions[-1])}
    after = {id: [_clean(record) for record in versions] for id, versions in before.items()}
    judged = [judgement for judgement in store.judgements() if judgement.memory_id in before]
    unclean = {j.memory_id for j in judged if redacted(j.query) != j.query}
    dirty = {id: None for id in before if after[id] != before[id] or id in unclean}
    judged = [judgement for judgement in judged if judgement.memory_id in dirty]
    return _Work({id: before[id] for id in dirty}, {id: after[id] for id in dirty}, judged, space)


def _rewrite(store: Store, work: _Work, drafts: Sequence[Draft], space: EmbeddingSpace | None, now: int) -> int:
    """How many reflections could not be written anew."""
    dirty = list(work.versions)
    edges = _edges(store, dirty)
    derived = derived_from(store, dirty, now)
    gone = {record.id for record in derived}
    told, noted = store.journal(None, _ALL), store.setting(RAISED)
    store.forget([*dirty, *gone])
    store.add(drafts, now, space)
    store.restore_versions([record for versions in work.clean.values() for record in versions[:-1]])
    store.link([edge for edge in edges if not {edge.from_id, edge.to_id} & gone], now)
    store.judge([replace(j, query=redacted(j.query)) for j in work.judged])
    rebuilt = rebuild(store, derived, now)
    _tell_again(store, told)
    store.set_setting(RAISED, noted)
    actions = [Action("redact", id, {}, {"redacted": True}) for id in dirty]
    journal.log(store, actions, now, journal.new_batch("redact", now))
    return len(derived) - len(rebuilt)


def _tell_again(store: Store, told: Sequence[JournalEntry]) -> None:
    """What forgetting took from the journal, but for what itself holds a secret: the memories are there again."""
    left = {entry.id: entry for entry in store.journal(None, _ALL)}
    taken = [entry for entry in told if left.get(entry.id) != entry]
    store.log([e for e in taken if redacted_json([e.before, e.after]) == [e.before, e.after]])


def _warnings(work: _Work, drafts: Sequence[Draft], lost: int, failure: RecollectError | None) -> tuple[str, ...]:
    """What is gone with the vectors that could not be made anew; a memory that had none has lost nothing."""
    bare = {draft.id for draft in drafts if draft.vector is None}
    unembedded = [id for id, versions in work.versions.items() if versions[-1].embedded and id in bare]
    if not unembedded:
        return ()
    which = ", ".join(unembedded[:_MOST_NAMED]) + (" …" if len(unembedded) > _MOST_NAMED else "")
    why = failure or "this memory was opened without an embedder"
    told = [
        f"redacted, but stored without vectors ({which}), found by keyword: {why}. Later: recollect embed --missing"
    ]
    if lost:
        told.append(f"reflections gone with those vectors: {lost}. After that: recollect reflect")
    return tuple(told)


def _clean(record: Record) -> Record:
    return replace(
        record,
        text=redacted(record.text),
        essence=None if record.essence is None else redacted(record.essence),
        source=None if record.source is None else redacted(record.source),
        tags=tuple(dict.fromkeys(redacted(tag) for tag in record.tags)),
        metadata=redacted_json(record.metadata),
    )


def _drafts(store: Store, work: _Work) -> list[Draft]:
    """The present versions, clean; a text that held no secret keeps its vector."""
    told = [id for id, versions in work.versions.items() if versions[-1].text == work.clean[id][-1].text]
    vectors = store.vectors(told)
    return [
        Draft(**{name: getattr(versions[-1], name) for name in _OF_A_DRAFT}, vector=vectors.get(id))
        for id, versions in work.clean.items()
    ]


def _edges(store: Store, ids: Sequence[str]) -> list[Edge]:
    """Every link of these memories, closed and future ones too."""
    mine = set(ids)
    return [edge for edge in store.export_edges() if edge.from_id in mine or edge.to_id in mine]
