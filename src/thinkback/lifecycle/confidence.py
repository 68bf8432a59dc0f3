"""Confidence: how sure the store is of a memory, from 0 to 1.

It starts at .40 (imports .25, a caller may claim at most .70), grows by c + .1 · (1 − c) when a memory is corroborated, at most
once in 24 hours, and after one week of grace falls by .05 with every whole week since it was claimed, written or last heard
again, down to .05. It is always counted from the claim: it comes to the same however often and in whatever order it is brought
up to date, and what was said by somebody who is forgotten was never heard.
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
    """The corroborations that count: the first, and each that comes at least 24 hours after the one counted before it."""
    taken: list[int] = []
    for moment in sorted(moments):
        if not taken or moment - taken[-1] >= GROWS_EVERY:
            taken.append(moment)
    return taken


def weeks_lost(since: int, now: int) -> int:
    """Whole weeks that have passed after the week of grace."""
    return max(0, now - since - GRACE) // WEEK


def decayed(confidence: float, since: int, now: int) -> float:
    """The confidence after so long a silence."""
    if confidence <= FLOOR:
        return confidence
    return max(FLOOR, confidence - LOSS_A_WEEK * weeks_lost(since, now))


def current(claim: float, claimed_at: int, written_at: int, heard: Sequence[int], now: int) -> float:
    """The confidence now of what was claimed then and heard again at these moments; those before the claim are in it already.

    A new text breaks the silence as well, but confirms nothing.
    """
    growing = set(counted(moment for moment in heard if moment <= now))
    left, since = claim, claimed_at
    for moment in sorted({written_at, *heard}):
        if claimed_at <= moment <= now:
            left = decayed(left, since, moment)
            left = grown(left) if moment in growing else left
            since = moment
    return decayed(left, since, now)
