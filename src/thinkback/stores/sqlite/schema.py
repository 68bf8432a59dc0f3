"""The tables and their migrations.

A memory has one row per version in `memories`; the present version is the one that is not retired. `fts` indexes present versions,
`fts_themes` those of them that are reflections, and `fts_history` the retired ones, so that neither reflections nor retired
versions change the BM25 statistics of present memories. These three stem. `fts_exact` indexes the words of all present versions as
they are spelt, for phrases, prefixes and recipes whose origin does not stem; it stores no text, and a row is deleted from it by
what `memories` holds. A `seq` is never reused, so caches can rely on it. `accesses` and `recent_accesses` count the recalls of
a version since it was written.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import apsw

from thinkback.stores.sqlite import fulltext
from thinkback.stores.sqlite.fulltext import EXACT, EXACT_TOKENIZER, TOKENIZER, insert_sql, present_as_spelt

APPLICATION_ID = 0x52436C74  # "RClt", at offset 68 of the file
PAGE_SIZE = 8192
_CHUNK = 2000  # memories indexed between two reports of progress

_TABLES = """
CREATE TABLE counters (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store_id TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    touches INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT 0,
    removed_before INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE memories (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    essence TEXT,
    kind TEXT NOT NULL,
    tier TEXT NOT NULL,
    priority TEXT NOT NULL,
    importance REAL,
    confidence REAL NOT NULL,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    thread TEXT,
    position INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    expires_at INTEGER,
    archived_at INTEGER,
    cycle INTEGER,
    access_count INTEGER NOT NULL,
    last_access INTEGER,
    source TEXT,
    trust REAL NOT NULL,
    embedded INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    date INTEGER GENERATED ALWAYS AS (coalesce(valid_from, created_at)) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX memories_present ON memories (id) WHERE retired_at IS NULL;
CREATE INDEX memories_versions ON memories (id, recorded_at);
CREATE INDEX memories_changed ON memories (changed);
CREATE INDEX memories_created ON memories (created_at, id) WHERE retired_at IS NULL;
CREATE INDEX memories_date ON memories (date DESC, id) WHERE retired_at IS NULL;
CREATE INDEX memories_thread ON memories (thread, position, id) WHERE thread IS NOT NULL;
CREATE INDEX memories_unembedded ON memories (seq) WHERE embedded = 0;

CREATE TABLE removed (seq INTEGER PRIMARY KEY, changed INTEGER NOT NULL) STRICT;
CREATE INDEX removed_changed ON removed (changed);

CREATE TABLE memory_tags (tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tag, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_to ON edges (to_id);

CREATE TABLE generations (
    generation INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'building'))
) STRICT;
CREATE UNIQUE INDEX generations_state ON generations (state);

CREATE TABLE vectors (
    seq INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (seq, generation)
) STRICT;

CREATE TABLE judgements (
    query TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    grade INTEGER NOT NULL,
    judged_at INTEGER NOT NULL,
    PRIMARY KEY (query, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX judgements_memory ON judgements (memory_id);

CREATE TABLE journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    action TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    at INTEGER NOT NULL,
    batch TEXT NOT NULL,
    undone_at INTEGER
) STRICT;
CREATE INDEX journal_memory ON journal (memory_id);
CREATE INDEX journal_batch ON journal (batch);

INSERT INTO counters (one, store_id) VALUES (1, lower(hex(randomblob(8))));
"""


def full_text(table: str, exact: bool = False, texts: bool = True) -> str:
    """The statement that creates a full-text table; an exact one keeps no text, and none does without `texts`."""
    made = f"CREATE VIRTUAL TABLE {table} USING fts5(content, essence, tags, "
    if exact or not texts:
        made += "content = '', "
    if not exact:
        return f'{made}tokenize = "{" ".join(TOKENIZER)}")'
    name, option, letters = EXACT_TOKENIZER
    return f"{made}tokenize = \"{name} {option} '{letters}'\")"


def create_full_text(connection: apsw.Connection, table: str) -> None:
    """Create a full-text table with secure-delete, which removes deleted terms from the index at some cost."""
    connection.execute(full_text(table, exact=table == EXACT))
    connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")


def _first_schema(connection: apsw.Connection) -> None:
    connection.execute(_TABLES)
    for table in ("fts", "fts_themes", "fts_history"):
        create_full_text(connection, table)


def _whose_expiry(connection: apsw.Connection) -> None:
    """Add `slides`: whether an expiry is the tier's, inferred from the time it was counted from."""
    connection.execute("ALTER TABLE memories ADD COLUMN slides INTEGER NOT NULL DEFAULT 0")
    for tier, hours in (("working", 72), ("episodic", 30 * 24)):
        starts = "expires_at - ? IN (last_access, recorded_at, created_at)"
        sql = f"UPDATE memories SET slides = 1 WHERE tier = ? AND {starts}"
        connection.execute(sql, (tier, hours * 3_600_000_000))


def _what_confidence_rests_on(connection: apsw.Connection) -> None:
    """Add `claim` and `claimed_at`, initialised with the present confidence and the time of its last change."""
    connection.execute("ALTER TABLE memories ADD COLUMN claim REAL")
    connection.execute("ALTER TABLE memories ADD COLUMN claimed_at INTEGER")
    tidied = "(SELECT CAST(value AS INTEGER) FROM settings WHERE key = 'tidy.decayed_until')"
    heard = "(SELECT max(e.created_at) + 1 FROM edges e WHERE e.to_id = memories.id AND e.kind = 'corroborates')"
    since = f"max(recorded_at, coalesce({tidied}, 0), coalesce({heard}, 0))"
    connection.execute(f"UPDATE memories SET claim = confidence, claimed_at = {since}")


def exact_words(connection: apsw.Connection) -> Iterator[tuple[int, int]]:
    """Index the words of present memories as they are spelt."""
    create_full_text(connection, EXACT)
    total = int(connection.execute("SELECT count(*) FROM memories WHERE retired_at IS NULL").get)
    found, done = present_as_spelt(connection), 0
    while chunk := list(islice(found, _CHUNK)):
        connection.executemany(insert_sql(EXACT), chunk)
        done += len(chunk)
        yield done, total


def _who_speaks(connection: apsw.Connection) -> None:
    """Adds `speaker`, who said a memory, beside `source`, where it comes from."""
    connection.execute("ALTER TABLE memories ADD COLUMN speaker TEXT")


def _whose(connection: apsw.Connection) -> None:
    """Adds `user` and `agent`, whom a memory belongs to."""
    connection.execute("ALTER TABLE memories ADD COLUMN user TEXT")
    connection.execute("ALTER TABLE memories ADD COLUMN agent TEXT")


def _strongest_edges(connection: apsw.Connection) -> None:
    """Index edges by weight, so that the strongest ones of a hub are read without the others."""
    for end, other in (("from_id", "to_id"), ("to_id", "from_id")):
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS edges_by_weight_{end} ON edges ({end}, weight DESC, {other}, kind)"
        )
    connection.execute("DROP INDEX IF EXISTS edges_to")


def _passages_of_long_texts(connection: apsw.Connection) -> None:
    """Add `passages`: vectors of the parts of long texts. Rows are numbered for good, so that a cache can read what is new."""
    connection.execute(
        "CREATE TABLE passages (number INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL, generation INTEGER NOT NULL, "
        "ordinal INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, vector BLOB NOT NULL) STRICT"
    )
    connection.execute("CREATE UNIQUE INDEX passages_of ON passages (seq, generation, ordinal)")


def _what_it_is_about(connection: apsw.Connection) -> None:
    """Add the time that a text tells of; memories that were written before have none until they are read again."""
    connection.execute("ALTER TABLE memories ADD COLUMN about_from INTEGER")
    connection.execute("ALTER TABLE memories ADD COLUMN about_to INTEGER")
    connection.execute("ALTER TABLE memories ADD COLUMN about_given INTEGER NOT NULL DEFAULT 0")
    where = "WHERE about_from IS NOT NULL AND retired_at IS NULL"
    connection.execute(f"CREATE INDEX memories_about ON memories (about_from, about_to, id) {where}")


def _stems_of_languages(connection: apsw.Connection) -> Iterator[tuple[int, int]]:
    """Index texts in German, Spanish and French by their stems; only texts with a word that tells one of them are read."""
    if connection.execute("SELECT 1 FROM memories LIMIT 1").get is None:
        return
    with (
        suppress(apsw.CorruptError, apsw.SQLError),
        connection,
    ):  # of a damaged index nothing is changed; a repair stems too
        yield from fulltext.stem(connection, _CHUNK)


def _vectors_by_place(connection: apsw.Connection) -> Iterator[tuple[int, int]]:
    """Find a vector by one number, made of its generation and its version, instead of by two and a second tree.

    Old rows are deleted as they are copied, so that the new ones take their pages and the file hardly grows.
    """
    total = int(connection.execute("SELECT count(*) FROM vectors").get)
    connection.execute("ALTER TABLE vectors RENAME TO vectors_by_pair" if total else "DROP TABLE vectors")
    connection.execute(
        "CREATE TABLE vectors (place INTEGER PRIMARY KEY, generation INTEGER NOT NULL CHECK (generation = place >> 40), "
        "vector BLOB NOT NULL) STRICT"
    )
    if total:
        yield from _move_vectors(connection, total)
        connection.execute("DROP TABLE vectors_by_pair")


def _move_vectors(connection: apsw.Connection, total: int) -> Iterator[tuple[int, int]]:
    """Move one generation after the other, as they lie in the new table; rows that no store writes stay behind."""
    done = 0
    numbers: list[Any] = connection.execute("SELECT generation FROM generations ORDER BY generation").fetchall()
    for (number,) in numbers:
        last = 0
        while last := _move_some(connection, number, last):
            done += connection.changes()
            yield done, total


def _move_some(connection: apsw.Connection, generation: int, after: int) -> int:
    """Move some vectors of a generation, and return the version of the last one; 0 if there are no more."""
    some = "SELECT seq FROM vectors_by_pair WHERE seq > ? AND generation = ? ORDER BY seq LIMIT ?"
    last = int(connection.execute(f"SELECT coalesce(max(seq), 0) FROM ({some})", (after, generation, _CHUNK)).get)
    if last:
        moved = "FROM vectors_by_pair WHERE seq > ? AND seq <= ? AND generation = ?"
        connection.execute(
            "INSERT OR IGNORE INTO vectors (place, generation, vector) "
            f"SELECT generation << 40 | seq, generation, vector {moved} AND typeof(vector) = 'blob' ORDER BY seq",
            (after, last, generation),
        )
        connection.execute(f"DELETE {moved}", (after, last, generation))
    return last


def _accesses_apart(connection: apsw.Connection) -> None:
    """Add `accesses` and `recent_accesses`: what was counted since a version was written; `memories` keeps what was before."""
    for table in ("accesses", "recent_accesses"):
        connection.execute(
            f"CREATE TABLE {table} (seq INTEGER PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL) STRICT"
        )


Progress = Callable[[int, int], None]
Migration = Callable[
    [apsw.Connection], Iterator[tuple[int, int]] | None
]  # a slow one says how far it is, and of how much
MIGRATIONS: tuple[Migration, ...] = (
    _first_schema,
    _whose_expiry,
    _what_confidence_rests_on,
    exact_words,
    _who_speaks,
    _strongest_edges,
    _whose,
    _passages_of_long_texts,
    _what_it_is_about,
    _stems_of_languages,
    _vectors_by_place,
    _accesses_apart,
)
VERSION = len(MIGRATIONS)


def version(connection: apsw.Connection) -> int:
    """The schema version of a file; 0 if it is empty."""
    return int(connection.execute("PRAGMA user_version").get)


def migrate(connection: apsw.Connection, progress: Progress | None = None) -> None:
    """Apply the missing migrations, each in a transaction; safe if two processes do so at once."""
    while version(connection) < VERSION:
        # EXCLUSIVE, because before the first schema there is no WAL and readers must wait.
        connection.execute("BEGIN EXCLUSIVE")
        try:
            step = version(connection)
            if step < VERSION:
                for done, total in MIGRATIONS[step](connection) or ():
                    if progress is not None:
                        progress(done, total)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {step + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
