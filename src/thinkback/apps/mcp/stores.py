"""The stores that a request reaches: one, or that of a repository and the user's own beside it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from thinkback.errors import InvalidInput
from thinkback.lifecycle.forget import Forgotten
from thinkback.memory import Memory
from thinkback.model import Hit
from thinkback.search.selection import tokens
from thinkback.search.trace import Recall
from thinkback.values import dataclass

REPOSITORY, USER = "repository", "user"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found in all stores, best first: each hit with the name of its store, and how many had no room."""

    recalls: tuple[Recall, ...]
    hits: tuple[tuple[str, Hit], ...]
    left_out: int

    @classmethod
    def of(cls, recall: Recall) -> "Found":
        """What one store alone found."""
        return cls((recall,), tuple(("", hit) for hit in recall), _over_budget(recall))


@dataclass(frozen=True, slots=True)
class Stores:
    """The memories by the names of their stores; the first one is written to, all are searched. One alone has no name."""

    named: Mapping[str, Memory]

    @classmethod
    def of(cls, memory: Memory, beside: Memory | None) -> "Stores":
        """A memory, as that of a repository if the user's is beside it."""
        return cls({"": memory} if beside is None else {REPOSITORY: memory, USER: beside})

    @property
    def first(self) -> Memory:
        """The memory that is written to."""
        return next(iter(self.named.values()))

    def chosen(self, name: str | None) -> Memory:
        """The memory of that name; the first one if none is named."""
        if name is None:
            return self.first
        if name not in self.named:
            known = ", ".join(self.named) if len(self.named) > 1 else "this server has one store; leave it out"
            raise InvalidInput(f"there is no store {name[:80]!r}; {known}", code="unknown_store")
        return self.named[name]

    def search(self, ask: Callable[[Memory], Recall], limit: int, max_tokens: int = 0) -> Found:
        """Ask every store; the hits of several are joined by relevance, because scores of two stores cannot be compared."""
        recalls = {name: ask(memory) for name, memory in self.named.items()}
        if len(recalls) == 1:
            return Found.of(*recalls.values())
        hits = [(name, hit) for name, recall in recalls.items() for hit in recall]
        hits = sorted(hits, key=lambda one: -one[1].relevance)[:limit]
        kept: list[tuple[str, Hit]] = []
        left = max_tokens or None
        for name, hit in hits:
            cost = tokens(hit.text if hit.passage is None else hit.passage.text)
            if left is None or cost <= left:
                kept.append((name, replace(hit, rank=len(kept) + 1)))
                left = None if left is None else left - cost
        over = sum(map(_over_budget, recalls.values())) + len(hits) - len(kept)
        return Found(tuple(recalls.values()), tuple(kept), over)

    def holder(self, id: str) -> tuple[Memory, str]:
        """The memory that has an id, and the id written out; the first memory if none has it."""
        found = {
            whole: memory
            for memory in reversed(list(self.named.values()))
            for whole in memory.whole_ids([id])
            if memory.get_many([whole])
        }
        if len(found) > 1:
            raise InvalidInput(f"several memories end with {id!r}: {', '.join(sorted(found))}", code="ambiguous_id")
        return next(((memory, whole) for whole, memory in found.items()), (self.first, id))

    def forget(self, ids: Iterable[str], forget: Callable[[Memory, list[str]], Forgotten]) -> Forgotten:
        """Call a function with every memory and those of the ids that are its own; the results as one."""
        held = [self.holder(id) for id in ids]
        done = [forget(one, [id for memory, id in held if memory is one]) for one in self.named.values()]
        return Forgotten(
            ids=tuple(id for part in done for id in part.ids),
            reflections=tuple(id for part in done for id in part.reflections),
            rebuilt=tuple(id for part in done for id in part.rebuilt),
            dry_run=any(part.dry_run for part in done),
            tombstones=tuple(mark for part in done for mark in part.tombstones),
            warnings=tuple(dict.fromkeys(notice for part in done for notice in part.warnings)),
        )


def _over_budget(recall: Recall) -> int:
    return sum(drop.code == "budget" for drop in recall.trace.drops)
