"""Records as rows and back; a row on a server holds what a row in a file holds."""

from thinkback.fields import FIELDS
from thinkback.model import StoredRecord
from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite.rows import NAMES, to_record, to_row

COLUMNS = ", ".join(f'm."{name}"' for name in NAMES)  # of a query that calls memories `m`
_COPY = {"fraction": "float8", "integer": "int8", "count": "int8", "time": "int8", "flag": "int2"}
TYPES = tuple(_COPY.get(field.type, "text") for field in FIELDS)

__all__ = ["COLUMNS", "NAMES", "TYPES", "select", "to_record", "to_row"]


def select(tx: Tx, tail: str, params: Params) -> list[StoredRecord]:
    """The records of `SELECT … FROM memories m <tail>`."""
    return [to_record(row) for row in tx.rows(f"SELECT {COLUMNS} FROM thinkback.memories m {tail}", params)]
