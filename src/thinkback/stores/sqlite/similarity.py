"""Vector search over the mirror, and over versions that only the file still has."""

from collections.abc import Sequence

import apsw
import numpy as np

from thinkback.model import Filter, Scored, Vector
from thinkback.stores.sqlite.catalogue import Catalogue, versions
from thinkback.stores.sqlite.generations import unit_rows
from thinkback.stores.sqlite.matrix import Matrix, cosines, read_vectors
from thinkback.stores.sqlite.rows import listed


def search(
    connection: apsw.Connection, catalogue: Catalogue, matrix: Matrix, vector: Vector, filter: Filter, limit: int
) -> list[Scored]:
    """The nearest memories, best first, ties by id."""
    query = unit_rows([vector], matrix.generation.space.dimensions)[0]
    if filter.known_at is None:
        passing, elsewhere = catalogue.mask(filter, connection), []
    else:
        wanted = versions(connection, filter)
        places, here = catalogue.find(wanted)
        passing = np.zeros(catalogue.size, dtype=np.bool_)
        passing[places[here]] = True
        elsewhere = wanted[~here].tolist()
    rows, scores = matrix.nearest(query, passing, limit)
    hits = [Scored(catalogue.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
    if elsewhere:
        hits += _retired(connection, matrix, query, elsewhere)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _retired(connection: apsw.Connection, matrix: Matrix, query: Vector, seqs: Sequence[int]) -> list[Scored]:
    found, rows = read_vectors(connection, seqs, matrix.generation)
    sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
    ids = dict(connection.execute(sql, (listed(found.tolist()),)))
    return [Scored(ids[seq], score) for seq, score in zip(found.tolist(), cosines(rows, query).tolist(), strict=True)]
