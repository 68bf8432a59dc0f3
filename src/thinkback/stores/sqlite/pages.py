"""The rows of a store's file, read page by page without SQLite: what is left when the file is too damaged to open.

Follows https://sqlite.org/fileformat2.html. A page that cannot be parsed is skipped, so damage costs the rows on damaged pages and
no others. Pages of the log take the place of those in the file, as far as its checksums hold and its last commit goes.
"""

import struct
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from thinkback.values import dataclass

_MAGIC = b"SQLite format 3\0"
_LEAF, _INTERIOR, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x05, 0x0A, 0x02
_LOCKED = 1 << 30  # the byte that SQLite locks; its page holds nothing
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes by serial type
_MOST_FIELDS = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """A row as a page holds it; `rowid` is None for tables without one. `values` are None if it cannot be read."""

    page: int
    rowid: int | None
    values: tuple[Any, ...] | None
    pages: tuple[int, ...] = ()  # with those of a long row


class Pages:
    """The pages of a file and its log."""

    def __init__(self, path: Path, usual_size: int) -> None:
        data = path.read_bytes()
        self.size = _page_size(data) or usual_size
        reserved = data[20] if _page_size(data) and len(data) > 20 else 0
        self._usable = self.size - (reserved if reserved < self.size - 480 else 0)
        self._data = data
        self._newer = _log(path.with_name(f"{path.name}-wal"), self.size)
        self.count = max([-(-len(data) // self.size), *self._newer])
        said = struct.unpack_from(">I", data, 28)[0] if _page_size(data) and len(data) >= 32 else 0
        self.missing = max(0, said - self.count)  # pages at the end that the header tells of

    def page(self, number: int) -> bytes:
        """A page by its number, which begins at 1; what is missing at its end is zeros."""
        found = self._newer.get(number)
        if found is None:
            found = self._data[(number - 1) * self.size : number * self.size]
        return found.ljust(self.size, b"\0")

    def cells(self) -> Iterator[tuple[int, list[Cell]]]:
        """For every page that holds rows its kind and its cells."""
        for number in range(1, self.count + 1):
            page, start = self.page(number), 100 if number == 1 else 0
            kind = page[start]
            if kind in (_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
                yield number, list(self._of(number, page, start, kind))

    def unread(self, long_rows: Set[int]) -> list[int]:
        """The pages that are of no known kind, neither free nor parts of `long_rows`; none if the first page does not tell."""
        first = self.page(1)
        if not first.startswith(_MAGIC) or any(first[52:56]):  # with pointer maps, any page might be one
            return []
        known = {1, _LOCKED // self.size + 1, *self._free(struct.unpack_from(">I", first, 32)[0]), *long_rows}
        return [number for number in range(2, self.count + 1) if number not in known and not self._holds_rows(number)]

    def _holds_rows(self, number: int) -> bool:
        return self.page(number)[0] in (_LEAF, _INDEX_LEAF, _INDEX_INTERIOR, _INTERIOR)

    def _free(self, trunk: int) -> Set[int]:
        free: set[int] = set()
        while 1 < trunk <= self.count and trunk not in free:
            page = self.page(trunk)
            following, count = struct.unpack_from(">II", page, 0)
            most = min(count, self.size // 4 - 2)
            free |= {trunk, *struct.unpack_from(f">{most}I", page, 8)}
            trunk = following
        return free

    def _of(self, number: int, page: bytes, start: int, kind: int) -> Iterator[Cell]:
        (count,) = struct.unpack_from(">H", page, start + 3)
        array = start + (12 if kind == _INDEX_INTERIOR else 8)
        for place in range(min(count, (self.size - array) // 2)):
            (at,) = struct.unpack_from(">H", page, array + 2 * place)
            try:
                yield self._cell(number, page, at, kind)
            except (IndexError, ValueError, struct.error):
                yield Cell(number, None, None)

    def _cell(self, number: int, page: bytes, at: int, kind: int) -> Cell:
        at += 4 if kind == _INDEX_INTERIOR else 0
        length, at = _varint(page, at)
        rowid = None
        if kind == _LEAF:
            rowid, at = _varint(page, at)
            rowid = rowid - (1 << 64) if rowid >> 63 else rowid
        local = self._local(length, kind)
        payload, visited = page[at : at + local], [number]
        if local < length:
            (following,) = struct.unpack_from(">I", page, at + local)
            payload += self._overflow(following, length - local, visited)
        if len(payload) != length:
            raise ValueError("a row that is cut off")
        return Cell(number, rowid, _record(payload), tuple(visited))

    def _local(self, length: int, kind: int) -> int:
        """How much of a row is on its own page."""
        usable = self._usable
        most = usable - 35 if kind == _LEAF else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (length - least) % (usable - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, left: int, visited: list[int]) -> bytes:
        parts = []
        while left > 0:
            if not 1 < number <= self.count or number in visited:
                raise ValueError("a row whose pages are lost")
            visited.append(number)
            page = self.page(number)
            (number,) = struct.unpack_from(">I", page, 0)
            parts.append(page[4 : min(self._usable, 4 + left)])
            left -= len(parts[-1])
        return b"".join(parts)


def _page_size(data: bytes) -> int | None:
    if not data.startswith(_MAGIC) or len(data) < 18:
        return None
    (size,) = struct.unpack_from(">H", data, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else None


def _record(payload: bytes) -> tuple[Any, ...]:
    """The values of a record; text stays bytes in a `Text`, because it may not be UTF-8."""
    size, at = _varint(payload, 0)
    if not 0 < size <= len(payload):
        raise ValueError("a header beyond its row")
    types = []
    while at < size:
        kind, at = _varint(payload, at)
        types.append(kind)
    if at != size or len(types) > _MOST_FIELDS:
        raise ValueError("a header that does not fit")
    values = []
    for kind in types:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("a row of another length than its header says")
    return tuple(values)


class Text(bytes):
    """Text as it is stored."""


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(_exactly(payload, at, end), "big", signed=True), end
    if kind == 7:
        return struct.unpack(">d", _exactly(payload, at, at + 8))[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("a type that does not exist")
    end = at + (kind - 12) // 2
    found = _exactly(payload, at, end)
    return (Text(found) if kind % 2 else found), end


def _exactly(payload: bytes, start: int, end: int) -> bytes:
    if end > len(payload):
        raise ValueError("a value beyond its row")
    return payload[start:end]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def _log(path: Path, size: int) -> dict[int, bytes]:
    """The pages of a write-ahead log up to its last commit, by number."""
    data = path.read_bytes() if path.exists() else b""
    if len(data) < _WAL_HEADER or struct.unpack_from(">I", data, 8)[0] != size:
        return {}
    order = ">" if data[3] & 1 else "<"
    salts, sums = data[16:24], _checksum(data[:24], (0, 0), order)
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for at in range(_WAL_HEADER, len(data) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        head, page = data[at : at + _FRAME_HEADER], data[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        sums = _checksum(page, _checksum(head[:8], sums, order), order)
        if head[8:16] != salts or struct.unpack(">II", head[16:24]) != sums:
            break
        number, pages_after = struct.unpack(">II", head[:8])
        pending[number] = page
        if pages_after:
            committed |= pending
            committed = {number: page for number, page in committed.items() if number <= pages_after}
            pending = {}
    return committed


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
