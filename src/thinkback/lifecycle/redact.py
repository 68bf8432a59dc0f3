"""Redaction: remove secrets from every version of a memory.

A memory with a secret is forgotten and written again without it, under its id, with its history, links and judgements, in one
transaction; so no index keeps the secret. If its text changed, it is embedded again; if that fails, it is stored without a vector,
because the old vector was made from the secret, and a warning says so.

A thread or link kind with a secret is renamed, in the same way for all its members, so that threads are neither split nor merged.
Ids are never changed, because others refer to them; a warning lists ids with a secret.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, count

from thinkback.errors import Action as Remedial
from thinkback.errors import Notice, Remedy, ThinkbackError
from thinkback.lifecycle import journal
from thinkback.lifecycle.audit import IN_ID, held_secrets
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.lifecycle.reflect.rebuild import derived_from, rebuild
from thinkback.lifecycle.result import Result
from thinkback.lifecycle.secrets.detect import redacted, redacted_json, secrets_in_name
from thinkback.model import Draft, StoredEdge, StoredEntry, StoredJudgement, StoredRecord
from thinkback.reflections import members
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.values import dataclass

Fill = Callable[[Sequence[Draft]], tuple[list[Draft], EmbeddingSpace | None, ThinkbackError | None]]
_MAX_NAMED = 5
_DRAFT_FIELDS = [field.name for field in fields(Draft) if field.name not in ("vector", "passages")]


@dataclass(frozen=True, slots=True, repr=False)
class Redacted(Result):
    """The memories that were rewritten, and whether the files were cleared of the secrets."""

    ids: tuple[str, ...]
    log_cleared: bool = True
    warnings: tuple[Notice, ...] = ()


def redact(store: Store, ids: Sequence[str] | None, now: int, fill: Fill) -> Redacted:
    """Remove likely secrets from these memories, or from all; memories without any are not changed."""
    while True:
        work = _look(store, ids)
        if not work.versions:
            return Redacted((), warnings=_warn_of_ids(store, ids))
        drafts, space, failure = fill(_drafts(store, work))
        with store.transaction():
            # Embedding takes a while: start again if any of these memories changed in the meantime.
            if _look(store, ids if ids is not None else list(work.versions)) == work:
                lost = _rewrite(store, work, drafts, space, now)
                break
    return Redacted(
        tuple(work.versions), store.scrub(), (*_warnings(work, drafts, lost, failure), *_warn_of_ids(store, ids))
    )


@dataclass(frozen=True, slots=True)
class _Work:
    versions: Mapping[str, Sequence[StoredRecord]]  # of the memories with a secret, as stored
    clean: Mapping[str, Sequence[StoredRecord]]  # and as they will be
    judged: Sequence[StoredJudgement]
    kinds: Mapping[str, str]  # of links, with their new names
    space: EmbeddingSpace | None  # of the vectors that are kept


def _look(store: Store, ids: Sequence[str] | None) -> _Work:
    space = store.embedding_space()
    chosen = list(ids) if ids is not None else list(dict.fromkeys(f.id for f in held_secrets(store)))
    threads, beside = _threads(store, chosen)
    kinds, linked = _kinds(store, chosen)
    everybody = dict.fromkeys((*chosen, *beside, *(id for ends in linked for id in ends)))
    before = {id: versions for id in everybody if (versions := store.history(id)) and not members(versions[-1])}
    mine = set(chosen)  # in the others, only the shared names change
    after = {
        id: [_renamed_thread(_clean(record) if id in mine else record, threads) for record in versions]
        for id, versions in before.items()
    }
    judged = store.judgements()
    unclean = {j.memory_id for j in judged if j.memory_id in mine and redacted(j.query) != j.query}
    unclean |= {
        id for ends in linked for id in [id for id in ends if id in before][:1]
    }  # rewriting one end rewrites its links
    dirty = [id for id in before if id in unclean or after[id] != before[id]]
    judged = [judgement for judgement in judged if judgement.memory_id in dirty]
    return _Work({id: before[id] for id in dirty}, {id: after[id] for id in dirty}, judged, kinds, space)


def _threads(store: Store, ids: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """New names for these memories' threads that contain a secret, and all memories in such a thread."""
    held = {record.thread for id in ids for record in store.history(id) if record.thread}
    unclean = {thread for thread in held if secrets_in_name(thread)}
    if not unclean:
        return {}, set()
    there = {(record.id, record.thread) for record in store.export_records() if record.thread}
    return _renamed(unclean, (thread for _, thread in there)), {id for id, thread in there if thread in unclean}


