"""Salvage: every row that can be read from a damaged store, in a new one with every index rebuilt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from thinkback.errors import InvalidInput, NotFound
from thinkback.stores.base import Loss, Problem
from thinkback.stores.sqlite import accesses, counters, damage, health, schema
from thinkback.stores.sqlite.connection import Connections
from thinkback.stores.sqlite.generations import SEQS, place
from thinkback.stores.sqlite.pages import Cell, Pages, Text
from thinkback.values import dataclass

# Rows of the two tables of accesses look alike and are added together.
KEPT = (*(table for table in damage.TRUTH if table != accesses.RECENT), "vectors", "passages")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the rows of a table are stored."""

    table: str
    columns: tuple[_Column, ...]
    has_rowid: bool
    key: str | None  # the column that is the row number

    def row(self, cell: Cell) -> dict[str, Any] | str | None:
        """The row of a cell by column, what is wrong with it, or None if it is not of this table at all."""
        if cell.values is None or (cell.rowid is None) == self.has_rowid or len(cell.values) > len(self.columns):
            return None
        missing = self.columns[len(cell.values) :]
        if any(column.required and column.default is None for column in missing):
            return None
        values = [*cell.values, *(column.default for column in missing)]
        row, wrong = {}, None
        for column, value in zip(self.columns, values, strict=True):
            if column.name == self.key:
                if value is not None:
                    return None
                row[column.name] = cell.rowid
                continue
            found = _value(column, value)
            if found is _NEVER:
                return None
            what = damage.wrong(self.table, column.name, column.type, column.required, *_typed(value))
            wrong = wrong or what
            row[column.name] = found
        return f"has {wrong}" if wrong else row


_BY_PAIR = _Shape(  # as files of schema 10 and before hold them
    "vectors",
    tuple(
        _Column(name, type, True, None)
        for name, type in (("seq", "INTEGER"), ("generation", "INTEGER"), ("vector", "BLOB"))
    ),
    has_rowid=True,
    key=None,
)


def _by_place(row: Mapping[str, Any]) -> dict[str, Any] | str:
    """A vector of an older file as it is stored today."""
    at = place(row["generation"], row["seq"])
    if not 0 < at < 1 << 63 or at & SEQS != row["seq"]:
        return "has an impossible number"
    return {"place": at, "generation": row["generation"], "vector": row["vector"]}


_NEVER = object()


def _typed(value: Any) -> tuple[str, Any]:
    """The name of a stored value's type, and the value; text as bytes."""
    if isinstance(value, Text):
        return "text", bytes(value)
    return {type(None): "null", bytes: "blob", int: "integer", float: "real"}[type(value)], value


def _value(column: _Column, value: Any) -> Any:
    """A stored value as Python's, or _NEVER if a column of this type cannot hold it."""
    if value is None:
        return None
    expected: tuple[type, ...] = {"INTEGER": (int,), "REAL": (int, float), "TEXT": (Text,), "BLOB": (bytes,)}[
        column.type
    ]
    if type(value) not in expected:
        return _NEVER
    if column.type == "REAL":
        return float(value)
    return value.decode("utf-8", "replace") if isinstance(value, Text) else value


@dataclass(frozen=True, slots=True)
class Salvaged:
    """How many rows of each table were saved, which were lost, and what remains to be done in the new store."""

    rows: Mapping[str, int]
    losses: tuple[Loss, ...]
    problems: tuple[Problem, ...]


def salvage(damaged: Path, new: Path) -> Salvaged:
    """Read what can be read of a damaged store into a new one; the damaged files stay as they are."""
    if not damaged.is_file():
        raise NotFound(f"there is no file {damaged}", code="no_store")
    if new.exists():
        raise InvalidInput(f"{new} exists; salvage into a new file", code="file_exists")
    store = Connections(str(new), read_only=False, busy_timeout_s=1.0)
    try:
        with store.write() as connection:
            found, losses = read(damaged, connection)
            losses += write(connection, found)
        with store.read() as connection:
            problems = health.check(connection)
            rows = {table: int(connection.execute(f"SELECT count(*) FROM {table}").get) for table in KEPT}
    except BaseException:
        store.close()
        new.unlink()
        raise
    store.close()
    return Salvaged(rows, tuple(losses), tuple(problems))


def read(path: Path, connection: apsw.Connection) -> tuple[dict[str, list[dict[str, Any]]], list[Loss]]:
    """The rows of every kept table, and what could not be read; `connection` is of a new store and gives the shapes."""
    shapes = [*(_shape(connection, table) for table in KEPT), _BY_PAIR]
    found: dict[str, list[dict[str, Any]]] = {table: [] for table in KEPT}
    losses: list[Loss] = []
    named: dict[int, str] = {}  # the id of every version that an index still names, by row number
    linked: set[tuple[str, str, str]] = set()  # the ends and kind of every link that an index still names
    pages = Pages(path, schema.PAGE_SIZE)
    if pages.missing:
        losses.append(Loss("the file", f"pages after {pages.count}", f"are missing: {pages.missing}"))
    long_rows: set[int] = set()
    for number, cells in pages.cells():
        long_rows.update(page for cell in cells for page in cell.pages)
        named.update(_named(cells))
        linked.update(_linked(cells))
        shape = _shape_of(cells, shapes)
        if shape is None:
            if any(cell.values is None for cell in cells):
                losses.append(Loss("an index", f"page {number}", "cannot be read"))
            continue
        for nth, cell in enumerate(cells, start=1):
            row = shape.row(cell)
            if shape is _BY_PAIR and isinstance(row, dict):
                row = _by_place(row)
            if isinstance(row, dict):
                found[shape.table].append(row)
            else:
                key = f"{nth} of page {number}" if cell.rowid is None else str(cell.rowid)
                losses.append(Loss(shape.table, key, row or "cannot be read"))
    losses += [Loss("the file", f"page {number}", "cannot be read") for number in pages.unread(long_rows)]
    if not found["memories"] and not any(row["last_seq"] == 0 for row in found["counters"]):
        losses.append(Loss("memories", "any", "is gone, unless all were forgotten"))
    kept = {row["seq"] for row in found["memories"]}
    told = {loss.row for loss in losses if loss.table == "memories"}
    losses += [
        Loss("memories", str(seq), f"(memory {id}) is on a damaged page")
        for seq, id in sorted(named.items())
        if seq not in kept and str(seq) not in told
    ]
    there = {_link(row["from_id"], row["to_id"], row["kind"]) for row in found["edges"]}
    losses += [
        Loss("edges", f"{one} – {other} ({kind})", "is on a damaged page")
        for one, other, kind in sorted(linked - there)
    ]
    return found, losses


