"""Hybrid recall side by side with other embedded engines, on the same texts, vectors and questions, in one run.

    python benchmarks/peers.py                                   10,000 memories, every system (what `make bench` runs)
    python benchmarks/peers.py --size 100000 --skip engrava
    python benchmarks/peers.py --only default floor --json numbers.json
    python benchmarks/peers.py --size 1000000 --only default --folder stores   keeps the data and stores, and uses those there

Every system runs in processes of its own: one fills it, one asks once, a new one is measured. The others' packages live in
build/peers and build/engrava, made on the first run. Data are those of `benchmarks/core.py`. Each system answers with the ten best
of keyword search and vector search together, in the way its own documentation gives; `floor` is tantivy and usearch with nothing
around them; `hnsw` is `default` with an approximate index, `LanceDB refined` compares its best candidates exactly. Columns:

    cpu ms   median processor time of a new question, all threads together: what to compare on a machine that has other work
    again    the same for the same questions a second time, when everything they find was read before
    wall ms  median time until the answer
    cold s   from the start of the work of a new process, with its imports but NumPy's, to its first answer; the next column is the
             processor time of the same, then the time until the third answer. Modules were compiled by the process before, as in an
             installation
    overlap  share of the ten nearest by exact cosine that the system's own vector search returns
    private  memory that the asking process took and shares with no other, in MB; `shared` is the rest of what became resident
    disk     MB of all files; ingest is memories a second of wall time
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import core

PACKAGES = (
    "lancedb==0.40.0",
    "zvec==0.8.0",
    "qdrant-edge-py==0.9.0",
    "tantivy==0.27.0",
    "usearch==2.26.6",
    "numpy>=2.0",
)
HNSW = {"legs.vector.index": "hnsw"}
TOP = 10
POOL = 50  # candidates of each half before they are fused
REFINED = 10  # times as many vectors as are wanted that LanceDB compares exactly

Ask = Callable[[str, np.ndarray], object]  # a hybrid question
Near = Callable[[np.ndarray], Sequence[int]]  # the numbers of the ten nearest memories


@dataclass(frozen=True)
class Row:
    """What was measured of one system."""

    system: str
    ingest: float
    cpu_ms: float
    again_ms: float
    wall_ms: float
    cold_s: float
    cold_cpu_s: float
    third_s: float
    overlap: float
    private_mb: float
    shared_mb: float
    disk_mb: float


# -- the systems: one function fills, one opens and returns how to ask -----------------------------------------------------------


def fill_thinkback(data: core.Data, home: Path) -> None:
    import thinkback

    with thinkback.open(home / "memory.db", embedder=None, reranker=None) as memory:  # its close writes the index
        for rows in core.batches(len(data.texts), 1000):
            memory.remember_many(core.memory_of(data, row) | {"id": str(row)} for row in rows)


def fill_hnsw(data: core.Data, home: Path) -> None:
    import thinkback

    fill_thinkback(data, home)
    with thinkback.open(home / "memory.db", embedder=None, reranker=None) as memory:
        memory.recall(
            "-", vector=data.question_vectors[0], recipe="vector", overrides=HNSW
        )  # begins to build the graphs
        memory.store._derived.wait()  # type: ignore[attr-defined]


def ask_thinkback(recipe: str, overrides: dict[str, str] | None = None) -> Callable[[Path], tuple[Ask, Near]]:
    def opened(home: Path) -> tuple[Ask, Near]:
        import thinkback
        from thinkback.search.recipes.named import DEFAULT

        chosen: Any = recipe
        if recipe == "two legs":
            chosen = thinkback.Recipe(name="two-legs", legs=DEFAULT.legs[:2], fusion=DEFAULT.fusion)
        memory = thinkback.open(home / "memory.db", embedder=None, reranker=None)

        def ask(text: str, vector: np.ndarray) -> object:
            return memory.recall(text, vector=vector, recipe=chosen, limit=TOP, overrides=overrides)

        def near(vector: np.ndarray) -> list[int]:
            found = memory.recall("-", vector=vector, recipe="vector", limit=TOP, counted=False, overrides=overrides)
            return [int(hit.id) for hit in found.hits]

        return ask, near

    return opened


def fill_lancedb(data: core.Data, home: Path) -> None:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    size = len(data.texts)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(data.vectors.ravel()), core.DIMENSIONS)
    rows = pa.table({"number": pa.array(range(size)), "text": data.texts, "vector": flat})
    table = lancedb.connect(home).create_table("memories", rows)
    table.create_index("text", config=FTS())
    if size >= 50_000:
        table.create_index(metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")


def ask_lancedb(refine: int | None = None) -> Callable[[Path], tuple[Ask, Near]]:
    def opened(home: Path) -> tuple[Ask, Near]:
        import lancedb

        table = lancedb.connect(home).open_table("memories")

        def refined(search: Any) -> Any:
            return search if refine is None else search.refine_factor(refine)

        def ask(text: str, vector: np.ndarray) -> object:
            return refined(table.search(query_type="hybrid").vector(vector).text(text)).limit(TOP).to_list()

        def near(vector: np.ndarray) -> list[int]:
            nearest = refined(table.search(vector).distance_type("cosine")).limit(TOP)
            return [row["number"] for row in nearest.to_list()]

        return ask, near

    return opened


def fill_zvec(data: core.Data, home: Path) -> None:
    import zvec

    schema = zvec.CollectionSchema(
        name="memories",
        fields=zvec.FieldSchema(
            "text", zvec.DataType.STRING, index_param=zvec.FtsIndexParam(filters=["lowercase", "stemmer"])
        ),
        vectors=zvec.VectorSchema(
            "vector",
            zvec.DataType.VECTOR_FP32,
            core.DIMENSIONS,
            index_param=zvec.HnswIndexParam(metric_type=zvec.MetricType.COSINE, m=16, ef_construction=128),
        ),
    )
    found = zvec.create_and_open(str(home / "zvec"), schema)
    for rows in core.batches(len(data.texts), 1000):
        found.insert(
            [
                zvec.Doc(id=str(n), fields={"text": data.texts[n]}, vectors={"vector": data.vectors[n].tolist()})
                for n in rows
            ]
        )
    found.optimize()
    found.flush()


def ask_zvec(home: Path) -> tuple[Ask, Near]:
    import zvec

    found = zvec.open(str(home / "zvec"))
    fused = zvec.RrfReRanker()

    def ask(text: str, vector: np.ndarray) -> object:
        words = zvec.Query("text", fts=zvec.Fts(match_string=text))
        return found.query(queries=[words, zvec.Query("vector", vector=vector.tolist())], topk=TOP, reranker=fused)

    def near(vector: np.ndarray) -> list[int]:
        return [int(doc.id) for doc in found.query(queries=zvec.Query("vector", vector=vector.tolist()), topk=TOP)]

    return ask, near


def fill_qdrant(data: core.Data, home: Path) -> None:
    import qdrant_edge as edge

    config = edge.EdgeConfig(
        vectors={"vector": edge.EdgeVectorParams(size=core.DIMENSIONS, distance=edge.Distance.Cosine)},
        sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    (home / "edge").mkdir()
    shard, words = edge.EdgeShard.create(str(home / "edge"), config), edge.Bm25()
    for rows in core.batches(len(data.texts), 1000):
        points = [
            edge.Point(
                id=n,
                vector={"vector": data.vectors[n].tolist(), "words": words.embed_document(data.texts[n])},
                payload={"text": data.texts[n]},
            )
            for n in rows
        ]
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    shard.close()


def ask_qdrant(home: Path) -> tuple[Ask, Near]:
    import qdrant_edge as edge

    shard, words = edge.EdgeShard.load(str(home / "edge")), edge.Bm25()

    def ask(text: str, vector: np.ndarray) -> object:
        halves = [
            edge.Prefetch(limit=POOL, query=edge.Query.Nearest(words.embed_query(text), using="words")),
            edge.Prefetch(limit=POOL, query=edge.Query.Nearest(vector.tolist(), using="vector")),
        ]
        return shard.query(
            edge.QueryRequest(limit=TOP, prefetches=halves, query=edge.Fusion.Rrf(k=60), with_payload=True)
        )

    def near(vector: np.ndarray) -> list[int]:
        nearest = edge.Query.Nearest(vector.tolist(), using="vector")
        return [point.id for point in shard.query(edge.QueryRequest(limit=TOP, query=nearest))]

    return ask, near


def fill_floor(data: core.Data, home: Path) -> None:
    import tantivy
    from usearch.index import Index

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", stored=True)
    builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
    (home / "tantivy").mkdir()
    words = tantivy.Index(builder.build(), path=str(home / "tantivy"))
    writer = words.writer(num_threads=1)
    for number, text in enumerate(data.texts):
        writer.add_document(tantivy.Document(number=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index = Index(ndim=core.DIMENSIONS, metric="cos", dtype="f16", connectivity=16)
    index.add(np.arange(len(data.texts)), data.vectors, threads=1)
    index.save(str(home / "usearch"))


def ask_floor(home: Path) -> tuple[Ask, Near]:
    import tantivy
    from usearch.index import Index

    words = tantivy.Index.open(str(home / "tantivy"))
    searcher = words.searcher()
    index = Index.restore(str(home / "usearch"), view=True)

    def ask(text: str, vector: np.ndarray) -> object:
        query, _ = words.parse_query_lenient(text, ["text"])
        scores: dict[int, float] = {}
        found = [searcher.doc(address)["number"][0] for _, address in searcher.search(query, POOL).hits]
        for run in (found, index.search(vector, POOL, threads=1).keys.tolist()):
            for rank, number in enumerate(run, 1):
                scores[number] = scores.get(number, 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda number: -scores[number])[:TOP]

    def near(vector: np.ndarray) -> list[int]:
        found: list[int] = index.search(vector, TOP, threads=1).keys.tolist()
        return found

    return ask, near


def fill_engrava(data: core.Data, home: Path) -> None:
    async def fill() -> None:
        async with core.engrava_store(home / "engrava.db") as store:
            await core.fill_engrava(store, data, 1000)

    asyncio.run(fill())


def ask_engrava(home: Path) -> tuple[Ask, Near]:
    loop = asyncio.new_event_loop()
    opened = core.engrava_store(home / "engrava.db")
    store = loop.run_until_complete(opened.__aenter__())
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())

    def ask(text: str, vector: np.ndarray, _: object = opened) -> object:  # a context that is dropped closes the file
        return loop.run_until_complete(store.search_hybrid(text, vector.tolist(), top_k=TOP, recency_now=now))

    def near(vector: np.ndarray) -> list[int]:
        found = loop.run_until_complete(store.search_similar(vector.tolist(), top_k=TOP))
        return [int(id[1:]) for id, _ in found]

    return ask, near


@dataclass(frozen=True)
class System:
    """How to fill a system and to ask it, and in which environment; systems of one `home` share their files."""

    fill: Callable[[core.Data, Path], None]
    open: Callable[[Path], tuple[Ask, Near]]
    home: str
    environment: str = ""


SYSTEMS = {
    "default": System(fill_thinkback, ask_thinkback("default"), "thinkback"),
    "two legs": System(fill_thinkback, ask_thinkback("two legs"), "thinkback"),
    "hnsw": System(fill_hnsw, ask_thinkback("default", HNSW), "hnsw"),
    "two legs hnsw": System(fill_hnsw, ask_thinkback("two legs", HNSW), "hnsw"),
    "LanceDB": System(fill_lancedb, ask_lancedb(), "lancedb", "peers"),
    "LanceDB refined": System(fill_lancedb, ask_lancedb(REFINED), "lancedb", "peers"),
    "zvec": System(fill_zvec, ask_zvec, "zvec", "peers"),
    "qdrant-edge": System(fill_qdrant, ask_qdrant, "qdrant", "peers"),
    "engrava": System(fill_engrava, ask_engrava, "engrava", "engrava"),
    "floor": System(fill_floor, ask_floor, "floor", "peers"),
}


# -- measuring -------------------------------------------------------------------------------------------------------------------


def measure(system: System, folder: Path) -> dict[str, float]:
    """Cold and warm questions, memory, and overlap with exact search, in this process.

    As where a memory is used, it holds the questions and no more until all of them are asked: how much was allocated and freed
    before decides what the allocator keeps, and so what a question costs.
    """
    data, home = core.Questions.load(folder), folder / system.home
    held = memory_of_this_process()
    began, worked = time.perf_counter(), time.process_time()
    ask, near = system.open(home)
    ask(data.questions[0], data.question_vectors[0])
    cold, cold_cpu = time.perf_counter() - began, time.process_time() - worked
    for number in (1, 2):
        ask(data.questions[number], data.question_vectors[number])
    third = time.perf_counter() - began
    cpu, wall = timed(ask, data)
    private, shared = (now - before for now, before in zip(memory_of_this_process(), held, strict=True))
    return {
        "cpu_ms": cpu,
        "again_ms": timed(ask, data)[0],
        "wall_ms": wall,
        "cold_s": cold,
        "cold_cpu_s": cold_cpu,
        "third_s": third,
        "private_mb": private,
        "shared_mb": shared,
        "overlap": overlap(data, np.load(folder / core.VECTORS), near),
    }


def timed(ask: Ask, data: core.Questions) -> tuple[float, float]:
    """Median processor and wall time of a question, in milliseconds."""
    times = []
    for text, vector in zip(data.questions, data.question_vectors, strict=True):
        cpu, wall = time.process_time(), time.perf_counter()
        ask(text, vector)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = 1000 * np.median(times, axis=0)
    return float(cpu), float(wall)


def overlap(data: core.Questions, vectors: np.ndarray, near: Near, questions: int = 50) -> float:
    """The share of the nearest by exact cosine that a vector search returns; equally near ones count alike."""
    shares = []
    for vector in data.question_vectors[:questions]:
        cosines = vectors @ vector
        worst = np.sort(cosines)[-TOP] - 1e-6
        shares.append(np.mean([cosines[number] >= worst for number in near(vector)]) if len(cosines) else 1.0)
    return float(np.mean(shares))


def memory_of_this_process() -> tuple[float, float]:
    """Private and shared resident memory in MB, where the system tells."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return 0.0, 0.0
    sizes = {
        name: int(rest.split()[0]) / 1024 for name, _, rest in (line.partition(":") for line in lines) if "kB" in rest
    }
    # A mapped file that only this process has open counts as private until another one maps it; clean pages are the system's.
    private = sizes.get("Private_Dirty", 0.0)
    return private, sizes.get("Rss", 0.0) - private


