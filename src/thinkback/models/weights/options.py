"""What a caller may choose about fetching models and running them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from thinkback.models.weights.indexes import Indexes, config_files, discover_index_urls

HUB = "https://huggingface.co"

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is being fetched."""


def default_cache_dir() -> Path:
    """Where weights are kept when nothing else is said."""
    return Path(platformdirs.user_cache_dir("thinkback", appauthor=False)) / "models"


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Where weights may come from and where they are kept.

    `folder` is looked at first and never written: it holds the files themselves, or one folder a model.
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
