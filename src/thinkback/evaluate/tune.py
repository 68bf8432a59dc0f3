"""Learns a recipe's weights from judged questions; accepted only if they also gain on questions not learned from.

The legs' runs are gathered once; every setting is a replay. The questions are split into folds, by conversation if there are
several, else by question. Each fold is scored by weights learned from the others. The whole interval of the paired difference to
the original recipe must lie above zero; after a split by conversation, also when whole conversations are resampled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinkback.errors import InvalidInput, did_you_mean
from thinkback.evaluate.bench import Progress
from thinkback.evaluate.listwise import learned
from thinkback.evaluate.metrics import Metric, metric
from thinkback.evaluate.optimise import Effort, Knob, Setting, apply, knobs_of, search
from thinkback.evaluate.replay import Case, Replay
from thinkback.evaluate.scores import DEFAULT, Bootstrap, Interval, paired_difference
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.toml import dumps
from thinkback.values import dataclass

SPLITS = ("auto", "corpus", "question")
FEWEST = 20
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TuneSettings:
    """The metric to raise, how to split the questions, and how many settings to try."""

    metric: str = "ndcg@10"
    folds: int = 5
    split: str = "auto"
    effort: Effort = field(default_factory=Effort)
    bootstrap: Bootstrap = DEFAULT
    progress: Progress | None = None

    def __post_init__(self) -> None:
        metric(self.metric)
        if self.folds < 2:
            raise InvalidInput(f"cross-validation needs at least 2 folds, not {self.folds}", code="too_few_folds")
        if self.split not in SPLITS:
            hint = did_you_mean(self.split, SPLITS)
            raise InvalidInput(
                f"no split {self.split!r}; choose one of {', '.join(SPLITS)}.{hint}", code="unknown_split"
            )


@dataclass(frozen=True, slots=True)
class Fold:
    """Questions that were held out, before and with weights learned from the others."""

    corpora: tuple[str, ...]
    n: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Worth:
    """The value of a part: the metric without it, and the paired difference."""

    part: str
    without: float
    difference: Interval


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of tuning; `accepted` if the gain holds on held-out questions."""

    base: Recipe
    recipe: Recipe
    metric: Metric
    n: int
    left_out: int
    before: float
    after: float
    gain: Interval
    fitted: float
    folds: tuple[Fold, ...]
    changes: Mapping[str, tuple[Any, Any]]
    worth: tuple[Worth, ...]

    @property
    def accepted(self) -> bool:
        return self.gain.above_zero and bool(self.changes)

    @property
    def verdict(self) -> str:
        """One sentence."""
        span = f"{self.gain.mean:+.4f} [{self.gain.low:+.4f}, {self.gain.high:+.4f}]"
        held_out = (
            f"held out, {self.metric.name} went from {self.before:.4f} to {self.after:.4f} ({span}, n = {self.n})"
        )
        if self.accepted:
            return f"The gain holds: {held_out}."
        if not self.changes:
            return f"Nothing better was found; the recipe stays as it is ({held_out})."
        return f"The gain does not hold out, so the recipe stays as it is: {held_out}."


