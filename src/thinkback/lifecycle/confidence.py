"""Confidence: how sure the store is of a memory, from 0 to 1.

It starts at .40 (imports .25; a caller may claim at most .70). A corroboration raises it to c + .1 · (1 − c), at most once in 24
hours. After one week of grace it falls by .05 with every whole week since the last claim, write or corroboration, down to .05.
It is always computed from the claim, so the result does not depend on how often or in which order it is updated, and forgetting
a corroborating memory removes its effect completely.
"""

from collections.abc import Iterable, Sequence

from thinkback.clock import DAY, WEEK

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


def counted(moments: Iterable[int]) -> list[int]:
    """The corroborations that count: the first, and each at least 24 hours after the last one that counted."""
    taken: list[int] = []
    for moment in sorted(moments):
        if not taken or moment - taken[-1] >= GROWS_EVERY:
            taken.append(moment)
    return taken


def weeks_lost(since: int, now: int) -> int:
    """Whole weeks after the week of grace."""
    return max(0, now - since - GRACE) // WEEK


def decayed(confidence: float, since: int, now: int) -> float:
    """The confidence after decay from `since` to `now`."""
    if confidence <= FLOOR:
        return confidence
    return max(FLOOR, confidence - LOSS_A_WEEK * weeks_lost(since, now))


def current(claim: float, claimed_at: int, written_at: int, heard: Sequence[int], now: int) -> float:
    """The confidence now, given the claim and the times of corroborations; those before the claim are part of it.

    A new text restarts the decay but confirms nothing.
    """
    growing = set(counted(moment for moment in heard if moment <= now))
    left, since = claim, claimed_at
    for moment in sorted({written_at, *heard}):
        if claimed_at <= moment <= now:
            left = decayed(left, since, moment)
            left = grown(left) if moment in growing else left
            since = moment
    return decayed(left, since, now)
