"""Short writes of several threads share a commit: each returns when it is durable, and one that fails fails alone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import thinkback
from thinkback.errors import InvalidInput, StoreDamaged, StoreError, ThinkbackError
from thinkback.model import CORROBORATES, Draft, Filter
from thinkback.stores.sqlite import SqliteStore, connection, group_commit

NOW = 1_700_000_000_000_000
EVERYTHING = Filter(now=NOW, everything=True)
PATIENCE_S = 30.0
Work = Callable[[], Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def other(tmp_path: Path, store: SqliteStore) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "memory.db") as other:
        yield other


@contextmanager
def commits(store: SqliteStore, refused: bool = False) -> Iterator[list[int]]:
    """Counts the commits of a store; SQLite rolls back those that are refused."""
    found = [0]

    def hook() -> bool:
        found[0] += 1
        return refused

    writer = store._connections._writer
    writer.set_commit_hook(hook)
    try:
        yield found
    finally:
        writer.set_commit_hook(None)


def together(store: SqliteStore, *works: Work) -> list[Any]:
    """Runs each in a thread of its own, the first one first; it ends when the others wait. Returns results and errors."""
    inside, waiting = threading.Event(), threading.Semaphore(0)
    queue = store._connections._queue
    enter = queue.enter
    results: list[Any] = [None] * len(works)

    def entered(ticket: object) -> None:
        enter(ticket)
        waiting.release()

    def run(place: int, work: Work) -> None:
        try:
            results[place] = work()
        except (ThinkbackError, AssertionError) as error:
            results[place] = error

    def first() -> Any:
        with store.joined():
            found = works[0]()
            inside.set()
            for _ in works[1:]:
                assert waiting.acquire(timeout=PATIENCE_S)
        return found

    threads = [threading.Thread(target=run, args=(0, first), daemon=True)]
    threads += [threading.Thread(target=run, args=(n, work), daemon=True) for n, work in enumerate(works[1:], 1)]
    threads[0].start()
    assert inside.wait(PATIENCE_S)
    queue.enter = entered  # type: ignore[method-assign]
    try:
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
    finally:
        queue.enter = enter  # type: ignore[method-assign]
    return results


def adding(store: SqliteStore, id: str) -> Work:
    return lambda: store.add([Draft(id=id, text=f"the text of {id}")], NOW)[0].id


def ids(store: SqliteStore) -> set[str]:
    return {record.id for record in store.list(EVERYTHING, None)}


def test_writes_of_several_threads_are_one_commit_and_seen_when_they_return(store, other):
    def seen(id):
        def work():
            adding(store, id)()
            return id in ids(other)

        return work

    before = store.state().changes
    with commits(store) as counted:
        results = together(store, adding(store, "a"), *map(seen, "bcde"))
    assert results == ["a", True, True, True, True]
    assert counted == [1]
    assert store.state().changes == before + 5
    assert store.check() == []


def test_nobody_returns_before_the_commit(store, other):
    returned: list[str] = []
    seen: list[set[str]] = []

    def second():
        with store.joined():
            adding(store, "b")()
            seen.append(ids(other))
            assert returned == []
        returned.append("b")

    def third():
        with store.joined():
            seen.append(ids(other))
            assert returned == []
        returned.append("c")

    assert together(store, adding(store, "a"), second, third) == ["a", None, None]
    assert seen == [set(), set()]
    assert ids(other) == {"a", "b"}


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_write_that_fails_is_undone_alone(store, other, place):
    def failing():
        with store.joined():
            adding(store, "gone")()
            store.set_setting("gone", "yes")
            raise InvalidInput("no")

    works = [adding(store, id) for id in "abc"]
    works.insert(place, failing)
    with commits(store) as counted:
        results = together(store, *works)
    assert isinstance(results.pop(place), InvalidInput)
    assert results == ["a", "b", "c"]
    assert counted == [1]
    assert ids(other) == {"a", "b", "c"}
    assert other.setting("gone") is None
    assert store.check() == []


def test_a_first_write_that_fails_leaves_nothing_open(store, other):
    def failing():
        with store.joined():
            adding(store, "gone")()
            raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        failing()
    other.set_setting("free", "yes")  # StoreBusy if the other still held the file
    assert ids(other) == set()


def test_an_error_of_the_commit_reaches_everybody_in_it(store, other):
    with commits(store, refused=True):
        results = together(store, adding(store, "a"), adding(store, "b"), adding(store, "c"))
    assert [type(result) for result in results] == [StoreDamaged] * 3
    assert len({id(result) for result in results}) == 3
    assert ids(other) == set()
    adding(store, "later")()
    assert ids(other) == {"later"}


def test_a_transaction_that_sqlite_rolled_back_is_lost_to_everybody_in_it(store, other):
    def full():
        with store.joined():
            store._connections._writer.execute("ROLLBACK")  # as SQLite itself does
            raise apsw.FullError("database or disk is full")

    results = together(store, adding(store, "a"), full)
    assert isinstance(results[0], StoreError)
    assert results[0].code == "rolled_back"
    assert "disk is full" in str(results[1])
    adding(store, "later")()
    assert ids(other) == {"later"}


def test_a_transaction_of_several_steps_shares_nothing(store, other):
    def alone():
        with store.transaction():
            present = ids(other)  # what was written before it began is committed
            adding(store, "b")()
            return present

    with commits(store) as counted:
        results = together(store, adding(store, "a"), adding(store, "c"), alone_when_queued(store, alone))
    assert "a" in results[2]
    assert counted[0] >= 2
    assert ids(other) == {"a", "b", "c"}


def alone_when_queued(store: SqliteStore, work: Work) -> Work:
    """A transaction does not queue to join; it tells `together` that it is there, and then waits for its turn."""

    def run() -> Any:
        ticket = object()
        store._connections._queue.enter(ticket)
        store._connections._queue.leave(ticket)
        return work()

    return run


def test_a_commit_holds_no_more_than_so_many(store, monkeypatch):
    monkeypatch.setattr(connection, "MOST", 2)
    with commits(store) as counted:
        assert together(store, *(adding(store, id) for id in "abcd")) == ["a", "b", "c", "d"]
    assert counted[0] >= 2
    assert ids(store) == {"a", "b", "c", "d"}


def test_a_write_commits_itself_if_whoever_waited_has_gone(store, other, monkeypatch):
    monkeypatch.setattr(connection, "PAUSE_S", 0.001)
    store._connections._queue.enter(object())  # interrupted while it waited
    adding(store, "a")()
    assert ids(other) == {"a"}
    assert not store._connections._queue


@pytest.mark.parametrize("ending", ["close", "scrub", "transaction"])
def test_what_is_open_is_committed_before_the_file_is_closed_or_rewritten(store, tmp_path, monkeypatch, ending):
    monkeypatch.setattr(connection, "PAUSE_S", PATIENCE_S)
    left_open = threading.Event()
    left = group_commit.Group.add

    def added(group, tasks):
        left(group, tasks)
        left_open.set()

    monkeypatch.setattr(group_commit.Group, "add", added)
    store._connections._queue.enter(object())
    thread = threading.Thread(target=adding(store, "a"), daemon=True)
    thread.start()
    assert left_open.wait(PATIENCE_S)
    if ending == "transaction":
        with store.transaction():
            pass
    else:
        getattr(store, ending)()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    with SqliteStore(tmp_path / "memory.db") as again:
        assert ids(again) == {"a"}


def test_a_write_that_was_interrupted_twice_is_not_committed_by_the_next(store, other):
    group = group_commit.Group()
    connections = store._connections
    writer = connections._writer
    writer.execute("BEGIN IMMEDIATE; SAVEPOINT part77; INSERT INTO settings (key, value) VALUES ('half', 'done')")
    group.part, connections._group = 77, group  # its rollback was interrupted too
    adding(store, "a")()
    assert ids(other) == {"a"}
    assert other.setting("half") is None


def test_the_same_text_from_two_threads_repeats_the_first(tmp_path):
    with thinkback.open(tmp_path / "memory.db", embedder=None, reranker=None) as memory:
        text = "the boat lies at the northern pier"
        results = together(memory.store, lambda: memory.remember(text).id, lambda: memory.remember(text).id)
        edges = memory.store.edges([results[1]], EVERYTHING, None, kinds=(CORROBORATES,))
        assert [(edge.from_id, edge.to_id) for edge in edges[results[1]]] == [(results[1], results[0])]


def test_many_threads_write_and_fail_at_random(store, other):
    """Every write that returned is there, and none that failed."""
    kept: list[str] = []

    def work(number: int) -> None:
        for turn in range(12):
            id = f"{number}-{turn}"
            try:
                with store.joined():
                    adding(store, id)()
                    if (number * 5 + turn * 3) % 4 == 0:
                        raise InvalidInput("no")
            except InvalidInput:
                continue
            assert other.get([id])
            kept.append(id)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert len(kept) == 72
    assert ids(other) == set(kept)
    assert store.check() == []
