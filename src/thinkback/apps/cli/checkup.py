"""What `thinkback doctor` looks at besides the store's indexes: the installation, the models, the file; each green or red."""

import os
import platform
import shutil
import stat
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.settings import NONE, Settings, without_login
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.memory import Memory

PACKAGES = ("apsw", "numpy", "onnxruntime", "tokenizers")
EXTRAS = {"mcp": "mcp", "serve": "starlette", "postgres": "psycopg", "ann": "usearch", "otel": "opentelemetry-sdk"}
LEAST_FREE = 100_000_000
LARGE_LOG = 200_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was looked at, whether it is fine, what was seen, and what to do if it is not."""

    name: str
    fine: bool
    seen: str
    remedy: str = ""


def checks(settings: Settings, memory: "Memory") -> Iterator[Check]:
    """Everything around the store, in the order in which a person would look."""
    yield from _installation()
    yield from _model("embedder", settings.embedder, settings)
    yield from _model("reranker", settings.reranker, settings)
    if settings.database is None:
        yield from _file(settings.store_path)
    else:
        yield Check("server", True, f"{without_login(settings.database)}, the space {settings.space}")
    yield from _vectors(memory.stats())


def _installation() -> Iterator[Check]:
    import thinkback

    yield Check(
        "thinkback", True, f"{thinkback.__version__} on Python {platform.python_version()}, {platform.system()}"
    )
    missing = [name for name in PACKAGES if _version(name) is None]
    seen = ", ".join(f"{name} {_version(name)}" for name in PACKAGES if name not in missing)
    yield Check("packages", not missing, f"missing: {', '.join(missing)}" if missing else seen, "pip install thinkback")
    yield Check("extras", True, ", ".join(name for name, package in EXTRAS.items() if _version(package)) or "none")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _model(part: str, name: str, settings: Settings) -> Iterator[Check]:
    from thinkback.models.weights.cache import status
    from thinkback.models.weights.pinned import DEFAULT_EMBEDDER, DEFAULT_RERANKER
    from thinkback.opening import DEFAULT, open_options

    if name == NONE:
        yield Check(part, True, "none: switched off by the settings")
        return
    usual = DEFAULT_EMBEDDER if part == "embedder" else DEFAULT_RERANKER
    wanted = usual if name == DEFAULT else name
    known = {one.model.name: one for one in status(open_options(settings).fetch)}
    if wanted not in known:
        yield Check(part, True, f"{wanted} (not a pinned model; not checked)")
        return
    found = known[wanted]
    needed = part == "embedder"  # the reranker is fetched when a recipe first asks for it
    fine = found.state == "ready" or (found.state == "missing" and not needed)
    yield Check(part, fine, f"{wanted}: {found.state}", f"thinkback models pull {wanted}")


def _file(path: Path) -> Iterator[Check]:
    from thinkback.apps.cli.output import size

    log = Path(f"{path}-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    yield Check("file", True, f"{path}, {size(path.stat().st_size)}")
    grown = f"{size(log_bytes)} waiting to be merged into the file"
    yield Check("log", log_bytes < LARGE_LOG, grown, "close programs that hold the store open for long")
    free = shutil.disk_usage(path.parent).free
    yield Check("disk", free > LEAST_FREE, f"{size(free)} free", "make room: a full disk refuses writes")
    if os.name == "posix":
        shared = bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
        yield Check("readers", True, "others on this machine too" if shared else "only you")


def _vectors(counts: Any) -> Iterator[Check]:
    waiting = int(counts["unembedded"])
    space = counts["embedding_space"]
    seen = f"{counts['embedded']} of {counts['embedded'] + waiting} memories"
    made_by = f", by {space['fingerprint'] if isinstance(space, dict) else space}" if space else ""
    without_any = waiting > 0 and space is None  # a store that was always searched by keywords alone
    yield Check("vectors", waiting == 0 or without_any, seen + made_by, "thinkback embed --missing")
    unfinished = counts["reembedding_to"]
    yield Check("re-embedding", not unfinished, "unfinished" if unfinished else "none under way", "thinkback reembed")
