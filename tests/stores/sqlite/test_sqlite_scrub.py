"""What is forgotten is owed to be cleared from file and log, until somebody has done so."""

import random
import string
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from thinkback.errors import NotFound
from thinkback.model import Draft, StoredEdge
from thinkback.stores.base import PENDING_SCRUB
from thinkback.stores.sqlite import SqliteStore, scrub
from thinkback.stores.sqlite.byte_search import found_in

NOW = 1_770_000_000_000_000
SECRET = "xylophagous quandaries of Wolfeschlegelstein"
RUN = 12


def holds_secret(path: Path) -> bool:
    """Whether a word of it stands in any file of the store."""
    files = path.parent.glob(f"{path.name}*")
    return any(word in file.read_bytes().lower() for file in files for word in (b"xylophag", b"quandar", b"wolfesch"))


def pending(store: SqliteStore) -> list[str]:
    return [problem.message for problem in store.check() if problem.area == PENDING_SCRUB]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as too large to be written anew at once."""
    monkeypatch.setattr(scrub, "IMMEDIATE_UP_TO", 0)


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path, busy_timeout_s=0.5)
    store.add([Draft(text=SECRET, id="gone"), Draft(text="a neighbour", id="kept")], NOW)
    return store


# -- random lives of a store


class Life:
    """A store that is written to at random; every text it ever held of a memory is remembered here."""

    def __init__(self, store: SqliteStore, seed: int) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.live: dict[str, list[str]] = {}
        self.gone: list[str] = []
        self.now = NOW

    def word(self) -> str:
        return "".join(self.chance.choices(string.ascii_lowercase, k=self.chance.randint(12, 16)))

    def text(self) -> str:
        return " ".join(self.word() for _ in range(self.chance.choice([2, 3, 5, 10, 40, 150, 400])))

    def some(self, most: int) -> list[str]:
        return self.chance.sample(sorted(self.live), min(len(self.live), self.chance.randint(1, most)))

    def round(self) -> None:
        """A few of each: new memories, changes, links, and then some are forgotten."""
        self.now += 1
        drafts = [
            Draft(text=self.text(), tags=(self.word(),), metadata={"k": self.word()}, source=self.word())
            for _ in range(self.chance.randint(1, 40))
        ]
        for record in self.store.add(drafts, self.now):
            self.live[record.id] = [record.text, record.tags[0], record.metadata["k"], str(record.source)]
        for id in self.some(5):
            text, tag = self.text(), self.word()
            self.store.update(id, {"text": text, "tags": [tag]}, self.now)
            self.live[id] += [text, tag]
        ends = self.some(10)
        edges = [StoredEdge(from_id=a, to_id=b, kind=self.word()) for a, b in pairwise(ends)]
        self.store.link(edges, self.now)
        for ids in (self.some(1), self.some(1), self.some(18)):
            self.gone += [text for id in self.store.forget(ids) for text in self.live.pop(id)]

    def runs(self) -> set[bytes]:
        """Every run of 12 bytes in what was forgotten."""
        return {run for text in self.gone for run in runs(text.encode())}


def runs(data: bytes) -> Iterator[bytes]:
    return (data[at : at + RUN] for at in range(len(data) - RUN + 1))


def found(path: Path, needles: set[bytes]) -> dict[str, set[bytes]]:
    return {file.name: hits for file in path.parent.iterdir() if (hits := found_in(file, needles))}


@pytest.mark.parametrize(
    ("seed", "rounds"),
    [(5, 3), (6, 1), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in (0, 1, 4, 9))],
)
def test_random_lives_leave_no_byte_of_the_forgotten(path: Path, seed: int, rounds: int) -> None:
    """Where pages are balanced, SQLite leaves copies of rows behind: each of these fails if the file is not written anew."""
    with SqliteStore(path) as store:
        life = Life(store, seed)
        for _ in range(rounds):
            life.round()
        assert found(path, life.runs()) == {}
        assert store.check() == []


# -- the debt


def test_a_large_file_is_cleared_when_it_is_closed(path: Path, large: None) -> None:
    store = filled(path)
    store.forget(["gone"])
    assert store.stats()["scrub_pending"]
    assert len(pending(store)) == 1
    store.close()
    assert not holds_secret(path)
    with SqliteStore(path) as again:
        assert not again.stats()["scrub_pending"]
        assert again.check() == []


def test_a_large_file_is_cleared_when_it_is_repaired(path: Path, large: None) -> None:
    with filled(path) as store:
        before = list(store.export_records())
        store.forget(["gone"])
        changes = store.state().changes
        assert store.repair() == []
        assert not store.stats()["scrub_pending"]
        assert not holds_secret(path)
        assert store.state().changes == changes  # no index was touched, no mirror is stale
        assert list(store.export_records()) == [record for record in before if record.id == "kept"]


def test_the_debt_outlives_the_process_that_made_it(path: Path, large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(path)
    store.forget(["gone"])
    store._connections.close()  # as a killed process would
    with SqliteStore(path) as heir:
        assert heir.stats()["scrub_pending"]
        monkeypatch.setattr(scrub, "IMMEDIATE_UP_TO", 1 << 30)
        heir.add([Draft(text="something new")], NOW)
        assert not heir.stats()["scrub_pending"]
        assert not holds_secret(path)


def test_forgetting_that_is_undone_owes_nothing(path: Path, large: None) -> None:
    with filled(path) as store:
        with pytest.raises(NotFound), store.transaction():
            store.update(store.forget(["gone"])[0], {"text": "too late"}, NOW)
        assert not store.stats()["scrub_pending"]
        assert store.check() == []


def test_the_log_is_cleared_by_the_next_writer_after_a_reader_has_left(path: Path) -> None:
    with filled(path) as store, SqliteStore(path) as other:
        reading = other.export_records()
        next(reading)
        store.forget(["gone"])
        assert store.stats()["scrub_pending"]
        assert holds_secret(path)
        reading.close()
        other.add([Draft(text="something new")], NOW)
        assert not store.stats()["scrub_pending"]
        assert not holds_secret(path)


def test_the_log_is_cleared_by_closing_after_a_reader_has_left(path: Path) -> None:
    with SqliteStore(path) as other:
        store = filled(path)
        reading = other.export_records()
        next(reading)
        store.forget(["gone"])
        reading.close()
        assert holds_secret(path)
        store.close()
        assert not holds_secret(path)


def test_a_reader_that_stays_does_not_slow_every_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(path) as store, SqliteStore(path) as other:
        reading = other.export_records()
        next(reading)
        store.forget(["gone"])
        tried: list[bool] = []
        monkeypatch.setattr(store._connections, "checkpoint", lambda: bool(tried.append(True)))
        for n in range(20):
            store.set_setting("n", str(n))
        reading.close()
        assert len(tried) <= 1
        monkeypatch.undo()


def test_what_is_forgotten_while_another_clears_stays_owed(path: Path, large: None) -> None:
    """The payment is noted only for what was owed when it began."""
    with filled(path) as store, SqliteStore(path) as other:
        store.forget(["gone"])
        rebuild = store._connections.rebuild

        def interrupted() -> bool:
            done = rebuild()
            other.forget(["kept"])
            return done

        store._connections.rebuild = interrupted  # type: ignore[method-assign]
        assert store.scrub()
        assert store.stats()["scrub_pending"]
        store._connections.rebuild = rebuild  # type: ignore[method-assign]
        assert store.scrub()
        assert not store.stats()["scrub_pending"]


def test_a_disk_that_is_full_keeps_the_debt_and_the_store(path: Path, large: None) -> None:
    with filled(path) as store:
        store.forget(["gone"])
        store._connections.rebuild = lambda: False  # type: ignore[method-assign]
        assert not store.scrub()
        assert store.stats()["scrub_pending"]
        assert list(store.get(["kept"])) == ["kept"]


@pytest.mark.parametrize("trouble", [apsw.FullError, apsw.IOError])
def test_a_log_that_cannot_be_emptied_is_no_failure_of_what_was_written(path: Path, trouble: type[Exception]) -> None:
    """Else a caller would write again what is written already, like the counts of recalls."""

    class Troubled:
        def __init__(self, connection: apsw.Connection) -> None:
            self.connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self.connection, name)

        def wal_checkpoint(self, **_: object) -> None:
            raise trouble("no room for the file to grow")

    with filled(path) as store:
        writer = store._connections._writer
        store._connections._writer = Troubled(writer)  # type: ignore[assignment]
        assert store.forget(["gone"]) == ["gone"]
        assert store.stats()["scrub_pending"]
        assert not store.scrub()
        store._connections._writer = writer
        assert store.scrub()


def test_a_store_in_memory_owes_nothing() -> None:
    with SqliteStore(":memory:") as store:
        store.add([Draft(text=SECRET, id="gone")], NOW)
        store.forget(["gone"])
        assert not store.stats()["scrub_pending"]
        assert store.scrub()
