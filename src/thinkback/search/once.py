"""What is read from a record once: kept with the record, so that it is gone when the record is."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from thinkback.model import StoredRecord

T = TypeVar("T")
_NOTHING: dict[object, Any] = {}
_keep = StoredRecord.kept.__set__  # type: ignore[attr-defined]  # a record is frozen, but this is no part of its value


class Once(Generic[T]):
    """Decorates a function of a record alone; no result outlives the record it was read from.

    It must not look at the access count or the last access: results stay when only those change.
    """

    def __init__(self, read: Callable[[StoredRecord], T]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __call__(self, record: StoredRecord) -> T:
        kept = getattr(record, "kept", None)
        if kept is None:
            kept = {}
            _keep(record, kept)
        if self not in kept:
            kept[self] = self._read(record)
        found: T = kept[self]
        return found

    def each(self, records: Sequence[StoredRecord]) -> list[T]:
        """One for every record; of records that were read before, without a call for each."""
        return [
            kept[self] if self in (kept := getattr(record, "kept", _NOTHING)) else self(record) for record in records
        ]