def tune(cases: Sequence[Case], base: Recipe, settings: TuneSettings | None = None) -> Tuned:
    """Learn weights from the cases; the result says whether to accept them."""
    settings = settings or TuneSettings()
    replay = Replay(cases)
    if len(replay.questions) < FEWEST:
        message = f"tuning needs at least {FEWEST} questions with an answer, not {len(replay.questions)}"
        raise InvalidInput(message, code="too_few_questions")
    learner = _Learner(replay, base, settings)
    corpora = [question.corpus_id for question in replay.questions]
    groups = folds_of(corpora, settings)
    compare = Comparison(settings.bootstrap, corpora if splits_by_corpus(corpora, settings) else None)
    before = learner.values(base)
    held_out = np.zeros_like(before)
    for number, fold in enumerate(groups):
        others = np.setdiff1d(np.arange(len(before)), fold)
        chosen = learner.learn(others, f"fold {number + 1} of {len(groups)}", number)
        held_out[fold] = learner.values(chosen)[fold]
    final = learner.learn(np.arange(len(before)), "all questions", len(groups))
    return Tuned(
        base=base,
        recipe=replace(final, name=f"{base.name}-tuned", about=f"{base.name}, tuned for {settings.metric}"),
        metric=learner.metric,
        n=len(before),
        left_out=replay.left_out,
        before=float(before.mean()),
        after=float(held_out.mean()),
        gain=compare(held_out, before),
        fitted=float(learner.values(final).mean()),
        folds=tuple(_fold(replay, rows, before, held_out) for rows in groups),
        changes=changes(base, final),
        worth=worth(replay, final, learner.metric, compare),
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paired difference over the same questions; `corpora`, the corpus of each, widens it to hold for other corpora.

    Questions of one corpus are not independent, so whole corpora are resampled; as a few corpora may agree by chance, the bounds
    are never narrower than those over single questions.
    """

    how: Bootstrap = DEFAULT
    corpora: Sequence[str] | None = None

    def __call__(self, after: ArrayLike, before: ArrayLike) -> Interval:
        single = paired_difference(after, before, how=self.how)
        if self.corpora is None:
            return single
        whole = paired_difference(after, before, groups=self.corpora, how=self.how)
        return Interval(single.mean, min(single.low, whole.low), max(single.high, whole.high))


class _Learner:
    """Fits the recipe's knobs to any part of the questions."""

    def __init__(self, replay: Replay, base: Recipe, settings: TuneSettings) -> None:
        self.metric = metric(settings.metric)
        self._replay = replay
        self._base = base
        self._settings = settings
        self._knobs = knobs_of(base)
        self._total = (settings.folds + 1) * settings.effort.evaluations

    def values(self, recipe: Recipe) -> NDArray[np.float64]:
        return self._replay.values(recipe, self.metric)

    def learn(self, rows: Rows, what: str, number: int) -> Recipe:
        evaluations = self._settings.effort.evaluations
        done = number * evaluations

        def objective(setting: Setting) -> float:
            nonlocal done
            done = min(done + 1, (number + 1) * evaluations)
            if self._settings.progress is not None:
                self._settings.progress(done, self._total, what)
            return float(self.values(apply(self._base, setting))[rows].mean())

        found = apply(self._base, search(objective, self._knobs, self._settings.effort))
        ranked = learned(self._replay, found, rows)
        return max(found, ranked, key=lambda recipe: float(self.values(recipe)[rows].mean()))


def folds_of(corpora: Sequence[str], settings: TuneSettings) -> list[Rows]:
    """Rows of each fold; a corpus is never torn apart when splitting by corpus, and folds are about equally large."""
    rng = Random(settings.effort.seed)
    groups: dict[str, list[int]] = {}
    for row, corpus in enumerate(corpora):
        groups.setdefault(corpus, []).append(row)
    by_corpus = splits_by_corpus(corpora, settings)
    if by_corpus and len(groups) < 2:
        message = "there is only one corpus, so it cannot be split by corpus; split by question"
        raise InvalidInput(message, code="one_corpus")
    units = list(groups.values()) if by_corpus else [[row] for row in range(len(corpora))]
    rng.shuffle(units)
    units.sort(key=len, reverse=True)
    folds: list[list[int]] = [[] for _ in range(min(settings.folds, len(units)))]
    for unit in units:
        min(folds, key=len).extend(unit)
    return [np.array(sorted(fold), dtype=np.intp) for fold in folds]


def splits_by_corpus(corpora: Sequence[str], settings: TuneSettings) -> bool:
    """Whether whole corpora are held out: as requested, or because there are enough of them."""
    return settings.split == "corpus" or (settings.split == "auto" and len(set(corpora)) >= 3)


def _fold(replay: Replay, rows: Rows, before: NDArray[np.float64], after: NDArray[np.float64]) -> Fold:
    corpora = dict.fromkeys(replay.questions[row].corpus_id for row in rows)
    return Fold(tuple(corpora), len(rows), float(before[rows].mean()), float(after[rows].mean()))


def changes(base: Recipe, tuned: Recipe) -> dict[str, tuple[Any, Any]]:
    """Every knob that moved: its old and its new value."""
    old, new = _values(knobs_of(base)), _values(knobs_of(tuned))
    return {name: (old.get(name), value) for name, value in new.items() if old.get(name) != value}


def _values(knobs: Sequence[Knob]) -> dict[str, Any]:
    return {knob.name: knob.start for knob in knobs}


def worth(replay: Replay, recipe: Recipe, by: Metric, compare: Comparison) -> tuple[Worth, ...]:
    """The value of each weight: the recipe compared with itself with that leg at weight 0, or without that signal."""
    full = replay.values(recipe, by)
    found = []
    for part, without in _without_each(recipe):
        values = replay.values(without, by)
        found.append(Worth(part, float(values.mean()), compare(full, values)))
    return tuple(found)


def _without_each(recipe: Recipe) -> list[tuple[str, Recipe]]:
    legs = [leg.name for leg in recipe.legs if leg.weight != 0] if len(recipe.legs) > 1 else []
    signals = [term.signal.name for term in recipe.signals if term.how != "add" or term.weight != 0]
    return [
        *((f"legs.{name}", recipe.with_(legs={name: {"weight": 0.0}})) for name in legs),
        *((f"signals.{name}", recipe.with_(signals={name: False})) for name in signals),
    ]


def write_recipe(path: Path, tuned: Tuned) -> bool:
    """Write the learned recipe as TOML if it was accepted."""
    if not tuned.accepted:
        return False
    path.write_text(f"# {tuned.verdict}\n\n{dumps(tuned.recipe)}", encoding="utf-8")
    return True
