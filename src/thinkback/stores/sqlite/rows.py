"""Records as rows and back."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.fields import FIELDS, VALUES, names
from thinkback.inputs import canonical_json
from thinkback.model import StoredRecord
from thinkback.values import maker, reader

NAMES = names(FIELDS)
# Accesses that were counted since a version was written stand in two small tables; see `accesses`.
_COUNTED = "LEFT JOIN accesses settled ON settled.seq = m.seq LEFT JOIN recent_accesses recent ON recent.seq = m.seq"
SOURCE = f"memories m {_COUNTED}"
# Where nothing was counted the stored value is read as it is, so that a damaged one is noticed.
_UNCOUNTED = "CASE WHEN settled.seq IS NULL AND recent.seq IS NULL THEN"
_SUMMED = {
    "access_count": f"{_UNCOUNTED} m.access_count "
    "ELSE m.access_count + coalesce(settled.count, 0) + coalesce(recent.count, 0) END",
    "last_access": f"{_UNCOUNTED} m.last_access ELSE max(coalesce(m.last_access, settled.last, recent.last), "
    "coalesce(settled.last, recent.last), coalesce(recent.last, settled.last)) END",
}
ACCESSES = ", ".join(_SUMMED.values())  # count and last access, of a query from SOURCE
COLUMNS = ", ".join(_SUMMED.get(name, f'm."{name}"') for name in NAMES)  # of a query from SOURCE
_MARKS = ",".join("?" * (len(NAMES) + 2))
# Of to_row, then seq and changed; without spaces, as a statement is looked up by all its letters for every row.
INSERT = f"INSERT INTO memories({','.join(NAMES)},seq,changed)VALUES({_MARKS})"

# Most columns hold their field as it is; these types are written as JSON or as 0 and 1.
_READ: dict[str, Callable[[Any], Any]] = {
    "tags": lambda text: () if text == "[]" else tuple(json.loads(text)),
    "object": lambda text: {} if text == "{}" else json.loads(text),
    "flag": bool,
    **{type: {value: value for value in VALUES[type]}.__getitem__ for type in ("kind", "tier", "priority")},
}
_WRITE: dict[str, Callable[[Any], Any]] = {
    "tags": lambda tags: canonical_json(tags) if tags else "[]",
    "object": lambda data: canonical_json(data) if data else "{}",
    "flag": int,
}
_PYTHON_TYPES = {"integer": int, "count": int, "time": int, "flag": int, "fraction": float}
_EMPTY = frozenset(field.name for field in FIELDS if field.default is None and not field.required)
# The record of a row that was selected with COLUMNS; a value that cannot be is an error, which `damage` then names.
to_record: Callable[[Sequence[Any]], StoredRecord] = maker(
    StoredRecord,
    NAMES,
    {field.name: _READ[field.type] for field in FIELDS if field.type in _READ},
    {field.name: (_PYTHON_TYPES.get(field.type, str), field.name in _EMPTY) for field in FIELDS},
)

# The values of a record's columns; made by `reader`, so that a row costs one call.
to_row: Callable[[StoredRecord], tuple[Any, ...]] = reader(
    NAMES, {field.name: _WRITE[field.type] for field in FIELDS if field.type in _WRITE}
)


NO_LIMIT = -1  # LIMIT -1 returns every row


def select(connection: apsw.Connection, tail: str, bindings: Sequence[Any] = ()) -> list[StoredRecord]:
    """The records of `SELECT … FROM SOURCE <tail>`."""
    return [to_record(row) for row in connection.execute(f"SELECT {COLUMNS} FROM {SOURCE} {tail}", bindings)]


_BY_NUMBER = f"SELECT {COLUMNS} FROM carray(?) wanted CROSS JOIN memories m ON m.seq = wanted.value {_COUNTED}"


def numbered(connection: apsw.Connection, seqs: NDArray[np.int64]) -> list[StoredRecord]:
    """The records of some versions, in the order of the numbers given; SQLite reads those where they lie."""
    return list(map(to_record, connection.execute(_BY_NUMBER, (apsw.carray(seqs),)).fetchall()))


def listed(values: Sequence[str] | Sequence[int]) -> str:
    """A list as one binding, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values), ensure_ascii=False)  # escaped, a lone surrogate would pass for text
