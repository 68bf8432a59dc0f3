"""Killed anywhere, any number of times, or run twice at once, a consolidation ends with the same reflections."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import reflect_fixtures
from reflect_fixtures import NOW, expected, fill, snapshot

from recollect.reflect.run import reflect
from recollect.stores.sqlite import SqliteStore

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
    from recollect.reflect import linking

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
