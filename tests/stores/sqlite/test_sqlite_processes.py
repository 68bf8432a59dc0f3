"""Several processes on one file: nothing acknowledged is lost, nobody is locked out, everybody sees everything."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlite_worker
from sqlite_worker import NOW, OTHER, OTHER_SPACE, SPACE, TOY, draft

from thinkback.model import Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.sqlite import SqliteStore

WORKER = Path(sqlite_worker.__file__)
SECONDS = os.environ.get("THINKBACK_TEST_SECONDS", "2")
Process = subprocess.Popen[str]


@contextmanager
def worker(*arguments: str) -> Iterator[Process]:
    command = [sys.executable, str(WORKER), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the worker stopped with code {process.wait()}"
    message: dict[str, Any] = json.loads(line)
    return message


def tell(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write("{}\n")
    process.stdin.flush()


@pytest.mark.parametrize("batches", [1, 4, 9])
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, batches: int) -> None:
    path = str(tmp_path / "memory.db")
    with worker("write_forever", path) as process:
        for _ in range(batches):
            written = heard(process)["written"]
        process.kill()
        process.wait()
        assert process.stdout is not None
        written = max([written, *(json.loads(line)["written"] for line in process.stdout if line.endswith("}\n"))])
    with SqliteStore(path) as store:
        ids = [f"w-{number}" for number in range(written)]
        assert list(store.get(ids)) == ids
        assert all(len(store.history(id)) == 2 for id in ids[::3])
        assert store.check() == []
        found = store.search_keywords(parse_keywords("shared"), Filter(now=NOW), 10**6)
        assert set(ids) <= {hit.id for hit in found}
        assert len(found) % 3 == 0
        (record,) = store.add([draft("after", 1)], NOW)
        assert store.search_vectors(TOY.embed_query(record.text), Filter(now=NOW), 1)[0].id == record.id


@pytest.mark.slow
@pytest.mark.parametrize("writes", [3, 20, 60])
def test_what_threads_wrote_together_survives_kill_9(tmp_path: Path, writes: int) -> None:
    path = str(tmp_path / "memory.db")
    with worker("write_from_threads", path) as process:
        ids = [heard(process)["id"] for _ in range(writes)]
        process.kill()
        process.wait()
        assert process.stdout is not None
        ids += [json.loads(line)["id"] for line in process.stdout if line.endswith("}\n")]
    with SqliteStore(path) as store:
        assert set(store.get(ids)) == set(ids)
        assert store.check() == []
        for n in range(8):  # a write that was not acknowledged may be there, but none after a gap
            positions = [record.position for record in store.list(Filter(now=NOW, threads=(f"t{n}",)), None)]
            assert sorted(position for position in positions if position is not None) == list(range(len(positions)))


def test_reembedding_goes_on_after_kill_9(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with SqliteStore(path) as store:
        store.add([draft("m", number) for number in range(40)], NOW, SPACE)
        with worker("reembed_forever", path) as process:
            done = [number for _ in range(5) for number in heard(process)["done"]]
        assert store.embedding_space() == SPACE
        left = store.begin_reembedding(OTHER_SPACE)
        assert left <= 35
        waiting = store.next_to_reembed(100)
        assert len(waiting) == left
        assert not set(done) & set(waiting)
        store.put_reembedded(
            {number: OTHER.embed_query(record.text) for number, record in waiting.items()}, OTHER_SPACE
        )
        store.finish_reembedding(OTHER_SPACE)
        assert store.embedding_space() == OTHER_SPACE
        assert len(store.search_vectors(OTHER.embed_query("shared"), Filter(now=NOW), 100)) == 40
        assert store.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path) -> None:
    script = (
        "import os, sys; from thinkback.errors import StoreError; from thinkback.stores.sqlite import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        "if os.fork() == 0:\n"
        "    try: store.state()\n"
        "    except StoreError as error: os._exit(7 if 'forked' in str(error) else 1)\n"
        "    os._exit(1)\n"
        "assert os.waitstatus_to_exitcode(os.wait()[1]) == 7\n"
        "store.set_setting('still', 'fine'); store.close()"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "memory.db")], check=True)


@pytest.mark.slow
def test_four_write_while_four_search(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    SqliteStore(path).close()
    with (
        worker("write", path, "w0", SECONDS) as w0,
        worker("write", path, "w1", SECONDS) as w1,
        worker("write", path, "w2", SECONDS) as w2,
        worker("write", path, "w3", SECONDS) as w3,
        worker("read", path, "r0", SECONDS) as r0,
        worker("read", path, "r1", SECONDS) as r1,
        worker("read", path, "r2", SECONDS) as r2,
        worker("read", path, "r3", SECONDS) as r3,
    ):
        writers, readers = [w0, w1, w2, w3], [r0, r1, r2, r3]
        everybody = [*writers, *readers]
        assert all(heard(process) == {"ready": True} for process in everybody)
        for process in everybody:
            tell(process)
        tallies = [heard(process) for process in writers]
        assert all(heard(process)["searches"] > 0 for process in readers)
        assert all(tally["written"] > 0 for tally in tallies)
        for process in everybody:
            tell(process)
        seen = [heard(process) for process in everybody]
        assert [process.wait() for process in everybody] == [0] * 8
    expected = _expected(tallies)
    assert all(
        view == {"keywords": expected, "vectors": expected, "count": len(expected), "tags": len(expected)}
        for view in seen
    )
    with SqliteStore(path) as store:
        assert store.check() == []
        assert store.stats()["memories"] == len(expected)


def _expected(tallies: list[dict[str, Any]]) -> list[str]:
    """What each writer wrote, without what it forgot: every fifth odd number, the one before a number that ends in 8."""
    left = []
    for name, tally in enumerate(tallies):
        numbers = range(tally["written"])
        gone = {number - 1 for number in numbers if number % 10 == 8}
        assert tally["forgotten"] == len(gone)
        left += [f"w{name}-{number}" for number in numbers if number not in gone]
    return sorted(left)