def environment(build: Path, name: str) -> str:
    """The interpreter of an environment with the packages of others."""
    if not name:
        return sys.executable
    if name == "engrava":
        return core.engrava_python(build)
    home = build / name
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (home / ".ready").exists():
        print(f"setting up {home} with {', '.join(PACKAGES)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (home / ".ready").touch()
    return str(python)


def worker(options: argparse.Namespace) -> None:
    """One process: fill, or ask."""
    system = SYSTEMS[options.worker]
    if options.fill:
        data, home = core.Data.load(options.folder), options.folder / system.home
        home.mkdir()
        began = time.perf_counter()
        system.fill(data, home)
        print(json.dumps({"ingest": len(data.texts) / (time.perf_counter() - began)}))
        return
    if options.once:
        data = core.Questions.load(options.folder)
        system.open(options.folder / system.home)[0](data.questions[0], data.question_vectors[0])
        print("{}", flush=True)
    else:
        print(json.dumps(measure(system, options.folder)), flush=True)
    os._exit(0)  # threads that a system keeps would hold the process


def run(name: str, options: argparse.Namespace, folder: Path) -> Row:
    """Fill a system, unless another row did, and ask it."""
    system = SYSTEMS[name]
    command = [environment(options.build, system.environment), __file__, "--worker", name, "--folder", str(folder)]
    found: dict[str, float] = {"ingest": 0.0}
    if not (folder / system.home).exists():
        found |= _answer([*command, "--fill"], folder)
    found |= _answer([*command, "--once"], folder) | _answer(command, folder)
    disk = sum(part.stat().st_size for part in (folder / system.home).rglob("*") if part.is_file()) / 1e6
    return Row(system=name, disk_mb=disk, **found)


def _answer(command: Sequence[str], folder: Path) -> dict[str, float]:
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=core.compiled(folder))
    answer: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return answer


