# ruff: noqa: N802 - SQLite names the methods of a file
"""A disk that remembers every write, so that any moment of it can be looked at as a power cut would have left it; or that fails."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
_BASE = "unix"


@dataclass
class Disk:
    """What was done to the files of a folder, in order; `fail_at` makes the nth call fail."""

    events: list[tuple[Any, ...]] = field(default_factory=list)
    calls: int = 0
    fail_at: int | None = None
    keeps_failing: bool = False

    def note(self, *event: Any) -> None:
        """Remember an event, or a mark of the caller's own."""
        self.events.append(event)

    def call(self, error: type[Exception]) -> None:
        """Count a call that may fail."""
        self.calls += 1
        if self.fail_at is not None and (
            self.calls == self.fail_at or (self.keeps_failing and self.calls > self.fail_at)
        ):
            raise error("as the campaign wants it")

    def image(self, upto: int, rng: random.Random) -> dict[str, bytes]:
        """The files after a power cut at an event: what was synced is there, of anything later each sector may be or not."""
        synced: dict[str, bytearray] = {}
        pending: dict[str, list[tuple[Any, ...]]] = {}
        for event in self.events[:upto]:
            kind, name = event[0], event[1]
            if kind == "delete":
                synced.pop(name, None)
                pending.pop(name, None)
            elif kind == "sync":
                for one in pending.pop(name, []):
                    _apply(synced.setdefault(name, bytearray()), one)
            elif kind in ("write", "truncate"):
                pending.setdefault(name, []).append(event)
        for name, events in pending.items():
            for one in events:
                _apply_some(synced.setdefault(name, bytearray()), one, rng)
        return {name: bytes(data) for name, data in synced.items()}


def _apply(data: bytearray, event: tuple[Any, ...]) -> None:
    if event[0] == "truncate":
        del data[event[2] :]
        return
    _, _, offset, written = event
    data.extend(bytes(max(0, offset + len(written) - len(data))))
    data[offset : offset + len(written)] = written


def _apply_some(data: bytearray, event: tuple[Any, ...], rng: random.Random) -> None:
    """All of a write, none of it, or some of its sectors."""
    luck = rng.random()
    if luck < 0.35:
        return
    if event[0] == "truncate" or luck < 0.7:
        _apply(data, event)
        return
    _, name, offset, written = event
    for start in range(0, len(written), SECTOR):
        if rng.random() < 0.5:
            _apply(data, ("write", name, offset + start, written[start : start + SECTOR]))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = os.path.basename(name if isinstance(name, str) else name.filename())
        super().__init__(_BASE, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.call(apsw.IOError)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.call(apsw.FullError if self._disk.calls % 2 else apsw.IOError)
        super().xWrite(data, offset)
        self._disk.note("write", self._name, offset, bytes(data))

    def xSync(self, flags: int) -> None:
        self._disk.call(apsw.IOError)
        super().xSync(flags)
        self._disk.note("sync", self._name)

    def xTruncate(self, size: int) -> None:
        self._disk.call(apsw.IOError)
        super().xTruncate(size)
        self._disk.note("truncate", self._name, size)


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__("torture", _BASE, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        self._disk.call(apsw.CantOpenError)
        return _File(self._disk, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self._disk.call(apsw.IOError)
        super().xDelete(name, sync)
        self._disk.note("delete", os.path.basename(name))


@contextmanager
def recorded() -> Iterator[Disk]:
    """Every file that SQLite opens meanwhile is on this disk."""
    disk = Disk()
    vfs = _Vfs(disk)
    try:
        yield disk
    finally:
        vfs.unregister()


def lay_out(image: dict[str, bytes], folder: Path) -> None:
    """Write the files of an image into an empty folder; the shared memory of a log does not outlive a power cut."""
    for old in folder.iterdir():
        old.unlink()
    for name, data in image.items():
        (folder / name).write_bytes(data)
