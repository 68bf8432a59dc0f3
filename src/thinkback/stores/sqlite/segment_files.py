"""From a view to the segments of the index."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.mentions import mentions
from thinkback.model import Vector
from thinkback.stores.index import codes, postings
from thinkback.stores.index.codes import Block
from thinkback.stores.index.folder import Arrays, Entry, Folder, Unusable
from thinkback.stores.index.postings import MappedPostings, Triples
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.columns import COLUMNS
from thinkback.stores.sqlite.generations import STORED, Generation
from thinkback.stores.sqlite.index_cache import View
from thinkback.stores.sqlite.matrices import BLOCK_ROWS
from thinkback.stores.sqlite.segments import Segment
from thinkback.stores.sqlite.stored_vectors import read_vectors
from thinkback.stores.sqlite.vector_search import Matrix

SEGMENT_ROWS = BLOCK_ROWS  # small enough to be written anew when one of them is forgotten
# A transaction of its own: the connection of a search is somebody else's when the search is over.
Reading = Callable[[], AbstractContextManager[apsw.Connection]]


def write(folder: Folder, view: View, live: Generation | None, read: Reading) -> tuple[Entry, ...]:
    """The segments that are still as they were, and new ones for all other rows, in the order of their rows."""
    entries: list[Entry] = []
    for entry, rows in _plan(view):
        if entry is not None:
            entries.append(entry)
            continue
        places = np.full(view.catalogue.size, -1, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        parts = postings.split([part.triples() for part in _overlapping(view, rows)], places, SEGMENT_ROWS)
        for at, held in zip(range(0, len(rows), SEGMENT_ROWS), parts, strict=True):
            some = rows[at : at + SEGMENT_ROWS]
            arrays = _arrays(view, some, held, read)
            entries.append(folder.write(arrays if live is None else arrays | _coded(view, some, live, read)))
    return tuple(entries)


def _plan(view: View) -> Iterator[tuple[Entry | None, NDArray[np.intp]]]:
    """Segments to keep, and rows to write: those of dirty segments, and of a small last one together with the new rows."""
    alive, start = view.catalogue.alive, 0
    for number, entry in enumerate(view.mapped.entries):
        end = start + entry.rows
        if number == len(view.mapped.entries) - 1 and entry.rows < SEGMENT_ROWS // 2:
            break
        clean = view.mapped.dirty.isdisjoint(range(start, end))
        rows = start + np.flatnonzero(alive[start:end])
        if len(rows):
            yield entry if clean else None, rows
        start = end
    rows = start + np.flatnonzero(alive[start:])
    if len(rows):
        yield None, rows


def _overlapping(view: View, rows: NDArray[np.intp]) -> list[Segment | MappedPostings]:
    segments = () if view.impact is None else view.impact.segments
    return [
        part
        for part in segments
        if not isinstance(part, MappedPostings) or (part.first <= rows[-1] and rows[0] < part.first + part.documents)
    ]


def _arrays(view: View, rows: NDArray[np.intp], parts: Sequence[Triples], read: Reading) -> dict[str, NDArray[Any]]:
    catalogue = view.catalogue
    found: dict[str, NDArray[Any]] = {name: catalogue.columns[name][rows] for name, _ in COLUMNS}
    found["seqs"] = catalogue.seqs[rows]
    found["mentions"] = _mentioned(catalogue, rows, read)
    found |= _spelled(catalogue.ids.encoded(rows))
    if view.impact is not None:
        found["lengths"] = view.impact.lengths[rows].astype(np.int32)
    return found | postings.pack(parts)


def _mentioned(catalogue: Catalogue, rows: NDArray[np.intp], read: Reading) -> NDArray[np.uint8]:
    """What the texts of rows mention; those that no segment knows are read, once, as the text of a version never changes."""
    found = catalogue.mentioned(rows)
    unknown = np.flatnonzero(found == 0)
    if not len(unknown):
        return found
    sql = "SELECT wanted.rowid - 1, m.text FROM carray(?) wanted CROSS JOIN memories m ON m.seq = wanted.value"
    with read() as connection:
        for place, text in connection.execute(sql, (apsw.carray(catalogue.seqs[rows[unknown]]),)):
            found[unknown[place]] = mentions(text)
    return found


def _spelled(ids: Sequence[bytes]) -> dict[str, NDArray[Any]]:
    ends = np.cumsum([len(id) for id in ids], dtype=np.uint32)
    return {"ids": np.frombuffer(b"".join(ids), dtype=np.uint8), "id_ends": ends}


def _coded(view: View, rows: NDArray[np.intp], live: Generation, read: Reading) -> dict[str, NDArray[Any]]:
    """Codes of rows, from the vectors in memory or, where they are not there, in the file."""
    if view.matrix is None:
        seqs = view.catalogue.seqs[rows]
        vectors, coded = np.zeros((len(rows), live.space.dimensions), dtype=STORED), np.zeros(len(rows), dtype=np.bool_)
        found, some = exact(seqs, live, read)
        places = np.searchsorted(seqs, found)
        vectors[places], coded[places] = some, True
        return codes.encode(vectors) | {"coded": coded}
    block = _block_of(view.matrix, rows)
    made = block.arrays() if block else codes.encode(_vectors(view.matrix, view.catalogue, rows, read))
    return made | {"coded": view.matrix.filled[rows]}


def _block_of(matrix: Matrix, rows: NDArray[np.intp]) -> Block | None:
    """The block that has the codes of just these rows."""
    if matrix.coded is None or not np.array_equal(matrix.coded[rows], matrix.filled[rows]):
        return None
    block = matrix.blocks.beginning_at(int(rows[0]))
    return block if block is not None and len(block) == len(rows) == rows[-1] - rows[0] + 1 else None


def _vectors(matrix: Matrix, catalogue: Catalogue, rows: NDArray[np.intp], read: Reading) -> Vector:
    """The vectors of rows, those that are coded already from the file; zeros where there is none."""
    place = np.full(len(matrix.filled), -1, dtype=np.int64)
    place[matrix.own[: matrix.held]] = np.arange(matrix.held)
    here = place[rows] >= 0
    if here.all():
        return _gathered(matrix.vectors, place[rows])
    vectors = np.zeros((len(rows), matrix.vectors.shape[1]), dtype=STORED)
    vectors[here] = matrix.vectors[place[rows[here]]]
    rest = matrix.filled[rows] & ~here
    if rest.any():
        seqs, found = exact(catalogue.seqs[rows[rest]], matrix.generation, read)
        if len(seqs) < rest.sum():
            raise Unusable("a vector was removed meanwhile")
        vectors[rest] = found  # both in the order of the version numbers
    return vectors


def _gathered(vectors: Vector, places: NDArray[np.int64]) -> Vector:
    """The vectors at these places; without a copy if they follow one another, as in a store that only grew."""
    if len(places) and (np.diff(places) == 1).all():
        return vectors[places[0] : places[-1] + 1]
    return vectors[places]


def only(arrays: Arrays, keep: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The arrays of a segment without the rows that are not kept."""
    by_row = ("seqs", "lengths", "mentions", *(name for name, _ in COLUMNS), *codes.BY_ROW, "coded")
    found: dict[str, NDArray[Any]] = {name: arrays[name][keep] for name in by_row if name in arrays}
    if "mean" in arrays:
        found["mean"] = arrays["mean"]
    found["ids"], found["id_ends"] = postings.only_texts(arrays["ids"], arrays["id_ends"], keep)
    return found | postings.only(arrays, keep)


def exact(seqs: NDArray[np.int64], generation: Generation, read: Reading) -> tuple[NDArray[np.int64], Vector]:
    """The versions among these that have a vector, and their vectors as rows, from the file."""
    with read() as connection:
        return read_vectors(connection, seqs.tolist(), generation)
