"""What some stores can do at less cost, and how it is done with any other.

Several reads at once, for a store that pays for every statement, and several writes, for one that pays for every commit.

A search is rehearsed first: it finds nothing, and what it looks for is noted. The store reads all of that together, and the search
itself finds its answers there.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, Protocol, cast

import numpy as np

from thinkback.model import Draft, Filter, KeywordQuery, KeywordTerm, Passages
from thinkback.stores.base import EmbeddingSpace, Records, Store
from thinkback.values import dataclass

NOTHING: Mapping[str, Any] = {
    "search_keywords": [],
    "search_vectors": [],
    "search_passages": [],
    "search_hnsw": ([], None),
    "recent": [],
    "dated": [],
    "about": [],
    "count": 0,
    "edges": {},
}  # what a rehearsal finds, by method


HeldPassages = Callable[[Sequence[str]], Mapping[str, Passages]]


class ReadsTogether(Protocol):
    """A store whose views can read the answers of several calls in one statement."""

    def rehearse(self, search: Callable[[Store], object]) -> bool:
        """Run a search that finds nothing, and read what it looked for; False if it looked for nothing new."""
        ...

    def gather(self, ids: Sequence[str], filter: Filter, steps: int) -> None:
        """Read what `get` and, for those that follow each other in a thread, `between` will be asked for, in one statement."""
        ...


class AddsUnlessFound(Protocol):
    """A store that can look for what new memories may repeat in the statement that writes them."""

    def add_unless_found(
        self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None, queries: Sequence[KeywordQuery]
    ) -> Records | None:
        """Add memories, unless a present one holds every term of one of these queries; None then, and nothing was written.

        Also None where that takes more than one round trip; then look first, and add in one transaction.
        """
        ...


class FindsAll(Protocol):
    """A store that can look words up without scoring what it finds, which costs little however frequent they are."""

    def holding_all(self, terms: Sequence[KeywordTerm], filter: Filter, limit: int) -> Sequence[str] | None:
        """The ids of all memories that hold every one of these words, perhaps of others too; None if they are more than that."""
        ...


class HoldsPassages(Protocol):
    """A store whose views hold passages in memory."""

    def held_passages(self) -> HeldPassages | None:
        """What reads passages of memories that the view found, some or all; it outlasts the view. None if none are held."""
        ...


class JoinsWrites(Protocol):
    """A store that can commit short writes of several threads together."""

    def joined(self) -> AbstractContextManager[None]:
        """A transaction of a few short writes."""
        ...


def joined(store: Store) -> AbstractContextManager[None]:
    """A transaction of a few short writes, committed together with those of other threads if the store can do that."""
    return cast(JoinsWrites, store).joined() if hasattr(store, "joined") else store.transaction()


def holding_all(store: Store, query: KeywordQuery, filter: Filter, limit: int) -> Sequence[str]:
    """The ids of memories that hold all words of a query: all of them, or the best if there are more than so many."""
    found = cast(FindsAll, store).holding_all(query.terms, filter, limit) if hasattr(store, "holding_all") else None
    return [hit.id for hit in store.search_keywords(query, filter, limit)] if found is None else found


def held_passages(store: Store) -> HeldPassages | None:
    """What reads passages from memory, if the store holds any."""
    return cast(HoldsPassages, store).held_passages() if hasattr(store, "held_passages") else None


def reads_together(store: Store) -> ReadsTogether | None:
    """The store if it is such a one."""
    return cast(ReadsTogether, store) if hasattr(store, "rehearse") else None  # a check of the protocol takes longer


def adds_unless_found(store: Store) -> AddsUnlessFound | None:
    """The store if it is such a one."""
    return cast(AddsUnlessFound, store) if hasattr(store, "add_unless_found") else None


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A read: the method of the store, and its arguments."""

    method: str
    given: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)

    def same(self, other: "Call") -> bool:
        """Whether both read the same; vectors are the same if they are one object."""
        return (
            self.method == other.method
            and self.named == other.named
            and len(self.given) == len(other.given)
            and all(map(_equal, self.given, other.given))
        )


def _equal(one: Any, other: Any) -> bool:
    return one is other or (not isinstance(one, np.ndarray) and not isinstance(other, np.ndarray) and one == other)
