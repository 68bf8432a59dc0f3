"""A file that is not a healthy store of ours is named for what it is, and never written."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from codes import raises
from older import VECTORS_BY_PAIR, with_vectors_by_pair

from thinkback.errors import (
    Action,
    NotAStore,
    Remedy,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from thinkback.model import Access, Draft, Filter, StoredEdge
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore, files, schema
from thinkback.stores.sqlite.salvage import salvage
from thinkback.testing.contract.words import SPACE, TOY

NOW = 1_770_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store of 300 memories."""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        texts = [f"memory number {n} about cats and dogs" for n in range(300)]
        store.add([Draft(text=text, vector=TOY.embed_query(text)) for text in texts], NOW, SPACE)
    return path


def _foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE photos (name)")
    other.close()


def _patched(offset: int, content: bytes) -> Callable[[Path], None]:
    def patch(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[offset : offset + len(content)] = content
        path.write_bytes(data)

    return patch


def _cut(size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, size)


HARM: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "text": (lambda path: path.write_text("Dear diary, " * 50), NotAStore, "not_a_store"),
    "another program's database": (_foreign, NotAStore, "foreign_database"),
    "beginning overwritten": (_patched(0, b"garbage!" * 4), NotAStore, "not_a_store"),
    "cut within the header": (_cut(60), StoreDamaged, "cut_off"),
    "cut in the middle": (_cut(3 * schema.PAGE_SIZE), StoreDamaged, "store_damaged"),
    "schema page overwritten": (_patched(100, b"\xff" * 4000), StoreDamaged, "store_damaged"),
    "from a newer version": (_patched(60, (99).to_bytes(4, "big")), StoreTooNew, "store_too_new"),
}


@pytest.mark.parametrize(("harm", "error", "code"), HARM.values(), ids=HARM)
def test_a_file_that_cannot_be_opened_is_left_as_it_is(
    path: Path, harm: Callable[[Path], object], error: type[StoreError], code: str
) -> None:
    harm(path)
    before = path.read_bytes()
    for read_only in (False, True):
        with raises(error, code) as refused:
            SqliteStore(path, read_only=read_only)
        assert str(path) in str(refused.value)
    assert path.read_bytes() == before


def test_a_page_damaged_deep_inside_is_found_by_the_reader_and_by_check(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) * 3 // 4 // schema.PAGE_SIZE * schema.PAGE_SIZE  # the tables are named before it
    data[middle:] = b"\xa5" * (len(data) - middle)
    path.write_bytes(data)
    with SqliteStore(path, read_only=True) as store:
        problems = store.check()
        assert any(problem.area == "file" and not problem.repairable for problem in problems)
        with raises(StoreDamaged):
            _read_everything(store)
    with SqliteStore(path) as store:
        assert any(problem.area == "file" for problem in store.repair())
    assert path.read_bytes()[middle : middle + 100] == b"\xa5" * 100


def _read_everything(store: SqliteStore) -> None:
    list(store.export_records())
    store.search_vectors(TOY.embed_query("cats"), Filter(now=NOW), 5)
    store.search_keywords(parse_keywords("cats"), Filter(now=NOW), 5)


