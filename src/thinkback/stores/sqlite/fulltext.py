"""The full-text tables: insert, retire and delete rows."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import apsw

from thinkback.model import REFLECTION, Filter, StoredRecord
from thinkback.stores.segmentation import segment
from thinkback.stores.sqlite.rows import listed

PRESENT, THEMES, HISTORY = "fts", "fts_themes", "fts_history"
TABLES = (PRESENT, THEMES, HISTORY)
EXACT = "fts_exact"  # of all present versions, unstemmed
COLUMNS = ("content", "essence", "tags")
WEIGHTS = (1.0, 1.0, 1.0)  # of the columns, in BM25
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")
EXACT_TOKENIZER = ("unicode61", "tokenchars", "-_")  # engrava's
_MAX_TOKEN = 32768  # bytes; FTS5 truncates longer tokens
_LONG = 1024  # bytes; a word that is longer is none, but may be indexed


def indexed(record: StoredRecord) -> tuple[str, str, str]:
    """The three columns of a record's full-text row."""
    return columns(record.text, record.essence, record.tags)


def columns(text: str, essence: str | None, tags: Iterable[str]) -> tuple[str, str, str]:
    """Text, essence and tags as they are indexed."""
    return segment(text), segment(essence) if essence else "", segment(" ".join(tags))


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
    for seq, record in rows:
        places.setdefault(table or home(record.kind), []).append((seq, *indexed(record)))
    for place, found in places.items():
        connection.executemany(insert_sql(place), found)
        if table is None:
            connection.executemany(insert_sql(EXACT), found)


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
    tokenizers = [connection.fts5_tokenizer(name, list(options)) for name, *options in (TOKENIZER, EXACT_TOKENIZER)]
    sql = " UNION ALL ".join(
        f"SELECT {', '.join(COLUMNS)} FROM {table} WHERE rowid IN (SELECT value FROM json_each(?1))" for table in TABLES
    )
    texts = [text.encode() for row in connection.execute(sql, (listed(seqs),)) for text in row if text]
    return {word for text in texts for tokenizer in tokenizers for word in tokenised(tokenizer, text)}


def tokenised(tokenizer: apsw.FTS5Tokenizer, text: bytes) -> list[bytes]:
    """The terms of a text."""
    words: Any = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    return [word.encode()[:_MAX_TOKEN] for word in words]


def _drop_exact(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """An index that keeps no text is told what a row held."""
    row = f"rowid, {', '.join(COLUMNS)}"
    for table in (PRESENT, THEMES):
        sql = f"INSERT INTO {EXACT} ({EXACT}, {row}) SELECT 'delete', {row} FROM {table} WHERE rowid = ?"
        connection.executemany(sql, ((seq,) for seq in seqs))


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
    connection.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_words USING fts5vocab(main, {table}, row)")
    next_word = connection.execute(f"SELECT term FROM temp.{table}_words WHERE term >= ? LIMIT 1", (beginning,)).get
    return next_word is None or not next_word.startswith(beginning)