def _kinds(store: Store, ids: Sequence[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """New names for these memories' link kinds that contain a secret, and the ends of all such links."""
    mine, edges = set(ids), list(store.export_edges())
    held = {edge.kind for edge in edges if edge.from_id in mine or edge.to_id in mine}
    kinds = _renamed({kind for kind in held if secrets_in_name(kind)}, (edge.kind for edge in edges))
    return kinds, [(edge.from_id, edge.to_id) for edge in edges if edge.kind in kinds]


def _renamed(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names without their secrets, all different: a name that is taken gets a number."""
    new: dict[str, str] = {}
    used = set(taken)
    for name in sorted(names):
        clean = redacted(name, secrets_in_name)
        numbered = (f"{clean} {number}" for number in count(2))
        new[name] = next(one for one in chain((clean,), numbered) if one not in used)
        used.add(new[name])
    return new


def _warn_of_ids(store: Store, ids: Sequence[str] | None) -> tuple[Notice, ...]:
    """A warning about ids that contain a likely secret."""
    named = ids if ids is not None else dict.fromkeys(record.id for record in store.export_records())
    held = [secret for id in named for secret in secrets_in_name(id)]
    hints = ", ".join(secret.hint for secret in held[:_MAX_NAMED]) + (" …" if len(held) > _MAX_NAMED else "")
    message = f"likely secrets in ids remain ({hints}): {IN_ID}"
    return (Notice("secrets_in_ids", message, Remedy(Remedial.AUDIT)),) if held else ()


def _rewrite(store: Store, work: _Work, drafts: Sequence[Draft], space: EmbeddingSpace | None, now: int) -> int:
    """Write the memories again; returns the number of reflections that could not be rebuilt."""
    dirty = list(work.versions)
    edges = _edges(store, dirty)
    derived = derived_from(store, dirty, now)
    gone = {record.id for record in derived}
    entries, promoted = store.journal(), store.setting(RAISED)
    store.forget([*dirty, *gone])
    store.add(drafts, now, space)
    store.restore_versions([record for versions in work.clean.values() for record in versions[:-1]])
    kept = [edge for edge in edges if not {edge.from_id, edge.to_id} & gone]
    store.link([replace(edge, kind=work.kinds.get(edge.kind, edge.kind)) for edge in kept], now)
    store.judge([replace(j, query=redacted(j.query)) for j in work.judged])
    rebuilt = rebuild(store, derived, now)
    _restore_journal(store, entries)
    store.set_setting(RAISED, promoted)
    actions = [Action("redact", id, {}, {"redacted": True}) for id in dirty]
    journal.log(store, actions, now, journal.new_batch("redact", now))
    return len(derived) - len(rebuilt)


def _restore_journal(store: Store, before: Sequence[StoredEntry]) -> None:
    """Write back the journal entries that the forgetting removed, except those that contain a secret."""
    left = {entry.id: entry for entry in store.journal()}
    taken = [entry for entry in before if left.get(entry.id) != entry]
    store.log([e for e in taken if redacted_json([e.before, e.after]) == [e.before, e.after]])


def _warnings(work: _Work, drafts: Sequence[Draft], lost: int, failure: ThinkbackError | None) -> tuple[Notice, ...]:
    """Memories that lost their vector, and reflections removed for that reason."""
    bare = {draft.id for draft in drafts if draft.vector is None}
    unembedded = [id for id, versions in work.versions.items() if versions[-1].embedded and id in bare]
    if not unembedded:
        return ()
    which = ", ".join(unembedded[:_MAX_NAMED]) + (" …" if len(unembedded) > _MAX_NAMED else "")
    why = failure.message if failure else "this memory was opened without an embedder"
    message = f"redacted, but stored without vectors ({which}), found by keyword: {why}"
    warnings = [Notice("redacted_without_vectors", message, Remedy(Remedial.EMBED_MISSING))]
    if lost:
        message = f"reflections removed with those vectors: {lost}"
        warnings.append(Notice("reflections_removed", message, Remedy(Remedial.REFLECT)))
    return tuple(warnings)


def _renamed_thread(record: StoredRecord, threads: Mapping[str, str]) -> StoredRecord:
    new = threads.get(record.thread or "")
    return record if new is None else replace(record, thread=new)


def _clean(record: StoredRecord) -> StoredRecord:
    return replace(
        record,
        text=redacted(record.text),
        essence=None if record.essence is None else redacted(record.essence),
        speaker=None if record.speaker is None else redacted(record.speaker),
        source=None if record.source is None else redacted(record.source),
        tags=tuple(dict.fromkeys(redacted(tag) for tag in record.tags)),
        metadata=redacted_json(record.metadata),
    )


def _drafts(store: Store, work: _Work) -> list[Draft]:
    """The redacted current versions; an unchanged text keeps its vector."""
    unchanged = [id for id, versions in work.versions.items() if versions[-1].text == work.clean[id][-1].text]
    vectors, passages = store.vectors(unchanged), store.passages(unchanged)
    return [
        Draft(
            **{name: getattr(versions[-1], name) for name in _DRAFT_FIELDS},
            vector=vectors.get(id),
            passages=passages.get(id),
        )
        for id, versions in work.clean.items()
    ]


def _edges(store: Store, ids: Sequence[str]) -> list[StoredEdge]:
    """Every link of these memories, past and future ones included."""
    mine = set(ids)
    return [edge for edge in store.export_edges() if edge.from_id in mine or edge.to_id in mine]
