"""What a consolidation looks at: every memory that can be found and speaks for itself."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recollect.model import REFLECTION, Edge, Filter, Record, Vector
from recollect.pipeline import members
from recollect.reflect.model import NEAREST
from recollect.reflect.themes import identity
from recollect.stores.base import Store

SEEN = "reflect.seen"  # the setting that says which memories were compared
CORROBORATES = "corroborates"  # the kind of the edge from a memory to the older one it repeats
_PAGE = 5000


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """One look at a store; rows of `matrix` and entries of `ids` are in order of id.

    A memory that only repeats another one speaks through it, as a corroboration, and is no observation of its own.
    """

    speaking: Mapping[str, Record]  # with or without a vector
    ids: tuple[str, ...]
    records: Mapping[str, Record]  # those with a vector: only these can be linked
    matrix: Vector
    corroborations: Counter[str]
    links: Mapping[str, Edge]  # by the memory they start from
    stray: tuple[Edge, ...]  # links of what is no observation any more, or beside a nearer one
    reflections: Mapping[str, Record]  # written by a consolidation, archived ones too
    token: str | None  # what `reflect.seen` held before anything else was read: links are never older than it


def observe(store: Store, now: int) -> Observations:
    """Reads a store.

    Another process may write meanwhile. The token is read first, so that whoever writes by what was seen here finds another one.
    """
    token = store.setting(SEEN)
    nearest: list[Edge] = []
    repeated: list[Edge] = []
    for edge in store.export_edges():
        if edge.kind == NEAREST:
            nearest.append(edge)
        elif edge.kind == CORROBORATES:
            repeated.append(edge)
    found = {r.id: r for r in pages(store, Filter(now=now, without_kinds=(REFLECTION,)))}
    repeating = {edge.from_id for edge in repeated if edge.to_id in found}
    speaking = {id: found[id] for id in sorted(found) if id not in repeating}
    records = {id: record for id, record in speaking.items() if record.embedded}
    ids, matrix = _vectors(store, list(records))
    there = set(ids)
    nearest.sort(key=lambda edge: edge.weight)  # of two links from one memory the nearer one stays
    links = {edge.from_id: edge for edge in nearest if edge.from_id in there}
    return Observations(
        speaking=speaking,
        ids=ids,
        records=records,
        matrix=matrix,
        corroborations=Counter(edge.to_id for edge in repeated),
        links=links,
        stray=tuple(edge for edge in nearest if links.get(edge.from_id) is not edge),
        reflections={r.id: r for r in pages(store, _reflections(now)) if r.id == identity(members(r))},
        token=token,
    )


def pages(store: Store, filter: Filter) -> Iterator[Record]:
    """Every memory that passes, newest first."""
    page = store.list(filter, _PAGE)
    while page:
        yield from page
        page = store.list(filter, _PAGE, page[-1].id) if len(page) == _PAGE else []


def keywords(record: Record) -> tuple[str, ...]:
    """The keywords of a reflection."""
    return tuple(json.loads(record.text).get("keywords", ()))


def _reflections(now: int) -> Filter:
    return Filter(now=now, kinds=(REFLECTION,), everything=True)


def _vectors(store: Store, ids: list[str]) -> tuple[tuple[str, ...], Vector]:
    blocks: list[Vector] = []
    there: list[str] = []
    for start in range(0, len(ids), _PAGE):
        found = store.vectors(ids[start : start + _PAGE])
        here = [id for id in ids[start : start + _PAGE] if id in found]
        if here:
            blocks.append(np.stack([found[id] for id in here]).astype(np.float32, copy=False))
            there += here
    return tuple(there), np.concatenate(blocks) if blocks else np.zeros((0, 1), dtype=np.float32)
