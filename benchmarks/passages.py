"""Long texts: whole sessions or meetings as memories, found by one vector or by their passages.

python benchmarks/passages.py beam-dev.json qmsum-dev.json locomo-dev.json          # LoCoMo's layout; all in one store a file
python benchmarks/passages.py --corpora 12 qmsum-dev.json                           # the first twelve conversations
python benchmarks/passages.py --days beam-dev.json                                  # sessions of one day are one memory
python benchmarks/passages.py --big 5                                               # one made-up text of 5 MB: time and memory

any@k: a memory that holds an answer is among the first k. Passage: of the memories that hold an answer and have several passages,
the share whose passage shown overlaps a turn that answers, by its place in the text; "first" is the beginning of the text, all that
one vector can offer; "by vector" is the passage with the greatest cosine. Both: the share of questions of which one of the first
five memories shows a turn that answers, by passages and by one vector with the beginning. BEAM's file has a session for every
exchange, so that the beginning is the question that the gold names; `--days` joins those of one day.
"""

import argparse
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import thinkback
from thinkback.evaluate.datasets.base import Dataset, Question
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.memory import Memory
from thinkback.model import Passage, Run
from thinkback.models.embedders import open_embedder
from thinkback.models.weights import DEFAULT_EMBEDDER
from thinkback.passages import Span, split
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import DEFAULT, KEYWORD, VECTOR
from thinkback.stores.sqlite.vector_cache import VectorCache

WAYS = ("keyword", "vector, one", "vector, passages", "default, one", "default, passages", "default, whole words")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--corpora", type=int, default=0, help="only so many conversations of a file")
    options.add_argument("--apart", action="store_true", help="a store for each conversation, not one for the file")
    options.add_argument("--days", action="store_true", help="sessions of one day are one memory")
    options.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    options.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "thinkback" / "vectors.db")
    options.add_argument("--big", type=float, default=0, help="megabytes of one made-up text")
    asked = options.parse_args()
    if asked.big:
        big(asked.big, asked.embedder)
    with VectorCache(asked.cache) as cache:
        for path in asked.files:
            compare(path, CachedEmbedder(open_embedder(asked.embedder), cache), asked.corpora, asked.apart, asked.days)


@dataclass(frozen=True, slots=True)
class Memories:
    """The texts of a data set, and for every question the places in them that answer it."""

    texts: dict[str, tuple[str, int | None]]
    places: dict[str, dict[str, list[Span]]]

    @classmethod
    def of(cls, turns: Dataset, names: set[str], days: bool) -> "Memories":
        """Texts of the corpora of these names: all turns of a session, or of a day."""
        parts: dict[str, list[str]] = {}
        dates: dict[str, int | None] = {}
        where: dict[tuple[str, str], tuple[str, Span]] = {}
        for corpus in turns.corpora:
            for turn in corpus.documents if corpus.id in names else ():
                name = f"{corpus.id}/{turn.created_us if days else turn.thread}"
                before = sum(len(part) + 1 for part in parts.setdefault(name, []))
                where[corpus.id, turn.id] = name, Span(before, before + len(turn.text))
                parts[name].append(turn.text)
                dates[name] = turn.created_us
        places: dict[str, dict[str, list[Span]]] = {}
        for question in turns.questions:
            for gold in question.gold if question.corpus_id in names else ():
                name, span = where[question.corpus_id, gold]
                places.setdefault(question.id, {}).setdefault(name, []).append(span)
        return cls({name: ("\n".join(said), dates[name]) for name, said in parts.items()}, places)


