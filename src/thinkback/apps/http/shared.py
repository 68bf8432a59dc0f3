"""What the worker processes of one server share, in a private folder that is removed when the server stops.

Logins, rates, the use of spaces and metrics are files, guarded by locks that the system frees when a process dies.
"""

import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from thinkback.apps.http.login import MAX_SESSIONS, Issued
from thinkback.apps.http.rates import MAX_BUCKETS, RateLimiter

if sys.platform != "win32":  # where several workers are refused
    import fcntl

_BUCKET = struct.Struct("dd")


class Shared:
    """The folder, by its parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.metrics = self._part("metrics")
        self.spaces = SharedUse(self._part("spaces"))
        self.codes = IssuedFiles(self._part("codes"))
        self.sessions = IssuedFiles(self._part("sessions"))

    def rates(self, per_second: float, burst: float, clock: Callable[[], float]) -> RateLimiter:
        """A limit that all workers count together."""
        return SharedRates(per_second, burst, clock, self._part("rates"))

    def forget_gauges(self, pid: int) -> None:
        """Remove the gauges of a worker that ended; its counts stay."""
        for file in self.metrics.glob(f"gauge_live*_{pid}.db"):
            file.unlink(missing_ok=True)

    def _part(self, name: str) -> Path:
        part = self.folder / name
        part.mkdir(mode=0o700, exist_ok=True)
        return part


class IssuedFiles:
    """Login codes or sessions, each a file with the token's identity; its time of change is when it expires."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, issued: Issued) -> None:
        """Keep one; of too many those that expire first are removed."""
        beside = self._folder / f".{key}"
        beside.write_text(issued.token, encoding="utf-8")
        _set_time(beside, issued.until)
        os.replace(beside, self._folder / key)
        kept = sorted(self._folder.iterdir(), key=_expires)
        for file in kept[: len(kept) - MAX_SESSIONS]:
            file.unlink(missing_ok=True)

    def get(self, key: str) -> Issued | None:
        """The one with this key, if there is one."""
        file = self._folder / key
        with suppress(FileNotFoundError):
            return Issued(file.read_text(encoding="utf-8"), file.stat().st_mtime_ns // 1000)
        return None

    def extend(self, key: str, until: int) -> None:
        """Let one expire later, unless it was removed meanwhile."""
        with suppress(FileNotFoundError):
            _set_time(self._folder / key, until)

    def take(self, key: str) -> Issued | None:
        """Remove one; of several processes that try, only one gets it."""
        found = self.get(key)
        with suppress(FileNotFoundError):
            (self._folder / key).unlink()
            return found
        return None


class SharedRates(RateLimiter):
    """Token buckets in a file each, so that several processes count together; the clock must be the system's."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float], folder: Path) -> None:
        super().__init__(per_second, burst, clock)
        self._folder = folder
        self._files: dict[str, int] = {}

    def wait(self, name: str) -> float:
        """Take one request from a bucket; returns 0, or the seconds until there is one."""
        if self._per_second <= 0:
            return 0.0
        file = self._file(name)
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            kept = os.pread(file, _BUCKET.size, 0)
            if kept:
                self._buckets[name] = _BUCKET.unpack(kept)
            seconds = super().wait(name)
            os.pwrite(file, _BUCKET.pack(*self._buckets.pop(name)), 0)
            return seconds
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _file(self, name: str) -> int:
        if name not in self._files:
            while len(self._files) >= MAX_BUCKETS // 100:
                os.close(self._files.pop(next(iter(self._files))))
            path = self._folder / sha256(name.encode()).hexdigest()
            self._files[name] = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        return self._files[name]


class SharedUse:
    """Which spaces are in use by any worker, and how often each was dropped: a byte in its file for every time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def use(self, name: str) -> Iterator[int]:
        """Use a space, which nobody drops meanwhile; returns how often it was dropped."""
        with self._locked(name, fcntl.LOCK_SH) as file:
            yield os.fstat(file).st_size

    @contextmanager
    def drop(self, name: str) -> Iterator[bool]:
        """Drop a space, unless another worker uses it; the others open it again after this."""
        try:
            with self._locked(name, fcntl.LOCK_EX | fcntl.LOCK_NB) as file:
                os.write(file, b".")
                yield True
        except BlockingIOError:
            yield False

    @contextmanager
    def _locked(self, name: str, how: int) -> Iterator[int]:
        file = os.open(self._folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, how)
            yield file
        finally:
            os.close(file)


def _set_time(file: Path, micros: int) -> None:
    os.utime(file, ns=(micros * 1000, micros * 1000))


def _expires(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_mtime_ns
    return 0
