"""The input of a consolidation: every visible memory that does not merely repeat another."""

import json
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.lifecycle.reflect.themes import THEME, identity
from thinkback.model import CORROBORATES, NEAREST, REFLECTION, Filter, StoredEdge, StoredRecord, Vector
from thinkback.reflections import members
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.values import dataclass

SEEN = "reflect.seen"  # setting: which memories were compared


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """One snapshot of a store; `ids` and the rows of `matrix` are in order of id.

    A memory that repeats another counts as a corroboration of it, not as an observation.
    """

    everyone: Mapping[str, StoredRecord]  # with or without a vector
    ids: tuple[str, ...]
    records: Mapping[str, StoredRecord]  # those with a vector; only these can be linked
    matrix: Vector
    corroborations: Counter[str]
    links: Mapping[str, StoredEdge]  # by the memory they start from
    stray: tuple[StoredEdge, ...]  # links to remove: from former observations, or second ones
    reflections: Mapping[str, StoredRecord]  # written by a consolidation, archived ones too
    rewritten: Collection[str]  # ids of such reflections that a user has changed
    space: EmbeddingSpace | None
    raised: Collection[str]  # promoted memories
    token: str | None  # the value of `reflect.seen`

    def overtaken(self, store: Store, token: str | None) -> bool:
        """Whether another process wrote links or re-embedded the store since; ask inside a transaction."""
        return store.setting(SEEN) != token or store.embedding_space() != self.space


def observe(store: Store, now: int) -> Observations:
    """Read a snapshot of the store."""
    present = Filter(now=now, without_kinds=(REFLECTION,))
    found: dict[str, StoredRecord] = {}
    vectors: dict[str, Vector] = {}
    reflections: dict[str, StoredRecord] = {}
    rewritten: set[str] = set()
    with store.snapshot(vectors=True) as snapshot:
        for record, vector, _ in snapshot.records:
            if record.retired_at is not None:
                continue
            if (its := members(record)) and record.id == identity(its):
                reflections[record.id] = record
                continue
            if record.id.startswith(THEME):
                rewritten.add(record.id)
            if present.rejects(record) is None:
                found[record.id] = record
                if vector is not None:
                    vectors[record.id] = vector
    nearest = [edge for edge in snapshot.edges if edge.kind == NEAREST]
    repeated = [edge for edge in snapshot.edges if edge.kind == CORROBORATES]
    repeating = {edge.from_id for edge in repeated if edge.to_id in found}
    everyone = {id: found[id] for id in sorted(found) if id not in repeating}
    records = {id: record for id, record in everyone.items() if id in vectors}
    nearest.sort(key=lambda edge: edge.weight)  # of two links from one memory, the nearer one wins
    links = {edge.from_id: edge for edge in nearest if edge.from_id in records}
    return Observations(
        everyone=everyone,
        ids=tuple(records),
        records=records,
        matrix=np.stack([vectors[id] for id in records]) if records else np.zeros((0, 1), dtype=np.float32),
        corroborations=Counter(edge.to_id for edge in repeated),
        links=links,
        stray=tuple(edge for edge in nearest if links.get(edge.from_id) is not edge),
        reflections=reflections,
        rewritten=frozenset(rewritten),
        space=snapshot.space,
        raised=json.loads(snapshot.settings.get(RAISED, "{}")),
        token=snapshot.settings.get(SEEN),
    )
