"""How fast the models run, beside the bare onnxruntime loop as the limit.

    python benchmarks/weights.py                      every model that is here or can be fetched
    python benchmarks/weights.py --models e5-small-v2 ms-marco-MiniLM-L-12-v2 --texts 200 --rounds 5

Texts are conversation turns of words drawn by a fixed seed (median 20 words). `limit` is the same work with nothing
around it: the token ids are there already, as many threads, `session.run` and the mean over tokens. `of limit` is our
speed as a share of it, on the clock; `in cpu` the same in processor time, which other work on the machine disturbs
less. Ours and the limit are measured in turn and the best round counts. `padded` is what batches of 32 padded to their
longest would give, and would cost in exactness.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinkback.errors import ModelError
from thinkback.models import weights
from thinkback.models.embedders import Embedder, open_embedder
from thinkback.models.rerankers import TimedReranker, open_reranker
from thinkback.models.sessions import Session
from thinkback.models.tokenizer import open_tokenizer

VOCABULARY = (
    "the a we they I you he she it was is had went came saw told asked gave took made lost found bought sold moved "
    "my our your their new old grey small large early late good bad warm cold house garden kitchen office school "
    "station river mountain city friend sister brother doctor teacher neighbour cat dog car train book letter phone "
    "music movie dinner coffee holiday birthday meeting project garden weather yesterday tomorrow morning evening "
    "because when after before with without about again never always maybe really Caroline Melanie Oscar Berlin June"
)
QUERY = "when did Caroline buy the small house by the river?"


@dataclass(frozen=True)
class Line:
    """One measured row: what, how fast, and the limit beside it."""

    model: str
    what: str
    unit: str
    count: int
    ours: "Times"
    limit: "Times | None" = None

    def __str__(self) -> str:
        cells = [f"{self._speed(self.ours):10.1f}", " " * 10, " " * 9, " " * 9]
        if self.limit:
            cells[1] = f"{self._speed(self.limit):10.1f}"
            cells[2] = f"{self.limit.wall / self.ours.wall:9.2f}"
            cells[3] = f"{self.limit.processor / self.ours.processor:9.2f}"
        return f"{self.model:26} {self.what:16} {' '.join(cells)}  {self.unit}"

    def _speed(self, times: "Times") -> float:
        return self.count / times.wall if self.unit.endswith("/s") else times.wall * 1000


@dataclass(frozen=True)
class Times:
    """Seconds on the clock, and seconds of all processors."""

    wall: float
    processor: float


def turns(count: int, seed: int = 7) -> list[str]:
    draw, words = random.Random(seed), VOCABULARY.split()
    return [" ".join(draw.choices(words, k=max(3, round(draw.lognormvariate(3.0, 0.6))))) for _ in range(count)]


def best(rounds: int, *works: Callable[[], object]) -> list[Times]:
    """The shortest times of each, measured in turn."""
    shortest = [Times(float("inf"), float("inf"))] * len(works)
    for _ in range(rounds):
        for place, work in enumerate(works):
            wall, processor = time.perf_counter(), time.process_time()
            work()
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            shortest[place] = Times(min(shortest[place].wall, wall), min(shortest[place].processor, processor))
    return shortest


def in_threads(session: Session, work: Callable[[Sequence[int]], object], items: Sequence[Sequence[int]]) -> None:
    with ThreadPoolExecutor(session.threads) as pool:
        for _ in pool.map(work, items):
            pass


def embedder_lines(model: weights.Model, folder: Path, texts: list[str], rounds: int) -> list[Line]:
    embedder = open_embedder(model.name, weights.OpenOptions(cached_queries=0))
    one_by_one, together = measured_embedder(embedder, texts)
    if model.kind is weights.Kind.STATIC:
        alone, batched = best(rounds, one_by_one, together)
        return [
            Line(model.name, "batch 1", "texts/s", len(texts), alone),
            Line(model.name, "batch 32", "texts/s", len(texts), batched),
        ]
    session, tokenizer = Session(folder / "model.onnx"), open_tokenizer(folder / "tokenizer.json")
    ids = [tokenizer.encode(model.passage_prefix + text).ids for text in texts]

    def bare_alone() -> None:
        for row in ids:
            session.run(row).mean(axis=0)

    def bare_together() -> None:
        for start in range(0, len(ids), 32):
            in_threads(session, lambda row: session.run(row).mean(axis=0), ids[start : start + 32])

    bare_alone()  # the arenas grow once
    alone, limit_alone, batched, limit_batched = best(rounds, one_by_one, bare_alone, together, bare_together)
    (padded,) = best(max(1, rounds // 2), padded_batches(folder, ids))
    return [
        Line(model.name, "batch 1", "texts/s", len(texts), alone, limit_alone),
        Line(model.name, "batch 32", "texts/s", len(texts), batched, limit_batched),
        Line(model.name, "(32, padded)", "texts/s", len(texts), padded),
    ]


def measured_embedder(embedder: Embedder, texts: list[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    def one_by_one() -> None:
        for text in texts:
            embedder.embed_passages([text])

    def together() -> None:
        for start in range(0, len(texts), 32):
            embedder.embed_passages(texts[start : start + 32])

    return one_by_one, together


def padded_batches(folder: Path, ids: list[list[int]]) -> Callable[[], None]:
    """The usual way: sorted by length, 32 at a time, all cores on one batch."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # this machine may have other work
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    ordered = sorted(ids, key=len)

    def run() -> None:
        for start in range(0, len(ordered), 32):
            part = ordered[start : start + 32]
            rows = np.zeros((len(part), max(map(len, part))), dtype=np.int64)
            mask = np.zeros_like(rows)
            for place, row in enumerate(part):
                rows[place, : len(row)], mask[place, : len(row)] = row, 1
            session.run(None, {"input_ids": rows, "attention_mask": mask, "token_type_ids": np.zeros_like(rows)})

    return run


