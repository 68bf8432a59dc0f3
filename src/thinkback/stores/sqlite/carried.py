"""What was counted at one state of a catalogue, carried to the next one by the rows that differ.

Counting again would read whole columns after every write. Columns are given as functions of a name, those of the older state and
of the newer one; `gone` are rows that died or changed, as they were, and `come` rows that were appended or changed, as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.stores.sqlite.threads import Line
from thinkback.values import dataclass

Rows = NDArray[np.intp]
Column = Callable[[str], NDArray[Any]]
NEVER = np.iinfo(np.int64).max
ENDING = "ending"


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """From one state to the next: the columns of both, and the rows that differ."""

    before: Mapping[str, NDArray[Any]]
    after: Mapping[str, NDArray[Any]]
    gone: Rows
    come: Rows


def counts(
    known: Mapping[str, Mapping[str, int]], numbered: Mapping[str, Sequence[str]], step: Step
) -> dict[str, dict[str, int]]:
    """How many living rows have each value, of those columns that were counted."""
    found = {}
    for column, before in known.items():
        names = numbered[column]
        less, more = (
            np.bincount(columns[column][rows], minlength=len(names)).tolist()
            for columns, rows in ((step.before, step.gone), (step.after, step.come))
        )
        left = {str(name): before.get(name, 0) + more[n] - less[n] for n, name in enumerate(names)}
        found[column] = ranked(left)
    return found


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """The most frequent first; those that are none are left out."""
    return {name: count for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if count}


def ending(known: Mapping[str, Rows], step: Step) -> dict[str, Rows]:
    """The living rows that are archived, or expire or stop being valid some day, if they were looked for."""
    if ENDING not in known:
        return {}
    left = np.setdiff1d(known[ENDING], step.gone, assume_unique=True)
    if not len(step.come):  # then no column is asked for
        return {ENDING: left}
    return {ENDING: distinct(np.concatenate([left, step.come[ends(step.after, step.come)]]))}


def distinct(rows: Rows) -> Rows:
    """Each row once, in order; `np.unique` would load NumPy's masked arrays for it."""
    in_order = np.sort(rows)
    found: Rows = in_order[np.diff(in_order, prepend=-1) > 0]
    return found


def lines(known: Mapping[int, Line | None], step: Step) -> dict[int, Line | None]:
    """The threads that were put in order, but for those of the rows that differ."""
    if not known:
        return {}
    touched = {*step.before["thread"][step.gone].tolist(), *step.after["thread"][step.come].tolist()}
    return {thread: line for thread, line in known.items() if thread not in touched}


def ends(columns: Mapping[str, NDArray[Any]], rows: Rows | slice) -> NDArray[np.bool_]:
    """Which of these rows are archived, or expire or stop being valid some day."""
    found: NDArray[np.bool_] = (
        (columns["expires_at"][rows] != NEVER) | (columns["valid_to"][rows] != NEVER) | columns["archived"][rows]
    )
    return found
