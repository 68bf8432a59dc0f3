"""Files are opened on first use, kept while they are needed, and closed when there are too many."""

import os
import threading
from pathlib import Path

import pytest

from thinkback.apps.http.spaces import Spaces
from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.base import Store
from thinkback.stores.sqlite import SqliteSpaces

from codes import raises  # isort: skip


class Counted:
    """Opens memories and keeps them in sight."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []
        self._open = Opener(Settings(embedder="none", reranker="none"))

    def __call__(self, store: Store) -> Memory:
        memory = self._open.over(store)
        name = Path(store.path).stem  # type: ignore[attr-defined]
        self.opened.append(name)
        close = memory.close
        memory.close = lambda: (self.closed.append(name), close())[1]  # type: ignore[method-assign, func-returns-value]
        return memory


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def spaces(tmp_path: Path, counted: Counted) -> Spaces:
    return Spaces(SqliteSpaces(tmp_path / "spaces"), counted, max_open=2)


def test_the_least_used_is_closed(spaces: Spaces, counted: Counted) -> None:
    for name in ("a", "b", "a", "c"):
        with spaces.lease(name, create=True):
            pass
    assert counted.opened == ["a", "b", "c"]
    assert counted.closed == ["b"]
    with spaces.lease("b"):
        assert counted.opened == ["a", "b", "c", "b"]
    spaces.close()
    assert sorted(counted.closed) == ["a", "b", "b", "c"]


def test_what_is_in_use_is_not_closed(spaces: Spaces, counted: Counted) -> None:
    with spaces.lease("a", create=True) as memory:
        for name in ("b", "c", "d"):
            with spaces.lease(name, create=True):
                pass
        assert "a" not in counted.closed
        memory.remember("still open")
    assert spaces.open_count == 2
    spaces.close()


def test_one_opening_for_many_at_once(spaces: Spaces, counted: Counted) -> None:
    gate = threading.Barrier(8)

    def work(number: int) -> None:
        gate.wait()
        with spaces.lease("a", create=True) as memory:
            memory.remember(f"memory {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted.opened == ["a"]
    with spaces.lease("a") as memory:
        assert memory.count() == 8
    spaces.close()


def test_names_are_those_of_files_that_are_spaces(spaces: Spaces, tmp_path: Path) -> None:
    with spaces.lease("a", create=True):
        pass
    for other in ("UPPER.db", "notes.txt", "-x.db"):
        (tmp_path / "spaces" / other).touch()
    assert spaces.names() == ["a"]
    spaces.close()


def test_what_is_no_space(spaces: Spaces) -> None:
    with raises(NotFound, "unknown_space"), spaces.lease("nobody"):
        pass
    with raises(InvalidInput, "space_name"), spaces.lease("../x", create=True):
        pass


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_spaces_can_be_read_by_their_owner_alone(spaces: Spaces, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with spaces.lease("alice", create=True) as memory:
            memory.remember("a secret")
    finally:
        os.umask(before)
    assert (tmp_path / "spaces").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "spaces").iterdir()} == {0o600}
