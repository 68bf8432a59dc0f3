"""Options for fetching and running models, and the package indexes that pip and uv are configured to use.

Everything is a function of its arguments; the caller reads the environment.
"""

import configparser
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import platformdirs

from thinkback.values import dataclass

PYPI = "https://pypi.org/simple/"
HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class Indexes:
    """Where wheels are looked for: simple indexes first, in order, then pages or folders of links."""

    index_urls: tuple[str, ...] = (PYPI,)
    find_links: tuple[str, ...] = ()
    cert: str | None = None


Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is being fetched."""


def default_cache_dir() -> Path:
    """The default folder of the weights."""
    return Path(platformdirs.user_cache_dir("thinkback", appauthor=False)) / "models"


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Where weights may come from and where they are kept.

    `folder` is searched first and never written: it holds the files of a model, or one folder for each model.
    """

    cache_dir: Path = field(default_factory=default_cache_dir)
    folder: Path | None = None
    offline: bool = False
    indexes: Indexes = field(default_factory=Indexes)
    hub_url: str = HUB
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """How an embedder or a reranker is opened: its weights, the machine it runs on, the server it calls.

    `device` is `auto`, `cpu` or `cuda`; `threads` is how many texts are worked on at once, all cores by default.
    """

    fetch: FetchOptions = field(default_factory=FetchOptions)
    progress: Progress | None = None
    device: str = "auto"
    threads: int | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    cached_queries: int = 512

    @classmethod
    def of(cls, options: "OpenOptions | FetchOptions | None") -> "OpenOptions":
        """The options given, or defaults around the weights' own."""
        if isinstance(options, FetchOptions):
            return cls(fetch=options)
        return cls() if options is None else options


def fetch_options(environ: Mapping[str, str], home: Path) -> FetchOptions:
    """The options that pip's and uv's variables and files, and `HF_ENDPOINT`, ask for."""
    return FetchOptions(
        indexes=discover_index_urls(environ, config_files(environ, home)),
        hub_url=environ.get("HF_ENDPOINT") or HUB,
    )


@dataclass(slots=True)
class _Found:
    main: list[str]
    extra: list[str]
    links: list[str]
    cert: list[str]


def discover_index_urls(environ: Mapping[str, str], config_files: Iterable[Path]) -> Indexes:
    """The indexes that pip or uv would use with this environment and these files, the public one by default.

    The last file wins over the first and the environment over every file, as in pip; a `.toml` is read as uv's.
    Extra indexes and links are united. `PIP_NO_INDEX` leaves the links alone.
    """
    found = _Found([], [], [], [])
    for path in config_files:
        _read_uv(path, found) if path.suffix == ".toml" else _read_pip(path, found)
    _read_environ(environ, found)
    no_index = environ.get("PIP_NO_INDEX", "").lower() in {"1", "true", "yes", "on"}
    urls = [] if no_index else [*found.main[-1:], *found.extra]
    if not found.main and not no_index:
        urls.insert(0, PYPI)
    return Indexes(_unique(urls), _unique(found.links), found.cert[-1] if found.cert else None)


def config_files(environ: Mapping[str, str], home: Path, prefix: Path = Path(sys.prefix)) -> tuple[Path, ...]:
    """The configuration files of pip and uv, the least important first."""
    if environ.get("PIP_CONFIG_FILE"):
        return (Path(environ["PIP_CONFIG_FILE"]),)
    if sys.platform == "win32":
        roaming = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
        shared = Path(environ.get("PROGRAMDATA") or "C:/ProgramData")
        pip = [shared / "pip" / "pip.ini", home / "pip" / "pip.ini", roaming / "pip" / "pip.ini", prefix / "pip.ini"]
        return (shared / "uv" / "uv.toml", roaming / "uv" / "uv.toml", *pip)
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared_dirs = [Path(part) for part in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if part]
    pip = [*(shared / "pip" / "pip.conf" for shared in shared_dirs), Path("/etc/pip.conf"), home / ".pip" / "pip.conf"]
    if sys.platform == "darwin":
        pip.append(home / "Library" / "Application Support" / "pip" / "pip.conf")
    return (Path("/etc/uv/uv.toml"), config / "uv" / "uv.toml", *pip, config / "pip" / "pip.conf", prefix / "pip.conf")


def _read_pip(path: Path, found: _Found) -> None:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return  # pip itself would refuse the file; here it only means that the file names no index
    for section in ("global", "install", "download"):
        if not parser.has_section(section):
            continue
        values = {key.replace("_", "-"): value for key, value in parser.items(section)}
        found.main += values.get("index-url", "").split()
        found.extra += values.get("extra-index-url", "").split()
        found.links += values.get("find-links", "").split()
        found.cert += [values["cert"].strip()] if values.get("cert") else []


def _read_uv(path: Path, found: _Found) -> None:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return
    if isinstance(table.get("index-url"), str):
        found.main.append(table["index-url"])
    for row in table.get("index", ()):
        if isinstance(row, dict) and isinstance(row.get("url"), str):
            (found.main if row.get("default") else found.extra).append(row["url"])
    for key, kept in (("extra-index-url", found.extra), ("find-links", found.links)):
        kept += [value for value in table.get(key, ()) if isinstance(value, str)]


def _read_environ(environ: Mapping[str, str], found: _Found) -> None:
    for key in ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        found.main += [_unnamed(value) for value in environ.get(key, "").split()]
    for key in ("UV_EXTRA_INDEX_URL", "UV_INDEX", "PIP_EXTRA_INDEX_URL"):
        found.extra += [_unnamed(value) for value in environ.get(key, "").split()]
    for key in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        found.links += environ.get(key, "").replace(",", " ").split()
    found.cert += [environ[key] for key in ("SSL_CERT_FILE", "PIP_CERT") if environ.get(key)]


def _unnamed(index: str) -> str:
    """uv lets an index carry a name in front: `corporate=https://…`."""
    name, sign, url = index.partition("=")
    return url if sign and "://" in url and "/" not in name else index


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
