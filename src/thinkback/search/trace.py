"""The result of a search: hits, and the trace of how they were found."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, overload

from thinkback.errors import Notice
from thinkback.model import Drop, Hit, Ledger, Run, Timing
from thinkback.plain import brief
from thinkback.search.query.parse import Query
from thinkback.search.ranking import NEWEST
from thinkback.search.recipes.model import Recipe
from thinkback.search.relevance import Relevance
from thinkback.stores.base import StoreState
from thinkback.values import dataclass

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a memory is not among the hits; `legs` has its rank in each leg."""

    id: str
    verdict: str
    legs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.verdict, *self.legs])


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Everything that happened in one search."""

    query: Query
    recipe: Recipe
    state: StoreState
    embedder: str | None
    runs: tuple[Run, ...]
    ledger: Ledger
    order: tuple[str, ...]  # ids, best first, before selection
    drops: tuple[Drop, ...]
    skipped: tuple[tuple[str, str], ...]  # legs and signals that did not take part, and why
    reranked: int  # how many candidates the cross-encoder read
    timings: tuple[Timing, ...]
    relevance: Relevance = field(default_factory=Relevance)

    @property
    def backends_used(self) -> tuple[str, ...]:
        """Legs and signals that changed at least one score; `newest` where there was nothing to search by."""
        if any(run.leg == NEWEST for run in self.runs):
            return (NEWEST,)
        return tuple(dict.fromkeys(column.name for column in self.ledger.columns if column.deltas.any()))

    @property
    def fingerprint(self) -> str:
        """Equal for equal store, filter, embedder, recipe and parsed query, in any process.

        Then the ranking is equal too: the cross-encoder's scores and the parts that failed are included, because a model's name
        does not determine them.
        """
        query = self.query
        vector = b"" if query.vector is None else query.vector.tobytes()
        verdicts = b"".join(column.values.tobytes() for column in self.ledger.columns if column.step == "rerank")
        silent = [name for name, _ in self.skipped]
        facts = [
            str(self.state),
            query.text,
            repr(_stable(query)),
            str(self.embedder),
            self.recipe.fingerprint,
            repr(silent),
            *(str(run.index) for run in self.runs if run.index is not None),
        ]
        return hashlib.sha256("\x1f".join(facts).encode("utf-8", "surrogatepass") + vector + verdicts).hexdigest()[:16]


def _stable(query: Query) -> tuple[object, ...]:
    """The filter with its one unordered field put in order, and the time and tags that were understood."""
    filter, anchor = query.filter, query.anchor
    ids = None if filter.ids is None else sorted(filter.ids)
    rest = [getattr(filter, name) for name in filter.__slots__ if name != "ids"]
    time = None if anchor is None else (anchor.centre_us, anchor.tolerance_us, anchor.first_us, anchor.last_us)
    return (ids, rest, query.cycle, time, sorted(inferred.tag for inferred in query.tags))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hits(Sequence[Hit]):
    """The hits of one search, best first, with its trace and warnings."""

    hits: tuple[Hit, ...]
    trace: Trace
    warnings: tuple[Notice, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(hit.id for hit in self.hits)

    @property
    def relevance(self) -> float:
        """The probability, 0 to 1, that the memory holds an answer; also where a gate left out all hits."""
        return self.trace.relevance.probability

    @property
    def answered(self) -> bool:
        """Whether the memory likely holds an answer: its relevance reaches the default gate."""
        return self.trace.relevance.answered

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON carries it."""
        hits = [hit.to_dict() for hit in self.hits]
        told = {"query": self.trace.query.text, "relevance": self.relevance, "answered": self.answered}
        return {**told, "hits": hits, "warnings": [str(warning) for warning in self.warnings]}

    def to_pandas(self) -> "DataFrame":
        """One row a hit, with a column for what each leg and signal added; needs pandas."""
        from thinkback.search.present import data_frame

        return data_frame(self.hits)

    def __repr__(self) -> str:
        best = f", best {self.hits[0].score:.3f} {brief(self.hits[0].text)!r}" if self.hits else ""
        warned = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"{type(self).__name__}({brief(self.trace.query.text)!r}, {len(self.hits)} hits{best}{warned})"

    def _repr_html_(self) -> str:
        from thinkback.search.present import html

        return html(self.trace.query.text, self.hits)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recall(Hits):
    """The answer to a recall."""

    explain_absence: Callable[[str], WhyNot] | None = None

    def why_not(self, id: str) -> WhyNot:
        """Why a memory is absent, or at which rank it is present; reads the store."""
        for hit in self.hits:
            if hit.id == id:
                return WhyNot(id, f"it is hit number {hit.rank}")
        if self.explain_absence is None:
            return WhyNot(id, "this recall has no store to look in")
        return self.explain_absence(id)
