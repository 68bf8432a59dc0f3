"""The values that travel through Thinkback: frozen, slotted, compared by content.

`StoredRecord`, `StoredEdge`, `StoredJudgement` and `StoredEntry` are what stores keep: their times are integer microseconds
since the epoch (UTC). `Record`, `Edge`, `Judgement` and `JournalEntry` are what `Memory` returns, with aware datetimes.
Scores are higher-is-better everywhere.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache
from typing import Any, Generic, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from thinkback.clock import from_us, iso
from thinkback.conditions import Condition, same_json
from thinkback.errors import Notice
from thinkback.fields import STANDING, TIMES, Kind, Priority, Tier
from thinkback.passages import Span
from thinkback.plain import brief, plain
from thinkback.values import copier, dataclass

DropCode = Literal[
    "duplicate", "reflection_share", "budget", "diversity", "relevance"
]  # why selection left a candidate out

REFLECTION: Kind = "reflection"  # a memory that a consolidation made of others

# Kinds of edges that the engine reads or writes itself; callers may use any other name.
RELATED = "related"  # what a caller linked without naming a kind
SEQUENCE = "next"  # between two memories that follow each other in a thread; derived, never stored
NEAREST = "nearest"  # from a memory to its nearest neighbour
CONSOLIDATED = "consolidated_from"  # from a reflection to each memory it was made from
CORROBORATES = "corroborates"  # from a memory to the older one that it repeats
CONTESTED = "contested_by"  # from an older memory to the newer one that contradicts it

T = TypeVar("T")
_TIMES = TIMES | {"judged_at", "at", "undone_at", "until"}  # `until`: decay in the journal
Vector = NDArray[np.float32]
Floats = NDArray[np.float64]
UNIT_TOLERANCE = 1e-6  # float32 rounding of a unit vector stays below; such vectors are kept bit for bit


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """The passages of a long text with their vectors, one row each."""

    spans: tuple[Span, ...]
    vectors: Vector


class _Kept:
    """Room for what a search reads from a record once (`search/once.py`, `search/traits.py`); no part of its value.

    `mentions` is what its text mentions (`mentions.py`), if the store knows.
    """

    __slots__ = ("kept", "mentions", "packed")
    kept: dict[Any, Any]
    mentions: int
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord(_Kept):
    """One version of a memory as the store keeps it."""

    id: str
    text: str
    essence: str | None = None
    kind: str = "observation"
    tier: str = "semantic"
    priority: str = "P3"
    importance: float | None = None
    confidence: float | None = 0.40
    claim: float | None = None  # the confidence that a caller claimed, or that it began with
    claimed_at: int | None = None  # since when corroboration and decay are counted from `claim`
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    thread: str | None = None
    position: int | None = None
    created_at: int = 0
    updated_at: int = 0
    recorded_at: int = 0  # when the store learned this version; `known_at` looks here
    retired_at: int | None = None  # when an update replaced this version
    valid_from: int | None = None
    valid_to: int | None = None
    about_from: int | None = None  # the time its text tells of: "last weekend"
    about_to: int | None = None
    expires_at: int | None = None
    archived_at: int | None = None
    cycle: int | None = None
    access_count: int = 0
    last_access: int | None = None
    speaker: str | None = None
    source: str | None = None
    user: str | None = None
    agent: str | None = None
    trust: float = 1.0
    embedded: bool = False
    about_given: bool = False  # the caller said what time it is about; nobody reads it from the text
    slides: bool = False  # `expires_at` is its tier's, not the caller's, and restarts with every recall

    @property
    def date(self) -> int:
        """When it happened: `valid_from`, else `created_at`."""
        return self.created_at if self.valid_from is None else self.valid_from


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was recalled, and when last."""

    count: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory to be written; the store fills in fields that are None."""

    text: str
    id: str | None = None
    essence: str | None = None
    kind: str = "observation"
    tier: str = "semantic"
    priority: str = "P3"
    importance: float | None = None
    confidence: float | None = 0.40
    claim: float | None = None
    claimed_at: int | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    thread: str | None = None
    position: int | None = None
    created_at: int | None = None
    updated_at: int | None = None
    recorded_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    about_from: int | None = None
    about_to: int | None = None
    expires_at: int | None = None
    archived_at: int | None = None
    cycle: int | None = None
    access_count: int = 0
    last_access: int | None = None
    speaker: str | None = None
    source: str | None = None
    user: str | None = None
    agent: str | None = None
    trust: float = 1.0
    about_given: bool = False
    slides: bool = False
    vector: Vector | None = None
    passages: Passages | None = None  # of a long text, in the same embedding space


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdge:
    """A directed link between two memories; thread order appears as edges of kind `next`."""

    from_id: str
    to_id: str
    kind: str = RELATED
    weight: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None
    created_at: int = 0

    def other(self, id: str) -> str:
        """The end that is not `id`."""
        return self.to_id if id == self.from_id else self.from_id


@dataclass(frozen=True, slots=True)
class StoredJudgement:
    """Whether a memory answers a query, as the store keeps it."""

    query: str
    memory_id: str
    grade: int  # 0 = not an answer; 1 to MAX_GRADE = an answer, higher is better
    judged_at: int


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One action of tidy, reflect or redact in the journal, with the values to undo it, as the store keeps it."""

    id: int
    action: str
    memory_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    at: int
    batch: str
    undone_at: int | None = None

    @property
    def named(self) -> frozenset[str]:
        """The strings in `before` and `after`, standing fields aside: among them the ids of other memories involved."""
        fields = [*self.before.items(), *self.after.items()]
        values = [value for name, value in fields if name not in STANDING]
        lists = [value if isinstance(value, list | tuple) else (value,) for value in values]
        return frozenset(item for items in lists for item in items if isinstance(item, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One memory as callers see it; times are aware datetimes in UTC."""

    id: str
    text: str
    essence: str | None
    kind: Kind
    tier: Tier
    priority: Priority
    importance: float | None
    confidence: float | None
    claim: float | None
    claimed_at: datetime | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    thread: str | None
    position: int | None
    created_at: datetime
    updated_at: datetime
    recorded_at: datetime
    retired_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    about_from: datetime | None
    about_to: datetime | None
    expires_at: datetime | None
    archived_at: datetime | None
    cycle: int | None
    access_count: int
    last_access: datetime | None
    speaker: str | None
    source: str | None
    user: str | None
    agent: str | None
    trust: float
    embedded: bool

    @classmethod
    def of(cls, stored: StoredRecord) -> Self:
        """The record of a stored version."""
        return _with_datetimes(cls, stored)

    @classmethod
    def of_many(cls, stored: Iterable[StoredRecord]) -> list[Self]:
        """The records of versions that were written together, which share times."""
        copied, known = _copier(cast(Hashable, cls)), _Datetimes()
        return [copied(one, known) for one in stored]

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON carries them; times in ISO 8601."""
        return dict(plain(self))

    def __repr__(self) -> str:
        tags = f", tags={[*self.tags]}" if self.tags else ""
        return f"Record({self.id!r}, {brief(self.text)!r}, {self.kind}{tags})"

    @property
    def date(self) -> datetime:
        """When it happened: `valid_from`, else `created_at`."""
        return self.created_at if self.valid_from is None else self.valid_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed link between two memories as callers see it; thread order appears as edges of kind `next`."""

    from_id: str
    to_id: str
    kind: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, stored: StoredEdge) -> Self:
        """The edge of a stored one."""
        return _with_datetimes(cls, stored)

    def other(self, id: str) -> str:
        """The end that is not `id`."""
        return self.to_id if id == self.from_id else self.from_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a memory answers a query, as callers see it."""

    query: str
    memory_id: str
    grade: int  # 0 = not an answer; 1 to MAX_GRADE = an answer, higher is better
    judged_at: datetime

    @classmethod
    def of(cls, stored: StoredJudgement) -> Self:
        """The judgement of a stored one."""
        return _with_datetimes(cls, stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One action of tidy, reflect or redact as callers see it, with the fields it changed before and after."""

    id: int
    action: str
    memory_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    at: datetime
    batch: str
    undone_at: datetime | None

    @classmethod
    def of(cls, stored: StoredEntry) -> Self:
        """The entry of a stored one."""
        changed = replace(stored, before=with_datetimes(stored.before), after=with_datetimes(stored.after))
        return _with_datetimes(cls, changed)


class _Datetimes(dict[int | None, datetime | None]):
    """The datetimes of moments, each made once, as most times of a memory are equal."""

    def __missing__(self, moment: int | None) -> datetime | None:
        made = self[moment] = None if moment is None else from_us(moment)
        return made


def _with_datetimes(cls: type[T], stored: object) -> T:
    """An instance of the public class."""
    made: T = _copier(cast(Hashable, cls))(stored, _Datetimes())
    return made


@cache
def _copier(cls: Hashable) -> Callable[[object, _Datetimes], Any]:
    """What makes an instance of a public class of what the store keeps."""
    made = cast(type[Any], cls)
    return copier(made, looked_up=_TIMES.intersection(made.__slots__))


def with_datetimes(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with those that are times as aware datetimes."""
    times = {name: from_us(fields[name]) for name in _TIMES.intersection(fields) if isinstance(fields[name], int)}
    return {**fields, **times}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The filter of a search; applied inside every leg, before its limit.

    `tags` must all be present. `since` and `until` bound the memory's date (until is exclusive). `as_of` asks what was true
    then, `known_at` what the store knew then. Expired, closed and archived memories are left out unless `everything`.
    """

    now: int
    ids: frozenset[str] | None = None
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    without_kinds: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    metadata: tuple[tuple[str, Any], ...] = ()
    where: Condition | None = None
    since: int | None = None
    until: int | None = None
    as_of: int | None = None
    known_at: int | None = None
    min_trust: float = 0.0
    everything: bool = False

    def only(self, ids: Sequence[str]) -> "Filter":
        """The same filter, narrowed to these memories."""
        wanted = frozenset(ids)
        return replace(self, ids=wanted if self.ids is None else self.ids & wanted)

    def rejects(self, record: StoredRecord) -> str | None:
        """Why this filter hides a record, or None; the same law every store applies in its own language."""
        return next(self._reasons(record), None)

    def _reasons(self, record: StoredRecord) -> Iterator[str]:
        if self.ids is not None and record.id not in self.ids:
            yield "not among the requested ids"
        yield from self._reasons_of_time(record)
        missing = [tag for tag in self.tags if tag not in record.tags]
        if missing:
            yield f"lacks the tag {', '.join(missing)}"
        if (self.kinds and record.kind not in self.kinds) or record.kind in self.without_kinds:
            yield f"is of kind {record.kind}"
        if self.tiers and record.tier not in self.tiers:
            yield f"is of tier {record.tier}"
        if self.priorities and record.priority not in self.priorities:
            yield f"has priority {record.priority}"
        if self.threads and record.thread not in self.threads:
            yield f"belongs to thread {record.thread}"
        if self.sources and record.source not in self.sources:
            yield f"comes from {record.source}"
        if self.users and record.user not in self.users:
            yield f"belongs to user {record.user}"
        if self.agents and record.agent not in self.agents:
            yield f"belongs to agent {record.agent}"
        if record.trust < self.min_trust:
            yield f"has trust {record.trust}"
        for key, value in self.metadata:
            if not same_json(record.metadata.get(key), value):
                yield f"has metadata {key}={record.metadata.get(key)!r}"
        if self.where is not None and not self.where.matches(record):
            yield f"does not match {self.where}"

    def _reasons_of_time(self, record: StoredRecord) -> Iterator[str]:
        if self.known_at is None and record.retired_at is not None:
            yield "was replaced by an update"
        if self.known_at is not None and not _spans(self.known_at, record.recorded_at, record.retired_at):
            yield f"was not known in this form at {iso(self.known_at)}"
        if self.since is not None and record.date < self.since:
            yield f"is dated {iso(record.date)}, before since"
        if self.until is not None and record.date >= self.until:
            yield f"is dated {iso(record.date)}, not before until"
        if self.as_of is not None and not _spans(self.as_of, record.date, record.valid_to):
            yield f"was not true at {iso(self.as_of)}"
        if not self.everything:
            yield from self._reasons_to_hide(record)

    def _reasons_to_hide(self, record: StoredRecord) -> Iterator[str]:
        if self.as_of is None and record.valid_to is not None and record.valid_to <= self.now:
            yield f"stopped being true at {iso(record.valid_to)}"
        if record.expires_at is not None and record.expires_at <= self.now:
            yield f"expired at {iso(record.expires_at)}"
        if record.archived_at is not None:
            yield f"was archived at {iso(record.archived_at)}"


def _spans(moment: int, start: int, end: int | None) -> bool:
    return start <= moment and (end is None or moment < end)


@dataclass(frozen=True, slots=True)
class KeywordTerm:
    """One thing looked for: a word, the beginning of words (`auto*`), or a phrase of single characters."""

    text: str
    prefix: bool = False
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """A parsed keyword query.

    `expression` is ready for FTS5's MATCH and empty in mode "empty". In expert mode `fallback` is the bare expression to use
    once if FTS5 rejects the expert one, and `terms` and `dropped` describe that fallback. `truncated` says that terms after
    the first 256 distinct ones were ignored. `exact` words are looked up as they are spelt, all others by their stems.
    """

    mode: Literal["bare", "expert", "empty"]
    terms: tuple[KeywordTerm, ...]
    dropped: tuple[str, ...]
    expression: str
    fallback: str | None = None
    truncated: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's id with its score in one leg, and the passage of a long text that has this score."""

    id: str
    score: float
    passage: Span | None = None


@dataclass(frozen=True, slots=True)
class ApproximateIndex:
    """An index that may miss some of the nearest; the same index always gives the same answer."""

    method: str
    name: str  # changes with what it holds
    recall: float  # against exact search, measured when it was built
    memories: int  # the others are searched exactly

    def __str__(self) -> str:
        return f"{self.method} {self.name} over {self.memories} memories, recall {self.recall:.3f} when it was built"


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one leg, best first, every id once; `skipped` is the reason if it did not run.

    `filled` holds the leg's scores for candidates that other legs found and this one, within its limit, did not. `warnings` say
    what the leg had to do otherwise than asked. `factor` is for the leg's weight in this search. `index` is what an approximate
    search used; None of an exact one.
    """

    leg: str
    hits: tuple[Scored, ...] = ()
    skipped: str | None = None
    filled: tuple[Scored, ...] = ()
    warnings: tuple[Notice, ...] = ()
    factor: float = 1.0
    index: ApproximateIndex | None = None


@dataclass(frozen=True, slots=True)
class Placing:
    """Where a memory stood in one leg's run; ranks count from 1."""

    leg: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one leg or signal to a score; a hit's contributions, added in order, are its score to the last bit."""

    step: str
    name: str
    delta: float
    value: float
    formula: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One input of a relevance; it adds weight · value to the log-odds that a hit answers."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One step's contribution to every candidate at once."""

    step: str
    name: str
    deltas: Floats
    values: Floats
    formula: str = ""

    def of(self, row: int) -> Contribution:
        """The contribution to one candidate."""
        return Contribution(self.step, self.name, float(self.deltas[row]), float(self.values[row]), self.formula)


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """Every contribution to every candidate, in order; the totals are their running sum and nothing else."""

    ids: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    totals: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, ids: Sequence[str], columns: Sequence[Column] = ()) -> "Ledger":
        """A ledger with these first entries."""
        totals = np.zeros(len(ids))
        for column in columns:
            totals += column.deltas
        return cls(tuple(ids), tuple(columns), totals)

    def post(self, column: Column) -> "Ledger":
        """A new ledger with one more column."""
        return Ledger(self.ids, (*self.columns, column), self.totals + column.deltas)

    def contributions(self, row: int) -> tuple[Contribution, ...]:
        """Everything that was added to one candidate."""
        return tuple(column.of(row) for column in self.columns)

    def order(self) -> NDArray[np.intp]:
        """Rows best first; ties keep first-seen order."""
        return np.argsort(-self.totals, kind="stable")


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that was ranked and then left out; `code` is for programs, `reason` for people."""

    id: str
    code: DropCode
    reason: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Passage:
    """The part of a long text that fits the query best: characters `start` to `end` of the memory's text."""

    start: int
    end: int
    text: str

    @classmethod
    def of(cls, span: Span, text: str) -> Self:
        """The passage of a text."""
        return cls(span.start, span.end, span.of(text))


@dataclass(frozen=True, slots=True, eq=False)
class Later(Generic[T]):
    """What a field of a hit is when somebody reads it, computed from the hit; many hits are read for their text alone."""

    compute: Callable[["Hit"], T]


class _Read:
    """A field of a hit that may be given as a `Later`; whoever reads the field gets the value itself."""

    def __init__(self, slot: Any) -> None:
        self._get, self._set = slot.__get__, slot.__set__

    def __get__(self, hit: "Hit | None", owner: type | None = None) -> Any:
        if hit is None:
            return self
        value = self._get(hit)
        if type(value) is Later:
            value = value.compute(hit)
            self._set(hit, value)
        return value

    def __set__(self, hit: "Hit", value: Any) -> None:
        self._set(hit, value)


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled memory; among the newest, which answer a query without words, none has a score: it is 0, of no contributions."""

    rank: int
    score: float
    stored: StoredRecord = field(repr=False)
    placings: tuple[Placing, ...]
    contributions: tuple[Contribution, ...]
    members: tuple[str, ...] = ()  # of a reflection: the memories it was made from
    relevance: float = 0.0  # the probability that it answers, 0 to 1; 0 where nothing was asked
    evidence: tuple[Evidence, ...] = ()  # what the relevance was computed from
    passage: Passage | None = None  # of a long text: the part that fits the query best
    supersedes: tuple[str, ...] = ()  # hits whose value it seems to replace; a guess, which `contest` makes a fact

    @property
    def id(self) -> str:
        return self.stored.id

    @property
    def text(self) -> str:
        """The text of the memory; of a theme, whose text is data, its sentence or its phrases."""
        return self.stored.essence if self.members and self.stored.essence else self.stored.text

    @property
    def shown(self) -> str:
        """What to show of it: of a long text the passage that fits the query best, else the text."""
        return self.text if self.passage is None else self.passage.text

    @property
    def record(self) -> Record:
        """The memory, with its times as datetimes."""
        return Record.of(self.stored)

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON carries it, in the shape of the HTTP API."""
        listed = ("placings", "contributions", "members", "evidence", "supersedes")
        parts = {name: plain(getattr(self, name)) for name in listed}
        return {
            "rank": self.rank,
            "score": self.score,
            "relevance": self.relevance,
            "memory": self.record.to_dict(),
            "passage": plain(self.passage),
            **parts,
        }

    def __repr__(self) -> str:
        return f"Hit({self.rank}, {self.score:.3f}, {self.id!r}, {brief(self.text)!r})"

    def why(self) -> str:
        """The contribution of each leg and signal, one per line, their sum, and the relevance with its evidence."""
        if not self.contributions:
            return "one of the newest memories; nothing was searched by, so it has no score"
        rows = [
            f"{c.delta:+.6f}  {c.step}:{c.name}{f'  ({c.formula})' if c.formula else ''}" for c in self.contributions
        ]
        places = ", ".join(f"{p.leg} #{p.rank} ({p.score:.4g})" for p in self.placings) or "no leg"
        where = [] if self.passage is None else [f"passage: characters {self.passage.start} to {self.passage.end}"]
        newer = [f"supersedes? {id}" for id in self.supersedes]
        return "\n".join([f"found by {places}", *where, *rows, f"={self.score:.6f}", *newer, *self._relevant()])

    def _relevant(self) -> list[str]:
        if not self.evidence:
            return []
        inputs = " ".join(f"{one.weight * one.value:+.2f} {one.name} {one.value:.3g}" for one in self.evidence)
        return [f"relevance {self.relevance:.2f}, log-odds {inputs}"]


for _name in ("placings", "contributions", "evidence"):
    setattr(Hit, _name, _Read(getattr(Hit, _name)))


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one step took."""

    step: str
    us: int