def _shape(connection: apsw.Connection, table: str) -> _Shape:
    columns: list[Any] = list(
        connection.execute(
            'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?) WHERE hidden = 0', (table,)
        )
    )
    sql = str(connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get)
    has_rowid = "WITHOUT ROWID" not in sql
    if not has_rowid:  # stored with the primary key first
        columns = sorted(columns, key=lambda column: column[4] or len(columns) + 1)
    keys = [name for name, type, _, _, pk in columns if pk and type == "INTEGER"]
    alone = has_rowid and len(keys) == 1 and sum(bool(column[4]) for column in columns) == 1
    made = tuple(
        _Column(
            name,
            type,
            bool(required) and not (alone and name == keys[0]),
            None if default is None else json.loads(default),
        )
        for name, type, required, default, _ in columns
    )
    return _Shape(table, made, has_rowid, keys[0] if alone else None)


def _shape_of(cells: Sequence[Cell], shapes: Sequence[_Shape]) -> _Shape | None:
    """The table that most cells of a page fit; rows with an impossible value count less than sound ones."""
    best, most = None, 0
    for shape in shapes:
        rows = [shape.row(cell) for cell in cells]
        score = sum(2 if isinstance(row, dict) else 1 for row in rows if row is not None)
        if score > most:
            best, most = shape, score
    return best


def _named(cells: Sequence[Cell]) -> Iterator[tuple[int, str]]:
    for cell in cells:
        if cell.rowid is None and cell.values is not None and len(cell.values) == 3:
            id, recorded, seq = cell.values
            if isinstance(id, Text) and isinstance(recorded, int) and isinstance(seq, int):
                yield seq, id.decode("utf-8", "replace")


def _linked(cells: Sequence[Cell]) -> Iterator[tuple[str, str, str]]:
    """Links that an index names, without their direction: one index begins with the source, the other with the target."""
    for cell in cells:
        if cell.rowid is None and cell.values is not None and len(cell.values) == 4:
            one, weight, other, kind = cell.values
            if isinstance(weight, int | float) and all(isinstance(text, Text) for text in (one, other, kind)):
                yield _link(*(bytes(text).decode("utf-8", "replace") for text in (one, other, kind)))


def _link(one: str, other: str, kind: str) -> tuple[str, str, str]:
    return min(one, other), max(one, other), kind


def write(connection: apsw.Connection, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Loss]:
    """Fill a new store inside the caller's transaction; rows that contradict others are losses too."""
    losses: list[Loss] = []
    for table in KEPT:
        if table == "counters":
            _set_counters(connection, found)
            continue
        for row in found[table]:
            names = ", ".join(row)
            also = accesses.ADDED if table == accesses.SETTLED else ""
            sql = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(row))}) {also}"
            connection.execute(sql, tuple(row.values()))
            if not connection.changes():
                losses.append(Loss(table, _key(row), "contradicts another row"))
    losses += _dangling(connection)
    losses += [
        Loss("vectors", str(seq), f"(memory {id}) is on a damaged page; the text is saved and can be embedded again")
        for seq, id in connection.execute(health.WITHOUT_THEIR_VECTOR)
    ]
    problems = [problem for problem in health.check(connection) if problem.repairable]
    health.repair(connection, problems)
    return losses


def _set_counters(connection: apsw.Connection, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    rows, memories = found["counters"], found["memories"]
    seqs = [row["seq"] for row in memories] + [row["place"] & SEQS for row in found["vectors"]]
    last = max(seqs, default=0)
    changed = max([row["changed"] for row in memories], default=0)
    old = rows[0] if len(rows) == 1 else {}
    if old.get("store_id"):
        connection.execute("UPDATE counters SET store_id = ?", (old["store_id"],))
    connection.execute(
        "UPDATE counters SET last_seq = ?, changes = ?, touches = ?",
        (max(last, old.get("last_seq", 0)), max(changed, old.get("changes", 0)), old.get("touches", 0)),
    )
    counters.bump(connection)


_NAMES = {  # what a row refers to
    "edges": "from_id || ' → ' || to_id",
    "judgements": "memory_id",
    "vectors": f"place & {SEQS}",
    "passages": "seq",
    accesses.SETTLED: "seq",
}


def _dangling(connection: apsw.Connection) -> list[Loss]:
    """Remove rows that refer to what is lost."""
    losses = []
    for table, condition in health.ORPHANS.items():
        if table in KEPT:
            gone = connection.execute(f"SELECT {_NAMES[table]} FROM {table} WHERE {condition}").fetchall()
            losses += [Loss(table, str(key), "refers to a row that is lost") for (key,) in gone]
            connection.execute(f"DELETE FROM {table} WHERE {condition}")
    return losses


def _key(row: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for value in list(row.values())[:2])
