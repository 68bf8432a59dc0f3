"""Counting in a temporary file, so that memory stays bounded however many keys there are."""

import apsw


class TempCounter:
    """How often each key came up so far."""

    def __init__(self) -> None:
        self._file = apsw.Connection("")
        self._file.execute("CREATE TABLE seen (key TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID; BEGIN")

    def add(self, key: str) -> int:
        """Count a key once more; return its count."""
        sql = "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times"
        return int(self._file.execute(sql, (key,)).get)