def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    with raises(NotAStore, "is_a_folder"):
        SqliteStore(tmp_path)
    with raises(StoreError, "no_folder"):
        SqliteStore(tmp_path / "nowhere" / "memory.db")
    with raises(StoreError, "no_store"):
        SqliteStore(tmp_path / "memory.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with raises(NotAStore, "empty_file"):
        SqliteStore(path, read_only=True)
    with SqliteStore(path) as store:
        assert store.count(Filter(now=NOW)) == 0


def test_a_write_protected_file_is_not_written(path: Path) -> None:
    path.chmod(0o444)
    before = path.read_bytes()
    with raises(StoreReadOnly):
        SqliteStore(path)
    with SqliteStore(path, read_only=True) as store:
        assert store.count(Filter(now=NOW)) == 300
    assert path.read_bytes() == before


def test_a_store_opened_for_reading_searches_and_does_not_write(path: Path) -> None:
    before = path.read_bytes()
    with SqliteStore(path, read_only=True) as store:
        assert len(store.search_keywords(parse_keywords("cats"), Filter(now=NOW), 5)) == 5
        assert len(store.search_vectors(TOY.embed_query("cats"), Filter(now=NOW), 5)) == 5
        assert store.check() == []
        for attempt in (
            lambda: store.add([Draft(text="x")], NOW),
            lambda: store.touch({"x": Access(1, NOW)}),
            lambda: store.forget(["x"]),
            lambda: store.set_setting("a", "b"),
        ):
            with raises(StoreReadOnly):
                attempt()
    assert path.read_bytes() == before


def test_a_store_left_open_by_a_process_that_died_is_whole(tmp_path: Path) -> None:
    """The log is still beside the file; whoever opens it next reads it, also from a copy of both."""
    path = tmp_path / "memory.db"
    script = (
        "import os, sys; from thinkback.stores.sqlite import SqliteStore; from thinkback.model import Draft\n"
        f"store = SqliteStore(sys.argv[1]); store.add([Draft(text='kept')], {NOW}); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    copy = tmp_path / "copy.db"
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    with SqliteStore(copy) as store:
        assert [record.text for record in store.list(Filter(now=NOW), 5)] == ["kept"]


def test_a_creation_that_was_cut_short_can_be_taken_up(tmp_path: Path) -> None:
    """Killed between writing pages and the end of the transaction: the hot journal undoes it, then it begins again."""
    path = tmp_path / "memory.db"
    script = (
        "import os, sys, apsw; from thinkback.stores.sqlite import schema\n"
        "connection = apsw.Connection(sys.argv[1]); connection.execute('PRAGMA cache_size = 1; BEGIN EXCLUSIVE')\n"
        "schema.MIGRATIONS[0](connection); connection.execute(f'PRAGMA application_id = {schema.APPLICATION_ID}')\n"
        "connection.cache_flush(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    assert path.stat().st_size > 0
    with SqliteStore(path) as store:
        store.add([Draft(text="a cat")], NOW)
        assert store.check() == []


def test_a_store_held_by_another_for_too_long_is_busy(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with SqliteStore(path, busy_timeout_s=0.05) as store:
        with raises(StoreBusy):
            store.add([Draft(text="x")], NOW)
        assert len(store.search_keywords(parse_keywords("cats"), Filter(now=NOW), 5)) == 5
        other.execute("ROLLBACK")
        store.add([Draft(text="x")], NOW)
    other.close()


def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    store.close()
    for attempt in (store.state, lambda: store.add([Draft(text="x")], NOW)):
        with raises(StoreError, "store_closed"):
            attempt()


def test_a_reader_that_is_done_when_the_store_closes_leaves_nothing_open(path: Path) -> None:
    with SqliteStore(path) as store:
        connections = store._connections

        class Closing(list[apsw.Connection]):
            def append(self, connection: apsw.Connection) -> None:
                store.close()
                super().append(connection)

        connections._idle = Closing()
        store.count(Filter(now=0))
        assert connections._idle == []


def test_a_store_in_memory_that_closes_before_its_reader_begins_says_so() -> None:
    with SqliteStore(":memory:") as store:

        class Closing:
            def __init__(self, lock: Any) -> None:
                self.lock = lock

            def __enter__(self) -> None:
                store._connections._lock = self.lock
                store.close()
                self.lock.acquire()

            def __exit__(self, *_: object) -> None:
                self.lock.release()

        store._connections._lock = Closing(store._connections._lock)  # type: ignore[assignment]
        with raises(StoreError, "store_closed"):
            store.count(Filter(now=0))


def test_two_processes_may_create_a_store_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one makes the tables between two looks of the other, which must not take them for somebody else's."""
    path, version = tmp_path / "new.db", schema.version

    def then_created(connection: apsw.Connection) -> int:
        found = version(connection)
        monkeypatch.setattr(schema, "version", version)  # only once
        SqliteStore(path).close()
        return found

    monkeypatch.setattr(schema, "version", then_created)
    with SqliteStore(path) as store:
        assert store.count(Filter(now=0)) == 0


def test_opening_waits_for_one_who_writes_before_there_is_a_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when several processes create a store at once: SQLite itself does not wait to turn the log on."""
    writing = apsw.Connection(str(path))
    assert writing.execute("PRAGMA journal_mode = DELETE").get == "delete"
    writing.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(files.time, "sleep", lambda _: writing.close())
    with SqliteStore(path) as store:
        assert store._connections._writer.execute("PRAGMA journal_mode").get == "wal"


def test_migrations_are_applied_in_order_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(text="from before")], NOW)

    def second(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE second_step (x)")

    def third(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO second_step VALUES (3)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, second, third))
    monkeypatch.setattr(schema, "VERSION", newest := schema.VERSION + 2)
    with raises(StoreReadOnly, "needs_migration"):
        SqliteStore(path, read_only=True)
    for _ in range(2):
        with SqliteStore(path) as store:
            assert store.stats()["engine"]["schema_version"] == newest
            assert store.count(Filter(now=NOW)) == 1
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM second_step").get == 1
    connection.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()

    def broken(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE half_done (x); SELECT nonsense()")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(apsw.SQLError):
        SqliteStore(path)
    monkeypatch.undo()
    with SqliteStore(path) as store:
        assert store.stats()["engine"]["schema_version"] == schema.VERSION


def back_to(connection: apsw.Connection, version: int) -> None:
    """Makes the file one that an earlier schema wrote."""
    for column in {1: ("slides", "claim", "claimed_at", "speaker"), 2: ("claim", "claimed_at", "speaker")}[version]:
        connection.execute(f"ALTER TABLE memories DROP COLUMN {column}")
    connection.execute("DROP INDEX memories_about")
    for column in ("user", "agent", "about_from", "about_to", "about_given"):
        connection.execute(f"ALTER TABLE memories DROP COLUMN {column}")
    connection.execute("DROP TABLE fts_exact")
    connection.execute("DROP TABLE passages")
    connection.execute(f"{VECTORS_BY_PAIR} PRAGMA user_version = {version}")


def test_in_an_older_file_confidence_is_counted_from_what_it_has_come_to(tmp_path: Path) -> None:
    path, day = tmp_path / "memory.db", 24 * 3_600_000_000
    with SqliteStore(path) as store:
        store.add([Draft(id="old", text="Oscar is grey", confidence=0.55), Draft(id="new", text="Oscar is grey")], NOW)
        store.add([Draft(id="young", text="Rex is brown")], NOW + 9 * day)
        store.link([StoredEdge(from_id="new", to_id="old", kind="corroborates", created_at=NOW + 8 * day)], NOW)
        store.set_setting("tidy.decayed_until", str(NOW + 5 * day))
    connection = apsw.Connection(str(path))
    back_to(connection, 2)
    connection.close()
    with SqliteStore(path) as store:
        assert {record.id: (record.claim, record.claimed_at) for record in store.export_records()} == {
            "old": (0.55, NOW + 8 * day + 1),  # what was heard then is in it
            "new": (0.40, NOW + 5 * day),
            "young": (0.40, NOW + 9 * day),
        }


def test_an_older_file_is_told_which_expiries_are_the_tiers(tmp_path: Path) -> None:
    path, hour = tmp_path / "memory.db", 3_600_000_000
    drafts = [
        Draft(text="since it was recorded", tier="working", expires_at=NOW + 72 * hour),
        Draft(text="since it was recalled", tier="episodic", last_access=NOW - 5, expires_at=NOW - 5 + 720 * hour),
        Draft(text="the caller's", tier="working", expires_at=NOW + 100 * hour),
        Draft(text="durable, the caller's", expires_at=NOW + 72 * hour),
        Draft(text="without"),
    ]
    with SqliteStore(path) as store:
        store.add(drafts, NOW)
    connection = apsw.Connection(str(path))
    back_to(connection, 1)
    connection.close()
    with SqliteStore(path) as store:
        slides = {record.text: record.slides for record in store.export_records()}
    assert slides == {draft.text: draft.text.startswith("since") for draft in drafts}


def test_texts_of_other_languages_in_an_older_file_are_stemmed_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(id=f"en{n}", text=f"the houses of painter {n}") for n in range(20)], NOW)
        store.add([Draft(id=id, text="die alten Häuser und die Kinder") for id in ("de", "old")], NOW)
        store.update("old", {"text": "the new text"}, NOW + 1)
        state = store.state()
    connection = apsw.Connection(str(path))
    for table, seq in (("fts", 21), ("fts_history", 22)):
        connection.execute(f"UPDATE {table} SET content = 'die alten Häuser und die Kinder' WHERE rowid = {seq}")
    connection.close()
    with_vectors_by_pair(str(path), version=9)
    heard: list[tuple[int, int]] = []
    for _ in range(2):
        with SqliteStore(path, progress=lambda done, total: heard.append((done, total))) as store:
            assert store.check() == []
            found = store.search_keywords(parse_keywords("Haus"), Filter(now=NOW + 2), 9)
            then = store.search_keywords(parse_keywords("Haus"), Filter(now=NOW + 2, known_at=NOW), 9)
            assert ([hit.id for hit in found], {hit.id for hit in then}) == (["de"], {"de", "old"})
    assert heard == [(2, 2)]  # the English ones were not read
    with SqliteStore(path) as store:
        assert store.state().changes == state.changes + 1


def test_an_older_file_in_english_is_not_written_for_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(text=f"the houses of painter {n} in Los Angeles") for n in range(20)], NOW)
        before = store.state()
    with_vectors_by_pair(str(path), version=9)
    with SqliteStore(path) as store:
        assert store.state() == before


def test_the_settings_that_keep_writes_safe_are_on(path: Path) -> None:
    with SqliteStore(path) as store, store._connections.write() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").get for name in ("journal_mode", "synchronous", "secure_delete")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


def test_an_older_file_gets_the_index_of_exact_words_once_and_says_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(text=f"organizing {n}") for n in range(2001)], 0)
    connection = apsw.Connection(str(path))
    connection.execute(
        "DROP TABLE fts_exact; DROP TABLE passages; ALTER TABLE memories DROP COLUMN speaker; "
        "ALTER TABLE memories DROP COLUMN user; ALTER TABLE memories DROP COLUMN agent; DROP INDEX memories_about; "
        "ALTER TABLE memories DROP COLUMN about_from; ALTER TABLE memories DROP COLUMN about_to; "
        f"ALTER TABLE memories DROP COLUMN about_given; {VECTORS_BY_PAIR} PRAGMA user_version = 3"
    )
    connection.close()
    heard: list[tuple[int, int]] = []
    for _ in range(2):
        with SqliteStore(path, progress=lambda done, total: heard.append((done, total))) as store:
            assert store.check() == []
            assert len(store.search_keywords(parse_keywords("organiz*"), Filter(now=0), 9999)) == 2001
    assert heard == [(2000, 2001), (2001, 2001)]


@pytest.fixture
def by_pair(tmp_path: Path) -> Path:
    """A closed file of schema 10 in the middle of a re-embedding, with 2,500 memories of which one has no vector."""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        drafts = [Draft(id=f"m{n}", text=f"memory {n}", vector=TOY.embed_query(f"memory {n}")) for n in range(2500)]
        store.add([*drafts, Draft(id="none", text="without a vector")], NOW, SPACE)
        other = EmbeddingSpace("other", TOY.dimensions)
        store.begin_reembedding(other)
        store.put_reembedded({seq: TOY.embed_query(f"anew {seq}") for seq in store.next_to_reembed(600)}, other)
    with_vectors_by_pair(str(path))
    return path


OLD, NEW = "seq", "place & 0xFFFFFFFFFF"  # where a version stands


def vectors_in(path: Path, seq: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found: list[Any] = connection.execute(f"SELECT generation, {seq}, vector FROM vectors ORDER BY 1, 2").fetchall()
    connection.close()
    return found


def test_vectors_of_an_older_file_get_one_number_as_their_key(by_pair: Path) -> None:
    before, size, heard = vectors_in(by_pair, OLD), by_pair.stat().st_size, list[tuple[int, int]]()
    with raises(StoreReadOnly, "needs_migration"):
        SqliteStore(by_pair, read_only=True)
    with SqliteStore(by_pair, progress=lambda done, total: heard.append((done, total))) as store:
        assert store.check() == []
        assert heard == [(2000, 3100), (2500, 3100), (3100, 3100)]
        assert len(store.next_to_reembed(9999)) == 2501 - 600
        asked = TOY.embed_query("memory 7")
        assert store.search_vectors(asked, Filter(now=NOW), 1)[0].id == "m7"
        assert np.array_equal(store.vectors(["m7"])["m7"], asked)
    assert vectors_in(by_pair, NEW) == before
    assert by_pair.stat().st_size < 1.1 * size


def test_an_interrupted_move_of_vectors_changes_nothing_and_is_done_again(by_pair: Path) -> None:
    before = vectors_in(by_pair, OLD)

    def interrupted(done: int, total: int) -> None:
        if done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SqliteStore(by_pair, progress=interrupted)
    connection = apsw.Connection(str(by_pair))
    assert schema.version(connection) == 10
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'vectors_by_pair'").get == 0
    connection.close()
    assert vectors_in(by_pair, OLD) == before
    with SqliteStore(by_pair) as store:
        assert store.check() == []
    assert vectors_in(by_pair, NEW) == before


def test_a_vector_that_cannot_be_moved_is_made_again(by_pair: Path) -> None:
    connection = apsw.Connection(str(by_pair))
    connection.execute("INSERT INTO vectors VALUES (3, 9, x'00'), (-3, 1, x'00')")  # of no generation, of no version
    connection.execute(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'vectors'"
    )
    connection.close()
    connection = apsw.Connection(str(by_pair))
    connection.execute("UPDATE vectors SET vector = 'text' WHERE seq = 8 AND generation = 1")
    connection.close()
    with SqliteStore(by_pair) as store:
        assert [(problem.area, problem.ids) for problem in store.check()] == [("vectors", ("m7",))]
        store.repair()
        assert store.check() == []
        assert {record.id for record in store.unembedded(9).values()} == {"m7", "none"}


def overwrite(path: Path, name: str, page: int = 0) -> None:
    """Fill a page of a table or an index with bytes that mean nothing; 0 is its root."""
    connection = apsw.Connection(str(path))
    pages: list[Any] = connection.execute("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path", (name,)).fetchall()
    connection.close()
    with path.open("r+b") as file:
        file.seek((pages[page][0] - 1) * schema.PAGE_SIZE)
        file.write(b"\xa5" * schema.PAGE_SIZE)


@pytest.mark.parametrize(("name", "page"), [("vectors", 0), ("vectors", 9), ("sqlite_autoindex_vectors_1", 0)])
def test_an_older_file_with_a_damaged_page_of_vectors_is_left_alone_and_can_be_salvaged(
    tmp_path: Path, by_pair: Path, name: str, page: int
) -> None:
    """It cannot be opened, so neither a check nor a repair would help."""
    overwrite(by_pair, name, page)
    before = by_pair.read_bytes()
    with raises(StoreDamaged, "store_damaged") as refused:
        SqliteStore(by_pair)
    assert refused.value.remedy == Remedy(Action.SALVAGE, str(by_pair))
    assert by_pair.read_bytes() == before
    done = salvage(by_pair, tmp_path / "saved.db")
    assert done.rows["memories"] == 2501
    assert done.rows["vectors"] > 3000
    with SqliteStore(tmp_path / "saved.db") as store:
        assert store.check() == []
        assert store.get(["m2499"])["m2499"].text == "memory 2499"


LOSSES = {
    "a text that is not UTF-8": ("UPDATE memories SET text = CAST(x'6465722074ff74' AS TEXT) WHERE id = 'm7'", 2500),
    "a table that is gone": ("DROP TABLE vectors", 2501),
}


@pytest.mark.parametrize("what", LOSSES)
def test_damage_that_stops_an_upgrade_is_told_with_what_helps(tmp_path: Path, by_pair: Path, what: str) -> None:
    sql, saved = LOSSES[what]
    connection = apsw.Connection(str(by_pair))
    connection.execute(f"{sql}; DROP TABLE fts_exact; PRAGMA user_version = 3")
    for column in ("speaker", "user", "agent", "about_from", "about_to", "about_given"):
        connection.execute(f"DROP INDEX IF EXISTS memories_about; ALTER TABLE memories DROP COLUMN {column}")
    connection.execute("DROP TABLE passages")
    connection.close()
    with pytest.raises(StoreDamaged) as refused:
        SqliteStore(by_pair)
    assert refused.value.remedy == Remedy(Action.SALVAGE, str(by_pair))
    assert salvage(by_pair, tmp_path / "saved.db").rows["memories"] == saved


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot shrink there, so none is mapped")
def test_readers_map_the_file_and_writers_do_not(path: Path) -> None:
    with SqliteStore(path) as store:
        with store._connections.read() as reader:
            assert reader.execute("PRAGMA mmap_size").get > path.stat().st_size
        with store._connections.write() as writer:
            assert writer.execute("PRAGMA mmap_size").get == 0


@pytest.mark.parametrize("pages", [0, 3, 20])
def test_a_file_that_is_cut_under_a_reader_is_damaged(path: Path, pages: int) -> None:
    """The memory that is mapped beyond the end must not be read: that would end the process."""
    with SqliteStore(path, read_only=True) as store:
        question = parse_keywords("cats")
        assert store.search_keywords(question, Filter(now=NOW), 5)
        os.truncate(path, pages * schema.PAGE_SIZE)
        with raises(StoreDamaged):
            store.search_keywords(question, Filter(now=NOW), 5)
