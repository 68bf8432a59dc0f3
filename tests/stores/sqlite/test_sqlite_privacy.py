"""A memory is its owner's: nobody else reads the files, and nobody in this process lets go of their locks."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from codes import raises

from thinkback.errors import StoreError
from thinkback.model import Draft
from thinkback.stores.sqlite import SqliteStore

NOW = 1_770_000_000_000_000
posix = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


@posix
def test_a_new_store_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "memory.db") as store:
        store.add([Draft(text="a secret")], NOW)
        assert modes(tmp_path) == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert modes(tmp_path) == {"memory.db": 0o600}


@posix
def test_a_store_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    path.chmod(0o640)
    with SqliteStore(path) as store:
        store.add([Draft(text="for the team")], NOW)
        assert set(modes(tmp_path).values()) == {0o640}


@posix
def test_a_link_that_leads_nowhere_yet_leads_to_a_private_store(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "memory.db")
    SqliteStore(tmp_path / "link.db").close()
    assert (tmp_path / "memory.db").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    with raises(StoreError, "cannot_create") as refused:
        SqliteStore(tmp_path / "memory.db")
    assert str(tmp_path / "memory.db") in str(refused.value)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/locks")
def test_opening_a_store_again_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """POSIX drops every lock a process has on a file when any descriptor of it is closed."""
    path = tmp_path / "memory.db"

    def locks() -> int:
        return Path("/proc/locks").read_text().count(f":{path.stat().st_ino} ")

    with SqliteStore(path) as first:
        first.add([Draft(text="held")], NOW)
        held = locks()
        assert held > 0
        SqliteStore(path).close()
        assert locks() == held
