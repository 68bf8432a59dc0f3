"""A small, seeded search for the best setting of a few knobs: look around at random, then step along one knob at a time.

No gradient is needed and none exists: a metric of ranks is a staircase. The same seed gives the same answer.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from thinkback.evaluate.knobs import Knob, Setting, starts

Objective = Callable[[Setting], float]
STEPS = (0.25, 0.12, 0.06, 0.03)


@dataclass(frozen=True, slots=True)
class Effort:
    """At most `evaluations` settings are tried; a knob goes back to its start unless it earns more than `worth_it`."""

    evaluations: int = 300
    worth_it: float = 0.0005
    seed: int = 0


def search(objective: Objective, knobs: Sequence[Knob], effort: Effort) -> Setting:
    """The best setting found; knobs that earn nothing keep their start, so that what changed is what matters."""
    tried = _Tried(objective, effort.evaluations)
    rng = Random(effort.seed)
    numbers = [knob for knob in knobs if not knob.choices]
    kept, free = _look_around(tried, knobs, starts(knobs), rng)
    kept = _climbed(tried, numbers, numbers, kept, rng)
    free = _climbed(tried, knobs, numbers, max(free, kept, key=tried), rng)
    return _simplify(tried, knobs, max(kept, free, key=tried), effort.worth_it)


class _Tried:
    """The objective, each setting computed once, until the budget is spent; then everything else is worth nothing."""

    def __init__(self, objective: Objective, budget: int) -> None:
        self._objective = objective
        self.left = budget
        self._values: dict[str, float] = {}

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def __call__(self, setting: Setting) -> float:
        key = json.dumps([[*path, value] for path, value in setting.items()], sort_keys=True)
        if key not in self._values:
            if self.spent:
                return float("-inf")
            self.left -= 1
            self._values[key] = self._objective(setting)
        return self._values[key]


def _look_around(tried: _Tried, knobs: Sequence[Knob], begin: Setting, rng: Random) -> tuple[Setting, Setting]:
    """A third of the budget on settings that differ in about half of the knobs from the best so far.

    Returns the best that keeps every choice as it was, and the best of all. Numbers settle only around a choice, so a
    lucky choice must not keep the first one from being tried in earnest.
    """
    best = kept = begin
    tried(begin)
    chosen = [knob for knob in knobs if knob.choices]
    for turn in range(tried.left // 3):
        origin = best if turn % 2 else kept
        candidate = {knob.path: knob.random(rng) if rng.random() < 0.5 else origin[knob.path] for knob in knobs}
        if turn % 2 == 0:
            candidate |= {knob.path: knob.start for knob in chosen}
            kept = max(kept, candidate, key=tried)
        best = max(best, candidate, key=tried)
    return kept, best


def _climbed(tried: _Tried, first: Sequence[Knob], later: Sequence[Knob], setting: Setting, rng: Random) -> Setting:
    """Ever smaller steps; choices, of which there may be many, are tried with the largest only."""
    setting = _climb(tried, first, setting, STEPS[0], rng)
    for step in STEPS[1:]:
        setting = _climb(tried, later, setting, step, rng)
    return setting


def _climb(tried: _Tried, knobs: Sequence[Knob], best: Setting, step: float, rng: Random) -> Setting:
    """Sweeps over the knobs in random order, taking every step that helps, until a sweep brings nothing."""
    improved = True
    while improved and not tried.spent:
        improved = False
        for knob in rng.sample(list(knobs), len(knobs)):
            for value in knob.near(best[knob.path], step):
                candidate = _with(best, knob, value)
                if tried(candidate) > tried(best):
                    best, improved = candidate, True
    return best


def _simplify(tried: _Tried, knobs: Sequence[Knob], best: Setting, worth_it: float) -> Setting:
    """Puts back to its start whatever does not pay for itself, the least useful first."""
    tried.left = max(tried.left, len(knobs) ** 2)
    changed = [knob for knob in knobs if best[knob.path] != knob.start]
    while changed:
        cost = {knob.path: tried(best) - tried(_with(best, knob, knob.start)) for knob in changed}
        least = min(changed, key=lambda knob: cost[knob.path])
        if cost[least.path] > worth_it:
            break
        best = _with(best, least, least.start)
        changed.remove(least)
    return best


def _with(setting: Setting, knob: Knob, value: Any) -> Setting:
    return {**setting, knob.path: value}
