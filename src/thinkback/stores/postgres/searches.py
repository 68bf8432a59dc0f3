"""Searches as parts of one statement: each gives a SELECT of the same columns and reads the rows that come back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.session import Tx
from thinkback.values import dataclass

# What every part selects: id, score, a number or a moment, first and last character of a passage, exact vector.
Row = tuple[Any, Any, Any, Any, Any, Any]


class Search(Protocol):
    """One part of a statement."""

    def sql(self, params: Params) -> str:
        """The SELECT; its values are added to `params`."""
        ...

    def read(self, rows: list[Row]) -> Any:
        """The answer; None if the search needs more rows and must be asked again."""
        ...


@dataclass(frozen=True, slots=True)
class Ask:
    """What a call needs: its searches, and how their answers are joined."""

    searches: Sequence[Search]
    join: Callable[[list[Any]], Any] = lambda answers: answers[0]


def answered(tx: Tx, asks: Sequence[Ask]) -> list[Any]:
    """The answers of all; nearly always one statement."""
    parts = [(number, search) for number, ask in enumerate(asks) for search in ask.searches]
    found: list[list[Any]] = [[None] * len(ask.searches) for ask in asks]
    places = [place for ask in asks for place in range(len(ask.searches))]
    waiting = list(range(len(parts)))
    while waiting:
        params, rows = tx.params(), dict[int, list[Row]]()
        if len(waiting) == 1:
            rows[waiting[0]] = tx.rows(parts[waiting[0]][1].sql(params), params)
        else:
            sql = " UNION ALL ".join(f"SELECT {at}, x.* FROM ({parts[at][1].sql(params)}) x" for at in waiting)
            rows = {at: [] for at in waiting}
            for row in tx.rows(sql, params):
                rows[row[0]].append(row[1:])
        for at in waiting:
            found[parts[at][0]][places[at]] = parts[at][1].read(rows[at])
        waiting = [at for at in waiting if found[parts[at][0]][places[at]] is None]
    return [ask.join(answers) for ask, answers in zip(asks, found, strict=True)]
