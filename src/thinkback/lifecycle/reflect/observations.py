"""What a consolidation looks at: every memory that can be found and speaks for itself."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.lifecycle.reflect.themes import THEME, identity
from thinkback.model import CORROBORATES, NEAREST, REFLECTION, Filter, StoredEdge, StoredRecord, Vector
from thinkback.reflections import members
from thinkback.stores.base import EmbeddingSpace, Store

SEEN = "reflect.seen"  # the setting that says which memories were compared


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """One look at a store; rows of `matrix` and entries of `ids` are in order of id.

    A memory that only repeats another one speaks through it, as a corroboration, and is no observation of its own.
    """

    speaking: Mapping[str, StoredRecord]  # with or without a vector
    ids: tuple[str, ...]
    records: Mapping[str, StoredRecord]  # those with a vector: only these can be linked
    matrix: Vector
    corroborations: Counter[str]
    links: Mapping[str, StoredEdge]  # by the memory they start from
    stray: tuple[StoredEdge, ...]  # links of what is no observation any more, or beside a nearer one
    reflections: Mapping[str, StoredRecord]  # written by a consolidation, archived ones too
    rewritten: Collection[str]  # ids of such reflections that somebody has made something else of
    space: EmbeddingSpace | None
    raised: Collection[str]  # who stands at P1 by promotion
    token: str | None  # what `reflect.seen` held

    def overtaken(self, store: Store, token: str | None) -> bool:
        """Whether another process has linked or embedded anew since; asked where nobody can, inside a transaction."""
        return store.setting(SEEN) != token or store.embedding_space() != self.space


def observe(store: Store, now: int) -> Observations:
    """Reads a store as of one moment, whoever writes meanwhile."""
    present = Filter(now=now, without_kinds=(REFLECTION,))
    found: dict[str, StoredRecord] = {}
    vectors: dict[str, Vector] = {}
    reflections: dict[str, StoredRecord] = {}
    rewritten: set[str] = set()
    with store.snapshot(vectors=True) as all_there_is:
        for record, vector in all_there_is.records:
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
    nearest = [edge for edge in all_there_is.edges if edge.kind == NEAREST]
    repeated = [edge for edge in all_there_is.edges if edge.kind == CORROBORATES]
    repeating = {edge.from_id for edge in repeated if edge.to_id in found}
    speaking = {id: found[id] for id in sorted(found) if id not in repeating}
    records = {id: record for id, record in speaking.items() if id in vectors}
    nearest.sort(key=lambda edge: edge.weight)  # of two links from one memory the nearer one stays
    links = {edge.from_id: edge for edge in nearest if edge.from_id in records}
    return Observations(
        speaking=speaking,
        ids=tuple(records),
        records=records,
        matrix=np.stack([vectors[id] for id in records]) if records else np.zeros((0, 1), dtype=np.float32),
        corroborations=Counter(edge.to_id for edge in repeated),
        links=links,
        stray=tuple(edge for edge in nearest if links.get(edge.from_id) is not edge),
        reflections=reflections,
        rewritten=frozenset(rewritten),
        space=all_there_is.space,
        raised=json.loads(all_there_is.settings.get(RAISED, "{}")),
        token=all_there_is.settings.get(SEEN),
    )


def pages(store: Store, filter: Filter) -> Iterator[StoredRecord]:
    """Every memory that passes, newest first, as of one moment."""
    yield from store.list(filter, None)
