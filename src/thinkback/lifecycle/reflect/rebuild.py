"""Rebuild reflections from the members that are left after a forgetting, and their vectors after a change of embedder."""

from collections.abc import Mapping, Sequence

import numpy as np

from thinkback.lifecycle.reflect import themes
from thinkback.lifecycle.reflect.model import PUBLISHED, Theme
from thinkback.lifecycle.reflect.phrases import Lexicon, key_phrases
from thinkback.lifecycle.reflect.plan import SAME
from thinkback.model import CONSOLIDATED, REFLECTION, Draft, Filter, StoredEdge, StoredRecord
from thinkback.reflections import members
from thinkback.stores.base import Store


def derived_from(store: Store, ids: Sequence[str], now: int) -> list[StoredRecord]:
    """The reflections made from any of these memories."""
    edges = store.edges(ids, Filter(now=now, everything=True), None, sequence=False)
    found = {e.from_id for id, its in edges.items() for e in its if e.kind == CONSOLIDATED and e.to_id == id}
    return [record for record in store.get(sorted(found - set(ids))).values() if record.kind == REFLECTION]


def rebuild(store: Store, old: Sequence[StoredRecord], now: int) -> list[str]:
    """Write reflections again from the members that are left, where these still form a theme.

    Runs inside the caller's transaction, after the old reflections are removed.
    """
    left = {record.id: members(record) for record in old}
    records = store.get(sorted({id for its in left.values() for id in its}))
    vectors = store.vectors(list(records))
    drafts: dict[str, Draft] = {}
    for reflection in old:
        its = sorted(id for id in left[reflection.id] if id in vectors)
        theme = _theme(its, records)
        matrix = np.stack([vectors[id] for id in its]) if its else np.zeros((0, 1), dtype=np.float32)
        if theme is not None and themes.refusal([records[id] for id in its], matrix, PUBLISHED) is None:
            drafts[theme.id] = themes.draft(theme, records, themes.centre(matrix))
    there = store.get(list(drafts))
    fresh = [draft for id, draft in drafts.items() if id not in there]
    written = store.add(fresh, now, store.embedding_space())
    edges = [
        StoredEdge(from_id=record.id, to_id=id, kind=CONSOLIDATED, created_at=now)
        for record in written
        for id in members(record)
    ]
    if edges:
        store.link(edges, now)
    return [record.id for record in written]


def renew(store: Store, now: int) -> list[str]:
    """Set the vector of every reflection to the mean of its members'; for use after re-embedding. Returns what changed."""
    reflections = store.list(Filter(now=now, kinds=(REFLECTION,), everything=True), None)
    return [reflection.id for reflection in reflections if _renewed(store, reflection.id, now)]


def _renewed(store: Store, id: str, now: int) -> bool:
    """One transaction per reflection, so that others can write in between; it may have been forgotten by then."""
    with store.transaction():
        its = [one for reflection in store.get([id]).values() for one in members(reflection)]
        found = store.vectors([id, *its])
        vectors = [found[one] for one in its if one in found]
        if not vectors:
            return False
        centre = themes.centre(np.stack(vectors))
        if id in found and np.abs(found[id] - centre).max() <= SAME:
            return False
        store.update(id, {}, now, centre, store.embedding_space())
    return True


def _theme(its: Sequence[str], records: Mapping[str, StoredRecord]) -> Theme | None:
    """The theme of these members, with key phrases from their texts alone; the next consolidation uses the whole store."""
    if len(its) < PUBLISHED.smallest:
        return None
    lexicon = Lexicon.of((id, records[id].text) for id in its)
    phrases = key_phrases(lexicon, [its], PUBLISHED.keywords)[0]
    return Theme(themes.identity(its), tuple(its), phrases, 0.0) if phrases else None
