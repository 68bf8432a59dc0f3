"""How the HTTP server holds up: many clients at once, and clients that take their time.

    python benchmarks/serve.py                     200 clients for 30 s on 10,000 memories, then 500 slow connections
    python benchmarks/serve.py --embedder default  with the real model instead of the toy one
    python benchmarks/serve.py --writes 0          searches alone
    python benchmarks/serve.py --writes 0 --workers 1 --workers 2    one process beside two

The server is a process of its own on a loopback port; clients are bare sockets in this process, each with one connection that
it keeps and one request in flight, so the load is closed: the times are what a client sees while the server is as busy as it can
be. Nine requests in ten are recalls, one is a remember. An error is an answer other than 200 or 201, or a connection that breaks.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

WORDS = """cat dog house garden river mountain winter summer coffee bread letter train station music piano doctor school teacher
window kitchen birthday market boat island forest bicycle camera painting journey harbour lantern orchard violin bridge"""
NAMES = "Ada Ben Clara David Elif Farid Greta Hugo Ines Jonas Kira Liam Mona Nils Olga Paul Quinn Rosa Sven Tara"


@dataclass(frozen=True, slots=True)
class Load:
    """What the clients saw."""

    workers: int
    clients: int
    seconds: float
    memories: int
    embedder: str
    requests: int
    errors: int
    per_second: float
    server_processor_s: float
    per_processor_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    recall_p95_ms: float
    remember_p95_ms: float


@dataclass(frozen=True, slots=True)
class Slow:
    """How long /health/live took beside connections that never finish their request."""

    connections: int
    asked: int
    slowest_ms: float
    p50_ms: float


def main() -> None:
    options = _options()
    if options.serve is not None:
        _serve(Path(options.serve), options.embedder, options.workers[0])
        return
    measured = [_measured(options, workers) for workers in options.workers or [1]]
    _report(measured, options.json)
    if any(load.errors or slow.slowest_ms >= 1000 for load, slow in measured):
        sys.exit(1)


def _measured(options: argparse.Namespace, workers: int) -> tuple[Load, Slow]:
    with tempfile.TemporaryDirectory() as folder:
        port, process = _start(Path(folder), options.embedder, workers)
        try:
            token = (Path(folder) / "token").read_text().strip()
            load = asyncio.run(_load(port, token, options, workers, process.pid))
            slow = asyncio.run(_slow(port, options.slow))
        finally:
            process.terminate()
            process.wait(30)
    return load, slow


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--warm", type=float, default=4.0, help="seconds of searches before it is measured")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--writes", type=float, default=0.1, help="the share of requests that remember")
    parser.add_argument("--slow", type=int, default=500, help="how many slow connections")
    parser.add_argument("--embedder", default="toy", help="toy, none, or a model's name")
    parser.add_argument("--workers", type=int, action="append", help="processes that serve; may be repeated")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    return parser.parse_args()


# -- the server ------------------------------------------------------------------------------------------------------------------


def _serve(folder: Path, embedder: str, workers: int) -> None:
    """The process under test: like `thinkback serve`, but with a toy embedder and no rate limit."""
    from thinkback.apps.http.processes import Processes, listen_all
    from thinkback.apps.http.server import Address, listen
    from thinkback.apps.http.tokens import Tokens

    Tokens(folder / "tokens.toml").make_first()
    address = Address("127.0.0.1", int((folder / "port").read_text()))
    if workers == 1:
        _work(listen(address), folder, embedder)
    else:
        (folder / "shared").mkdir()
        Processes(listen_all(address, workers), _work, folder, embedder, workers).run()


def _work(listener: socket.socket, folder: Path, embedder: str, workers: int = 1) -> None:
    """The only process that serves, or one of several."""
    shared = None
    if workers > 1:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder / "shared" / "metrics")
        from thinkback.apps.http.shared import Shared

        shared = Shared(folder / "shared")
    from thinkback.apps.http.app import Limits, Served, build
    from thinkback.apps.http.server import Address, config, run
    from thinkback.apps.http.tokens import Tokens
    from thinkback.opening import Opener
    from thinkback.settings import Settings
    from thinkback.testing import ToyEmbedder

    opener = Opener(Settings(), embedder=ToyEmbedder() if embedder == "toy" else embedder, reranker=None)
    threads = max(2, 2 * (os.cpu_count() or 2) // workers)
    limits = Limits(per_second=0, threads=threads, search_seconds=60)
    tokens = Tokens(folder / "tokens.toml")
    served = Served(folder=folder / "spaces", opener=opener, tokens=tokens, limits=limits, shared=shared)
    run(config(build(served).app, Address("127.0.0.1", listener.getsockname()[1])), listener)


def _start(folder: Path, embedder: str, workers: int) -> tuple[int, "subprocess.Popen[bytes]"]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    (folder / "port").write_text(str(port))
    command = [sys.executable, __file__, "--serve", str(folder), "--embedder", embedder, "--workers", str(workers)]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return port, process
        except OSError:
            time.sleep(0.1)
    process.terminate()
    raise SystemExit("the server did not start")


# -- clients ---------------------------------------------------------------------------------------------------------------------


class Wire:
    """One connection that is kept, and speaks as much HTTP as it needs."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def open(self) -> "Wire":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 22)
        return self

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return int(answer[9:12]), await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


