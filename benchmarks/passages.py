"""Long texts: whole sessions or meetings as memories, found by one vector or by their passages.

python benchmarks/passages.py beam-dev.json qmsum-dev.json locomo-dev.json          # LoCoMo's layout; all in one store a file
python benchmarks/passages.py --corpora 12 qmsum-dev.json                           # the first twelve conversations
python benchmarks/passages.py --big 5                                               # one made-up text of 5 MB: time and memory

any@k: a memory that holds an answer is among the first k. passage: of the memories that hold an answer and have several passages,
the share whose passage shown overlaps a turn that answers; "first" is the beginning of the text, all that one vector can offer.
"""

import argparse
import resource
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import thinkback
from thinkback.evaluate.datasets.base import Dataset
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.memory import Memory
from thinkback.models.embedders import DEFAULT_EMBEDDER, open_embedder
from thinkback.passages import split
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import DEFAULT, KEYWORD, VECTOR
from thinkback.stores.sqlite.vector_cache import VectorCache

WAYS = ("keyword", "vector, one", "vector, passages", "default, one", "default, passages")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--corpora", type=int, default=0, help="only so many conversations of a file")
    options.add_argument("--apart", action="store_true", help="a store for each conversation, not one for the file")
    options.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    options.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "thinkback" / "vectors.db")
    options.add_argument("--big", type=float, default=0, help="megabytes of one made-up text")
    asked = options.parse_args()
    if asked.big:
        big(asked.big, asked.embedder)
    with VectorCache(asked.cache) as cache:
        for path in asked.files:
            compare(path, CachedEmbedder(open_embedder(asked.embedder), cache), asked.corpora, asked.apart)


def compare(path: Path, embedder: CachedEmbedder, most: int, apart: bool) -> None:
    """Prints a table for one file."""
    sessions, turns = read_locomo(path, level="session"), read_locomo(path, level="turn")
    corpora = sessions.corpora[: most or None]
    groups = [[corpus] for corpus in corpora] if apart else [list(corpora)]
    found: Counter[str] = Counter()
    for group in groups:
        names = {corpus.id for corpus in group}
        with thinkback.open(":memory:", embedder=embedder) as memory:
            memory.remember_many(
                {"text": document.text, "id": name, "created_at": document.created_us, "metadata": {"name": name}}
                for corpus in group
                for document in corpus.documents
                for name in (f"{corpus.id}/{document.id}",)
            )
            ask(memory, sessions, turns, names, found)
            found["memories"] += memory.count()
            found["passages"] += int(memory.stats()["passages"])
    print(f"\n{path.stem}: {found['memories']} memories, {found['passages']} passages, {found['questions']} questions")
    for way in WAYS:
        shares = [found[f"{way}@{k}"] / found["questions"] for k in (1, 5)]
        print(f"  {way:18} any@1 {shares[0]:.3f}   any@5 {shares[1]:.3f}")
    long = max(found["long"], 1)
    print(f"  right passage of {found['long']}: shown {found['shown'] / long:.3f}, first {found['first'] / long:.3f}")


def ask(memory: Memory, sessions: Dataset, turns: Dataset, names: set[str], found: Counter[str]) -> None:
    """Asks every question in every way."""
    answers = {question.id: question for question in turns.questions}
    spoken = {(corpus.id, turn.id): turn.text for corpus in turns.corpora for turn in corpus.documents}
    for question in sessions.questions:
        if question.corpus_id not in names:
            continue
        found["questions"] += 1
        gold = {f"{question.corpus_id}/{id}" for id in question.gold}
        for way in WAYS:
            ids = memory.recall(question.text, recipe=recipe_of(way), limit=5, now=question.now_us, counted=False).ids
            found[f"{way}@1"] += bool(gold & set(ids[:1]))
            found[f"{way}@5"] += bool(gold & set(ids))
        said = [spoken[question.corpus_id, id] for id in answers[question.id].gold]
        for id in sorted(gold):
            (hit,) = memory.recall(question.text, metadata={"name": id}, limit=1, now=question.now_us, counted=False)
            places = [(at, at + len(one)) for one in said if (at := hit.text.find(one)) >= 0]
            if hit.passage is not None and places:
                first = split(hit.text)[0]
                found["long"] += 1
                found["shown"] += any(a < hit.passage.end and b > hit.passage.start for a, b in places)
                found["first"] += any(a < first.end and b > first.start for a, b in places)


def recipe_of(way: str) -> Recipe:
    """The recipe of a way; "one" means one vector a memory."""
    name, _, kind = way.partition(", ")
    chosen = {"keyword": KEYWORD, "vector": VECTOR, "default": DEFAULT}[name]
    return (
        replace(chosen, name=f"{name} by one vector").with_paths({"legs.vector.passages": False})
        if kind == "one"
        else chosen
    )


def big(megabytes: float, embedder: str) -> None:
    """Remembers and recalls one long text."""
    lines = (
        f"Line {n}: the report of day {n % 365} names part {n * 7919 % 10007} and shelf {n % 97}."
        for n in range(1 << 30)
    )
    text, size = [], 0
    while size < megabytes * 1e6:
        text.append(next(lines))
        size += len(text[-1]) + 1
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with thinkback.open(Path(folder) / "big.db", embedder=embedder) as memory:
            memory.remember("a short note, so that the model is loaded")
            ready = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            since = time.process_time()
            memory.remember("\n".join(text))
            took, since = time.process_time() - since, time.process_time()
            hit = memory.recall("which line names part 7919 and shelf 1?", max_tokens=600)[0]
            asked, peak = time.process_time() - since, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(
                f"{size / 1e6:.1f} MB, {memory.stats()['passages']} passages: remembered in {took:.1f} s of processor time,"
            )
            print(f"recalled in {asked:.2f} s, {len(hit.passage.text) if hit.passage else 0} characters shown;")
            print(
                f"peak memory {peak / 1024:.0f} MB, {ready / 1024:.0f} MB with the model, {before / 1024:.0f} MB before"
            )


if __name__ == "__main__":
    main()
