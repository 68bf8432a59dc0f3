"""Copies of a store: made while others write, checked before they count, and put in the place of a lost file."""

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from thinkback.errors import InvalidInput, NotFound, StoreDamaged
from thinkback.stores.base import PENDING_SCRUB
from thinkback.stores.sqlite import health
from thinkback.stores.sqlite.connection import Connections

_COMPANIONS = ("-wal", "-shm", "-journal")


def back_up(source: Connections, target: Path, replace: bool) -> None:
    """Copy a store as of one moment; the copy takes its name when every index of it agrees with its text."""
    if target.exists() and not replace:
        raise InvalidInput(f"{target} exists; choose another name, or replace it", code="file_exists")
    with _beside(target) as copy:
        with (
            source.read() as connection,
            closing(apsw.Connection(str(copy))) as made,
            made.backup("main", connection, "main") as copying,
        ):
            while not copying.done:
                copying.step(-1)
        verify(copy)
        os.replace(copy, target)
        _settle(target)


def restore(copy: Path, target: Path, replace: bool) -> Path | None:
    """Put a checked copy in the place of a store; returns where the old one was moved, if there was one."""
    if not copy.is_file():
        raise NotFound(f"there is no file {copy}", code="no_store")
    if target.exists() and not replace:
        raise InvalidInput(f"{target} exists; replace it only if no program has it open", code="file_exists")
    with _beside(target) as made:
        made.write_bytes(copy.read_bytes())
        verify(made)
        _renew(made)
        moved = _move_away(target)
        os.replace(made, target)
        _settle(target)
    return moved


def verify(path: Path) -> None:
    """Open a copy and compare every index with its text."""
    with closing(Connections(str(path), read_only=False, busy_timeout_s=1.0)) as opened, opened.read() as connection:
        wrong = [problem for problem in health.check(connection) if problem.area != PENDING_SCRUB]
    if wrong:
        raise StoreDamaged(f"the copy is not sound: {wrong[0].message}", code="bad_copy")


def _renew(path: Path) -> None:
    """Give a restored store an identity of its own: it counts changes that its old self counted too, with other contents."""
    with closing(Connections(str(path), read_only=False, busy_timeout_s=1.0)) as opened, opened.write() as connection:
        connection.execute("UPDATE counters SET store_id = lower(hex(randomblob(8)))")


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new file in the same folder that only its owner can read; it is gone at the end unless it was renamed."""
    if not target.parent.is_dir():
        raise InvalidInput(f"the folder {target.parent} does not exist; create it first", code="no_folder")
    path = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield path
    finally:
        for name in (path, *(Path(f"{path}{suffix}") for suffix in _COMPANIONS)):
            with suppress(FileNotFoundError):
                name.unlink()


def _move_away(target: Path) -> Path | None:
    """Rename a store and the files beside it; a log without its file would be taken for the new one's."""
    if not target.exists() and not Path(f"{target}-wal").exists():
        return None
    moved = target.with_name(f"{target.name}.replaced-{secrets.token_hex(4)}")
    for suffix in ("", *_COMPANIONS):
        with suppress(FileNotFoundError):
            os.rename(f"{target}{suffix}", f"{moved}{suffix}")
    return moved


def _settle(path: Path) -> None:
    """Make a new file and its name last through a power cut."""
    for name in (path, path.parent) if os.name == "posix" else (path,):
        descriptor = os.open(name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