def _sentence(chance: random.Random) -> str:
    names, words = NAMES.split(), WORDS.split()
    return f"{chance.choice(names)} and {chance.choice(names)} saw the {' '.join(chance.choices(words, k=8))}"


async def _load(port: int, token: str, options: argparse.Namespace, workers: int, server: int) -> Load:
    chance = random.Random(7)
    filler = await Wire(port, token).open()
    for start in range(0, options.memories, 500):
        count = min(500, options.memories - start)
        batch = [{"text": _sentence(chance), "thread": f"t{(start + n) // 20}"} for n in range(count)]
        status, body = await filler.ask("POST", "/v1/memories/batch", {"memories": batch})
        if status != 201:
            raise SystemExit(f"could not fill the store: {body[:300]!r}")
    filler.close()
    # Every worker fills caches of its own; a client whose connection is made anew may reach another worker.
    for part in range(4):
        until = time.perf_counter() + options.warm / 4
        await asyncio.gather(
            *(_client(port, token, until, -1 - seed - part * 1000, 0) for seed in range(options.clients))
        )
    until = time.perf_counter() + options.seconds
    began, used = time.perf_counter(), _processor_seconds(server)
    seen = await asyncio.gather(*(_client(port, token, until, seed, options.writes) for seed in range(options.clients)))
    seconds, used = time.perf_counter() - began, _processor_seconds(server) - used
    recalls = sorted(ms for one in seen for ms in one[0])
    writes = sorted(ms for one in seen for ms in one[1])
    errors: Counter[str] = sum((one[2] for one in seen), Counter())
    for what, count in errors.items():
        print(f"error: {count} × {what}", file=sys.stderr)
    both = sorted([*recalls, *writes])
    return Load(
        workers=workers,
        clients=options.clients,
        seconds=round(seconds, 1),
        memories=options.memories,
        embedder=options.embedder,
        requests=len(both),
        errors=errors.total(),
        per_second=round(len(both) / seconds, 1),
        server_processor_s=round(used, 1),
        per_processor_second=round(len(both) / used, 1) if used else 0.0,
        p50_ms=_percentile(both, 0.50),
        p95_ms=_percentile(both, 0.95),
        p99_ms=_percentile(both, 0.99),
        recall_p95_ms=_percentile(recalls, 0.95),
        remember_p95_ms=_percentile(writes, 0.95),
    )


def _processor_seconds(process: int) -> float:
    """What a process and its children have used so far, as Linux tells; 0 elsewhere."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    own = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_processor_seconds(int(child)) for child in children)


async def _client(
    port: int, token: str, until: float, seed: int, writes: float
) -> tuple[list[float], list[float], Counter[str]]:
    chance = random.Random(seed)
    recalls: list[float] = []
    stored: list[float] = []
    errors: Counter[str] = Counter()
    try:
        wire = await Wire(port, token).open()
        while time.perf_counter() < until:
            writing = chance.random() < writes
            path, body = ("/v1/memories", {"text": _sentence(chance)}) if writing else ("/v1/recall", _question(chance))
            began = time.perf_counter()
            status, answer = await wire.ask("POST", path, body)
            (stored if writing else recalls).append((time.perf_counter() - began) * 1000)
            if status not in (200, 201):
                errors[f"{status} {answer[:100]!r}"] += 1
        wire.close()
    except (OSError, asyncio.IncompleteReadError) as error:
        errors[type(error).__name__] += 1
    return recalls, stored, errors


def _question(chance: random.Random) -> dict[str, object]:
    things = " and the ".join(chance.choices(WORDS.split(), k=2))
    return {"query": f"what did {chance.choice(NAMES.split())} see of the {things}?", "limit": 5}


async def _slow(port: int, count: int) -> Slow:
    """Half the connections say nothing, half have begun a request; health is asked again and again beside them."""
    times = []
    with ExitStack() as stack:
        for number in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            if number % 2:
                connection.sendall(b"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-")
        wire = await Wire(port, "none").open()
        for _ in range(200):
            began = time.perf_counter()
            status, _ = await wire.ask("GET", "/health/live")
            assert status == 200
            times.append((time.perf_counter() - began) * 1000)
        wire.close()
    times.sort()
    return Slow(count, len(times), round(times[-1], 1), _percentile(times, 0.5))


# -- report ----------------------------------------------------------------------------------------------------------------------


def _percentile(ordered: Sequence[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else 0.0


def _report(measured: list[tuple[Load, Slow]], as_json: bool) -> None:
    for load, slow in measured:
        if as_json:
            shape = {"load": asdict(load), "slow": asdict(slow)}
            print(json.dumps({**shape, "machine": platform.machine(), "cores": os.cpu_count()}))
            continue
        for title, one in (("load", load), ("slow connections", slow)):
            print(title)
            for name, value in asdict(one).items():
                print(f"  {name:20} {value}")


if __name__ == "__main__":
    main()
