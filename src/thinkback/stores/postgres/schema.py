"""The tables on a server, all in the schema `thinkback`, and how an older one becomes a newer one.

`space`, a number, is the first column of every key, so that a cluster can distribute every table by it. `directory` gives each
name its number. `spaces` has one row a space: its counters, and the statistics that BM25 needs; every write locks that row first,
so writers of one space take turns and writers of different spaces do not meet.
"""

import json
import secrets
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql as composed

from thinkback.errors import NotAStore, NotFound, StoreError, StoreReadOnly, StoreTooNew
from thinkback.languages import TELLING

SCHEMA = "thinkback"
# Tables that a cluster distributes by `space`, and that row-level security fences.
BY_SPACE = (
    "spaces",
    "memories",
    "memory_tags",
    "postings",
    "edges",
    "generations",
    "vectors",
    "passages",
    "judgements",
    "journal",
    "settings",
)
EVERYWHERE = ("directory", "tokens", "schema_version")
WIDEST_HEAD = 1024  # numbers of a half-precision vector that fit into an index entry
RARE_KINDS = ("preference", "reflection")  # have an index, because searches ask for them alone
_LOCK = 0x7468696E6B  # of migrations, in this database
_TYPES = {
    "fraction": "double precision",
    "integer": "bigint",
    "count": "bigint",
    "time": "bigint",
    "flag": "smallint",
}  # all others are text

# The fields of a memory as of version 1; one that came later has a migration below.
_FIRST_FIELDS = (
    ("id", "name"), ("text", "text"), ("essence", "text"), ("kind", "kind"), ("tier", "tier"), ("priority", "priority"),
    ("importance", "fraction"), ("confidence", "fraction"), ("claim", "fraction"), ("claimed_at", "time"), ("tags", "tags"),
    ("metadata", "object"), ("thread", "name"), ("position", "integer"), ("created_at", "time"), ("updated_at", "time"),
    ("recorded_at", "time"), ("retired_at", "time"), ("valid_from", "time"), ("valid_to", "time"), ("expires_at", "time"),
    ("archived_at", "time"), ("cycle", "integer"), ("access_count", "count"), ("last_access", "time"), ("source", "name"),
    ("trust", "fraction"), ("embedded", "flag"), ("slides", "flag"),
)  # fmt: skip


def column_type(type: str) -> str:
    """The type of the column of a field; texts compare byte by byte, as they do in SQLite and in Python."""
    return _TYPES.get(type, 'text COLLATE "C"')


