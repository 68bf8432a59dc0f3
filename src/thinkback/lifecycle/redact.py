"""Redaction: secrets are taken out of every version of a memory, as if they had never been written.

A memory that holds one is forgotten and written again without it, under its id, with its history, links and judgements, in one
transaction; so no index keeps the secret. Where its text held one, its vector is made anew from the redacted text; where that
fails it has none until someone embeds it, for the old one was made from the secret, and the warnings say so.

A thread or a kind of link that holds one gets a name of its own, the same for everybody who is in it, so that nothing is torn
apart and nothing falls together. An id is how others know a memory, so it is left, and told.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, count

from thinkback.errors import Action as Remedial
from thinkback.errors import Notice, Remedy, ThinkbackError
from thinkback.lifecycle import journal
from thinkback.lifecycle.audit import IN_ID, held_secrets
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.lifecycle.reflect.rebuild import derived_from, rebuild
from thinkback.lifecycle.secrets.detect import redacted, redacted_json, secrets_in_name
from thinkback.model import Draft, StoredEdge, StoredRecord
from thinkback.reflections import members
from thinkback.stores.base import EmbeddingSpace, JournalEntry, Judgement, Store

Fill = Callable[[Sequence[Draft]], tuple[list[Draft], EmbeddingSpace | None, ThinkbackError | None]]
_MOST_NAMED = 5
_OF_A_DRAFT = [field.name for field in fields(Draft) if field.name != "vector"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """The memories that were rewritten, whether the log was cleared of what they held, and what could not be kept."""

    ids: tuple[str, ...]
    log_cleared: bool = True
    warnings: tuple[Notice, ...] = ()


def redact(store: Store, ids: Sequence[str] | None, now: int, fill: Fill) -> Redacted:
    """Takes likely secrets out of these memories, or out of all; a memory without any is not touched."""
    while True:
        work = _look(store, ids)
        if not work.versions:
            return Redacted((), warnings=_of_ids(store, ids))
        drafts, space, failure = fill(_drafts(store, work))
        with store.transaction():
            # Embedding takes a while; what was changed, judged or embedded anew meanwhile is looked at again.
            if _look(store, ids if ids is not None else list(work.versions)) == work:
                lost = _rewrite(store, work, drafts, space, now)
                break
    return Redacted(
        tuple(work.versions), store.scrub(), (*_warnings(work, drafts, lost, failure), *_of_ids(store, ids))
    )


@dataclass(frozen=True, slots=True)
class _Work:
    versions: Mapping[str, Sequence[StoredRecord]]  # of the memories that hold a secret, as they are
    clean: Mapping[str, Sequence[StoredRecord]]  # and as they should be
    judged: Sequence[Judgement]
    kinds: Mapping[str, str]  # of links, with the new names
    space: EmbeddingSpace | None  # of the vectors that are kept


def _look(store: Store, ids: Sequence[str] | None) -> _Work:
    space = store.embedding_space()
    chosen = list(ids) if ids is not None else list(dict.fromkeys(f.id for f in held_secrets(store)))
    threads, beside = _threads(store, chosen)
    kinds, linked = _kinds(store, chosen)
    everybody = dict.fromkeys((*chosen, *beside, *(id for ends in linked for id in ends)))
    before = {id: versions for id in everybody if (versions := store.history(id)) and not members(versions[-1])}
    mine = set(chosen)  # of the others, only the names they share with these
    after = {
        id: [_renamed_thread(_clean(record) if id in mine else record, threads) for record in versions]
        for id, versions in before.items()
    }
    judged = store.judgements()
    unclean = {j.memory_id for j in judged if j.memory_id in mine and redacted(j.query) != j.query}
    unclean |= {
        id for ends in linked for id in [id for id in ends if id in before][:1]
    }  # one end takes its links along
    dirty = [id for id in before if id in unclean or after[id] != before[id]]
    judged = [judgement for judgement in judged if judgement.memory_id in dirty]
    return _Work({id: before[id] for id in dirty}, {id: after[id] for id in dirty}, judged, kinds, space)


def _threads(store: Store, ids: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """New names for the threads of these memories that hold a secret, and everybody who is in one of them."""
    held = {record.thread for id in ids for record in store.history(id) if record.thread}
    unclean = {thread for thread in held if secrets_in_name(thread)}
    if not unclean:
        return {}, set()
    there = {(record.id, record.thread) for record in store.export_records() if record.thread}
    return _renamed(unclean, (thread for _, thread in there)), {id for id, thread in there if thread in unclean}


def _kinds(store: Store, ids: Sequence[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """New names for the kinds of these memories' links that hold a secret, and the ends of all such links."""
    mine, edges = set(ids), list(store.export_edges())
    held = {edge.kind for edge in edges if edge.from_id in mine or edge.to_id in mine}
    kinds = _renamed({kind for kind in held if secrets_in_name(kind)}, (edge.kind for edge in edges))
    return kinds, [(edge.from_id, edge.to_id) for edge in edges if edge.kind in kinds]


