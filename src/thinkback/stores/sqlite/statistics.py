"""What a store holds, counted."""

import os
from collections.abc import Mapping
from typing import Any

import apsw

from thinkback.stores.sqlite import counters, generations, schema, scrub

_COUNTS = {
    "memories": "SELECT count(*) FROM memories WHERE retired_at IS NULL",
    "versions": "SELECT count(*) FROM memories",
    "archived": "SELECT count(*) FROM memories WHERE retired_at IS NULL AND archived_at IS NOT NULL",
    "embedded": "SELECT count(*) FROM memories WHERE retired_at IS NULL AND embedded = 1",
    "unembedded": "SELECT count(*) FROM memories WHERE retired_at IS NULL AND embedded = 0",
    "threads": "SELECT count(DISTINCT thread) FROM memories WHERE retired_at IS NULL",
    "tags": "SELECT count(DISTINCT t.tag) FROM memory_tags t JOIN memories m USING (seq) WHERE m.retired_at IS NULL",
    "edges": "SELECT count(*) FROM edges",
    "judgements": "SELECT count(*) FROM judgements",
    "journal": "SELECT count(*) FROM journal",
}
_GROUPS = {"kinds": "kind", "tiers": "tier", "priorities": "priority"}


def gather(connection: apsw.Connection, path: str) -> Mapping[str, Any]:
    """Counts, sizes and versions, ready for JSON."""
    state = counters.state(connection)
    return {
        "path": path,
        "store_id": state.store_id,
        "changes": state.changes,
        "touches": state.touches,
        **{name: int(connection.execute(sql).get) for name, sql in _COUNTS.items()},
        **{name: _grouped(connection, column) for name, column in _GROUPS.items()},
        "embedding_space": _space(connection, "live"),
        "reembedding_to": _space(connection, "building"),
        "file_bytes": _size(path),
        "log_bytes": _size(f"{path}-wal"),
        "scrub_owed": scrub.Debt.read(connection) is not None,
        "schema_version": schema.version(connection),
        "sqlite_version": apsw.sqlite_lib_version(),
    }


def _grouped(connection: apsw.Connection, column: str) -> dict[str, int]:
    sql = f"SELECT {column}, count(*) FROM memories WHERE retired_at IS NULL GROUP BY {column} ORDER BY 2 DESC, 1"
    return dict(connection.execute(sql))


def _space(connection: apsw.Connection, state: str) -> dict[str, Any] | None:
    found = generations.generation(connection, state)
    return None if found is None else {"fingerprint": found.space.fingerprint, "dimensions": found.space.dimensions}


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