_TABLES = f"""
CREATE TABLE thinkback.directory (
    name text COLLATE "C" PRIMARY KEY,
    space integer GENERATED ALWAYS AS IDENTITY UNIQUE
);
CREATE TABLE thinkback.tokens (
    name text COLLATE "C" PRIMARY KEY,
    sha256 text NOT NULL,
    scopes text[] NOT NULL,
    spaces text[] NOT NULL
);
CREATE TABLE thinkback.spaces (
    space integer PRIMARY KEY,
    store_id text NOT NULL,
    changes bigint NOT NULL DEFAULT 0,
    touches bigint NOT NULL DEFAULT 0,
    contents bigint NOT NULL DEFAULT 0,
    last_seq bigint NOT NULL DEFAULT 0,
    last_entry bigint NOT NULL DEFAULT 0,
    last_generation integer NOT NULL DEFAULT 0,
    live integer,
    documents bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    themes bigint NOT NULL DEFAULT 0,
    theme_tokens bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE thinkback.memories (
    space integer NOT NULL,
    seq bigint NOT NULL,
    {", ".join(f"{name} {column_type(type)}" for name, type in _FIRST_FIELDS)},
    changed bigint NOT NULL,
    date bigint GENERATED ALWAYS AS (coalesce(valid_from, created_at)) STORED,
    PRIMARY KEY (space, seq)
);
CREATE UNIQUE INDEX memories_present ON thinkback.memories (space, id) WHERE retired_at IS NULL;
CREATE INDEX memories_versions ON thinkback.memories (space, id, recorded_at);
CREATE INDEX memories_created ON thinkback.memories (space, created_at, id) WHERE retired_at IS NULL;
CREATE INDEX memories_date ON thinkback.memories (space, date, id) WHERE retired_at IS NULL;
CREATE INDEX memories_thread ON thinkback.memories (space, thread, position) WHERE thread IS NOT NULL;
CREATE INDEX memories_unembedded ON thinkback.memories (space, seq) WHERE embedded = 0;
CREATE TABLE thinkback.memory_tags (
    space integer NOT NULL, tag text COLLATE "C" NOT NULL, seq bigint NOT NULL, PRIMARY KEY (space, tag, seq)
);
CREATE TABLE thinkback.postings (
    space integer NOT NULL,
    class smallint NOT NULL,
    term text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    tf integer NOT NULL,
    len integer NOT NULL,
    PRIMARY KEY (space, class, term, seq) INCLUDE (tf, len)
);
CREATE TABLE thinkback.edges (
    space integer NOT NULL,
    from_id text COLLATE "C" NOT NULL,
    to_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    valid_from bigint,
    valid_to bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (space, from_id, to_id, kind)
);
CREATE INDEX edges_to ON thinkback.edges (space, to_id);
CREATE TABLE thinkback.generations (
    space integer NOT NULL,
    generation integer NOT NULL,
    fingerprint text NOT NULL,
    dimensions integer NOT NULL,
    state text NOT NULL CHECK (state IN ('live', 'building')),
    PRIMARY KEY (space, generation)
);
CREATE UNIQUE INDEX generations_state ON thinkback.generations (space, state);
CREATE TABLE thinkback.vectors (
    space integer NOT NULL,
    generation integer NOT NULL,
    seq bigint NOT NULL,
    exact bytea NOT NULL,
    head halfvec,
    wide halfvec,
    PRIMARY KEY (space, generation, seq) INCLUDE (head)
) WITH (toast_tuple_target = 8160);
ALTER TABLE thinkback.vectors ALTER COLUMN exact SET STORAGE EXTERNAL;
CREATE INDEX vectors_seq ON thinkback.vectors (space, seq);
CREATE TABLE thinkback.judgements (
    space integer NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    query text COLLATE "C" NOT NULL,
    grade integer NOT NULL,
    judged_at bigint NOT NULL,
    PRIMARY KEY (space, memory_id, digest)
);
CREATE TABLE thinkback.journal (
    space integer NOT NULL,
    id bigint NOT NULL,
    action text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    at bigint NOT NULL,
    batch text COLLATE "C" NOT NULL,
    undone_at bigint,
    PRIMARY KEY (space, id)
);
CREATE INDEX journal_memory ON thinkback.journal (space, memory_id);
CREATE INDEX journal_batch ON thinkback.journal (space, batch);
CREATE TABLE thinkback.settings (
    space integer NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL, PRIMARY KEY (space, key)
);
"""

Connection = psycopg.Connection[Any]
Migration = Callable[[Connection], None]


def _first_schema(connection: Connection) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute(_TABLES)


def _words_as_spelt(connection: Connection) -> None:
    """Counts the words of present memories as they are spelt, for searches that do not stem."""
    from thinkback.stores.postgres.words import exact_count
    from thinkback.stores.sqlite.fulltext import columns

    connection.execute("ALTER TABLE thinkback.spaces ADD COLUMN exact_tokens bigint NOT NULL DEFAULT 0")
    lengths: Counter[int] = Counter()
    sql = "SELECT m.space, m.text, m.essence, m.tags FROM thinkback.memories m WHERE m.retired_at IS NULL"
    for space, text, essence, tags in connection.execute(sql):
        lengths[space] += sum(map(exact_count, columns(text, essence, json.loads(tags))))
    for space, length in lengths.items():
        connection.execute("UPDATE thinkback.spaces s SET exact_tokens = %s WHERE s.space = %s", (length, space))


def _passages_of_long_texts(connection: Connection) -> None:
    """Adds `passages`: vectors of the parts of long texts, and how many there are."""
    connection.execute("ALTER TABLE thinkback.spaces ADD COLUMN passages bigint NOT NULL DEFAULT 0")
    connection.execute(
        "CREATE TABLE thinkback.passages (space integer NOT NULL, generation integer NOT NULL, seq bigint NOT NULL, "
        "ordinal integer NOT NULL, first integer NOT NULL, last integer NOT NULL, exact bytea NOT NULL, head halfvec, "
        "wide halfvec, PRIMARY KEY (space, generation, seq, ordinal) INCLUDE (head)) WITH (toast_tuple_target = 8160)"
    )
    connection.execute("ALTER TABLE thinkback.passages ALTER COLUMN exact SET STORAGE EXTERNAL")
    connection.execute("CREATE INDEX passages_seq ON thinkback.passages (space, seq)")
    _like(connection, "vectors", "passages")


