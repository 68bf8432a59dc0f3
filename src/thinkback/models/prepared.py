"""Models as onnxruntime has them after optimising their graph, kept beside the weights: four fifths of opening one go into that.

onnxruntime makes the file from the weights, and it gives the same numbers. A stamp names the version, the weights and the file by
inode, size and times; if anything differs, the weights are opened and the file is made anew. Only a folder of verified weights gets
one.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thinkback.models.weights.checksums import STAMP

_FILE, _PREPARED = "prepared.onnx", "prepared.json"


def find(weights: Path, version: str) -> Path | None:
    """The prepared file of these weights for this version of onnxruntime, if it is as it was made."""
    made = weights.with_name(_FILE)
    try:
        stamp = json.loads(weights.with_name(_PREPARED).read_text(encoding="utf-8"))
        return made if stamp == [version, _identity(weights), _identity(made)] else None
    except (OSError, ValueError):
        return None


@contextmanager
def making(weights: Path, version: str) -> Iterator[Path | None]:
    """Yields where to write the prepared file, or None; keeps it if nothing fails."""
    draft = weights.with_name(f"{_FILE}.{os.getpid()}.part")
    if not weights.with_name(STAMP).is_file() or not os.access(weights.parent, os.W_OK):
        yield None
        return
    try:
        yield draft
        _keep(draft, weights, version)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _keep(draft: Path, weights: Path, version: str) -> None:
    stamp, made = weights.with_name(_PREPARED), weights.with_name(_FILE)
    with contextlib.suppress(OSError):  # a full disk; the next process tries again
        stamp.unlink(missing_ok=True)
        draft.chmod(0o600)
        draft.replace(made)
        row = [version, _identity(weights), _identity(made)]
        part = stamp.with_name(f"{stamp.name}.{os.getpid()}.part")
        part.write_text(json.dumps(row), encoding="utf-8")
        part.replace(stamp)


def _identity(path: Path) -> list[int]:
    """A program can set size and modification time back, but not the time of the last change, which the system keeps."""
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
