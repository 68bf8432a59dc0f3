"""The full-text tables: insert, retire and delete rows."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import apsw

from thinkback.languages import TELLING
from thinkback.model import REFLECTION, Filter, StoredRecord
from thinkback.stores.segmentation import segment
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.stemming import Columns, stems

PRESENT, THEMES, HISTORY = "fts", "fts_themes", "fts_history"
TABLES = (PRESENT, THEMES, HISTORY)
EXACT = "fts_exact"  # of all present versions, unstemmed
COLUMNS = ("content", "essence", "tags")
WEIGHTS = (1.0, 1.0, 1.0)  # of the columns, in BM25
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")
EXACT_TOKENIZER = ("unicode61", "tokenchars", "-_")  # engrava's
MAX_TOKEN = 32768  # bytes; FTS5 truncates longer tokens
_LONG = 1024  # bytes; a word that is longer is none, but may be indexed


def spelt(record: StoredRecord) -> Columns:
    """The three columns of a record's row in the index of words as they are spelt."""
    return columns(record.text, record.essence, record.tags)


def indexed(record: StoredRecord) -> Columns:
    """The three columns of a record's row in an index of stems."""
    return by_stem(record.kind, spelt(record))


def columns_of(kind: str, text: str, essence: str | None, tags: Sequence[str], exact: bool = False) -> Columns:
    """The same of a row whose record was not made."""
    said = columns(text, essence, tags)
    return said if exact else by_stem(kind, said)


def by_stem(kind: str, columns: Columns) -> Columns:
    """The columns of an index of stems; reflections, which are derived from memories of any language, have English ones."""
    return columns if kind == REFLECTION else stems(columns)


def columns(text: str, essence: str | None, tags: Sequence[str]) -> Columns:
    """Text, essence and tags as they are spelt."""
    return segment(text), segment(essence) if essence else "", segment(" ".join(tags)) if tags else ""


def home(kind: str) -> str:
    """The table that indexes a present version of this kind."""
    return THEMES if kind == REFLECTION else PRESENT


def homes(filter: Filter) -> list[str]:
    """The tables that may index present versions that pass a filter."""
    asked = {home(kind) for kind in filter.kinds} or {PRESENT, THEMES}
    return [
        table
        for table in (PRESENT, THEMES)
        if table in asked and not (table == THEMES and REFLECTION in filter.without_kinds)
    ]


def put(connection: apsw.Connection, rows: Iterable[tuple[int, StoredRecord]], table: str | None = None) -> None:
    """Index versions by row number, in the table of their kind unless one is named."""
    places: dict[str, list[tuple[int, str, str, str]]] = {}
    exact: list[tuple[int, str, str, str]] = []
    for seq, record in rows:
        said = spelt(record)
        exact.append(row := (seq, *said))
        found = by_stem(record.kind, said)
        places.setdefault(table or home(record.kind), []).append(row if found is said else (seq, *found))
    for place, stemmed in places.items():
        connection.executemany(insert_sql(place), stemmed)
    if table is None:
        connection.executemany(insert_sql(EXACT), exact)


def insert_sql(table: str) -> str:
    """The statement that indexes a row: its number and three columns."""
    return f"INSERT INTO {table} (rowid, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?)"


def retire(connection: apsw.Connection, seq: int) -> None:
    """Move a version's row to the history table."""
    row = f"rowid, {', '.join(COLUMNS)}"
    _drop_exact(connection, [seq])
    for table in (PRESENT, THEMES):
        connection.execute(f"INSERT INTO {HISTORY} ({row}) SELECT {row} FROM {table} WHERE rowid = ?", (seq,))
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (seq,))