def show(rows: Sequence[Row], size: int) -> None:
    print(f"{size} memories, {os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")
    columns = ("cpu ms", "again", "wall ms", "cold s", "cold cpu", "third s", "overlap", "private", "shared", "disk")
    print(f"{'':16}" + "".join(f"{name:>10}" for name in (*columns, "ingest/s")))
    for row in rows:
        times = (row.cpu_ms, row.again_ms, row.wall_ms, row.cold_s, row.cold_cpu_s, row.third_s)
        sizes = (row.private_mb, row.shared_mb, row.disk_mb, *((row.ingest,) if row.ingest else ()))
        print(
            f"{row.system:16}"
            + "".join(f"{value:10.2f}" for value in times)
            + f"{row.overlap:10.3f}"
            + "".join(f"{value:10.0f}" for value in sizes)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="how many memories")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--skip", nargs="+", choices=SYSTEMS, default=[])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--build", type=Path, default=Path(__file__).parents[1] / "build")
    parser.add_argument("--worker", choices=SYSTEMS, help=argparse.SUPPRESS)
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="keep data and stores here, and use those that are there")
    options = parser.parse_args()
    if options.worker:
        worker(options)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        if not (folder / core.VECTORS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            core.generate(options.size, options.questions, options.seed).save(folder)
        rows = [run(name, options, folder) for name in options.only if name not in options.skip]
    show(rows, options.size)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