def _like(connection: Connection, old: str, new: str) -> None:
    """Gives a new table the grants, row-level security and distribution that an older one was given."""
    table = composed.Identifier(SCHEMA, new)
    for grantee, privilege in connection.execute(
        "SELECT grantee, privilege_type FROM information_schema.role_table_grants "
        "WHERE table_schema = 'thinkback' AND table_name = %s AND grantee <> grantor AND grantee <> 'PUBLIC'",
        (old,),
    ).fetchall():
        grant = composed.SQL("GRANT {} ON {} TO {}")
        connection.execute(grant.format(composed.SQL(privilege), table, composed.Identifier(grantee)))
    fenced = "SELECT relrowsecurity FROM pg_class WHERE oid = %s::regclass"
    if (connection.execute(fenced, (f"thinkback.{old}",)).fetchone() or (False,))[0]:
        connection.execute(composed.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))
        policies = (
            "SELECT policyname, roles, cmd, qual, with_check FROM pg_policies "
            "WHERE schemaname = 'thinkback' AND tablename = %s"
        )
        for name, roles, command, using, check in connection.execute(policies, (old,)).fetchall():
            statement = composed.SQL("CREATE POLICY {} ON {} FOR {} TO {}").format(
                composed.Identifier(name),
                table,
                composed.SQL(command),
                composed.SQL(", ").join(map(composed.Identifier, roles)),
            )
            rules = (f" USING ({using})" if using else "") + (f" WITH CHECK ({check})" if check else "")
            connection.execute(statement + composed.SQL(rules))
    distributed = "SELECT to_regclass('pg_dist_partition') IS NOT NULL"
    if (connection.execute(distributed).fetchone() or (False,))[0]:
        among = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass"
        if connection.execute(among, (f"thinkback.{old}",)).fetchone():
            connection.execute(
                f"SELECT create_distributed_table('thinkback.{new}', 'space', colocate_with => 'thinkback.{BY_SPACE[0]}')"
            )


def _by_what_it_is_about(connection: Connection) -> None:
    """Index the times that texts tell of."""
    where = "WHERE about_from IS NOT NULL AND retired_at IS NULL"
    connection.execute(f"CREATE INDEX memories_about ON thinkback.memories (space, about_from, about_to) {where}")


def _by_rare_kinds(connection: Connection) -> None:
    """Index the memories of kinds that are searched alone."""
    kinds = ", ".join(f"'{kind}'" for kind in RARE_KINDS)
    where = f"WHERE kind IN ({kinds}) AND retired_at IS NULL"
    connection.execute(f"CREATE INDEX memories_kind ON thinkback.memories (space, kind) {where}")


def _marked_changes(connection: Connection) -> None:
    """Adds `mark`, which tells apart two changes of the same number, one of them made after a backup was restored."""
    connection.execute("ALTER TABLE thinkback.spaces ADD COLUMN mark bigint NOT NULL DEFAULT 0")
    for (space,) in connection.execute("SELECT s.space FROM thinkback.spaces s").fetchall():
        marked = "UPDATE thinkback.spaces s SET mark = %s WHERE s.space = %s"
        connection.execute(marked, (secrets.randbits(63), space))


def _stems_of_languages(connection: Connection) -> None:
    """Index texts in German, Spanish and French by their stems; only texts with a word that tells one of them are read."""
    from thinkback.stores.postgres.words import PRESENT, counts_of, terms_of
    from thinkback.stores.sqlite.fulltext import columns, columns_of

    telling = sorted({term for word in TELLING for term in terms_of(word)})
    found = (
        "SELECT m.seq, m.kind, m.text, m.essence, m.tags FROM thinkback.memories m WHERE m.space = %s AND m.seq IN (SELECT p.seq "
        "FROM thinkback.postings p WHERE p.space = %s AND p.class = %s AND p.term = ANY(%s::text[])) ORDER BY m.seq"
    )
    drop = "DELETE FROM thinkback.postings p WHERE p.space = %s AND p.class = %s AND p.term = ANY(%s::text[]) AND p.seq = %s"
    post = (
        "INSERT INTO thinkback.postings (space, class, term, seq, tf, len) "
        "SELECT %s, %s, u.term, %s, u.tf, %s FROM unnest(%s::text[], %s::integer[]) AS u(term, tf)"
    )
    for (space,) in connection.execute("SELECT s.space FROM thinkback.spaces s ORDER BY s.space").fetchall():
        moved = 0
        for seq, kind, text, essence, tags in connection.execute(found, (space, space, PRESENT, telling)).fetchall():
            said = columns(text, essence, json.loads(tags))
            stems = columns_of(kind, text, essence, json.loads(tags))
            if stems == said:
                continue
            (old, before), (new, length) = counts_of(said), counts_of(stems)
            connection.execute(drop, (space, PRESENT, list(old), seq))
            connection.execute(post, (space, PRESENT, seq, length, list(new), list(new.values())))
            moved += length - before
        if moved:  # every such text gets a word that says so
            step = "changes = changes + 1, contents = contents + 1, tokens = tokens + %s"
            connection.execute(f"UPDATE thinkback.spaces s SET {step} WHERE s.space = %s", (moved, space))