def _renamed(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names without their secrets, each another one: those that are taken get a number."""
    new: dict[str, str] = {}
    used = set(taken)
    for name in sorted(names):
        clean = redacted(name, secrets_in_name)
        numbered = (f"{clean} {number}" for number in count(2))
        new[name] = next(one for one in chain((clean,), numbered) if one not in used)
        used.add(new[name])
    return new


def _of_ids(store: Store, ids: Sequence[str] | None) -> tuple[Notice, ...]:
    """A warning about ids that hold a likely secret; ids are never changed."""
    named = ids if ids is not None else dict.fromkeys(record.id for record in store.export_records())
    held = [secret for id in named for secret in secrets_in_name(id)]
    hints = ", ".join(secret.hint for secret in held[:_MOST_NAMED]) + (" …" if len(held) > _MOST_NAMED else "")
    left = f"likely secrets in ids were left ({hints}): {IN_ID}"
    return (Notice("secrets_in_ids", left, Remedy(Remedial.AUDIT)),) if held else ()


def _rewrite(store: Store, work: _Work, drafts: Sequence[Draft], space: EmbeddingSpace | None, now: int) -> int:
    """How many reflections could not be written anew."""
    dirty = list(work.versions)
    edges = _edges(store, dirty)
    derived = derived_from(store, dirty, now)
    gone = {record.id for record in derived}
    told, noted = store.journal(), store.setting(RAISED)
    store.forget([*dirty, *gone])
    store.add(drafts, now, space)
    store.restore_versions([record for versions in work.clean.values() for record in versions[:-1]])
    kept = [edge for edge in edges if not {edge.from_id, edge.to_id} & gone]
    store.link([replace(edge, kind=work.kinds.get(edge.kind, edge.kind)) for edge in kept], now)
    store.judge([replace(j, query=redacted(j.query)) for j in work.judged])
    rebuilt = rebuild(store, derived, now)
    _tell_again(store, told)
    store.set_setting(RAISED, noted)
    actions = [Action("redact", id, {}, {"redacted": True}) for id in dirty]
    journal.log(store, actions, now, journal.new_batch("redact", now))
    return len(derived) - len(rebuilt)


def _tell_again(store: Store, told: Sequence[JournalEntry]) -> None:
    """What forgetting took from the journal, but for what itself holds a secret: the memories are there again."""
    left = {entry.id: entry for entry in store.journal()}
    taken = [entry for entry in told if left.get(entry.id) != entry]
    store.log([e for e in taken if redacted_json([e.before, e.after]) == [e.before, e.after]])


def _warnings(work: _Work, drafts: Sequence[Draft], lost: int, failure: ThinkbackError | None) -> tuple[Notice, ...]:
    """Report vectors that could not be made again; a memory that had none has lost nothing."""
    bare = {draft.id for draft in drafts if draft.vector is None}
    unembedded = [id for id, versions in work.versions.items() if versions[-1].embedded and id in bare]
    if not unembedded:
        return ()
    which = ", ".join(unembedded[:_MOST_NAMED]) + (" …" if len(unembedded) > _MOST_NAMED else "")
    why = failure.message if failure else "this memory was opened without an embedder"
    bare_now = f"redacted, but stored without vectors ({which}), found by keyword: {why}"
    told = [Notice("redacted_without_vectors", bare_now, Remedy(Remedial.EMBED_MISSING))]
    if lost:
        gone = f"reflections removed with those vectors: {lost}"
        told.append(Notice("reflections_removed", gone, Remedy(Remedial.REFLECT)))
    return tuple(told)


def _renamed_thread(record: StoredRecord, threads: Mapping[str, str]) -> StoredRecord:
    new = threads.get(record.thread or "")
    return record if new is None else replace(record, thread=new)


def _clean(record: StoredRecord) -> StoredRecord:
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


def _edges(store: Store, ids: Sequence[str]) -> list[StoredEdge]:
    """Every link of these memories, closed and future ones too."""
    mine = set(ids)
    return [edge for edge in store.export_edges() if edge.from_id in mine or edge.to_id in mine]
