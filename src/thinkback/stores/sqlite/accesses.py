"""Access counts in two small tables, so that counting a recall does not rewrite the long rows of the memories.

`recent_accesses` holds the latest counts and fits into one page, which is all that an ordinary recall writes here. When it is full,
its rows are added to `accesses`, where hundreds of memories share a page. Both hold what was counted since a version was written;
`rows.SOURCE` and `rows.COLUMNS` add the three together whenever a record is read. Neither holds ids or text.
"""

from collections.abc import Mapping, Sequence

import apsw

from thinkback.model import Access
from thinkback.stores.sqlite import counters, rows

SETTLED, RECENT = "accesses", "recent_accesses"
MOST_RECENT = 384  # of at most 21 bytes each, in a page of 8192
ADDED = "ON CONFLICT (seq) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)"


def add(connection: apsw.Connection, accesses: Mapping[str, Access]) -> dict[str, tuple[int, int | None]]:
    """Add to access counts; this increments `touches`, not `changes`. Returns count and last access of each that is present."""
    sql = (
        f"SELECT m.id, m.seq, {rows.ACCESSES} FROM {rows.SOURCE} "
        "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NULL"
    )
    left: dict[str, tuple[int, int | None]] = {}
    new: list[tuple[int, int, int]] = []
    for id, seq, count, last in connection.execute(sql, (rows.listed(list(accesses)),)):
        access = accesses[id]
        left[id] = count + access.count, access.last if last is None else max(last, access.last)
        new.append((seq, access.count, access.last))
    # In order of the rows: of the settled table each page is looked up once.
    table = RECENT if len(new) <= MOST_RECENT else SETTLED
    connection.executemany(f"INSERT INTO {table} (seq, count, last) VALUES (?, ?, ?) {ADDED}", sorted(new))
    if connection.execute(f"SELECT count(*) FROM {RECENT}").get > MOST_RECENT:
        _settle(connection)
    counters.bump_touches(connection)
    return left


def _settle(connection: apsw.Connection) -> None:
    # `WHERE true`, or SQLite would take ON CONFLICT for a join.
    connection.execute(f"INSERT INTO {SETTLED} SELECT seq, count, last FROM {RECENT} WHERE true {ADDED}")
    connection.execute(f"DELETE FROM {RECENT}")


def drop(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Remove the counts of forgotten versions."""
    for table in (SETTLED, RECENT):
        connection.execute(f"DELETE FROM {table} WHERE seq IN (SELECT value FROM json_each(?))", (rows.listed(seqs),))
