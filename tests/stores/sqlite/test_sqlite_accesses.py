"""Access counts stand in two small tables: a recall writes little, and every reader sees the sum."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import StoreDamaged
from thinkback.model import Access, Draft
from thinkback.stores.sqlite import SqliteStore, accesses, schema
from thinkback.stores.sqlite.salvage import salvage
from thinkback.testing.contract.words import SPACE

from codes import raises  # isort: skip
from older import ACCESSES_IN_ROWS  # isort: skip

NOW = 1_770_000_000_000_000
FRAME = schema.PAGE_SIZE + 24  # of the log
IDS = [f"m{number}" for number in range(1000)]
_TOUCHING = """
import os, sys
from thinkback.model import Access
from thinkback.stores.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
store.touch({"m1": Access(2, 7)})
if sys.argv[2] == "dies":
    with store.transaction():
        store.touch({"m1": Access(40, 9)})
        os._exit(1)
store.close()
"""


def filled(path: Path, count: int = 1000) -> SqliteStore:
    """A store whose rows lie on many pages."""
    store = SqliteStore(path)
    store.add([Draft(id=id, text=f"{id} " + "of many words " * 60) for id in IDS[:count]], NOW)
    return store


def rows(path: Path, table: str) -> list[tuple[int, ...]]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return [tuple(map(int, row)) for row in connection.execute(f"SELECT seq, count, last FROM {table}")]


def counts(store: SqliteStore, ids: Sequence[str]) -> list[tuple[int, int | None]]:
    return [(record.access_count, record.last_access) for record in store.get(ids).values()]


def test_ten_hits_all_over_the_file_are_written_to_two_pages(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with filled(path) as store:
        for first in range(20):
            assert store.scrub()  # empties the log
            store.touch({id: Access(1, NOW + first) for id in IDS[first::100]})
            written = os.path.getsize(f"{path}-wal") - 32
            assert written == 2 * FRAME  # the recent accesses, and the counters


def test_the_recent_table_never_outgrows_a_page(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with filled(path) as store, store.transaction():
        store._connections._writer.execute(
            "UPDATE memories SET seq = seq + 200000000 - (SELECT max(seq) FROM memories)"
        )
        store._connections._writer.execute("UPDATE counters SET last_seq = 200000000")
        store.touch({id: Access(30_000, NOW) for id in IDS[: accesses.MOST_RECENT]})
        sql = "SELECT count(*) FROM dbstat WHERE name = 'recent_accesses'"
        assert store._connections._writer.execute(sql).get == 1


def test_a_full_table_is_settled_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    path, half = tmp_path / "memory.db", accesses.MOST_RECENT // 2
    with filled(path) as store:
        store.touch({id: Access(1, NOW + 1) for id in IDS[:half]})
        store.touch({id: Access(2, NOW + 2) for id in IDS[half : 2 * half]})
        assert (len(rows(path, "recent_accesses")), rows(path, "accesses")) == (2 * half, [])
        store.touch({IDS[0]: Access(5, NOW), IDS[999]: Access(3, NOW + 3)})
        assert (rows(path, "recent_accesses"), len(rows(path, "accesses"))) == ([], 2 * half + 1)
        store.touch({IDS[0]: Access(1, NOW + 4)})
        expected = [(7, NOW + 4), (1, NOW + 1), (2, NOW + 2), (3, NOW + 3), (0, None)]
        asked = [IDS[0], IDS[1], IDS[half], IDS[999], IDS[998]]
        assert counts(store, asked) == expected
        with SqliteStore(path) as other:
            assert counts(other, asked) == expected
            assert other.check() == []


def test_a_large_batch_is_settled_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with filled(path) as store:
        store.touch({IDS[0]: Access(1, NOW)})
        store.touch({id: Access(2, NOW + 1) for id in IDS})
        assert (len(rows(path, "recent_accesses")), len(rows(path, "accesses"))) == (1, 1000)
        assert counts(store, IDS) == [(3, NOW + 1), *[(2, NOW + 1)] * 999]


@given(
    st.lists(
        st.one_of(
            st.dictionaries(st.sampled_from(IDS[:8]), st.builds(Access, st.integers(1, 9), st.integers(-3, 50))),
            st.tuples(st.sampled_from(("update", "forget")), st.sampled_from(IDS[:8])),
        ),
        max_size=30,
    )
)
def test_every_reader_sees_the_sum_of_what_was_counted(story: list[dict[str, Access] | tuple[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch, SqliteStore(":memory:") as store:
        patch.setattr(accesses, "MOST_RECENT", 3)
        store.add([Draft(id=id, text=id, access_count=n, last_access=n or None) for n, id in enumerate(IDS[:8])], NOW)
        known: dict[str, tuple[int, int | None]] = {id: (n, n or None) for n, id in enumerate(IDS[:8])}
        for moment, step in enumerate(story):
            if isinstance(step, dict):
                store.touch(step)
                for id in step.keys() & known.keys():
                    count, last = known[id]
                    access = step[id]
                    known[id] = count + access.count, access.last if last is None else max(last, access.last)
            elif step[0] == "forget":
                store.forget([step[1]])
                known.pop(step[1], None)
            elif step[1] in known:
                store.update(step[1], {"text": f"{step[1]} at {moment}"}, NOW + moment)
            present = [record for record in store.export_records() if record.retired_at is None]
            assert {record.id: (record.access_count, record.last_access) for record in present} == known
            assert {id: (r.access_count, r.last_access) for id, r in store.get(IDS[:8]).items()} == known
        assert store.check() == []


@pytest.mark.parametrize("ending", ["closes", "dies"])
def test_another_process_counts_and_what_it_did_not_commit_is_not_counted(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "memory.db"
    with filled(path, 10) as store:
        assert counts(store, ["m1"]) == [(0, None)]
        done = subprocess.run([sys.executable, "-c", _TOUCHING, str(path), ending], check=False)
        assert done.returncode == (ending == "dies")
        assert counts(store, ["m1"]) == [(2, 7)]


def test_a_reader_that_may_not_write_sees_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with filled(path, 10) as store:
        store.touch({"m1": Access(2, NOW)})
        with SqliteStore(path, read_only=True) as reader:
            assert counts(reader, ["m1"]) == [(2, NOW)]
            store.touch({"m1": Access(1, NOW + 1)})
            assert counts(reader, ["m1"]) == [(3, NOW + 1)]
            with reader.view() as view:
                assert counts(view, ["m1"]) == [(3, NOW + 1)]
                store.touch({"m1": Access(1, NOW + 2)})
                assert counts(view, ["m1"]) == [(3, NOW + 1)]


@pytest.mark.parametrize("settled", [False, True])
def test_a_forgotten_memory_leaves_no_count(tmp_path: Path, settled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesses, "MOST_RECENT", 0 if settled else 9)
    path = tmp_path / "memory.db"
    with filled(path, 10) as store:
        store.touch({"m1": Access(2, NOW), "m2": Access(1, NOW)})
        store.update("m1", {"text": "another"}, NOW + 1)
        store.touch({"m1": Access(2, NOW)})
        table = "accesses" if settled else "recent_accesses"
        assert rows(path, table) == [(2, 2, NOW), (3, 1, NOW), (11, 2, NOW)]
        store.forget(["m1"])
        assert rows(path, table) == [(3, 1, NOW)]
        assert store.check() == []


def _backup(store: SqliteStore, folder: Path) -> SqliteStore:
    store.copy_to(folder / "copy.db", False)
    return SqliteStore(folder / "copy.db")


def _salvaged(store: SqliteStore, folder: Path) -> SqliteStore:
    store.scrub()
    found = salvage(Path(store.path), folder / "copy.db")
    assert (found.losses, found.problems, found.rows["accesses"]) == ((), (), 2)
    return SqliteStore(folder / "copy.db")


@pytest.mark.parametrize("copied", [_backup, _salvaged])
def test_a_copy_has_the_counts(
    tmp_path: Path, copied: Callable[[SqliteStore, Path], SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of a memory that is in both tables."""
    with filled(tmp_path / "memory.db", 10) as store:
        monkeypatch.setattr(accesses, "MOST_RECENT", 0)
        store.touch({"m1": Access(2, NOW), "m2": Access(1, NOW)})
        monkeypatch.setattr(accesses, "MOST_RECENT", 9)
        store.touch({"m1": Access(4, NOW + 1)})
        with copied(store, tmp_path) as copy:
            assert counts(copy, ["m1", "m2", "m3"]) == [(6, NOW + 1), (1, NOW), (0, None)]


