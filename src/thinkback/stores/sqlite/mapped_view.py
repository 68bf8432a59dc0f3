"""Views of mapped segments: read from their files, or made from an older view whose segments lost some rows.

Both ways lead to the same view. Reading it takes longer the larger the store is: columns of all segments are joined, words counted
and threads sorted. After a forgetting that is not needed: the rows behind a forgotten one move up, and what was counted is carried
over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.stores.index.blocks import Blocks
from thinkback.stores.index.codes import Block
from thinkback.stores.index.folder import Arrays, Entry, Manifest, Unusable
from thinkback.stores.index.graphs import Graph
from thinkback.stores.index.postings import MappedPostings
from thinkback.stores.sqlite import carried, generations
from thinkback.stores.sqlite import impact as impacts
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.columns import COLUMNS, NUMBERED, Columns, Ids, joined
from thinkback.stores.sqlite.generations import STORED
from thinkback.stores.sqlite.impact import Impact
from thinkback.stores.sqlite.index_cache import Mapped, View
from thinkback.stores.sqlite.kept_vectors import KeptVectors
from thinkback.stores.sqlite.segments import Segment
from thinkback.stores.sqlite.vector_search import Matrix, Questions

Rows = NDArray[np.intp]
_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)


def opened(manifest: Manifest, found: Sequence[Arrays], live: generations.Generation | None) -> View:
    """The view of the segments of a manifest."""
    catalogue = _catalogue(manifest.changes, found)
    firsts = np.cumsum([0, *(len(arrays["seqs"]) for arrays in found)]).tolist()
    parts = tuple(_postings(first, arrays) for first, arrays in zip(firsts, found, strict=False))
    lengths = joined([arrays["lengths"] for arrays in found], np.int64)
    matrix = None
    if live is not None and live.number == manifest.generation:
        matrix = _matrix(live, found)
    return View(catalogue, matrix, impacts.measured(parts, lengths, catalogue), Mapped(manifest.segments))


def _catalogue(changes: int, found: Sequence[Arrays]) -> Catalogue:
    if not all(arrays.keys() >= {name for name, _ in COLUMNS} for arrays in found):
        raise Unusable("a segment lacks a column")
    seqs = joined([arrays["seqs"] for arrays in found], np.int64)
    ids = Ids([(arrays["ids"], arrays["id_ends"]) for arrays in found])
    alive, mentions = np.ones(len(seqs), dtype=np.bool_), joined([arrays["mentions"] for arrays in found], np.uint8)
    return Catalogue(changes, len(seqs), ids, seqs, alive, 0, Columns(found), mentions)


def _postings(first: int, arrays: Arrays) -> MappedPostings:
    names = ("hashes", "spelled", "spelled_ends", "ends", "rows", "frequencies")
    return MappedPostings(first, len(arrays["seqs"]), *(arrays[name] for name in names))


def _matrix(live: generations.Generation, found: Sequence[Arrays]) -> Matrix:
    coded = joined([arrays["coded"] for arrays in found], np.bool_)
    return Matrix(
        live,
        filled=coded,
        own=np.zeros(0, dtype=np.intp),
        vectors=np.zeros((0, live.space.dimensions), dtype=STORED),
        held=0,
        blocks=Blocks([Block.of(arrays) for arrays in found]),
        coded=coded,
        kept=KeptVectors(len(coded), live.space.dimensions),
    )


# -- from an older view ----------------------------------------------------------------------------------------------------------


def without(view: View, after: Sequence[Entry], held: Mapping[str, Arrays], files: frozenset[str]) -> View | None:
    """A view without the rows that its segments lost: `after` has for each of them what it is now.

    `held` are the arrays of those that are left, `files` the names of all files that may be mapped. None if the view has a part
    that is not made of these segments.
    """
    gone = _gone(view, after, held)
    left = [entry for entry in after if entry.rows]
    matrix = None if view.matrix is None else _matrix_without(view.matrix, view.mapped, gone, after, held, files)
    segments = None if view.impact is None else _segments_without(view.impact, view.mapped, gone, after, held)
    if (matrix is None) != (view.matrix is None) or (segments is None) != (view.impact is None):
        return None
    catalogue = _catalogue_without(view.catalogue, gone, [held[entry.file] for entry in left])
    impact = None
    if view.impact is not None and segments is not None:
        impact = _impact_without(view.impact, segments, catalogue, gone, view.catalogue.alive)
    dirty = _moved(np.array(sorted(view.mapped.dirty), dtype=np.intp), gone)
    return View(catalogue, matrix, impact, Mapped(tuple(left), frozenset(dirty.tolist())))


def _gone(view: View, after: Sequence[Entry], held: Mapping[str, Arrays]) -> Rows:
    """The rows of a view that its segments lost, in order."""
    found, seqs = [_NO_ROWS], view.catalogue.seqs
    for (start, end), before, entry in zip(_bounds(view.mapped), view.mapped.entries, after, strict=True):
        if entry != before:
            kept = held[entry.file]["seqs"] if entry.rows else np.zeros(0, dtype=np.int64)
            found.append(start + np.flatnonzero(~np.isin(seqs[start:end], kept)))
            if end - start - len(found[-1]) != entry.rows:
                raise Unusable("a segment has other rows than before")
    return np.concatenate(found)


def _bounds(mapped: Mapped) -> Iterator[tuple[int, int]]:
    ends = np.cumsum([0, *(entry.rows for entry in mapped.entries)]).tolist()
    return pairwise(ends)


def _less(array: NDArray[Any], gone: Rows) -> NDArray[Any]:
    """An array by rows without the gone ones; copying what lies between them is faster than a mask over all."""
    starts, ends = [0, *(gone + 1).tolist()], [*gone.tolist(), len(array)]
    return np.concatenate([array[start:end] for start, end in zip(starts, ends, strict=True)])


def _moved(rows: Rows, gone: Rows) -> Rows:
    """The new numbers of those rows that are not gone; in the order in which they are given."""
    before = np.searchsorted(gone, rows)
    stays = before == np.searchsorted(gone, rows, side="right")
    moved: Rows = rows[stays] - before[stays]
    return moved


def _catalogue_without(old: Catalogue, gone: Rows, segments: Sequence[Arrays]) -> Catalogue:
    if isinstance(old.columns, Columns):
        columns: dict[str, NDArray[Any]] = old.columns.over(segments)
    else:
        columns = {name: _less(column[: old.size], gone) for name, column in old.columns.items()}
    living = gone[old.alive[gone]]
    return replace(
        old,
        size=old.size - len(gone),
        ids=old.ids.over([(arrays["ids"], arrays["id_ends"]) for arrays in segments]),
        seqs=_less(old.seqs[: old.size], gone),
        alive=_less(old.alive, gone),
        dead=old.dead - (len(gone) - len(living)),
        columns=columns,
        mentions=_less(old.mentions, gone),
        masks={},
        lasting={},
        rows_kept={name: _moved(rows, gone) for name, rows in old.rows_kept.items()},
        counts=carried.counts(old.counts, NUMBERED, carried.Step(old.columns, old.columns, living, _NO_ROWS)),
        facts={},
        lines_kept={},
        counted_masks={},
        threads=old.threads.without(gone),
    )


def _segments_without(
    old: Impact, mapped: Mapped, gone: Rows, after: Sequence[Entry], held: Mapping[str, Arrays]
) -> tuple[Segment | MappedPostings, ...] | None:
    """Postings in the order of their rows; None if those of mapped rows were read from the file."""
    count = len(mapped.entries)
    if not all(isinstance(part, MappedPostings) == (n < count) for n, part in enumerate(old.segments)):
        return None
    found: list[Segment | MappedPostings] = []
    first = 0
    for part, before, entry in zip(old.segments, mapped.entries, after, strict=False):
        if entry.rows:
            if isinstance(part, MappedPostings) and entry == before:
                found.append(replace(part, first=first))
            else:
                found.append(_postings(first, held[entry.file]))
            first += entry.rows
    later = (part for part in old.segments[count:] if isinstance(part, Segment))
    return (*found, *(replace(part, rows=part.rows - np.int32(len(gone))) for part in later))


def _impact_without(
    old: Impact,
    segments: tuple[Segment | MappedPostings, ...],
    catalogue: Catalogue,
    gone: Rows,
    alive: NDArray[np.bool_],
) -> Impact:
    lengths = _less(old.lengths[: old.size], gone)
    words = old.words - int(old.lengths[gone[alive[gone]]].sum())
    return Impact(segments, lengths, catalogue.size, words, impacts.living(catalogue), old.shortest, old.stemmed)


def _matrix_without(
    old: Matrix, mapped: Mapped, gone: Rows, after: Sequence[Entry], held: Mapping[str, Arrays], files: frozenset[str]
) -> Matrix | None:
    """None if a gone row, or one of a segment, has its vector in memory only."""
    own = old.own[: old.held]
    if old.coded is None or old.kept is None or len(old.blocks) != mapped.rows or np.isin(own, gone).any():
        return None
    blocks = [
        block if entry == before else Block.of(held[entry.file])
        for block, before, entry in zip(old.blocks, mapped.entries, after, strict=True)
        if entry.rows
    ]
    made = Blocks(blocks)
    return replace(
        old,
        filled=_less(old.filled, gone),
        own=_moved(own, gone),
        blocks=made,
        coded=_less(old.coded, gone),
        kept=KeptVectors(len(made), old.generation.space.dimensions),
        questions=Questions(),
        graphs=tuple(_graph_moved(graph, gone) for graph in old.graphs if graph.name in files),
        chosen={},
    )


def _graph_moved(graph: Graph, gone: Rows) -> Graph:
    """No row of a graph is gone, else it is not there any more."""
    by = int(np.searchsorted(gone, graph.first))
    return replace(graph, first=graph.first - by, end=graph.end - by) if by else graph