_added: list[str] = []  # fields that came after version 1


def adds(name: str, type: str, default: str = "NULL") -> Migration:
    """A migration that adds the column of a new field."""

    def migrate(connection: Connection) -> None:
        connection.execute(f'ALTER TABLE thinkback.memories ADD COLUMN "{name}" {column_type(type)} DEFAULT {default}')

    _added.append(name)
    return migrate


# Only ever appended to. A new field of a memory is a step `adds(name, type, what older rows hold)`.
MIGRATIONS: tuple[Migration, ...] = (
    _first_schema,
    adds("speaker", "name"),
    _words_as_spelt,
    adds("user", "name"),
    adds("agent", "name"),
    _passages_of_long_texts,
    adds("about_from", "time"),
    adds("about_to", "time"),
    adds("about_given", "flag", "0"),
    _by_what_it_is_about,
    _by_rare_kinds,
    _marked_changes,
    _stems_of_languages,
)
VERSION = len(MIGRATIONS)
FIELDS_KNOWN = tuple(name for name, _ in _FIRST_FIELDS) + tuple(_added)


def version(connection: Connection) -> int:
    """How many migrations a database has had: 0 for one without our schema; NotAStore if the schema is somebody else's."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'thinkback'), "
        "to_regclass('thinkback.schema_version') IS NOT NULL"
    )
    exists, ours = connection.execute(sql).fetchone() or (False, False)
    if not ours:
        if exists and _tables(connection):
            raise NotAStore(
                "the database has a schema `thinkback` with tables of another program; it was left alone",
                code="foreign_schema",
            )
        return 0
    found = connection.execute("SELECT max(version) FROM thinkback.schema_version").fetchone()
    return int(found[0] or 0) if found else 0


def _tables(connection: Connection) -> int:
    sql = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'thinkback'"
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0


def check_version(found: int) -> None:
    """Refuses a schema that a newer Thinkback wrote."""
    if found > VERSION:
        raise StoreTooNew(
            f"the database has schema version {found}, this Thinkback knows {VERSION}; upgrade with: pip install -U thinkback"
        )


def require(connection: Connection) -> None:
    """Refuses a database that is not ours, or not as this Thinkback knows it."""
    found = version(connection)
    check_version(found)
    if not found:
        raise NotFound(
            "the database holds no store yet; write to it, or run: thinkback pg migrate URL", code="no_store"
        )
    if found < VERSION:
        raise StoreError(
            f"the database has schema version {found} and must be migrated to {VERSION}; open it once for writing as its owner",
            code="not_migrated",
        )


def migrate(connection: Connection) -> int:
    """Brings a database up to date in one transaction; two processes may try at once. Returns how many steps were taken."""
    found = version(connection)
    check_version(found)
    if found == VERSION:
        return 0
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        found = version(connection)
        check_version(found)
        if found == VERSION:
            return 0
        if _read_only(connection):
            raise StoreReadOnly("the database must be migrated and this server is read-only; migrate the primary")
        connection.execute("CREATE SCHEMA IF NOT EXISTS thinkback")
        connection.execute("CREATE TABLE IF NOT EXISTS thinkback.schema_version (version integer PRIMARY KEY)")
        for number, step in enumerate(MIGRATIONS[found:], found + 1):
            step(connection)
            connection.execute("INSERT INTO thinkback.schema_version (version) VALUES (%s)", (number,))
    return VERSION - found


def _read_only(connection: Connection) -> bool:
    row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
    return bool(row and row[0])
