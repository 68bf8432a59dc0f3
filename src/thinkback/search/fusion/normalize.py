"""Ways to bring one run's scores to a common scale; rows are legs, NaN marks a candidate the leg has no score for.

`found` marks the hits of the run proper: they set the scale. Scores filled in for other legs' candidates are laid on it,
not below 0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats

Found = NDArray[np.bool_]


def min_max(scores: Floats, found: Found, all_equal: float = 1.0) -> Floats:
    """Best 1, worst 0; scores that are all equal, a lone one among them, give `all_equal`; absent gives 0."""
    low = np.where(found, scores, np.inf).min(axis=1, initial=np.inf, keepdims=True)
    high = np.where(found, scores, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):  # of equal scores, and of a leg without any
        scaled = (scores - low) / (high - low)
    above = np.where(scaled > 0, scaled, 0.0)  # absent scores are not
    return np.where((high == low) & (scores >= high), all_equal, above)


def distribution(scores: Floats, found: Found) -> Floats:
    """(score - (mean - 3σ)) / 6σ with the sample's σ (n - 1); all equal, or a single score, gives 0.5; absent gives 0."""
    scaled = np.zeros_like(scores)
    for leg, row in enumerate(scores):
        hits, filled = found[leg], ~found[leg] & ~np.isnan(row)
        if hits.any():
            scaled[leg, hits] = _distribution(row[hits], row[hits])
            scaled[leg, filled] = np.maximum(_distribution(row[filled], row[hits]), 0.0)
    return scaled


def raw(scores: Floats, found: Found) -> Floats:
    """The leg's own scores; absent gives 0."""
    return np.nan_to_num(scores, nan=0.0)


def _distribution(values: Floats, hits: Floats) -> Floats:
    if len(hits) < 2 or (hits == hits[0]).all():
        return np.full_like(values, 0.5)
    mean, sigma = hits.mean(), hits.std(ddof=1)
    low, high = mean - 3 * sigma, mean + 3 * sigma
    scaled: Floats = (values - low) / (high - low)
    return scaled


NORMALIZERS: dict[str, Callable[[Floats, Found], Floats]] = {
    "min-max": min_max,
    "distribution": distribution,
    "raw": raw,
}
