"""Killed anywhere, any number of times, or run twice at once, a consolidation ends with the same reflections."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reflect_fixtures
from reflect_fixtures import NOW, expected, fill, snapshot

from thinkback.lifecycle.reflect.nearest import cosines
from thinkback.lifecycle.reflect.run import reflect
from thinkback.stores.sqlite import SqliteStore

WORKER = [sys.executable, reflect_fixtures.__file__]


def start(path: Path, how: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([*WORKER, str(path), how], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["in pairs", "indexed"])
def test_killed_fifty_times(tmp_path: Path, how: str) -> None:
    whole = expected(tmp_path, 900)
    path = tmp_path / "killed.db"
    with SqliteStore(path) as store:
        fill(store, 900)
    chance = random.Random(3)
    for _ in range(50):
        with SqliteStore(path) as store:
            if chance.random() < 0.3:  # begin anew from an empty state now and then
                store.forget([r.id for r in store.export_records() if r.kind == "reflection"])
                for edge in list(store.export_edges()):
                    store.unlink(edge.from_id, edge.to_id)
                store.set_setting("reflect.seen", None)
        process = start(path, how)
        assert process.stdout is not None
        for _ in range(chance.randint(1, 17)):  # it says `open`, then `step` 15 times if all is new, then `done`
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    with SqliteStore(path) as store:
        assert store.check() == []
        reflect(store, NOW * 2)
        assert snapshot(store) == whole


@pytest.mark.slow
@pytest.mark.parametrize("how", ["in pairs", "indexed"])
def test_two_processes_at_once(tmp_path: Path, how: str) -> None:
    whole = expected(tmp_path, 900)
    for attempt in range(3):
        path = tmp_path / f"both{attempt}.db"
        with SqliteStore(path) as store:
            fill(store, 900)
        both = [start(path, how), start(path, how)]
        assert [process.communicate()[0].split()[-1] for process in both] == ["done", "done"]
        with SqliteStore(path) as store:
            assert snapshot(store) == whole
            ids = [record.id for record in store.export_records() if record.kind == "reflection"]
            assert len(ids) == len(set(ids))


def test_stopped_after_every_write_it_comes_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without chance: the run breaks off before its n-th transaction, for every n."""
    from thinkback.lifecycle.reflect import link_nearest as linking

    monkeypatch.setattr(linking, "STEP", 64)
    monkeypatch.setattr(linking, "BLOCK_ROWS", 64)
    whole = expected(tmp_path, 300)
    for n in range(1, 8):
        with SqliteStore(tmp_path / f"stopped{n}.db") as store:
            fill(store, 300)
            begin, calls = store.transaction, iter(range(1, 1000))

            class Stopped(Exception):
                pass

            def transaction(begin=begin, calls=calls, n=n):  # type: ignore[no-untyped-def]
                if next(calls) == n:
                    raise Stopped
                return begin()

            with monkeypatch.context() as patch:
                patch.setattr(store, "transaction", transaction)
                with contextlib.suppress(Stopped):
                    reflect(store, NOW * 2)
            reflect(store, NOW * 2)
            assert snapshot(store) == whole


READS = ("setting", "vectors")


@pytest.mark.slow
@pytest.mark.parametrize("far", [0.4, 0.7, 1.0])
def test_overtaken_between_any_two_reads_it_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: float
) -> None:
    """While this process looks at a store that is linked in part, another one gets farther: after the n-th read, for every n."""
    from thinkback.lifecycle.reflect import link_nearest as linking

    monkeypatch.setattr(linking, "STEP", 64)
    monkeypatch.setattr(linking, "BLOCK_ROWS", 64)
    whole = expected(tmp_path, 900)
    overtaken_at = []
    for n in range(1, 12):
        path = tmp_path / f"overtaken{n}.db"
        with SqliteStore(path) as store, SqliteStore(path) as other:
            fill(store, 900)
            _get_on(store, 0.2)
            reads = _Counted(lambda other=other: _get_on(other, far), n)
            with monkeypatch.context() as patch:
                for name in READS:
                    patch.setattr(store, name, reads.after(getattr(store, name)))
                patch.setattr(store, "snapshot", reads.looking(store.snapshot))
                patch.setattr(store, "transaction", reads.outside(store.transaction))
                reflect(store, NOW * 2)
            if reads.done >= n:
                overtaken_at.append(n)
            assert snapshot(store) == whole, n
    assert overtaken_at[:3] == [1, 2, 3]


def test_a_second_link_beside_the_nearest_goes(tmp_path: Path) -> None:
    """Earlier versions could leave one when two processes ran at once."""
    whole = expected(tmp_path)
    with SqliteStore(tmp_path / "double.db") as store:
        ids = fill(store)
        reflect(store, NOW * 2)
        matrix = np.stack([store.vectors([id])[id] for id in ids])
        edge = next(edge for edge in store.export_edges() if edge.kind == "nearest")
        nearest = np.argsort(-matrix @ matrix[ids.index(edge.from_id)])[1:6]
        weights = 0.5 * cosines(matrix, np.repeat(ids.index(edge.from_id), 5), nearest)
        assert ids[nearest[0]] == edge.to_id
        assert weights[0] == edge.weight
        seconds = [replace(edge, to_id=ids[n], weight=float(w)) for n, w in zip(nearest, weights, strict=True)]
        store.link(seconds[1:], NOW)
        assert snapshot(store) != whole
        reflect(store, NOW * 3)
        assert snapshot(store) == whole


def _get_on(store: SqliteStore, far: float) -> None:
    """Links some part of all memories, then breaks off."""

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if 900 - total + done > far * 900:
            raise Stopped

    with contextlib.suppress(Stopped):
        reflect(store, NOW * 2, progress=stop)


class _Counted:
    """Lets something happen once, after the n-th of all reads outside of transactions."""

    def __init__(self, happens: Callable[[], object], n: int) -> None:
        self._happens, self._n, self.done, self._inside = happens, n, 0, False

    def outside(self, transaction: Callable[[], AbstractContextManager[None]]) -> Callable[[], Any]:
        @contextlib.contextmanager
        def marked() -> Iterator[None]:
            with transaction():
                self._inside = True
                try:
                    yield
                finally:
                    self._inside = False

        return marked

    def looking(self, look: Callable[..., AbstractContextManager[Any]]) -> Callable[..., Any]:
        """Something happens while the store is looked at, and so after every look."""

        @contextlib.contextmanager
        def looking(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with look(*args, **kwargs) as found:
                self._count()
                yield found

        return looking

    def after(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*args: Any, **kwargs: Any) -> Any:
            found = read(*args, **kwargs)
            self._count()
            return found

        return reading

    def _count(self) -> None:
        self.done += not self._inside
        if self.done == self._n and not self._inside:
            self._happens()
