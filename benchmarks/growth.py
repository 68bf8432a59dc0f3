"""How the cost of each operation grows with the store: processor milliseconds from a thousand memories on, and a plot.

    python benchmarks/growth.py                                 1,000, 10,000 and 100,000 memories
    python benchmarks/growth.py --sizes 1000 1000000 --svg docs/images/growth.svg

Data are those of `benchmarks/core.py`; one memory in 500 has the tag `rare`. Every number is the median of several calls in one
process that has searched before, but for `cold`: the processor time in which a new process that has NumPy imports, opens and
answers once, and for `recall after forget`, which is the first one after several memories were forgotten.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import core

TIMES = 9
RARE = 500
COLOURS = "1b6ca8 c0392b 2e8b57 8e44ad d68910 16a085 7f8c8d 34495e a93226 5d6d7e b7950b 6e2c00".split()  # noqa: SIM905


def fill(data: core.Data, path: Path) -> None:
    import thinkback

    with thinkback.open(path, embedder=None, reranker=None) as memory:
        for rows in core.batches(len(data.texts), 1000):
            memory.remember_many(core.memory_of(data, row) | {"tags": ["rare"] * (row % RARE == 0)} for row in rows)
        for question, vector in zip(data.questions[:3], data.question_vectors, strict=False):
            memory.recall(question, vector=vector)


def measure(data: core.Data, path: Path) -> dict[str, float]:
    """Every operation, in processor milliseconds."""
    import thinkback

    began = time.process_time()
    memory = thinkback.open(path, embedder=None, reranker=None)

    def ask(number: int, **where: object) -> object:
        return memory.recall(data.questions[number], vector=data.question_vectors[number], **where)  # type: ignore[arg-type]

    ask(0)
    found = {"cold": 1000 * (time.process_time() - began)}
    for number in range(1, 20):
        ask(number)
    newest = [record.id for record in memory.list(limit=TIMES)]
    common = "the people have been there all the time and work"
    operations: dict[str, Callable[[int], object]] = {
        "recall": ask,
        "recall by tag": lambda number: ask(number, tags=["rare"]),
        "recall by thread": lambda number: ask(number, threads=[f"thread-{number}"]),
        "count": lambda number: memory.count(),
        "stats": lambda number: memory.stats(),
        "remember": lambda number: memory.remember(f"{common} {number}", vector=data.vectors[number]),
    }
    for name, run in operations.items():
        found[name] = statistics.median(_milliseconds(run, number) for number in range(TIMES))
    after = []
    for number in range(TIMES):
        memory.remember(f"{data.texts[number]} {number}", vector=data.vectors[number])
        after.append(_milliseconds(ask, number))
    found["recall after a write"] = statistics.median(after)
    forgetting = (_milliseconds(lambda number: memory.forget(newest[number]), number) for number in range(TIMES))
    found["forget one"] = statistics.median(forgetting)
    found["recall after forget"] = _milliseconds(ask, 0)
    memory.stats()
    after = []
    for number in range(TIMES):
        memory.remember(f"{common}, {number}", vector=data.vectors[number], thread="thread-0", tags=["rare"])
        after.append(_milliseconds(lambda number: memory.stats(), number))
    found["stats after a write"] = statistics.median(after)
    found["known_at"] = _milliseconds(lambda number: ask(number, known_at=memory.clock()), 0)
    return found


def _milliseconds(run: Callable[[int], object], number: int) -> float:
    began = time.process_time()
    run(number)
    return 1000 * (time.process_time() - began)


def plot(found: Mapping[int, Mapping[str, float]]) -> str:
    """Both axes logarithmic."""
    sizes, names = sorted(found), list(next(iter(found.values())))
    left, top, width, height = 60, 20, 520, 380
    values = [value for row in found.values() for value in row.values()]
    low, high = np.floor(np.log10(max(min(values), 0.01))), np.ceil(np.log10(max(values)))

    def at(size: int, value: float) -> tuple[float, float]:
        across = np.log10(size / sizes[0]) / max(np.log10(sizes[-1] / sizes[0]), 1e-9)
        up = (np.log10(max(value, 0.01)) - low) / (high - low)
        return round(left + across * width, 1), round(top + (1 - up) * height, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 170} {top + height + 50}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for power in range(int(low), int(high) + 1):
        y = at(sizes[0], 10.0**power)[1]
        parts.append(
            f'<path d="M{left} {y}H{left + width}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4}" text-anchor="end">'
        )
        parts.append(f"{10.0**power:g} ms</text>")
    for size in sizes:
        x = at(size, 1.0)[0]
        parts.append(f'<text x="{x}" y="{top + height + 20}" text-anchor="middle">{size:,}</text>')
    ends = sorted((at(sizes[-1], found[sizes[-1]][name])[1], name) for name in names)
    labels, last = {}, -100.0
    for y, name in ends:
        labels[name] = last = max(y, last + 14)
    for name, colour in zip(names, COLOURS, strict=False):
        points = " ".join("{},{}".format(*at(size, found[size][name])) for size in sizes)
        parts.append(f'<polyline points="{points}" fill="none" stroke="#{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{left + width + 8}" y="{labels[name] + 4}" fill="#{colour}">{name}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 42}" text-anchor="middle">memories</text></svg>')
    return "\n".join(parts) + "\n"


def run(size: int, folder: Path) -> dict[str, float]:
    """One size, filled and measured in processes of their own."""
    home = folder / str(size)
    if not (home / "memory.db").exists():
        home.mkdir(parents=True, exist_ok=True)
        core.generate(size, 40, 7).save(home)
        _worker("fill", home, folder)
    answer: dict[str, float] = json.loads(_worker("measure", home, folder))
    return answer


def _worker(task: str, home: Path, folder: Path) -> bytes:
    command = [sys.executable, __file__, "--worker", task, "--folder", str(home)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=core.compiled(folder)).stdout


def show(found: Mapping[int, Mapping[str, float]]) -> None:
    print(f"processor ms, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':18}" + "".join(f"{size:>12,}" for size in found))
    for name in next(iter(found.values())):
        print(f"{name:18}" + "".join(f"{row[name]:12.2f}" for row in found.values()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--svg", type=Path, help="also draw the numbers here")
    parser.add_argument("--folder", type=Path, help="keep the stores here, and use those that are there")
    parser.add_argument("--worker", choices=("fill", "measure"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        data, path = core.Data.load(options.folder), options.folder / "memory.db"
        if options.worker == "fill":
            fill(data, path)
        else:
            print(json.dumps(measure(data, path)), flush=True)
            os._exit(0)  # the access counts of a benchmark need not be written
        return
    with tempfile.TemporaryDirectory() as name:
        found = {size: run(size, options.folder or Path(name)) for size in options.sizes}
    show(found)
    if options.svg:
        options.svg.write_text(plot(found), encoding="utf-8")


if __name__ == "__main__":
    main()
