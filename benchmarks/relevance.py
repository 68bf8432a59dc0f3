"""Learn the weights of `search/relevance.py`: answerable and unanswerable questions, leaving one conversation out.

    python benchmarks/relevance.py locomo-dev.json beam-dev.json qmsum-dev.json [--precise] [--save FILE]

Every question is asked of its own conversation and, made unanswerable, of another one (`thinkback.evaluate.answers`); so are
those that a single session answers, of that session alone, because small memories look different. Prints the measures of the
model when each conversation is judged by weights learned on the others, then the weights learned on all of them, and how many hits
pass the gates with the weights that the code has.
"""

import argparse
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thinkback.apps.cli.bench import vector_cache
from thinkback.evaluate.answers import Asked, asked, auroc, calibration_error, renamed, summary
from thinkback.evaluate.answers import _newest as newest
from thinkback.evaluate.answers import _speakers as speakers
from thinkback.evaluate.datasets.base import Corpus, Dataset
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.systems import Recipes
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.models.embedders import open_embedder
from thinkback.search import relevance
from thinkback.search.recipes.named import DEFAULT, PRECISE
from thinkback.stores.sqlite.vector_cache import VectorCache

SESSIONS = 3  # of each conversation, as small memories
RIDGE = 3e-3
PREFERENCE = "preference"
SMALL = 0.3  # the weight of a question to a single session


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit: whether it is gold, the inputs of its relevance, its relevance, and whether it is a standing instruction."""

    gold: bool
    evidence: dict[str, float]
    relevance: float
    standing: bool
    first: bool


def sessions(dataset: Dataset) -> Iterator[tuple[Corpus, list[Asked]]]:
    """Some sessions as memories of their own, with the questions they answer and as many of other conversations."""
    for place, corpus in enumerate(dataset.corpora):
        other = dataset.corpora[(place + 1) % len(dataset.corpora)]
        theirs = [q for q in dataset.questions if q.corpus_id == other.id]
        threads = list(dict.fromkeys(d.thread for d in corpus.documents))
        for thread in threads[:: max(1, len(threads) // SESSIONS)]:
            part = Corpus(corpus.id, tuple(d for d in corpus.documents if d.thread == thread))
            ids = {d.id for d in part.documents}
            own = [q for q in dataset.questions if q.corpus_id == corpus.id and ids.issuperset(q.gold)]
            made = [renamed(q.text, speakers(other), speakers(corpus)) for q in theirs[: len(own)]]
            yield (
                part,
                [
                    *(Asked(corpus.id, q.text, "own", q.now_us) for q in own),
                    *(Asked(corpus.id, text, "other", newest(corpus)) for text in made),
                ],
            )


def collect(files: Sequence[Path], precise: bool) -> list[tuple[str, bool, Asked, dict[str, float], list[Shown]]]:
    """For every question: conversation, whether of a small memory, the question, its inputs, and its hits."""
    recipe, rows = (PRECISE if precise else DEFAULT), []
    with VectorCache(vector_cache()) as cache:
        recipes = Recipes([recipe], CachedEmbedder(open_embedder("default"), cache), "default" if precise else None)
        for file in files:
            dataset = read_locomo(file)
            questions = asked(dataset)
            gold = {(q.corpus_id, q.text): q.gold for q in dataset.questions}
            whole = [(c, [q for q in questions if q.corpus_id == c.id], False) for c in dataset.corpora]
            parts = [] if precise else [(c, qs, True) for c, qs in sessions(dataset) if qs]
            for corpus, own, small in [*whole, *parts]:
                with recipes.memory_of(corpus) as memory:
                    for question in own:
                        found = memory.recall(question.text, now=question.now_us, recipe=recipe)
                        values = {one.name: one.value for one in found.trace.relevance.evidence}
                        right = gold.get((question.corpus_id, question.text), {}) if question.answerable else {}
                        hits = [
                            Shown(
                                hit.id in right,
                                {e.name: e.value for e in hit.evidence},
                                hit.relevance,
                                hit.stored.kind == PREFERENCE,
                                hit.rank == 1,
                            )
                            for hit in found
                        ]
                        rows.append((f"{file.stem}/{corpus.id}", small, question, values, hits))
                print(file.stem, corpus.id, small, len(rows), flush=True)
    return rows


def fitted(
    values: np.ndarray, answers: np.ndarray, weights: np.ndarray | None = None, offset: np.ndarray | float = 0.0
) -> np.ndarray:
    """Weights of a ridge logistic by Newton's method, the first column being the prior; values are scaled inside.

    `offset` are log-odds that count as they are.
    """
    scale = values.std(axis=0)
    scale[0] = 1.0
    scale[scale == 0] = 1.0
    x, found = values / scale, np.zeros(values.shape[1])
    counts = np.ones(len(x)) if weights is None else weights
    ridge = np.eye(len(found)) * RIDGE * len(x)
    ridge[0, 0] = 0
    centre = x.mean(axis=0)
    centre[0] = 0
    x = x - centre
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ found + offset, -30, 30)))
        bend = (x * (counts * p * (1 - p) + 1e-9)[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, x.T @ (counts * (answers - p)) - ridge @ found)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    found[0] -= found @ centre
    return found / scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--precise", action="store_true", help="also with the cross-encoder")
    parser.add_argument("--words", action="store_true", help="only the inputs that need no embedder")
    parser.add_argument("--save", type=Path, help="keep what was collected, and use it if it is there")
    options = parser.parse_args()
    if options.save and options.save.exists():
        rows = pickle.loads(options.save.read_bytes())
    else:
        rows = collect(options.files, options.precise)
        if options.save:
            options.save.write_bytes(pickle.dumps(rows))
    names = [n for n in relevance.WORDS if not n.startswith("own ")] if options.words else list(rows[0][3])
    values = np.array([[row[3].get(name, 0.0) for name in names] for row in rows])
    answers = np.array([row[2].answerable for row in rows])
    home = np.array([row[0] for row in rows])
    small = np.array([row[1] for row in rows])
    counts, judged = np.where(small, SMALL, 1.0), np.zeros(len(rows))
    for one in sorted(set(home)):
        weights = fitted(values[home != one], answers[home != one], counts[home != one])
        judged[home == one] = 1 / (1 + np.exp(-values[home == one] @ weights))
    report("all conversations", rows, judged, ~small)
    for name in sorted({one.split("/")[0] for one in home}):
        report(name, rows, judged, ~small & np.char.startswith(home, name))
    if small.any():
        report("single sessions", rows, judged, small)
    weights = fitted(values, answers, counts)
    print({name: float(f"{weight:.4g}") for name, weight in zip(names, weights, strict=True)})
    standing(rows, weights, names, options.words)
    if not options.words:
        passing(rows)


def report(name: str, rows: Sequence, judged: np.ndarray, here: np.ndarray) -> None:
    found = summary(name, [(row[2], value) for row, value, yes in zip(rows, judged, here, strict=True) if yes])
    print(
        f"{name:20} {dict(found.counts)} AUROC {found.auroc:.3f}, without nonsense {found.auroc_hard:.3f}, "
        f"calibration error {found.calibration_error:.3f}, refused {found.refused:.3f} at gate {found.gate:.2f}"
    )


def standing(rows: Sequence, weights: np.ndarray, names: Sequence[str], words: bool) -> None:
    """The weights of hits beside the best, each conversation judged by the others, and how well all hits are calibrated.

    Their log-odds are those of the question below 0, LENT of those above, up to SURE, a prior, and their own inputs.
    """
    own = [name for name in relevance.OWN if name in (relevance.WORDS if words else rows[0][4][-1].evidence)]
    inputs, home, right, odds, beside = [], [], [], [], []
    for row in rows:
        asked = float(np.dot([row[3].get(name, 0.0) for name in names], weights))
        for hit in row[4] if not row[1] else ():
            inputs.append([1.0, min(max(asked, 0.0), relevance.SURE), *(hit.evidence.get(name, 0.0) for name in own)])
            beside.append("other" in hit.evidence)
            home.append(row[0])
            right.append(hit.gold)
            odds.append(asked)
    x, homes, gold, odds, beside = (np.array(one) for one in (inputs, home, right, odds, beside))
    judged, below = odds.copy(), np.minimum(odds, 0.0)
    for one in sorted(set(homes)):
        here, others = beside & (homes == one), beside & (homes != one)
        judged[here] = below[here] + x[here] @ fitted(x[others], gold[others].astype(float), offset=below[others])
    chance = 1 / (1 + np.exp(-judged))
    print(
        f"{len(gold)} hits, {gold.mean():.3f} gold, AUROC {auroc(chance, gold):.3f}, error {calibration_error(chance, gold):.3f}"
    )
    all_of_them = fitted(x[beside], gold[beside].astype(float), offset=below[beside])
    print({name: float(f"{w:.4g}") for name, w in zip(["other", "lent", *own], all_of_them, strict=True)})


def passing(rows: Sequence) -> None:
    """How many hits pass the gates; BESIDE counts where the first one passes GATE, as in the prompts of agents."""
    whole = [row for row in rows if not row[1]]
    kinds = {"gold": (True, True), "wrong": (True, False), "unanswerable": (False, False)}
    for title, chosen in (
        ("all hits", lambda hit: True),
        ("instructions", lambda hit: hit.standing),
        ("instructions that come first", lambda hit: hit.standing and hit.first),
    ):
        told = []
        for kind, (answerable, gold) in kinds.items():
            asked = [row[4] for row in whole if row[2].answerable == answerable and row[4]]
            sure = [hits[0].relevance >= relevance.GATE for hits in asked]
            some = [
                (hit.relevance, yes)
                for hits, yes in zip(asked, sure, strict=True)
                for hit in hits
                if hit.gold == gold and chosen(hit)
            ]
            pass_gate = sum(value >= relevance.GATE for value, _ in some)
            pass_beside = sum(value >= (relevance.BESIDE if yes else relevance.GATE) for value, yes in some)
            told.append(f"{kind} {pass_gate} and {pass_beside} of {len(some)}")
        print(
            f"{title} from {relevance.GATE} on, and from {relevance.BESIDE} on beside such a first: {', '.join(told)}"
        )


if __name__ == "__main__":
    main()