def test_the_counts_of_an_older_file_are_kept_and_added_to(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(id="m0", text="old", access_count=5, last_access=NOW), Draft(id="m1", text="new")], NOW)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(ACCESSES_IN_ROWS)
        connection.execute(f"PRAGMA user_version = {schema.MIGRATIONS.index(schema._accesses_apart)}")
    with SqliteStore(path) as store:
        assert counts(store, ["m0", "m1"]) == [(5, NOW), (0, None)]
        store.touch({"m0": Access(2, NOW - 1), "m1": Access(1, NOW + 1)})
        assert counts(store, ["m0", "m1"]) == [(7, NOW), (1, NOW + 1)]


@pytest.mark.parametrize("table", ["accesses", "recent_accesses"])
def test_counts_of_nobody_are_found_and_repaired(tmp_path: Path, table: str) -> None:
    path = tmp_path / "memory.db"
    with filled(path, 3) as store:
        with store.transaction():
            store._connections._writer.execute(f"INSERT INTO {table} VALUES (77, 1, 1)")
        assert [problem.area for problem in store.check()] == [table]
        store.repair()
        assert (store.check(), rows(path, table)) == ([], [])


def test_a_damaged_count_is_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with filled(path, 3) as store:
        store.touch({"m1": Access(2, NOW)})
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'recent_accesses'"
        )
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("UPDATE recent_accesses SET last = 'never'")
    with SqliteStore(path) as store, raises(StoreDamaged, "damaged_row"):
        store.get(["m1"])


def test_records_read_for_embedding_have_their_counts(tmp_path: Path) -> None:
    with filled(tmp_path / "memory.db", 3) as store:
        store.touch({"m1": Access(2, NOW)})
        assert [record.access_count for record in store.unembedded(9).values()] == [0, 2, 0]
        store.begin_reembedding(SPACE)
        assert [record.access_count for record in store.next_to_reembed(9).values()] == [0, 2, 0]
