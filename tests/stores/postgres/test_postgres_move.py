"""Moving house: a file to a server and back, all of it, also after an interruption."""

from pathlib import Path
from typing import Any, cast

import pytest

from thinkback import opening
from thinkback.errors import InvalidInput
from thinkback.lifecycle.move import move
from thinkback.memory import Memory
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces
from thinkback.testing import ToyEmbedder
from thinkback.testing.contract.words import NOW

from codes import raises  # isort: skip
from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres
_open = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW)


def _live(memory: Memory) -> None:
    memory.remember_many({"text": f"cat {n} sleeps in room {n % 7}", "id": f"m{n}", "thread": "t"} for n in range(50))
    memory.update("m3", text="cat 3 has moved to the attic")
    memory.link("m1", "m2", weight=0.4)
    memory.judge("where is cat 3?", "m3", 2)
    memory.forget("m9")
    memory.reflect()
    memory.tidy()


def _whole(store: Store) -> list[object]:
    with store.snapshot(vectors=True, retired=True) as found:
        records = [
            (record, None if vector is None else vector.tobytes(), parts) for record, vector, parts in found.records
        ]
        settings = {key: value for key, value in found.settings.items() if not key.startswith("move.")}
        rest = [found.space, list(found.edges), list(found.judgements), settings]
    return [records, *rest, store.journal()]


def _contents(place: str | Path, space: str = "default") -> list[object]:
    store = opening.open_store(place, space)
    try:
        return _whole(store)
    finally:
        store.close()


def test_there_and_back_again(server: LocalServer, tmp_path: Path) -> None:
    url = server.database()
    with _open(tmp_path / "a.db") as memory:
        _live(memory)
    moved = opening.move(tmp_path / "a.db", url, space="alice", clock=lambda: NOW)
    assert (moved.memories >= 49, moved.versions, moved.judgements) == (True, 1, 1)
    assert moved.compared > 20
    assert _contents(url, "alice") == _contents(tmp_path / "a.db")
    opening.move(url, tmp_path / "b.db", space="alice", clock=lambda: NOW)
    assert _contents(tmp_path / "b.db") == _contents(tmp_path / "a.db")


def test_an_interrupted_move_continues(server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.database()
    monkeypatch.setattr("thinkback.lifecycle.move.BATCH", 10)
    with _open(tmp_path / "a.db") as memory:
        _live(memory)

    def stop(done: int, total: int) -> None:
        if done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opening.move(tmp_path / "a.db", url, clock=lambda: NOW, progress=stop)
    opening.move(tmp_path / "a.db", url, clock=lambda: NOW)
    assert _contents(url) == _contents(tmp_path / "a.db")


class Interrupted:
    """A store that is interrupted after so many writes."""

    def __init__(self, store: Store, after: int) -> None:
        self._store, self.left = store, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in ("add", "restore_versions", "put_vectors", "link", "judge", "set_setting", "log"):
            return found

        def write(*given: Any, **named: Any) -> Any:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            return found(*given, **named)

        return write


def test_a_move_that_was_interrupted_anywhere_continues(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thinkback.lifecycle.move.BATCH", 20)
    with _open(tmp_path / "a.db") as memory:
        _live(memory)
    origin = opening.open_store(tmp_path / "a.db", read_only=True)
    spaces = PostgresSpaces(server.database())
    whole = _whole(origin)
    for after in range(100):
        target = spaces.open(f"after-{after}")
        interrupted = Interrupted(target, after)
        try:
            move(origin, cast(Store, interrupted), NOW)
        except KeyboardInterrupt:
            move(origin, target, NOW)
        assert _whole(target) == whole, after
        if interrupted.left:
            break
    assert after > 10
    spaces.close()
    origin.close()


def test_a_space_with_memories_is_not_moved_into(server: LocalServer, tmp_path: Path) -> None:
    url = server.database()
    with _open(tmp_path / "a.db") as memory, _open(url, space="bob") as other:
        memory.remember("a cat")
        other.remember("a dog")
    with raises(InvalidInput, "target_not_empty"):
        opening.move(tmp_path / "a.db", url, space="bob")


def test_every_file_of_a_folder_becomes_a_space(server: LocalServer, tmp_path: Path) -> None:
    url = server.database()
    for name in ("ann", "bob", "cat"):
        with _open(tmp_path / f"{name}.db") as memory:
            memory.remember(f"{name} has a grey cat")
    assert [name for name, _ in opening.move_all(tmp_path, url)] == ["ann", "bob", "cat"]
    with _open(url, space="bob") as memory:
        assert [hit.text for hit in memory.recall("cat")] == ["bob has a grey cat"]


def test_a_move_of_many_spaces_passes_over_those_that_were_moved(server: LocalServer, tmp_path: Path) -> None:
    """Interrupted in the second of three; the first one is in use already when the move is run again."""
    url, back = server.database(), tmp_path / "back"
    for name in ("ann", "bob", "cat"):
        with _open(tmp_path / f"{name}.db") as memory:
            memory.remember_many({"text": f"{name} has cat {n}"} for n in range(3))
    begun: list[int] = []

    def stop(done: int, total: int) -> None:
        begun.append(done)
        if len(begun) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(opening.move_all(tmp_path, url, progress=stop))
    with _open(url, space="ann") as memory:
        memory.remember("ann has a dog now")
    moved = list(opening.move_all(tmp_path, url))
    assert [(name, its.memories, its.compared, [w.code for w in its.warnings]) for name, its in moved] == [
        ("ann", 0, 0, ["moved_before"]),
        ("bob", 0, 3, []),
        ("cat", 3, 3, []),
    ]
    assert [its.memories for _, its in opening.move_all(url, back)] == [4, 3, 3]
    assert [its.memories for _, its in opening.move_all(url, back)] == [0, 0, 0]
    with _open(back / "ann.db") as memory:
        assert memory.recall("dog")[0].text == "ann has a dog now"


def test_a_space_that_others_filled_is_named(server: LocalServer, tmp_path: Path) -> None:
    url = server.database()
    for name in ("ann", "bob"):
        with _open(tmp_path / f"{name}.db") as memory:
            memory.remember("a cat")
    with _open(url, space="bob") as memory:
        memory.remember("a dog")
    with raises(InvalidInput, "target_not_empty") as found:
        list(opening.move_all(tmp_path, url))
    assert "'bob'" in str(found.value)
    assert len(_contents(url, "bob")[0]) == 1  # type: ignore[arg-type]
