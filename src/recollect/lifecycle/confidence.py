"""Confidence: how sure the store is of a memory, from 0 to 1.

It starts at .40 (imports .25, a caller may claim at most .70), grows by c + .1 · (1 − c) when a memory is corroborated, at most
once in 24 hours, and after one week of grace falls by .05 with every whole week since the store learned it or last heard it
again, down to .05.
"""

from collections.abc import Iterable

from recollect.clock import DAY, WEEK

START = 0.40
IMPORTED = 0.25
GAIN = 0.1
GROWS_EVERY = DAY
GRACE = WEEK
LOSS_A_WEEK = 0.05
FLOOR = 0.05


def grown(confidence: float) -> float:
    """The confidence after one corroboration."""
    return confidence + GAIN * (1.0 - confidence)


def ungrown(confidence: float) -> float:
    """The confidence before one corroboration: the inverse of `grown`, up to its rounding."""
    return max(FLOOR, round((confidence - GAIN) / (1.0 - GAIN), 12))


def counted(moments: Iterable[int]) -> list[int]:
    """The corroborations that count: the first, and each that comes at least 24 hours after the one counted before it."""
    taken: list[int] = []
    for moment in sorted(moments):
        if not taken or moment - taken[-1] >= GROWS_EVERY:
            taken.append(moment)
    return taken


def weeks_lost(since: int, now: int) -> int:
    """Whole weeks that have passed after the week of grace."""
    return max(0, now - since - GRACE) // WEEK


def decayed(confidence: float, since: int, done_until: int | None, now: int) -> float:
    """The confidence now, when the decay up to `done_until` is in it already; going in many steps or in one comes to the same."""
    due = weeks_lost(since, now) - (0 if done_until is None else weeks_lost(since, done_until))
    if due <= 0 or confidence <= FLOOR:
        return confidence
    return max(FLOOR, confidence - LOSS_A_WEEK * due)
