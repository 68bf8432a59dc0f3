"""An interrupt at any point of a write leaves the store as it was, open for the next write."""

import gc
import sys
from collections.abc import Callable
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from thinkback.model import Draft, Filter
from thinkback.stores.base import PENDING_SCRUB
from thinkback.stores.sqlite import SqliteStore
from thinkback.stores.sqlite.fork import _Gate

NOW = 1_700_000_000_000_000
EVERYTHING = Filter(now=NOW, everything=True)


def _nested(store: SqliteStore) -> None:
    with store.transaction():
        store.add([Draft(text="one")], NOW)
        with store.transaction():
            store.add([Draft(text="two")], NOW)


def _joined(store: SqliteStore) -> None:
    with store.joined():
        store.add([Draft(text="one")], NOW)
        store.add([Draft(text="two")], NOW)


WRITES: dict[str, Callable[[SqliteStore], Any]] = {
    "add": lambda store: store.add([Draft(text="one"), Draft(text="two")], NOW),
    "nested": _nested,
    "joined": _joined,
    "setting": lambda store: store.set_setting("key", "value"),
    "forget": lambda store: store.forget(["old"]),
}


class _Interrupt:
    """Raises KeyboardInterrupt at the nth call or return, in Python or C: where the interpreter looks for signals."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if frame.f_code is interrupted.__code__:
            return
        if event == "return" and frame.f_code.co_flags & CO_GENERATOR:
            return  # no signal is handled while a generator yields; an exception there would end it without its `finally`
        if event == "c_call" and getattr(arg, "__name__", "") == "__exit__":
            return  # nor before a block is left, only after; an exception there would leave its lock taken
        self.left -= 1
        if self.left < 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def interrupted(work: Callable[[], Any], at: int) -> bool:
    """Runs the work and interrupts it there; False when it was over before."""
    sys.setprofile(_Interrupt(at))
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def test_an_interrupt_does_not_leave_the_gate_of_forks_locked() -> None:
    gate, at = _Gate(), 0

    def through() -> None:
        with gate:
            pass

    while interrupted(through, at):
        assert not gate._door.locked()
        assert not gate._counting.locked()
        at += 1
    assert at > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITES)
def test_a_write_interrupted_anywhere_is_whole_or_absent(name: str, tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "memory.db") as store, SqliteStore(tmp_path / "memory.db", busy_timeout_s=0.0) as other:
        at = 0
        while True:
            store.add([Draft(text="old", id="old")], NOW)
            before = store.count(EVERYTHING)
            done = not interrupted(lambda: WRITES[name](store), at)
            assert store.count(EVERYTHING) - before in (0, -1 if name == "forget" else 2)
            other.set_setting("other", str(at))  # not locked: StoreBusy would come at once
            store.set_setting("own", str(at))
            store.forget([record.id for record in store.list(EVERYTHING, None)])
            if done:
                break
            at += 1 if at < 150 else 37  # the first calls and returns are those of the transaction
        assert at > 20
        gc.collect()  # closes the connections of interrupted reads
        assert [problem for problem in store.repair() if problem.area != PENDING_SCRUB] == []


def test_an_interrupt_just_after_begin_leaves_no_transaction_open(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "memory.db") as store, SqliteStore(tmp_path / "memory.db", busy_timeout_s=0.0) as other:
        for at in range(20, 60):
            interrupted(lambda: store.set_setting("key", "value"), at)
            other.set_setting("other", "free")
        store.set_setting("own", "free")
