"""The full-text rows of memories: what is put in, taken out and moved to history."""

from collections.abc import Iterable

import apsw

from recollect.model import Record
from recollect.query.keywords import segment

PRESENT, HISTORY = "fts", "fts_history"
COLUMNS = ("content", "essence", "tags")
WEIGHTS = (1.0, 1.0, 1.0)  # of the columns, in BM25


def indexed(record: Record) -> tuple[str, str, str]:
    """The three columns of a record's full-text row."""
    return columns(record.text, record.essence, record.tags)


def columns(text: str, essence: str | None, tags: Iterable[str]) -> tuple[str, str, str]:
    """Text, essence and tags as they are indexed."""
    return segment(text), segment(essence) if essence else "", segment(" ".join(tags))


def put(connection: apsw.Connection, rows: Iterable[tuple[int, Record]], table: str = PRESENT) -> None:
    """Indexes versions by their row number."""
    sql = f"INSERT INTO {table} (rowid, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?)"
    connection.executemany(sql, ((seq, *indexed(record)) for seq, record in rows))


def retire(connection: apsw.Connection, seq: int) -> None:
    """Moves a version's row from the present to history."""
    row = f"rowid, {', '.join(COLUMNS)}"
    connection.execute(f"INSERT INTO {HISTORY} ({row}) SELECT {row} FROM {PRESENT} WHERE rowid = ?", (seq,))
    connection.execute(f"DELETE FROM {PRESENT} WHERE rowid = ?", (seq,))


def drop(connection: apsw.Connection, seqs: Iterable[int]) -> None:
    """Takes versions out of both indexes."""
    for table in (PRESENT, HISTORY):
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((seq,) for seq in seqs))
