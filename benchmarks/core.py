"""Ingest and recall, side by side with engrava on the same texts and the same given vectors.

    python benchmarks/core.py                      10,000 memories, Thinkback and engrava 0.7.2
    python benchmarks/core.py --size 100000 --alone
    python benchmarks/core.py --alone --profile    where the time of a recall goes

Each system runs in a process of its own; engrava gets its own environment (build/engrava), made on the first run. Texts are
sentences over a vocabulary that follows Zipf's law, with real English function words on top; questions are questions, about words
of one memory each. Vectors are 384 numbers around one of 500 topics, so no model is involved. Thinkback is given threads too, which
its default recipe walks; engrava has none. engrava is timed for `search_hybrid` alone, which returns ids and scores; Thinkback for
`recall`, which returns whole records with their explanation. `first` is the first question of a process, which fills the caches;
`cpu` is the processor time of a question, all threads together, which says more on a machine that has other work.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

ENGRAVA = "engrava==0.7.2"
VECTORS = "vectors.npy"
PEER = "peer"  # the worker that is not a recipe of ours
DIMENSIONS = 384
TOPICS = 500
THREAD = 20
START_S = 1_700_000_000
FUNCTION_WORDS = frozenset(
    """the of and to a in that is was he for it with as his on be at by I this had not are but from or have an they which one you
    were her all she there would their we him been has when who will more no if out so said what up its about into than them can
    only other new some could time these two may then do first any my now such like our over man me even most made after also did
    many before must through back years where much your way well down should because each just those people too little good very
    make still own see men work long get here between both life being under never day same another know while last might us great
    old year""".split()  # noqa: SIM905
)
NAMES = ("Caroline", "Melanie", "Oscar", "Lena", "Tomas", "Ines", "Emre", "Nora", "Jonas", "Priya", "Wei", "Fatima")
SYLLABLES = (
    "ba",
    "ren",
    "mo",
    "ti",
    "ska",
    "lor",
    "vin",
    "de",
    "pu",
    "gra",
    "fel",
    "no",
    "ri",
    "sha",
    "ton",
    "mer",
    "ki",
    "lu",
)


@dataclass(frozen=True)
class Questions:
    """What every system is asked: all that a process needs that only asks."""

    questions: list[str]
    question_vectors: np.ndarray

    def save(self, folder: Path) -> None:
        (folder / "questions.json").write_text(json.dumps(self.questions), encoding="utf-8")
        np.save(folder / "questions.npy", self.question_vectors)

    @classmethod
    def load(cls, folder: Path) -> "Questions":
        return cls(*cls._saved(folder))

    @staticmethod
    def _saved(folder: Path) -> tuple[list[str], np.ndarray]:
        return json.loads((folder / "questions.json").read_text(encoding="utf-8")), np.load(folder / "questions.npy")


@dataclass(frozen=True)
class Data(Questions):
    """Everything the systems are given."""

    texts: list[str]
    vectors: np.ndarray

    def save(self, folder: Path) -> None:
        super().save(folder)
        (folder / "texts.json").write_text(json.dumps(self.texts), encoding="utf-8")
        np.save(folder / VECTORS, self.vectors)

    @classmethod
    def load(cls, folder: Path) -> "Data":
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        return cls(*cls._saved(folder), texts, np.load(folder / VECTORS))


@dataclass(frozen=True)
class Result:
    """What was measured; times in milliseconds, rates a second."""

    system: str
    ingest: float
    first: float
    p50: float
    p95: float
    cpu: float
    megabytes: float


# -- what is remembered and asked ------------------------------------------------------------------------------------------------


class Words:
    """Draws words so that the nth most frequent one is n times as rare as the first."""

    def __init__(self, seed: int, size: int = 20_000) -> None:
        self.random = random.Random(seed)
        made = dict.fromkeys(sorted(FUNCTION_WORDS))
        while len(made) < size:
            made["".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4)))] = None
        self._words = list(made)
        self._heights = list(accumulate(1 / rank for rank in range(1, size + 1)))

    def draw(self, count: int) -> list[str]:
        top = self._heights[-1]
        return [self._words[bisect(self._heights, self.random.random() * top)] for _ in range(count)]


def generate(size: int, questions: int, seed: int) -> Data:
    """Memories of about twenty words, and questions about some of them."""
    words = Words(seed)
    texts = [_memory(words) for _ in range(size)]
    numbers = np.random.default_rng(seed)
    topics = _unit(numbers.standard_normal((TOPICS, DIMENSIONS)))
    vectors = _unit(topics[numbers.integers(TOPICS, size=size)] + 0.05 * numbers.standard_normal((size, DIMENSIONS)))
    asked = numbers.choice(size, size=questions, replace=size < questions)
    near = _unit(vectors[asked] + 0.02 * numbers.standard_normal((questions, DIMENSIONS)))
    return Data([_question(words, texts[row]) for row in asked], near, texts, vectors)


def _memory(words: Words) -> str:
    sentences = []
    for _ in range(words.random.choice((1, 1, 2, 3))):
        said = words.draw(max(4, int(words.random.lognormvariate(2.5, 0.4))))
        sentences.append(" ".join(said).capitalize() + words.random.choice(".....!?"))
    return f"{words.random.choice(NAMES)}: {' '.join(sentences)}"


def _question(words: Words, text: str) -> str:
    name, _, said = text.partition(": ")
    content = [word.strip(".!?").lower() for word in said.split() if word.strip(".!?").lower() not in FUNCTION_WORDS]
    chosen = words.random.sample(content, min(3, len(content))) or words.draw(2)
    form = words.random.choice(
        (
            "What did {n} say about the {w}?",
            "When did {n} talk about {w} and why?",
            "Who told me that the {w} was with {n}?",
        )
    )
    return form.format(n=name, w=" ".join(chosen))


def _unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


# -- the systems -----------------------------------------------------------------------------------------------------------------


def measure_thinkback(data: Data, folder: Path, batch: int, recipe: str, profile: bool) -> Result:
    """Thinkback through its public Python API."""
    import thinkback

    path = folder / "thinkback.db"
    fresh = not path.exists()
    with thinkback.open(path, embedder=None, reranker=None, recipe=recipe) as memory:
        began = time.perf_counter()
        for rows in batches(len(data.texts), batch) if fresh else ():
            memory.remember_many(memory_of(data, row) for row in rows)
        seconds = time.perf_counter() - began

        def ask(number: int) -> None:
            memory.recall(data.questions[number], vector=data.question_vectors[number], limit=10)

        watch = Watch()
        for number in range(len(data.questions)):
            with watch:
                ask(number)
        if profile:
            _profile(ask, len(data.questions))
    return _result(f"thinkback, {recipe}", len(data.texts) / seconds if fresh else 0.0, watch, path)


def memory_of(data: Data, row: int) -> dict[str, Any]:
    """A memory as it is given to `remember`."""
    return {
        "text": data.texts[row],
        "vector": data.vectors[row],
        "thread": f"thread-{row // THREAD}",
        "created_at": (START_S + 60 * row) * 1_000_000,
    }


def measure_engrava(data: Data, folder: Path, batch: int) -> Result:
    """engrava through its fastest documented way in: bulk_store and given embeddings in one transaction a batch."""
    return asyncio.run(_engrava(data, folder / "engrava.db", batch))


async def _engrava(data: Data, path: Path, batch: int) -> Result:
    async with engrava_store(path) as store:
        began = time.perf_counter()
        await fill_engrava(store, data, batch)
        seconds = time.perf_counter() - began
        now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        watch = Watch()
        for question, vector in zip(data.questions, data.question_vectors, strict=True):
            given = vector.tolist()
            with watch:
                found = await store.search_hybrid(question, given, top_k=10, recency_now=now)
            assert len(found.results) == 10
    return _result("engrava 0.7.2", len(data.texts) / seconds, watch, path)


@asynccontextmanager
async def engrava_store(path: Path) -> AsyncIterator[Any]:
    """engrava's store in a file."""
    import aiosqlite
    from engrava import SqliteEngravaCore

    async with aiosqlite.connect(path) as connection:
        connection.row_factory = aiosqlite.Row
        store = SqliteEngravaCore(connection)
        await store.ensure_schema()
        yield store