def reranker_lines(model: weights.Model, folder: Path, texts: list[str], rounds: int) -> list[Line]:
    reranker = open_reranker(model.name)
    head = texts[:50]
    if model.kind is weights.Kind.CAUSAL_RERANKER:
        (fifty,) = best(1, lambda: reranker.scores(QUERY, head))
        return [
            Line(model.name, "pairs", "pairs/s", len(head), fifty),
            Line(model.name, "rerank of 50", "ms", len(head), fifty),
        ]
    session, tokenizer = Session(folder / "model.onnx"), open_tokenizer(folder / "tokenizer.json")
    pairs = [tokenizer.encode(QUERY, text) for text in head]
    fed = {tuple(pair.ids): pair.type_ids for pair in pairs}

    def bare() -> None:
        in_threads(session, lambda ids: session.run(ids, fed[tuple(ids)]), [pair.ids for pair in pairs])

    bare()
    fifty, limit = best(rounds * 2, lambda: reranker.scores(QUERY, head), bare)
    return [
        Line(model.name, "pairs", "pairs/s", len(head), fifty, limit),
        Line(model.name, "rerank of 50", "ms", len(head), fifty, limit),
        precise_line(model.name, reranker, texts),
    ]


def precise_line(name: str, reranker: TimedReranker, texts: list[str]) -> Line:
    """The middle time of a `precise` recall over the texts, stored in a file."""
    import thinkback

    with (
        tempfile.TemporaryDirectory() as folder,
        thinkback.open(Path(folder) / "memory.db", reranker=reranker) as memory,
    ):
        memory.remember_many(texts)
        memory.recall(QUERY, recipe="precise")
        times = []
        for place in range(9):
            start = time.perf_counter()
            memory.recall(f"{QUERY} {VOCABULARY[place]}", recipe="precise")
            times.append(time.perf_counter() - start)
    return Line(name, "precise recall", "ms, median of 9", 1, Times(sorted(times)[4], 0.0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(weights.MODELS), help="names of the pinned list")
    parser.add_argument("--texts", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    fetch = weights.fetch_options(os.environ, Path.home())
    texts = turns(given.texts)
    print(
        f"{os.cpu_count()} cores, {len(texts)} texts, {sum(map(len, map(str.split, texts))) / len(texts):.0f} words each"
    )
    print(f"{'model':26} {'':16} {'ours':>10} {'limit':>10} {'of limit':>9} {'in cpu':>9}")
    for model in map(weights.find, given.models):
        try:
            folder = weights.ensure(model.name, fetch)
            embeds = model.kind in {weights.Kind.EMBEDDER, weights.Kind.STATIC}
            measure = embedder_lines if embeds else reranker_lines
            for line in measure(model, folder, texts, given.rounds):
                print(line, flush=True)
        except (ModelError, ImportError) as error:
            print(f"{model.name:26} not measured: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
