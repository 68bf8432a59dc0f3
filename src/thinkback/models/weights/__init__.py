"""Model weights: the pinned list, and how they are fetched, verified and kept."""

from thinkback.models.weights.cache import Status, ensure, path, remove, status, verify
from thinkback.models.weights.options import (
    FetchOptions,
    Indexes,
    OpenOptions,
    Progress,
    config_files,
    default_cache_dir,
    discover_index_urls,
    fetch_options,
)
from thinkback.models.weights.pinned import (
    DEFAULT_EMBEDDER,
    DEFAULT_RERANKER,
    MODELS,
    File,
    Hub,
    Kind,
    Model,
    Pooling,
    Wheel,
    find,
)

__all__ = [
    "DEFAULT_EMBEDDER",
    "DEFAULT_RERANKER",
    "MODELS",
    "FetchOptions",
    "File",
    "Hub",
    "Indexes",
    "Kind",
    "Model",
    "OpenOptions",
    "Pooling",
    "Progress",
    "Status",
    "Wheel",
    "config_files",
    "default_cache_dir",
    "discover_index_urls",
    "ensure",
    "fetch_options",
    "find",
    "path",
    "remove",
    "status",
    "verify",
]
