"""Whether a search knows that there is no answer: questions made unanswerable, and how well relevance tells them apart.

A question becomes unanswerable by asking it of another conversation of the data set, with that conversation's speakers in
place of its own (most frequent speaker for most frequent speaker). One that shares half of its words with a question which the
other conversation does answer is left out, because it may have an answer there too. Every fourth question is also asked in
nonsense words, every letter replaced by a seeded random one.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import numpy as np

from thinkback.errors import DatasetError
from thinkback.evaluate.bench import Progress
from thinkback.evaluate.datasets.base import Corpus, Dataset
from thinkback.evaluate.report import document, table
from thinkback.evaluate.svg import Curve, legend, line_chart
from thinkback.evaluate.systems import Recipes
from thinkback.model import Floats
from thinkback.search.query.keywords import parse_keywords
from thinkback.search.reading import stem
from thinkback.search.relevance import ASKING_STEMS
from thinkback.values import dataclass

SEED = 7
ALIKE = 0.5  # share of words from which two questions may have the same answer
NONSENSE_EVERY = 4
BINS = 10
KEPT = 0.9
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxz", "aeiouy"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a corpus, and whether it has an answer there; `kind` is own, other or nonsense, `gold` what answers it."""

    corpus_id: str
    text: str
    kind: str
    now_us: int | None = None
    gold: frozenset[str] = frozenset()

    @property
    def answerable(self) -> bool:
        return self.kind == "own"


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions of similar relevance: how many, their mean relevance, and the share that has an answer."""

    count: int
    relevance: float
    answerable: float


@dataclass(frozen=True, slots=True)
class Answers:
    """How well relevance tells answerable from unanswerable questions.

    `calibration_error` is the mean distance between relevance and share of answerable questions over ten bins, weighted by their
    questions (ECE). `refused` is the share of unanswerable questions refused at the gate that keeps nine of ten answerable ones.
    The measures of hits are those of every hit's own relevance: it is right if it is gold of an answerable question.
    """

    recipe: str
    counts: Mapping[str, int]
    auroc: float
    auroc_hard: float  # without the nonsense
    calibration_error: float
    gate: float
    refused: float
    bins: tuple[Bin, ...]
    hit_auroc: float = 0.0
    hit_calibration_error: float = 0.0


def asked(dataset: Dataset, seed: int = SEED) -> list[Asked]:
    """Every question to its own corpus, to another one, and some as nonsense; the same for the same seed."""
    if len(dataset.corpora) < 2:
        raise DatasetError(
            f"{dataset.name}: one corpus only; questions are made unanswerable by asking another",
            code="too_few_corpora",
        )
    chance = random.Random(seed)
    speakers = {corpus.id: _speakers(corpus) for corpus in dataset.corpora}
    now = {corpus.id: _newest(corpus) for corpus in dataset.corpora}
    own: dict[str, list[frozenset[str]]] = {corpus.id: [] for corpus in dataset.corpora}
    for question in dataset.questions:
        own[question.corpus_id].append(_content(question.text, speakers[question.corpus_id]))
    found = []
    for number, question in enumerate(dataset.questions):
        home = question.corpus_id
        found.append(Asked(home, question.text, "own", question.now_us, frozenset(question.gold)))
        other = chance.choice([corpus.id for corpus in dataset.corpora if corpus.id != home])
        text = renamed(question.text, speakers[home], speakers[other])
        content = _content(text, speakers[other])
        if content and not any(_alike(content, one) for one in own[other]):
            found.append(Asked(other, text, "other", now[other]))
        if number % NONSENSE_EVERY == 0:
            found.append(Asked(home, nonsense(question.text, chance), "nonsense", question.now_us))
    return found


def renamed(text: str, names: Sequence[str], others: Sequence[str]) -> str:
    """The text with each name replaced by the one in the same place among the others."""
    instead = {name: others[place % len(others)] for place, name in enumerate(names)} if others else {}
    if not instead:
        return text
    longest_first = sorted(instead, key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", lambda name: instead[name[0]], text)


def nonsense(text: str, chance: random.Random) -> str:
    """As many made-up words as the text has, with letters of the same kinds."""

    def other(letter: str) -> str:
        return chance.choice(_VOWELS if letter.lower() in _VOWELS else _CONSONANTS)

    return re.sub(r"[^\W\d_]", lambda letter: other(letter[0]), text)


def _speakers(corpus: Corpus) -> list[str]:
    """Who speaks, most often first."""
    said = Counter(document.speaker for document in corpus.documents if document.speaker)
    return [name for name, _ in said.most_common()]


def _newest(corpus: Corpus) -> int | None:
    return max((document.created_us for document in corpus.documents if document.created_us is not None), default=None)


def _content(text: str, names: Iterable[str]) -> frozenset[str]:
    """The stems of the words that say what is asked for, without names."""
    words = {stem(term.text.lower()) for term in parse_keywords(text, drop_function_words=True).terms}
    return frozenset(words - ASKING_STEMS - {stem(part) for name in names for part in name.lower().split()})


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * max(len(one | other), 1)


# -- measuring -------------------------------------------------------------------------------------------------------------------


def measure_answers(
    dataset: Dataset, recipes: Recipes, progress: Progress | None = None, seed: int = SEED
) -> list[Answers]:
    """Ask everything with every recipe."""
    questions = asked(dataset, seed)
    found: dict[str, list[tuple[Asked, float]]] = {recipe.name: [] for recipe in recipes.recipes}
    hits: dict[str, list[tuple[float, bool]]] = {recipe.name: [] for recipe in recipes.recipes}
    done = 0
    for corpus in dataset.corpora:
        mine = [question for question in questions if question.corpus_id == corpus.id]
        with recipes.memory_of(corpus) as memory:
            for question in mine:
                for recipe in recipes.recipes:
                    recalled = memory.recall(question.text, recipe=recipe, now=question.now_us)
                    found[recipe.name].append((question, recalled.relevance))
                    hits[recipe.name] += [(hit.relevance, hit.id in question.gold) for hit in recalled]
                done += 1
                if progress is not None:
                    progress(done, len(questions), f"asking {corpus.id}")
    return [summary(recipe.name, found[recipe.name], hits[recipe.name]) for recipe in recipes.recipes]


def summary(recipe: str, judged: Sequence[tuple[Asked, float]], hits: Sequence[tuple[float, bool]] = ()) -> Answers:
    """The measures of one recipe, from questions with their relevance, and from hits with theirs and whether they are gold."""
    of_hits, right = np.array([value for value, _ in hits]), np.array([gold for _, gold in hits], dtype=bool)
    relevance = np.array([value for _, value in judged])
    answerable = np.array([question.answerable for question, _ in judged])
    hard = np.array([question.kind != "nonsense" for question, _ in judged])
    gate = float(np.quantile(relevance[answerable], 1 - KEPT))
    bins = _bins(relevance, answerable)
    return Answers(
        recipe=recipe,
        counts=dict(Counter(question.kind for question, _ in judged)),
        auroc=auroc(relevance, answerable),
        auroc_hard=auroc(relevance[hard], answerable[hard]),
        calibration_error=calibration_error(relevance, answerable),
        gate=gate,
        refused=float((relevance[~answerable] < gate).mean()),
        bins=bins,
        hit_auroc=auroc(of_hits, right) if right.any() and not right.all() else 0.0,
        hit_calibration_error=calibration_error(of_hits, right) if hits else 0.0,
    )


def calibration_error(scores: Floats, positive: np.ndarray) -> float:
    """The mean distance between score and share of positive ones over ten bins (ECE; Naeini et al., 2015)."""
    return sum(one.count * abs(one.relevance - one.answerable) for one in _bins(scores, positive)) / len(scores)


def auroc(scores: Floats, positive: np.ndarray) -> float:
    """The probability that a positive one scores higher than a negative one; ties count half (Mann and Whitney, 1947)."""
    order, ranks = np.unique(scores, return_inverse=True)
    below = np.cumsum(np.bincount(ranks[~positive], minlength=len(order)))
    equal = np.bincount(ranks[~positive], minlength=len(order))
    wins = (below - equal / 2)[ranks[positive]].mean()
    return float(wins / np.count_nonzero(~positive))


def _bins(relevance: Floats, answerable: np.ndarray) -> tuple[Bin, ...]:
    place = np.minimum((relevance * BINS).astype(int), BINS - 1)
    found = [place == number for number in range(BINS)]
    return tuple(
        Bin(int(here.sum()), float(relevance[here].mean()), float(answerable[here].mean()))
        for here in found
        if here.any()
    )


# -- showing ---------------------------------------------------------------------------------------------------------------------


def data(found: Answers) -> dict[str, Any]:
    """The measures as plain data."""
    return asdict(found)


def page(dataset: str, found: Sequence[Answers]) -> str:
    """A page with the measures and a reliability plot: the share of answerable questions over their relevance."""
    curves = [Curve(one.recipe, [(each.relevance, each.answerable) for each in one.bins]) for one in found]
    curves.append(Curve("perfectly calibrated", [(0.0, 0.0), (1.0, 1.0)]))
    plot = line_chart(curves, x_label="relevance", y_label="share with an answer", y_max=1.0)
    heads = [
        "recipe",
        "AUROC",
        "without nonsense",
        "calibration error",
        "gate that keeps 90 %",
        "refused there",
        "AUROC of hits",
        "calibration error of hits",
        "questions",
    ]
    rows = [
        [
            escape(one.recipe),
            *(f"{value:.3f}" for value in (one.auroc, one.auroc_hard, one.calibration_error, one.gate, one.refused)),
            *(f"{value:.3f}" for value in (one.hit_auroc, one.hit_calibration_error)),
            escape(", ".join(f"{count} {kind}" for kind, count in one.counts.items())),
        ]
        for one in found
    ]
    title = f"{dataset}: is there an answer?"
    figure = f"<figure><figcaption>Reliability</figcaption>{plot}</figure>"
    body = [f"<h1>{escape(title)}</h1>", table(heads, rows), legend([curve.name for curve in curves])]
    return document(title, f'{"".join(body)}<div class="plots">{figure}</div>')
