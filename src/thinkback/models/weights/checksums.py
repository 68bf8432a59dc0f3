"""Checking a folder of weights against the pinned list, cheaply when nothing has changed.

`verified.json` in the folder records inode, size and times of every verified file. While they are unchanged, the file is not read
again; `problems(..., thorough=True)` always reads it. A program can set a file's size and modification time back, but not the time
of its last change, which the system keeps.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from thinkback.models.weights.pinned import File, Model

STAMP = "verified.json"
_BLOCK = 1 << 20


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def weights_of(folder: Path, *names: str) -> str:
    """One checksum over the named files, which identifies weights that are not pinned."""
    present = [name for name in names if (folder / name).is_file()]
    return hashlib.sha256("".join(sha256_of(folder / name) for name in present).encode()).hexdigest()


def problems(model: Model, folder: Path, known: Mapping[str, str], thorough: bool = False) -> list[str]:
    """Problems of a model's files in a folder, one sentence each; `known` has checksums of unpinned files."""
    stamp = {} if thorough else _read_stamp(folder)
    found = [_problem(file, folder, file.sha256 or known.get(file.name, ""), stamp) for file in model.files]
    return [problem for problem in found if problem]


def _problem(file: File, folder: Path, expected: str, stamp: Mapping[str, object]) -> str:
    path = folder / file.name
    try:
        status = path.stat()
        if file.size and status.st_size != file.size:
            return f"{path} has {status.st_size} bytes instead of {file.size}"
        if not expected:
            return "" if status.st_size else f"{path} is empty"
        if stamp.get(file.name) == _identity(status, expected):
            return ""
        actual = sha256_of(path)
    except FileNotFoundError:
        return f"{path} is missing"
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    return "" if actual == expected else f"{path} has SHA-256 {actual} instead of {expected}"


def write_stamp(model: Model, folder: Path, known: Mapping[str, str]) -> None:
    """Record that the files are verified; a folder that cannot be written is verified again next time."""
    rows = {}
    for file in model.files:
        status = (folder / file.name).stat()
        rows[file.name] = _identity(status, file.sha256 or known.get(file.name, ""))
    _write_json(folder / STAMP, rows)


def _identity(status: os.stat_result, digest: str) -> list[object]:
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, digest]


def stamped(model: Model, folder: Path) -> bool:
    """Whether the folder's stamp describes every file of the model as it is."""
    stamp = _read_stamp(folder)
    return all(
        isinstance(row := stamp.get(file.name), list) and row == _identity((folder / file.name).stat(), row[-1])
        for file in model.files
    )


def _read_stamp(folder: Path) -> dict[str, object]:
    return _read_json(folder / STAMP)


def read_checksums(path: Path) -> dict[str, str]:
    """Checksums recorded at the first fetch of an unpinned model."""
    return {name: value for name, value in _read_json(path).items() if isinstance(value, str)}


def write_checksums(path: Path, checksums: Mapping[str, str]) -> None:
    """Record the checksums that later fetches are checked against."""
    _write_json(path, checksums)


def _read_json(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with contextlib.suppress(OSError):
        part.write_text(json.dumps(value, indent=1), encoding="utf-8")
        part.replace(path)
