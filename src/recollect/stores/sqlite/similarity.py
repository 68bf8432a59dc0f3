"""Vector search over the mirror, and over versions that only the file still has."""

from collections.abc import Sequence

import apsw
import numpy as np

from recollect.model import Filter, Scored, Vector
from recollect.stores.sqlite.catalogue import Catalogue, seqs
from recollect.stores.sqlite.matrix import Matrix, cosines, read_vectors
from recollect.stores.sqlite.rows import listed
from recollect.stores.sqlite.vectors import unit_rows


def search(
    connection: apsw.Connection, catalogue: Catalogue, matrix: Matrix, vector: Vector, filter: Filter, limit: int
) -> list[Scored]:
    """The nearest memories, best first, ties by id."""
    query = unit_rows([vector], matrix.generation.space.dimensions)[0]
    if filter.known_at is None:
        passing, retired = catalogue.mask(filter, connection), []
    else:
        versions = seqs(connection, filter)
        passing = np.zeros(catalogue.size, dtype=np.bool_)
        passing[catalogue.rows(versions)] = True
        retired = [seq for seq in versions if seq not in catalogue.row_of]
    rows, scores = matrix.nearest(query, passing, limit)
    hits = [Scored(catalogue.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
    if retired:
        hits += _retired(connection, matrix, query, retired)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _retired(connection: apsw.Connection, matrix: Matrix, query: Vector, versions: Sequence[int]) -> list[Scored]:
    found, rows = read_vectors(connection, versions, matrix.generation)
    sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
    ids = dict(connection.execute(sql, (listed(found),)))
    return [Scored(ids[seq], score) for seq, score in zip(found, cosines(rows, query).tolist(), strict=True)]
