"""Cached records are never older than the file, and access counts do not empty the cache."""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from thinkback.model import Access, Draft, StoredRecord
from thinkback.search.once import Once
from thinkback.stores import record_cache
from thinkback.stores.sqlite import SqliteStore, reads


def test_a_record_read_again_shows_what_happened_meanwhile(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        first, second = (record.id for record in store.add([Draft(text="one"), Draft(text="two")], now=1))
        assert store.get([first, second])[first].text == "one"
        other.update(first, {"text": "uno"}, now=2)
        assert store.get([first])[first].text == "uno"
        store.touch({first: Access(3, 3)})
        assert store.get([first])[first].access_count == 3
        assert store.get([second])[second].access_count == 0
        other.touch({second: Access(1, 4)})
        assert store.get([second])[second].access_count == 1
        other.amend({second: {"priority": "P1"}}, now=5)
        assert store.get([second])[second].priority == "P1"
        store.forget([first])
        assert list(store.get([first, second])) == [second]
        with store.transaction():
            store.update(second, {"text": "dos"}, now=6)
            assert store.get([second])[second].text == "dos"


def test_what_a_transaction_undid_was_never_kept(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        (record,) = store.add([Draft(text="one")], now=1)
        try:
            with store.transaction():
                store.update(record.id, {"text": "uno"}, now=2)
                store.touch({record.id: Access(1, 2)})
                store.get([record.id])
                raise RuntimeError
        except RuntimeError:
            pass
        assert store.get([record.id])[record.id] == record


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The ids of every reading of records from the file."""
    found: list[Sequence[str]] = []
    read = reads.get

    def counted(connection: apsw.Connection, ids: Sequence[str], known_at: int | None) -> dict[str, StoredRecord]:
        found.append(ids)
        return read(connection, ids, known_at)

    monkeypatch.setattr(reads, "get", counted)
    return found


def test_a_flush_of_access_counts_reads_no_record_again(tmp_path: Path, asked: list[Sequence[str]]) -> None:
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        ids = [record.id for record in store.add([Draft(text=text) for text in "abc"], now=1)]
        store.get(ids)
        with store.transaction():
            store.touch({ids[0]: Access(2, 5)})
        other.touch({ids[1]: Access(1, 6)})
        found = store.get(ids)
        assert [(found[id].access_count, found[id].last_access) for id in ids] == [(2, 5), (1, 6), (0, None)]
        assert asked == [ids]
        store.amend({ids[2]: {"priority": "P1"}}, now=7)
        assert store.get(ids)[ids[2]].priority == "P1"
        assert asked == [ids, ids[2:]]


def test_after_a_write_only_what_it_wrote_is_read_again(tmp_path: Path, asked: list[Sequence[str]]) -> None:
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        ids = [record.id for record in store.add([Draft(text=text) for text in "abc"], now=1)]
        store.get(ids)
        other.touch({ids[0]: Access(1, 2)})
        ids += [record.id for record in other.add([Draft(text="d")], now=3)]
        other.update(ids[1], {"text": "B"}, now=4)
        found = store.get(ids)
        assert [(found[id].text, found[id].access_count) for id in ids] == [("a", 1), ("B", 0), ("c", 0), ("d", 0)]
        assert asked == [ids[:3], [ids[1], ids[3]]]
        other.forget(ids[:1])
        assert list(store.get(ids)) == ids[1:]


def test_after_many_writes_everything_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "_MOST_WRITTEN", 2)
    with SqliteStore(tmp_path / "m.db") as store, store._connections.read() as connection:
        assert reads.written_since(connection, 0) == []
    with SqliteStore(tmp_path / "m.db") as store:
        ids = [record.id for record in store.add([Draft(text=text) for text in "ab"], now=1)]
        with store._connections.read() as connection:
            assert sorted(reads.written_since(connection, 0) or ()) == sorted(ids)
        store.get(ids)
        store.add([Draft(text=text) for text in "cde"], now=2)
        with store._connections.read() as connection:
            assert reads.written_since(connection, 1) is None
        assert [record.text for record in store.get(ids).values()] == ["a", "b"]


def test_a_full_cache_keeps_what_was_read_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[Sequence[str]]
) -> None:
    monkeypatch.setattr(record_cache, "_MOST", 4)
    monkeypatch.setattr(record_cache, "_DROPPED_AT_ONCE", 1)
    with SqliteStore(tmp_path / "m.db") as store:
        ids = [record.id for record in store.add([Draft(text=text) for text in "abcdef"], now=1)]
        for id in ids:
            store.get([id])
        assert [record.text for record in store.get(ids).values()] == list("abcdef")
        assert asked == [*([id] for id in ids), ids[:2]]  # the sixth reading found five and let two go
        store.update(ids[5], {"text": "F"}, now=2)
        assert store.get([ids[5]])[ids[5]].text == "F"


def test_a_view_does_not_see_what_the_cache_has_read_since(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        ids = [record.id for record in store.add([Draft(text=text) for text in "abc"], now=1)]
        with store.view() as before:
            assert before.get(ids[:1])[ids[0]].text == "a"
            store.update(ids[0], {"text": "A"}, now=2)
            (new,) = store.add([Draft(text="d")], now=3)
            store.forget(ids[2:])
            assert [record.text for record in store.get([*ids, new.id]).values()] == ["A", "b", "d"]
            assert [record.text for record in before.get([*ids, new.id]).values()] == ["a", "b", "c"]
        assert [record.text for record in store.get([*ids, new.id]).values()] == ["A", "b", "d"]


def test_only_records_that_others_touched_are_asked_for_their_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []
    read = reads.accesses

    def counted(connection: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, int, int | None]]:
        asked.append(ids)
        return read(connection, ids)

    monkeypatch.setattr(reads, "accesses", counted)
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        ids = [record.id for record in store.add([Draft(text=text) for text in "abc"], now=1)]
        store.get(ids)
        store.touch({ids[0]: Access(1, 2)})
        with suppress(RuntimeError), store.transaction():
            store.touch({ids[1]: Access(1, 3)})
            raise RuntimeError
        store.touch({ids[0]: Access(1, 4)})
        assert [store.get(ids)[id].access_count for id in ids] == [2, 0, 0]
        assert asked == []
        other.touch({ids[2]: Access(1, 5)})
        assert [store.get(ids)[id].access_count for id in ids] == [2, 0, 1]
        assert asked == [ids]


def test_a_count_written_before_a_change_is_not_given_after_it(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        (record,) = store.add([Draft(text="one")], now=1)
        store.get([record.id])
        store.touch({record.id: Access(2, 2)})
        with sqlite3.connect(tmp_path / "m.db") as file:  # as a restored version might have it, beside the two
            file.execute("UPDATE memories SET access_count = 7, changed = (SELECT changes + 1 FROM counters)")
            file.execute("UPDATE counters SET changes = changes + 1")
        assert store.get([record.id])[record.id].access_count == 9
        other.get([record.id])
        with store.view() as before:
            assert before.get([record.id])[record.id].access_count == 9
            store.touch({record.id: Access(1, 3)})
            assert store.get([record.id])[record.id].access_count == 10
            assert before.get([record.id])[record.id].access_count == 9
        assert (found := store.get([record.id])[record.id]).access_count == 10
        assert found == other.get([record.id])[record.id]


def test_what_was_read_from_a_text_stays_when_its_count_grows(tmp_path: Path) -> None:
    read: list[str] = []
    length = Once(lambda record: read.append("text") or len(record.text))
    with SqliteStore(tmp_path / "m.db") as store:
        (record,) = store.add([Draft(text="one")], now=1)
        for count in (0, 1, 2):
            found = store.get([record.id])[record.id]
            assert (length(found), found.access_count) == (3, count)
            store.touch({record.id: Access(1, 2)})
    assert read == ["text"]


def test_threads_on_two_handles_never_see_a_count_go_back(tmp_path: Path) -> None:
    rounds = 30
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        (record,) = store.add([Draft(text="one")], now=1)

        def write(handle: SqliteStore) -> None:
            for _ in range(rounds):
                known = handle.get([record.id])[record.id].access_count
                with handle.transaction():
                    handle.touch({record.id: Access(1, 2)})
                assert handle.get([record.id])[record.id].access_count > known

        def read(handle: SqliteStore) -> list[int]:
            return [handle.get([record.id])[record.id].access_count for _ in range(rounds * 4)]

        with ThreadPoolExecutor(6) as pool:
            writers = [pool.submit(write, handle) for handle in (store, other)]
            readers = [pool.submit(read, handle) for handle in (store, other, store, other)]
            for writer in writers:
                writer.result()
            assert all(reader.result() == sorted(reader.result()) for reader in readers)
        assert {handle.get([record.id])[record.id].access_count for handle in (store, other)} == {2 * rounds}