def compare(path: Path, embedder: CachedEmbedder, most: int, apart: bool, days: bool) -> None:
    """Prints a table for one file."""
    turns = read_locomo(path)
    corpora = turns.corpora[: most or None]
    found: Counter[str] = Counter()
    for group in [{corpus.id} for corpus in corpora] if apart else [{corpus.id for corpus in corpora}]:
        memories = Memories.of(turns, group, days)
        with thinkback.open(":memory:", embedder=embedder) as memory:
            memory.remember_many(
                {"text": text, "id": name, "created_at": date, "metadata": {"name": name}}
                for name, (text, date) in memories.texts.items()
            )
            ask(memory, turns, memories, found)
            found["memories"] += memory.count()
            found["passages"] += int(memory.stats()["passages"])
    print(f"\n{path.stem}: {found['memories']} memories, {found['passages']} passages, {found['questions']} questions")
    for way in WAYS:
        shares = [found[f"{way}@{k}"] / found["questions"] for k in (1, 5)]
        print(f"  {way:20} any@1 {shares[0]:.3f}   any@5 {shares[1]:.3f}")
    long = max(found["long"], 1)
    shown = (f"{word} {found[word] / long:.3f}" for word in ("shown", "by vector", "first"))
    print(f"  right passage of {found['long']}: {', '.join(shown)}")
    both = (f"{word} {found[f'both {word}'] / found['questions']:.3f}" for word in ("passages", "one"))
    print(f"  both, default any@5 and the right passage: {', '.join(both)}")


def ask(memory: Memory, turns: Dataset, memories: Memories, found: Counter[str]) -> None:
    """Asks every question in every way."""
    for question in turns.questions:
        gold = memories.places.get(question.id)
        if gold is None:
            continue
        found["questions"] += 1
        for way in WAYS:
            hits = memory.recall(question.text, recipe=recipe_of(way), limit=5, now=question.now_us, counted=False)
            found[f"{way}@1"] += bool(set(hits.ids[:1]) & set(gold))
            found[f"{way}@5"] += bool(set(hits.ids) & set(gold))
            if way == "default, passages":
                found["both passages"] += any(hits_gold(hit.passage, hit.text, gold.get(hit.id, [])) for hit in hits)
            if way == "default, one":
                found["both one"] += any(hits_gold(beginning(hit.text), hit.text, gold.get(hit.id, [])) for hit in hits)
        for name in sorted(gold):
            passage_of(memory, question, name, gold[name], found)


def passage_of(memory: Memory, question: Question, name: str, gold: list[Span], found: Counter[str]) -> None:
    """Counts whether the passage of one memory is a right one."""
    (hit,) = memory.recall(question.text, metadata={"name": name}, limit=1, now=question.now_us, counted=False)
    if hit.passage is None:
        return
    by_vector = next(run for run in _traced(memory, question, name) if run.leg == "vector").hits[0].passage
    found["long"] += 1
    found["shown"] += hits_gold(hit.passage, hit.text, gold)
    found["by vector"] += hits_gold(by_vector, hit.text, gold)
    found["first"] += hits_gold(beginning(hit.text), hit.text, gold)


def _traced(memory: Memory, question: Question, name: str) -> Sequence[Run]:
    return memory.recall(
        question.text, recipe=VECTOR, metadata={"name": name}, now=question.now_us, counted=False
    ).trace.runs


def hits_gold(shown: Span | Passage | None, text: str, gold: list[Span]) -> bool:
    """Whether what is shown of a text, without a passage all of it, overlaps an answer."""
    start, end = (0, len(text)) if shown is None else (shown.start, shown.end)
    return any(one.start < end and one.end > start for one in gold)


def beginning(text: str) -> Span | None:
    """The first passage of a long text."""
    return next(iter(split(text)), None)


def recipe_of(way: str) -> Recipe:
    """The recipe of a way; "one" means one vector a memory, "whole words" that BM25 is not counted by passages."""
    name, _, kind = way.partition(", ")
    changes = {
        "one": {"legs.vector.passages": False},
        "whole words": {"signals.ranker.document_passage": 0.0},
    }.get(kind)
    chosen = {"keyword": KEYWORD, "vector": VECTOR, "default": DEFAULT}[name]
    return chosen if changes is None else replace(chosen, name=way).with_paths(changes)


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
