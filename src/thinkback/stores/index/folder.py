"""The files of a derived index: immutable segments and one manifest that names them.

A segment is written under a new name, flushed, and only then named by a new manifest, which replaces the old one in one step. A
segment of another size or with other bytes than the manifest says is never used. Files and folder are private to their owner.
"""

import json
import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thinkback.values import dataclass

FORMAT = 4
MANIFEST = "manifest.json"
_LOCK = "lock"
_SUFFIX = ".segment"
_ALIGNED = 64

Arrays = Mapping[str, NDArray[Any]]


if sys.platform == "win32":
    import msvcrt

    def _locked(descriptor: int, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:  # msvcrt gives up after ten seconds
                if not wait:
                    return False
            else:
                return True
else:
    import fcntl

    def _locked(descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


class Unusable(Exception):
    """The index is absent, damaged or of another store; the store works without it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment as the manifest names it."""

    file: str
    rows: int
    first: int  # the lowest and the highest version number in it
    last: int
    size: int  # bytes
    sum: int  # of its 64-bit words, modulo 2⁶⁴
    parity: int  # their exclusive or


@dataclass(frozen=True, slots=True)
class Link:
    """A graph over the vectors of some neighbouring segments, which are named by their files."""

    entry: Entry
    over: tuple[str, ...]
    expansion: int  # how many candidates a search follows
    recall: float  # against exact search, measured when it was built


@dataclass(frozen=True, slots=True)
class Manifest:
    """The segments that together hold a store as of one change count."""

    store_id: str
    nonce: str  # which the store holds too, so that an index does not survive the return of an older file
    changes: int
    purged: int  # the change count up to which removed memories are out of the segments
    generation: int | None  # of the vectors that the codes were made from
    segments: tuple[Entry, ...] = ()
    graphs: tuple[Link, ...] = ()

    def of(self, segments: Sequence[Entry]) -> "Manifest":
        """With these segments, and only the graphs whose segments are all among them."""
        files = {entry.file for entry in segments}
        standing = tuple(link for link in self.graphs if files.issuperset(link.over))
        return replace(self, segments=tuple(segments), graphs=standing)


def _plain(manifest: Manifest) -> dict[str, Any]:
    """As JSON carries it; `asdict` would copy every value of every segment."""
    segments = [_fields(entry) for entry in manifest.segments]
    links = [_fields(link) | {"entry": _fields(link.entry)} for link in manifest.graphs]
    return _fields(manifest) | {"segments": segments, "graphs": links}


def _fields(value: Entry | Link | Manifest) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


class Folder:
    """The folder of one store's index."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def manifest(self) -> Manifest:
        """The present manifest; Unusable if there is none that can be trusted."""
        try:
            held = json.loads((self.path / MANIFEST).read_bytes())
            sealed = json.dumps(held["index"], sort_keys=True).encode()
            if held["format"] != FORMAT or held["seal"] != crc32(sealed):
                raise Unusable("the manifest is damaged or of another version")
            rest = {name: value for name, value in held["index"].items() if name not in ("segments", "graphs")}
            graphs = tuple(
                Link(Entry(**link["entry"]), tuple(link["over"]), link["expansion"], link["recall"])
                for link in held["index"].get("graphs", ())
            )
            return Manifest(segments=tuple(Entry(**one) for one in held["index"]["segments"]), graphs=graphs, **rest)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unusable(str(error)) from error

    def open(self, entry: Entry) -> Arrays:
        """The arrays of a segment, mapped and verified."""
        try:
            descriptor = os.open(self.path / entry.file, os.O_RDONLY)
            try:
                if os.fstat(descriptor).st_size != entry.size:
                    raise Unusable(f"{entry.file} has another size")
                mapped = mmap.mmap(descriptor, entry.size, access=mmap.ACCESS_READ)
            finally:
                os.close(descriptor)
            if _checksums(np.frombuffer(mapped, dtype=np.uint64)) != (entry.sum, entry.parity):
                raise Unusable(f"{entry.file} is damaged")
            length = int.from_bytes(mapped[:8], "little")
            return {
                name: np.frombuffer(mapped, dtype=kind, count=prod(shape), offset=offset).reshape(shape)
                for name, (kind, shape, offset) in json.loads(mapped[8 : 8 + length]).items()
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unusable(str(error)) from error

    def write(self, arrays: Arrays) -> Entry:
        """Write a segment, which no manifest names yet."""
        seqs = arrays["seqs"]
        self.path.mkdir(mode=0o700, exist_ok=True)
        content = _packed(arrays)
        words = np.frombuffer(content, dtype=np.uint64)
        numbers = (len(seqs), int(seqs[0]), int(seqs[-1])) if len(seqs) else (0, 0, 0)
        entry = Entry(os.urandom(8).hex() + _SUFFIX, *numbers, len(content), *_checksums(words))
        self._put(entry.file, content)
        return entry

    def publish(self, manifest: Manifest) -> None:
        """Make these the segments, and remove all others."""
        index = _plain(manifest)
        sealed = json.dumps(index, sort_keys=True).encode()
        content = json.dumps({"format": FORMAT, "seal": crc32(sealed), "index": index}).encode()
        self.path.mkdir(mode=0o700, exist_ok=True)
        self._put(MANIFEST, content)
        _flush_folder(self.path)
        self._keep({entry.file for entry in (*manifest.segments, *(link.entry for link in manifest.graphs))})

    def remove(self) -> None:
        """Remove the index; what is left to be done next time is not an index any more."""
        with suppress(FileNotFoundError):
            (self.path / MANIFEST).unlink()
        self._keep(frozenset())

    def destroy(self) -> None:
        """Remove the folder too, of a store that is gone."""
        if not self.path.is_dir():
            return
        self.remove()
        (self.path / _LOCK).unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's file
            self.path.rmdir()

    @contextmanager
    def locked(self, wait: bool = True) -> Iterator[bool]:
        """Keep other processes from writing the index; yields False if another one is at it and `wait` is False."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            yield _locked(descriptor, wait)
        finally:
            os.close(descriptor)

    def _put(self, name: str, content: bytes | bytearray) -> None:
        draft = self.path / f"{name}.{os.urandom(4).hex()}.new"
        try:
            descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self.path / name)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _keep(self, names: frozenset[str] | set[str]) -> None:
        if not self.path.is_dir():
            return
        for file in self.path.iterdir():
            if file.suffix in (_SUFFIX, ".new") and file.name not in names:
                file.unlink(missing_ok=True)


def _packed(arrays: Arrays) -> bytearray:
    """A header with the place of every array, then the arrays; the whole is a multiple of eight bytes."""
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    length = 64 * len(parts) + 256  # room for the header, whose length depends on the offsets it names
    places, at = {}, _round_up(8 + length)
    for name, array in parts.items():
        places[name] = (array.dtype.str, array.shape, at)
        at = _round_up(at + array.nbytes)
    header = json.dumps(places).encode().ljust(length)
    content = bytearray(at)
    content[:8] = len(header).to_bytes(8, "little")
    content[8 : 8 + len(header)] = header
    for name, array in parts.items():
        np.frombuffer(content, dtype=array.dtype, count=array.size, offset=places[name][2])[:] = array.ravel()
    return content


def _round_up(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _checksums(words: NDArray[np.uint64]) -> tuple[int, int]:
    """Sum and exclusive or of the words, at the speed of memory: a start must not wait for a slower one over all files."""
    return int(np.add.reduce(words)), int(np.bitwise_xor.reduce(words))


def _flush_folder(path: Path) -> None:
    with suppress(OSError):  # not every system can
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
