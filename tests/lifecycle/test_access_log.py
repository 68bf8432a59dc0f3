"""AccessLog are counted beside the search and written by a thread of their own; what cannot be written waits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from codes import raises, warns
from lifecycle_fixtures import living, stored

from thinkback.clock import DAY, HOUR, SECOND
from thinkback.errors import StoreBusy, StoreError
from thinkback.lifecycle import access_log
from thinkback.lifecycle.access_log import MAX_AGE, MAX_PENDING, Batch
from thinkback.memory import Memory
from thinkback.model import Access


def busy(*_: object) -> None:
    raise StoreBusy("locked by another process")


@contextmanager
def watched(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the threads that count accesses in the store; inside, what was to be written is written at the end."""
    threads: list[str] = []
    touch = memory.store.touch

    def noting(*given: Any) -> None:
        threads.append(threading.current_thread().name)
        touch(*given)

    monkeypatch.setattr(memory.store, "touch", noting)
    yield threads
    memory._recalls._writer.shutdown(wait=True)


def test_a_slide_is_written_at_once_and_never_by_the_thread_that_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path / "m.db") as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(HOUR)
        with watched(memory, monkeypatch) as threads:
            memory.recall("plumber")
        assert [name.split("_")[0] for name in threads] == ["thinkback-access-log"]
        assert stored(memory, id).expires_at == clock() + 72 * HOUR


def test_what_slides_by_seconds_waits_like_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with living() as (memory, clock):
        memory.remember("call the plumber tomorrow", tier="working")
        clock.advance(MAX_AGE - 1)
        with watched(memory, monkeypatch) as threads:
            memory.recall("plumber")
        assert threads == []


def test_a_recall_that_waited_long_is_written_when_the_next_one_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        with watched(memory, monkeypatch) as threads:
            memory.recall("Oscar")
            clock.advance(MAX_AGE - SECOND)
            memory.recall("Oscar")
            assert threads == []
            clock.advance(SECOND)
            memory.recall("Oscar")
        assert len(threads) == 1
        assert memory.get(id).access_count == 3


def test_many_recalls_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    with living() as (memory, _):
        id = memory.remember("Oscar is a grey cat").id
        with watched(memory, monkeypatch) as threads:
            for _ in range(MAX_PENDING):
                memory.recall("Oscar", recipe="keyword")
        assert len(threads) == 1
        assert memory.get(id).access_count == MAX_PENDING


def test_recalls_that_cannot_be_written_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        begun = clock()
        clock.advance(HOUR)
        with monkeypatch.context() as patch:
            patch.setattr(memory.store, "touch", busy)
            assert memory.recall("plumber").ids == (id,)
            with pytest.raises(StoreBusy):
                memory.flush()
            clock.advance(HOUR)
            assert memory.recall("plumber").ids == (id,)
            memory.remember("Oscar is a grey cat")  # and nothing else fails for it
            memory.audit()
            with pytest.raises(StoreBusy):
                memory.flush()
        assert memory.get(id).access_count == 0
        memory.flush()
        assert (memory.get(id).access_count, stored(memory, id).last_access) == (2, begun + 2 * HOUR)
        assert stored(memory, id).expires_at == begun + 2 * HOUR + 72 * HOUR


def test_what_failed_to_be_written_in_time_is_written_before_it_would_be_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(71 * HOUR)
        with monkeypatch.context() as patch:
            patch.setattr(memory.store, "touch", busy)
            memory.recall("plumber")
            with pytest.raises(StoreBusy):
                memory.flush()
        clock.advance(2 * HOUR)
        assert memory.recall("plumber").ids == (id,)


def test_closing_says_what_was_not_counted_and_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with living(tmp_path / "m.db") as (memory, _):
        memory.remember("Oscar is a grey cat")
        memory.recall("Oscar")
        monkeypatch.setattr(memory.store, "touch", busy)
        with warns("store_busy"):
            memory.close()
        with raises(StoreError, "store_closed"):
            memory.count()


@pytest.mark.parametrize(("step", "answered"), [("tags", False), ("get", True)])
@pytest.mark.filterwarnings("error")
def test_a_search_during_which_the_memory_is_closed_answers_or_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, answered: bool
) -> None:
    """Closed by another thread before the legs are asked, or when all is read and the recall is to be counted."""
    with living(tmp_path / "m.db") as (memory, clock):
        memory.remember("call the plumber tomorrow", tier="working")
        clock.advance(HOUR)
        taken = getattr(memory.store, step)

        def then_closed(*args: Any) -> Any:
            found = taken(*args)
            memory.close()
            return found

        monkeypatch.setattr(memory.store, step, then_closed)
        if answered:
            assert [hit.text for hit in memory.recall("plumber", recipe="keyword")] == ["call the plumber tomorrow"]
        else:
            with raises(StoreError, "store_closed"):
                memory.recall("plumber")


def test_only_so_many_are_kept_and_the_latest_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_log, "MAX_KEPT", 3)
    failed, filling = Batch(), Batch()
    for moment, id in enumerate("abcd", 1):
        failed.add(id, Access(2, moment), moment, None)
    filling.add("e", Access(1, 9), 9, None)
    filling.take_back(failed)
    assert filling.accesses == {"e": Access(1, 9), "d": Access(2, 4), "c": Access(2, 3)}
    assert (filling.total, filling.since) == (1 + 2 + 2, 1)


def test_inside_a_transaction_nothing_waits_for_itself(tmp_path: Path) -> None:
    with living(tmp_path / "m.db") as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(HOUR)
        with memory.store.transaction():
            memory.recall("plumber")
            memory.remember("Oscar is a grey cat")
            memory.flush()
        assert memory.get(id).access_count == 1


def test_many_threads_count_every_recall_once(tmp_path: Path) -> None:
    with living(tmp_path / "m.db") as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id

        def recall_often() -> None:
            for _ in range(25):
                clock.advance(60 * SECOND)
                memory.recall("plumber", recipe="keyword")
                memory.flush()

        threads = [threading.Thread(target=recall_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.flush()
        assert memory.get(id).access_count == 4 * 25


def test_an_audit_knows_of_the_recall_a_moment_ago() -> None:
    with living() as (memory, clock):
        id = memory.remember("Caroline lives in Oslo").id
        clock.advance(40 * DAY)
        assert memory.audit().never_recalled == (id,)
        memory.recall("Caroline")
        assert memory.audit().never_recalled == ()


def test_counting_reads_only_memories_whose_expiry_slides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with living(tmp_path / "m.db") as (memory, clock):
        lasting = memory.remember("the plumber is called Nils")
        short = memory.remember("call the plumber tomorrow", tier="working")
        memory.recall("plumber")
        read: list[str] = []
        get = memory.store.get
        monkeypatch.setattr(memory.store, "get", lambda ids, *more: read.extend(ids) or get(ids, *more))
        clock.advance(HOUR)
        memory.recall("plumber")
        memory.flush()
        monkeypatch.undo()
        assert read[-1:] == [short.id]
        counts = [memory.get(one.id).access_count for one in (lasting, short)]
        assert counts == [2, 2]
        assert stored(memory, short.id).expires_at == stored(memory, short.id).last_access + 72 * HOUR