async def fill_engrava(store: Any, data: Data, batch: int) -> None:
    """Every text and vector, a transaction a batch."""
    from engrava import LifecycleStatus, Priority, ThoughtRecord, ThoughtType

    for rows in batches(len(data.texts), batch):
        async with store.suspend_auto_commit():
            await store.bulk_store(
                [
                    ThoughtRecord(
                        thought_id=f"t{row:08}",
                        thought_type=ThoughtType.OBSERVATION,
                        essence=data.texts[row][:200],
                        content=data.texts[row],
                        priority=Priority.P3,
                        lifecycle_status=LifecycleStatus.ACTIVE,
                        created_cycle=0,
                        updated_cycle=0,
                        source="human",
                    )
                    for row in rows
                ]
            )
            for row in rows:
                await store.store_embedding(f"t{row:08}", data.vectors[row].tolist(), model_name="given")


def batches(size: int, batch: int) -> Iterator[range]:
    """Row numbers, so many at a time."""
    for begin in range(0, size, batch):
        yield range(begin, min(begin + batch, size))


class Watch:
    """Gathers wall-clock and processor milliseconds of what happens inside it."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        wall, cpu = self._began
        self.wall.append(1000 * (time.perf_counter() - wall))
        self.cpu.append(1000 * (time.process_time() - cpu))


def _result(system: str, ingest: float, watch: Watch, path: Path) -> Result:
    p50, p95 = np.percentile(watch.wall[1:], [50, 95])
    bytes_used = sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))
    cpu = float(np.median(watch.cpu[1:]))
    return Result(system, ingest, watch.wall[0], float(p50), float(p95), cpu, bytes_used / 1e6)


def _profile(ask: Callable[[int], None], count: int) -> None:
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.enable()
    for number in range(count):
        ask(number)
    profile.disable()
    pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)


# -- running them ----------------------------------------------------------------------------------------------------------------


def compiled(folder: Path) -> dict[str, str]:
    """An environment in which modules are compiled once, as in an installation, and idle threads of OpenBLAS sleep at once."""
    modules = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    return os.environ | modules | {"OPENBLAS_THREAD_TIMEOUT": "20"}


def engrava_python(build: Path) -> str:
    """The interpreter of an environment that has engrava and numpy."""
    home = build / "engrava"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (home / ".ready").exists():
        print(f"setting up {home} with {ENGRAVA}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", ENGRAVA, "numpy>=2.0"], check=True)
        (home / ".ready").touch()
    return str(python)


def run(python: str, system: str, folder: Path, options: argparse.Namespace) -> Result:
    """One system in a process of its own."""
    command = [python, __file__, "--worker", system, "--folder", str(folder), "--batch", str(options.batch)]
    command += ["--profile"] if options.profile else []
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Result(**json.loads(ran.stdout))


def work(options: argparse.Namespace) -> None:
    """What such a process does."""
    data = Data.load(options.folder)
    if options.worker == PEER:
        result = measure_engrava(data, options.folder, options.batch)
    else:
        result = measure_thinkback(data, options.folder, options.batch, options.worker, options.profile)
    print(json.dumps(asdict(result)))


def show(results: Sequence[Result], size: int) -> None:
    """A table, and the ratios to engrava if it ran."""
    print(f"{size} memories, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'':22} {'ingest/s':>10} {'first ms':>10} {'p50 ms':>8} {'p95 ms':>8} {'cpu ms':>8} {'MB':>8}")
    for one in results:
        ingest = f"{one.ingest:10.0f}" if one.ingest else f"{'':>10}"
        print(
            f"{one.system:22} {ingest} {one.first:10.1f} {one.p50:8.2f} {one.p95:8.2f} {one.cpu:8.2f} {one.megabytes:8.1f}"
        )
    other = next((one for one in results if one.system.startswith("engrava")), None)
    for one in results if other else ():
        if one is not other and other is not None:
            faster = f"{one.ingest / other.ingest:.1f} × ingest, " if one.ingest else ""
            print(
                f"{one.system} to engrava: {faster}{other.p50 / one.p50:.1f} × at p50, {other.p95 / one.p95:.1f} × at p95, "
                f"{other.cpu / one.cpu:.1f} × in processor time"
            )


def main() -> None:
    options = arguments().parse_args()
    if options.worker:
        work(options)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(options.size, options.questions, options.seed).save(folder)
        results = [run(sys.executable, recipe, folder, options) for recipe in options.recipe]
        if not options.alone:
            results.append(run(engrava_python(options.build), PEER, folder, options))
    show(results, options.size)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in results], indent=2) + "\n", encoding="utf-8")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="how many memories")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--batch", type=int, default=1000, help="memories in one transaction")
    parser.add_argument("--recipe", nargs="+", default=["default", "engrava"], help="Thinkback's recipes")
    parser.add_argument("--alone", action="store_true", help="without engrava")
    parser.add_argument("--profile", action="store_true", help="profile Thinkback's recalls")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--build", type=Path, default=Path(__file__).parents[1] / "build")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
