"""Backups: made while others write, checked, remembered, and put back."""

import stat
import threading
from pathlib import Path

import pytest

import thinkback
from thinkback.errors import InvalidInput, StoreDamaged, StoreError
from thinkback.opening import restore_backup
from thinkback.testing import FixedClock

from codes import raises  # isort: skip


def texts(path: Path) -> list[str]:
    with thinkback.open(path, embedder=None) as memory:
        return sorted(record.text for record in memory.list(limit=10_000))


def test_a_backup_is_a_store_of_its_own_that_only_its_owner_reads(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with thinkback.open(tmp_path / "memory.db", embedder=None, clock=FixedClock("2026-05-08")) as memory:
        memory.remember("before")
        done = memory.backup(copy)
        memory.remember("after")
        assert (done.file, done.at.isoformat(), done.bytes) == (
            str(copy),
            "2026-05-08T00:00:00+00:00",
            copy.stat().st_size,
        )
    assert texts(copy) == ["before"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "memory.db"]


def test_a_backup_while_others_write_is_whole(tmp_path: Path) -> None:
    """Every copy holds the writes that were acknowledged before it, in pairs: a transaction is in it whole or not at all."""
    path, written, stop = tmp_path / "memory.db", [0], threading.Event()
    with thinkback.open(path, embedder=None) as memory:

        def write() -> None:
            with thinkback.open(path, embedder=None) as other:
                while not stop.is_set():
                    other.remember_many([f"left {written[0]}", f"right {written[0]}"])
                    written[0] += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                before = written[0]
                memory.backup(tmp_path / f"copy-{number}.db")
                found = texts(tmp_path / f"copy-{number}.db")
                left = {text.split()[1] for text in found if text.startswith("left")}
                right = {text.split()[1] for text in found if text.startswith("right")}
                assert left == right
                assert len(left) >= before
        finally:
            stop.set()
            writer.join()


def test_an_existing_file_is_replaced_only_on_request(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with thinkback.open(tmp_path / "memory.db", embedder=None) as memory:
        memory.remember("one")
        memory.backup(copy)
        with raises(InvalidInput, "file_exists"):
            memory.backup(copy)
        memory.remember("two")
        memory.backup(copy, replace=True)
        with raises(InvalidInput, "no_folder"):
            memory.backup(tmp_path / "nowhere" / "copy.db")
    assert texts(copy) == ["one", "two"]


def test_forgetting_tells_of_known_backups_that_are_still_there(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with thinkback.open(tmp_path / "memory.db", embedder=None) as memory:
        first, second, third = memory.remember_many(["one thing", "another thing", "a third thing"])
        assert not memory.forget(first.id).warnings
        memory.backup(copy)
        (told,) = memory.forget(second.id).warnings
        assert told.code == "held_in_backup"
        assert str(copy) not in told.message
        assert told.remedy is not None
        assert told.remedy.subject == str(copy)
        assert "held_in_backup" in {warning.code for warning in memory.forget_verified(third.id).warnings}
        assert not memory.forget("nobody").warnings
        fourth = memory.remember("a fourth thing")
        copy.unlink()
        assert not memory.forget(fourth.id).warnings


def test_a_backup_is_put_back_and_the_old_file_kept(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with thinkback.open(path, embedder=None) as memory:
        memory.remember("kept")
        memory.backup(copy)
        memory.remember("too much")
    with raises(InvalidInput, "file_exists"):
        restore_backup(copy, path)
    moved = restore_backup(copy, path, replace=True)
    assert moved is not None
    assert texts(path) == ["kept"]
    assert texts(moved) == ["kept", "too much"]
    with thinkback.open(path, embedder=None) as new, thinkback.open(moved, embedder=None) as old:
        assert (
            new.state().store_id != old.state().store_id
        )  # indexes and caches of the old one are not taken for its own
    assert restore_backup(copy, tmp_path / "new.db") is None
    assert texts(tmp_path / "new.db") == ["kept"]


def test_a_damaged_copy_is_not_put_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with thinkback.open(path, embedder=None) as memory:
        memory.remember_many([f"memory number {n} of many" for n in range(200)])
        memory.backup(copy)
    data = bytearray(copy.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    copy.write_bytes(data)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged):
        restore_backup(copy, path, replace=True)
    assert path.read_bytes() == before
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


def test_what_is_only_in_memory_can_be_backed_up(tmp_path: Path) -> None:
    with thinkback.open(":memory:", embedder=None) as memory:
        memory.remember("from memory")
        memory.backup(tmp_path / "copy.db")
    assert texts(tmp_path / "copy.db") == ["from memory"]


def test_a_copy_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with thinkback.open(tmp_path / "memory.db", embedder=None) as memory:
        memory.remember("x")
        (tmp_path / "folder").mkdir()
        with pytest.raises((StoreError, OSError)):
            memory.backup(tmp_path / "folder", replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "memory.db"]
