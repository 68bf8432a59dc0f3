"""What writing to SQLite costs: many memories at a time, one at a time from several threads, and the counts of recalls.

    python benchmarks/writing.py                              10,000 memories
    python benchmarks/writing.py --size 100000 --only many
    python benchmarks/writing.py --size 1000000 --only one    one at a time into a large store

Data are those of `benchmarks/core.py`. `many` writes 1,000 at a time, with ids, threads and vectors given, and says how many a
second of processor time and of wall time. `threads` writes one at a time from 1, 8 and 32 threads and counts the commits, each of
which waits for the disk. `one` writes single memories into a filled store, usual texts and texts of frequent words alone, and gives
the 10th percentile and the median of the processor time. `counts` recalls, and gives the bytes that the counts of recalled memories
add to the write-ahead log: of many recalls together, and of every recall by itself, as a process writes them that asks one
question. To compare two versions on a machine that has other work, run them in turn (`PYTHONPATH=OTHER/src`) and compare processor
time.
"""

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import core
import thinkback

BATCH = 1000
THREADS = (1, 8, 32)


def opened(path: Path) -> thinkback.Memory:
    return thinkback.open(path, embedder=None, reranker=None)


def filled(memory: thinkback.Memory, data: core.Data) -> None:
    for rows in core.batches(len(data.texts), BATCH):
        memory.remember_many(core.memory_of(data, row) | {"id": str(row)} for row in rows)


def many(data: core.Data, folder: Path, _: argparse.Namespace) -> None:
    """1,000 at a time."""
    given = [
        [core.memory_of(data, row) | {"id": str(row)} for row in rows] for rows in core.batches(len(data.texts), BATCH)
    ]
    spent = []
    with opened(folder / "many.db") as memory:
        began = time.perf_counter()
        for items in given:
            before = time.process_time()
            memory.remember_many(items)
            spent.append(time.process_time() - before)
        wall = time.perf_counter() - began
    size = len(data.texts)
    each = 1e6 / BATCH * sorted(spent)[len(spent) // 10]
    print(
        f"many: {size / sum(spent):,.0f} a processor second, {size / wall:,.0f} a second; {each:.0f} µs each (10th pct.)"
    )


def threads(data: core.Data, folder: Path, options: argparse.Namespace) -> None:
    """One at a time from several threads."""
    for count in THREADS:
        with opened(folder / f"threads-{count}.db") as memory:
            memory.remember("the first one", vector=data.vectors[0])
            commits = _counted(memory)
            work = [range(first, options.writes, count) for first in range(count)]
            wall, cpu = time.perf_counter(), time.process_time()
            _together([lambda rows=rows: _each(memory, data, rows) for rows in work])
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(
                f"threads: {count:2} write {options.writes / wall:,.0f} a second in {commits[0]} commits, "
                f"{1e6 * cpu / options.writes:,.0f} µs of processor time each"
            )


def _each(memory: thinkback.Memory, data: core.Data, rows: Sequence[int]) -> None:
    for row in rows:
        memory.remember(f"{data.texts[row % len(data.texts)]} {row}", vector=data.vectors[row % len(data.texts)])


def _counted(memory: thinkback.Memory) -> list[int]:
    found = [0]

    def count() -> bool:
        found[0] += 1
        return False

    _writer(memory).set_commit_hook(count)
    return found


def _writer(memory: thinkback.Memory) -> Any:
    return memory.store._connections._writer  # type: ignore[attr-defined]


def _together(works: Sequence[Callable[[], None]]) -> None:
    running = [threading.Thread(target=work) for work in works]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def one(data: core.Data, folder: Path, options: argparse.Namespace) -> None:
    """One at a time into a store that is filled."""
    chance, words, frequent = random.Random(options.seed), core.Words(options.seed + 1), sorted(core.FUNCTION_WORDS)
    texts: dict[str, Callable[[], str]] = {
        "usual texts": lambda: core._memory(words),
        "the 400 most frequent words": lambda: " ".join(chance.choices(words._words[:400], k=20)),
        "function words alone": lambda: " ".join(chance.choices(frequent, k=20)),
    }
    with opened(folder / "one.db") as memory:
        filled(memory, data)
        memory.remember("one to begin with")
        for name, made in texts.items():
            spent = []
            for _ in range(options.writes // 10):
                text = made()
                before = time.process_time()
                memory.remember(text)
                spent.append(1000 * (time.process_time() - before))
            spent.sort()
            print(f"one: {name} {spent[len(spent) // 10]:.2f} ms, median {spent[len(spent) // 2]:.2f}")


def counts(data: core.Data, folder: Path, options: argparse.Namespace) -> None:
    """Bytes in the write-ahead log for a recall that is counted."""
    path = folder / "counts.db"
    with opened(path) as memory:
        filled(memory, data)
    with opened(path) as memory:
        _writer(memory).execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        asked = [*zip(data.questions, data.question_vectors, strict=True)]
        for text, vector in asked[:3]:  # the third writes the index
            memory.recall(text, vector=vector)
        memory.flush()
        log = path.with_name(path.name + "-wal")
        before = log.stat().st_size
        for text, vector in asked:
            memory.recall(text, vector=vector)
        memory.flush()
        print(f"counts: {(log.stat().st_size - before) / len(asked):,.0f} bytes a recall, written together")
        sizes, spent = [], 0.0
        for text, vector in asked:
            memory.recall(text, vector=vector)
            before, began = log.stat().st_size, time.process_time()
            memory.flush()
            spent += time.process_time() - began
            sizes.append(log.stat().st_size - before)
        each = f"{1e6 * spent / len(asked):.0f} µs of processor time"
        print(f"counts: {median(sizes):,.0f} bytes a recall by itself, {mean(sizes):,.0f} on average, {each}")


MEASURES = {"many": many, "threads": threads, "one": one, "counts": counts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="memories in a filled store")
    parser.add_argument("--writes", type=int, default=2000, help="single writes")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    data = core.generate(options.size, options.questions, options.seed)
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            MEASURES[name](data, Path(folder), options)


if __name__ == "__main__":
    main()