def drop(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Remove versions from every index, including terms that remain in its page index."""
    words = _words(connection, seqs)
    _drop_exact(connection, seqs)
    for table in TABLES:
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((seq,) for seq in seqs))
    for table in (*TABLES, EXACT):
        if any(_is_unsaid(connection, table, beginning) for beginning in _beginnings(connection, table, words)):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def _words(connection: apsw.Connection, seqs: Sequence[int]) -> set[bytes]:
    """The terms of these versions, stemmed and as they are spelt."""
    by_stem, exact = (connection.fts5_tokenizer(name, list(options)) for name, *options in (TOKENIZER, EXACT_TOKENIZER))
    sql = " UNION ALL ".join(
        f"SELECT {', '.join(COLUMNS)} FROM {table} WHERE rowid IN (SELECT value FROM json_each(?1))" for table in TABLES
    )
    held: list[tuple[Any, ...]] = connection.execute(sql, (listed(seqs),)).fetchall()
    said = [row[1:] for row in _spelt(connection, seqs)]
    return {
        word
        for tokenizer, rows in ((by_stem, held), (exact, said))
        for row in rows
        for text in row
        if text
        for word in tokenised(tokenizer, text.encode())
    }


def tokenised(tokenizer: apsw.FTS5Tokenizer, text: bytes) -> list[bytes]:
    """The terms of a text."""
    words: Any = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    return [word.encode()[:MAX_TOKEN] for word in words]


def _drop_exact(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """An index that keeps no text is told what a row held."""
    sql = f"INSERT INTO {EXACT} ({EXACT}, rowid, {', '.join(COLUMNS)}) VALUES ('delete', ?, ?, ?, ?)"
    connection.executemany(sql, _spelt(connection, seqs, f" AND seq IN (SELECT id FROM {EXACT}_docsize)"))


def _spelt(connection: apsw.Connection, seqs: Sequence[int], also: str = "") -> list[tuple[int, str, str, str]]:
    """The columns of these versions as they are spelt, after their numbers."""
    sql = f"SELECT seq, text, essence, tags FROM memories WHERE seq IN (SELECT value FROM json_each(?)){also}"
    rows: list[Any] = connection.execute(sql, (listed(seqs),)).fetchall()
    return [(seq, *columns(text, essence, json.loads(tags))) for seq, text, essence, tags in rows]


def present_as_spelt(connection: apsw.Connection) -> Iterator[tuple[int, str, str, str]]:
    """The columns of all present versions as they are spelt, after their numbers."""
    rows = "SELECT seq, text, essence, tags FROM memories WHERE retired_at IS NULL AND json_valid(tags)"
    for seq, text, essence, tags in connection.execute(rows):
        yield seq, *columns(text, essence, json.loads(tags))


def _beginnings(connection: apsw.Connection, table: str, words: Collection[bytes]) -> list[str]:
    """The beginnings of these words in the page index, from which secure-delete does not remove them."""
    beginnings = {word[:length].hex() for word in words for length in range(1, min(len(word), _LONG) + 1)}
    # By segment and term, which is the key of the page index: the cost does not grow with the index.
    sql = f"""
        WITH RECURSIVE segments(id) AS (
            SELECT min(segid) FROM {table}_idx
            UNION ALL SELECT (SELECT min(segid) FROM {table}_idx WHERE segid > id) FROM segments WHERE id IS NOT NULL
        )
        SELECT DISTINCT j.value FROM segments s CROSS JOIN json_each(?) j
        CROSS JOIN {table}_idx i ON i.segid = s.id AND i.term = unhex('30' || j.value)
    """
    found = [bytes.fromhex(beginning) for (beginning,) in connection.execute(sql, (listed(sorted(beginnings)),))]
    if any(len(word) > _LONG for word in words):
        longer = connection.execute(
            f"SELECT DISTINCT substr(term, 2) FROM {table}_idx WHERE length(term) > ?", (_LONG + 1,)
        )
        found += [beginning for (beginning,) in longer]
    return [beginning.decode(errors="ignore") for beginning in found]


def _is_unsaid(connection: apsw.Connection, table: str, beginning: str) -> bool:
    """Whether no term in the index has this prefix any more."""
    # By instance: a table of terms would count all rows of the next one.
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_instances USING fts5vocab(main, {table}, instance)"
    )
    sql = f"SELECT term FROM temp.{table}_instances WHERE term >= ? LIMIT 1"
    next_word = connection.execute(sql, (beginning,)).get
    return next_word is None or not next_word.startswith(beginning)


def stem(connection: apsw.Connection, chunk: int) -> Iterator[tuple[int, int]]:
    """Index texts that an older version wrote by the stems of their language; says how far it is, and of how much."""
    either, held = " OR ".join(f'"{word}"' for word in sorted(TELLING)), ", ".join(COLUMNS)
    found: list[tuple[str, int]] = [
        (table, seq)
        for table in (PRESENT, HISTORY)
        for (seq,) in connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid", (either,))
    ]
    changed = False
    for done, (table, seq) in enumerate(found, 1):
        kind = connection.execute("SELECT kind FROM memories WHERE seq = ?", (seq,)).get
        (said,) = connection.execute(f"SELECT {held} FROM {table} WHERE rowid = ?", (seq,))
        row = by_stem(kind or REFLECTION, (str(said[0]), str(said[1]), str(said[2])))
        if row != said:
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (seq,))
            connection.execute(insert_sql(table), (seq, *row))
            changed = True
        if done % chunk == 0 or done == len(found):
            yield done, len(found)
    if changed:  # postings that any process holds, in memory or in files, were read from the old index
        sql = "UPDATE counters SET changes = changes + 1, removed_before = changes + 1"
        connection.execute(sql)
