"""Values that no healthy store holds: text that is not UTF-8, a NULL, a kind or a vector that cannot be.

SQLite does not notice a flipped bit inside a value. Reading such a value fails somewhere in Python; `named` then looks for the row
and raises StoreDamaged with its table, so that nobody meets a UnicodeDecodeError.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from thinkback.errors import Action, InvalidInput, Remedy, StoreDamaged, ThinkbackError
from thinkback.fields import FIELDS, VALUES
from thinkback.values import dataclass

# Tables that hold what was said and done, and can not be made again.
TRUTH = (
    "memories",
    "edges",
    "judgements",
    "journal",
    "settings",
    "counters",
    "generations",
    "accesses",
    "recent_accesses",
)
_KEYS = {  # what names a row where its number does not
    "vectors": ("place & 0xFFFFFFFFFF",),  # the version
    "memory_tags": ("tag", "seq"),
    "edges": ("from_id", "to_id", "kind"),
    "judgements": ("query", "memory_id"),
}
_JSON = {
    ("memories", "tags"): list,
    ("memories", "metadata"): dict,
    ("journal", "before"): dict,
    ("journal", "after"): dict,
}
_ONE_OF = {("memories", name): frozenset(VALUES[name]) for name in ("kind", "tier", "priority")}
_STORED_AS = {
    "INTEGER": ("integer",),
    "REAL": ("real", "integer"),
    "TEXT": ("text",),
    "BLOB": ("blob",),
    "": ("text", "null"),
}
FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


# Our own statements name only columns that there are, and read only JSON that was checked.
_OF_THE_FILE = ("no such column", "has no column named", "cannot join using column", "malformed JSON")
_OF_AN_INDEX = (
    "no such table",
    "no such fts5 table",
    "invalid fts5 file format",
    "vtable constructor failed",
    "no such module",
    "error in tokenizer constructor",
    "parse error in ",  # of a column or an option of FTS5
    "=... directive",
    "reserved fts5 ",
    "unrecognized column option: ",
    'unrecognized option: "',
)


def of_an_index(error: apsw.SQLError) -> bool:
    """Whether SQLite says that an index is gone or unreadable, rather than that a statement is wrong."""
    return any(words in str(error) for words in _OF_AN_INDEX)


@dataclass(frozen=True, slots=True)
class Damage:
    """A row with a value that cannot be."""

    table: str
    row: str
    what: str

    @property
    def derived(self) -> bool:
        """Whether the row can be made again from other tables."""
        return self.table in ("memory_tags", "removed", "vectors", "passages") or self.table.startswith("fts")

    def __str__(self) -> str:
        return f"row {self.row} of {self.table} {self.what}"


@contextmanager
def named(path: str, connection: apsw.Connection) -> Iterator[None]:
    """Raises StoreDamaged if a value in the file, rather than the code inside, is the cause of an error."""
    try:
        yield
    except ThinkbackError:
        raise
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{error.object[error.start]!r} at character {error.start} is a lone surrogate and not text",
            code="not_text",
        ) from None
    except (*FAULTS, apsw.ConstraintError, apsw.SQLError) as error:
        if isinstance(error, apsw.SQLError) and not any(words in str(error) for words in _OF_THE_FILE):
            raise
        found = _first(connection)
        if found is None and isinstance(error, apsw.ConstraintError):
            found = Damage("fts", "?", f"contradicts the memories ({error})")
        if found is None:
            raise
        remedy = Remedy(Action.REPAIR if found.derived else Action.SALVAGE, path)
        raise StoreDamaged(f"{path} is damaged: {found}", code="damaged_row", remedy=remedy) from error


def _first(connection: apsw.Connection) -> Damage | None:
    try:
        return next(find(connection), None) or _in_the_file(connection)
    except (apsw.Error, *FAULTS):  # even the search for it fails
        return Damage("the file", "?", "cannot be read")


def _in_the_file(connection: apsw.Connection) -> Damage | None:
    """What SQLite itself finds wrong with the file, or columns that a table lacks."""
    finding = connection.execute("PRAGMA integrity_check(1)").get
    if finding != "ok":
        return Damage("the file", "?", f"cannot be read ({finding})")
    there = {name for (name,) in connection.execute("SELECT name FROM pragma_table_xinfo('memories')")}
    lost = sorted(field.name for field in FIELDS if field.name not in there)
    return Damage("memories", "?", f"lacks the columns {', '.join(lost)}") if lost else None


def find(connection: apsw.Connection) -> Iterator[Damage]:
    """Every row with an impossible value; reads the whole file."""
    tables = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    for table in tables:
        # Of a full-text index only the text is read here; SQLite checks the rest.
        if table.endswith("_content") or not table.startswith(("sqlite_", "fts")):
            yield from _in_table(connection, table)


def _in_table(connection: apsw.Connection, table: str) -> Iterator[Damage]:
    columns: list[Any] = list(connection.execute(f"SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')"))
    if not columns:
        return
    keys = _KEYS.get(table, ("rowid",))
    asked = [f"CAST({name} AS BLOB)" for name in keys]
    for name, _, _ in columns:
        asked += [f"typeof({name})", f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"]
    sizes = _sizes(connection) if table in ("vectors", "passages") else {}
    for values in connection.execute(f"SELECT {', '.join(asked)} FROM {table}"):
        key, held = values[: len(keys)], values[len(keys) :]
        row = dict(zip((name for name, _, _ in columns), zip(held[::2], held[1::2], strict=True), strict=True))
        for name, declared, required in columns:
            what = wrong(table, name, declared, bool(required), *row[name])
            if what:
                yield Damage(table, _spelled(key), f"has {what}")
        if sizes and len(row["vector"][1] or b"") != sizes.get(row["generation"][1], len(row["vector"][1] or b"")):
            yield Damage(table, _spelled(key), "has a vector of the wrong size")


def _sizes(connection: apsw.Connection) -> dict[int, int]:
    return {number: 4 * size for number, size in connection.execute("SELECT generation, dimensions FROM generations")}


def wrong(table: str, name: str, declared: str, required: bool, stored: str, value: Any) -> str | None:
    """What is wrong with a value, or None."""
    if stored == "null":
        return f"no {name}" if required else None
    if stored not in _STORED_AS.get(declared, (stored,)):
        return f"a {name} of type {stored}"
    if stored != "text":
        return None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"a {name} that is not UTF-8"
    if text not in _ONE_OF.get((table, name), (text,)):
        return f"an impossible {name}"
    if (table, name) in _JSON:
        try:
            return None if isinstance(json.loads(text), _JSON[table, name]) else f"a {name} of another shape"
        except ValueError:
            return f"a {name} that is not JSON"
    return None


def _spelled(key: Sequence[Any]) -> str:
    return ", ".join(part.decode("utf-8", "backslashreplace") if isinstance(part, bytes) else str(part) for part in key)
