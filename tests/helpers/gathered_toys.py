"""Made-up gatherings: runs, records and links without a store, for tests of replay and tuning."""

from itertools import combinations, pairwise
from random import Random

from thinkback.clock import DAY, to_us
from thinkback.evaluate.datasets import Question
from thinkback.evaluate.replay import Case
from thinkback.model import SEQUENCE, Filter, Run, Scored, StoredEdge, StoredRecord
from thinkback.search.query.parse import Parsing, parse
from thinkback.search.query.tags import Vocabulary
from thinkback.search.ranking import Gathered
from thinkback.search.thread_order import FAR

NOW = to_us("2026-05-08")
WORDS = ("boat", "fig", "kite", "train", "door", "cat", "lamp", "rope")


def run(leg, scores, filled=None):
    """A run of ids with their scores, best first, ties in the order given."""
    best = sorted(scores.items(), key=lambda pair: -pair[1])
    return Run(leg, tuple(Scored(i, s) for i, s in best), filled=tuple(Scored(i, s) for i, s in (filled or {}).items()))


def record(name, rng, *, text=None, thread="t", position=0):
    return StoredRecord(
        id=name,
        text=text or f"{rng.choice(['Ada', 'Ben'])}: {name} {rng.choice(WORDS)}{rng.choice(['', '?'])}",
        tier=rng.choice(["semantic", "episodic"]),
        priority=rng.choice(["P1", "P2", "P3", "P4"]),
        importance=rng.choice([None, 0.2, 0.9]),
        confidence=rng.choice([0.4, 0.7]),
        tags=tuple(rng.sample(WORDS, 2)),
        created_at=NOW - rng.randrange(400) * DAY,
        updated_at=NOW - rng.randrange(400) * DAY,
        thread=thread,
        position=position,
        kind=rng.choice(["observation", "observation", "task", "reflection"]),
    )


def messy_case(number, rng):
    """A question with everything that can happen: skipped legs, ties, twins, filled scores, links, excluded ids."""
    ids = [f"m{number}-{i}" for i in range(rng.randint(2, 25))]
    records = {name: record(name, rng, position=place) for place, name in enumerate(ids)}
    for twin in rng.sample(ids, k=min(len(ids), rng.randint(0, 4))):
        records[twin] = record(twin, rng, text="Ada:  The   same text", position=records[twin].position)
    found = {leg: rng.sample(ids, k=rng.randint(1, len(ids))) for leg in ("keyword", "vector", "dates")}
    scores = {leg: {i: rng.choice([0.5, rng.random()]) for i in names} for leg, names in found.items()}
    rest = {leg: [i for names in found.values() for i in names if i not in found[leg]] for leg in found}
    runs = [
        run("keyword", scores["keyword"], {i: rng.random() * 0.4 for i in dict.fromkeys(rest["keyword"])}),
        run("vector", scores["vector"]) if rng.random() < 0.8 else Run("vector", skipped="no embedder"),
        run("dates", scores["dates"]) if rng.random() < 0.3 else Run("dates", skipped="no time"),
    ]
    seen = {hit.id for one in runs for hit in (*one.hits, *one.filled)}
    kept = {name: records[name] for name in seen}
    edges = {}
    if rng.random() < 0.8:
        for a, b in pairwise(ids):
            edge = StoredEdge(from_id=a, to_id=b, kind=rng.choice([SEQUENCE, "related"]), weight=rng.choice([1.0, 0.5]))
            edges.setdefault(a, []).append(edge)
            edges.setdefault(b, []).append(edge)
        edges = {name: tuple(its) for name, its in edges.items() if name in kept}
    gaps = None
    if rng.random() < 0.8:
        gaps = {pair: rng.choice([1, FAR]) for pair in combinations(ids, 2) if rng.random() < 0.3}
    text = rng.choice(["what did Ada say about the boat yesterday", "where is the fig #kite", "rope and lamp"])
    query = parse(text, Filter(now=NOW), Parsing(), Vocabulary.of(dict.fromkeys(WORDS, 1)))
    gold = {name: float(rng.randint(1, 3)) for name in rng.sample(ids, k=rng.randint(1, min(3, len(ids))))}
    excluded = frozenset({rng.choice(ids)} - set(gold)) if rng.random() < 0.2 else frozenset()
    question = Question(f"q{number}", f"c{number % 4}", text, gold, excluded=excluded)
    return Case(question, Gathered(query, tuple(runs), kept, edges, gaps))


def messy_cases(seed, n=30):
    rng = Random(seed)
    return [messy_case(number, rng) for number in range(n)]


def weighted_cases(n, share, *, seed=0, candidates=30, noise=False):
    """Questions whose answer is the best of share · keyword + (1 − share) · vector, or, with noise, any candidate."""
    rng = Random(seed)
    cases = []
    for number in range(n):
        ids = [f"m{number}-{i}" for i in range(candidates)]
        keyword, vector = ({i: rng.random() for i in ids} for _ in range(2))
        for scores in (keyword, vector):  # the ends of the scale are taken, so that min-max scaling changes nothing
            low, high = rng.sample(ids, 2)
            scores[low], scores[high] = 0.0, 1.0
        best = max(ids, key=lambda i: share * keyword[i] + (1 - share) * vector[i])
        gold = rng.choice(ids) if noise else best
        records = {i: StoredRecord(id=i, text=f"text {i}", created_at=NOW, updated_at=NOW) for i in ids}
        query = parse("a question", Filter(now=NOW), Parsing())
        runs = (run("keyword", keyword), run("vector", vector))
        cases.append(
            Case(Question(f"q{number}", f"c{number % 5}", "a question", {gold: 1.0}), Gathered(query, runs, records))
        )
    return cases
