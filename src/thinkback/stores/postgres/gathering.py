"""Candidates of a search, read in one statement: new records, counts of accesses that moved, and gaps in threads."""

from collections.abc import Iterable, Sequence

from thinkback.model import Filter, StoredRecord
from thinkback.stores.postgres import links
from thinkback.stores.postgres.rows import to_record
from thinkback.stores.postgres.session import Tx


class Gathering:
    """What a cache of records asks for, all of it read at the first question."""

    def __init__(self, tx: Tx, ids: Sequence[str], filter: Filter, steps: int, matching: list[int] | None) -> None:
        self.gaps: links.Gaps | None = None
        self._tx, self._ids, self._filter, self._steps, self._matching = tx, ids, filter, steps, matching
        self._records: dict[str, StoredRecord] = {}
        self._accesses: dict[str, tuple[str, int, int | None]] = {}

    def accesses(self, outdated: Sequence[str]) -> Iterable[tuple[str, int, int | None]]:
        self._read([id for id in self._ids if id not in set(outdated)])
        return [self._accesses[id] for id in outdated if id in self._accesses]

    def records(self, missing: Sequence[str]) -> dict[str, StoredRecord]:
        self._read(missing)
        return {id: self._records[id] for id in missing if id in self._records}

    def _read(self, missing: Sequence[str]) -> None:
        if self.gaps is not None:
            return
        rows, self.gaps = links.with_gaps(self._tx, self._ids, missing, self._filter, self._steps, self._matching)
        for id, count, last, *columns in rows:
            self._accesses[id] = (id, count, last)
            if columns:
                self._records[id] = to_record(columns)
