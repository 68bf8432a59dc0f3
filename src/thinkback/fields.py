"""The table of a memory's fields and the table of filters: name, type and who may write it.

Row mapping, checks, JSON shapes, request models, command-line options and JSON Lines are made from these tables. Only the typed
attributes (`StoredRecord`, `Draft`, `Record` and the TypedDicts of `thinkback.inputs`) are written out, for type checkers; a test
compares them with the tables. Nothing heavy is imported here: `thinkback --help` needs it.
"""

from collections.abc import Iterable
from typing import Any, Literal, get_args

from thinkback.values import dataclass

Kind = Literal[
    "observation", "fact", "event", "preference", "task", "work", "context", "note", "procedure", "reflection"
]
Tier = Literal["procedural", "semantic", "episodic", "working", "unknown"]
Priority = Literal["P1", "P2", "P3", "P4"]

KINDS: tuple[Kind, ...] = get_args(Kind)
TIERS: tuple[Tier, ...] = get_args(Tier)
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
MOST_CONFIDENCE_CLAIMED = 0.70

Type = Literal[
    "text",  # any length
    "name",  # a short text: an id, a thread, a source
    "kind",
    "tier",
    "priority",
    "fraction",  # a number from 0 to 1
    "integer",  # 64 bits
    "count",  # an integer of 0 or more
    "time",  # integer microseconds inside, datetimes at the front door, ISO 8601 in JSON
    "tags",
    "object",  # a JSON object
    "flag",
]
FilterType = Literal["tags", "kinds", "tiers", "priorities", "names", "object", "where", "time", "fraction", "flag"]
Role = Literal[
    "identity",
    "versioned",  # what the memory says: an update leaves the older version behind for `known_at`
    "standing",  # how much it counts: changed in place
    "bookkeeping",  # kept by the store
]
# What may stand in a field or a filter of these types, and no other word.
VALUES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "tier": TIERS,
    "priority": PRIORITIES,
    "kinds": KINDS,
    "tiers": TIERS,
    "priorities": PRIORITIES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a memory."""

    name: str
    type: Type
    role: Role
    default: Any = None  # of a draft; None: absent, or filled in by the store
    required: bool = False  # no draft goes without it
    nullable: bool = False  # whether a stored memory may be without it
    remember: bool = False  # callers may give it to `remember`
    update: bool = False  # callers may give it to `update`
    draft: bool = True  # a draft may bring it; otherwise only the store sets it
    shown: bool = True  # callers see it; a hidden field is exported only where it is set
    exported: bool = True  # written to JSON Lines
    help: str = ""

    @property
    def clearable(self) -> bool:
        """Whether `update` takes None for it."""
        return self.update and self.nullable and self.default is None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """One filter of `recall`, `list` and `count`."""

    name: str
    type: FilterType
    alias: str = ""  # a second spelling, for one value
    default: Any = None
    help: str


def _said(name: str, type: Type, help: str, **more: Any) -> Field:
    """A versioned field; callers give it and change it, and most may be absent."""
    nullable = "default" not in more
    return Field(
        name=name,
        type=type,
        role="versioned",
        help=help,
        **{"nullable": nullable, "remember": True, "update": True} | more,
    )


def _standing(name: str, type: Type, help: str = "", **more: Any) -> Field:
    return Field(name=name, type=type, role="standing", help=help, **more)


def _kept(name: str, type: Type, help: str, **more: Any) -> Field:
    return Field(name=name, type=type, role="bookkeeping", help=help, **more)


_BOTH = {"remember": True, "update": True}

FIELDS: tuple[Field, ...] = (
    Field(name="id", type="name", role="identity", remember=True, help="An id of your own; made if left out."),
    _said("text", "text", "The text to remember.", required=True, nullable=False),
    _said("essence", "text", "A short form of the text, searched too."),
    _said("kind", "kind", f"One of {', '.join(KINDS)}.", default="observation"),
    _standing("tier", "tier", f"How long it lives: one of {', '.join(TIERS)}.", default="semantic", **_BOTH),
    _standing("priority", "priority", "P1, P2, P3 or P4; P1 is the highest.", default="P3", **_BOTH),
    _standing("importance", "fraction", "0 (trivial) to 1 (vital).", nullable=True, **_BOTH),
    _standing(
        "confidence",
        "fraction",
        f"0 to {MOST_CONFIDENCE_CLAIMED}; corroboration raises it.",
        default=0.40,
        nullable=True,
        **_BOTH,
    ),
    _standing("claim", "fraction", "What its confidence is counted from.", nullable=True),
    _standing("claimed_at", "time", "The time from which its confidence is counted.", nullable=True),
    _said("tags", "tags", "Words to group it by.", default=()),
    _said("metadata", "object", "Anything else, as a JSON object.", default={}),
    _said("thread", "name", "The conversation it belongs to; memories of a thread are linked in order."),
    _said("position", "integer", "Its place in the thread; the last if left out."),
    _kept("created_at", "time", "When it was said; now if left out.", remember=True),
    _kept("updated_at", "time", "When it was last changed."),
    _kept("recorded_at", "time", "When the store learned this version."),
    _kept("retired_at", "time", "When an update replaced this version.", nullable=True, draft=False),
    _said("valid_from", "time", "When it happened or began to be true."),
    _said("valid_to", "time", "When it stopped being true."),
    _standing(
        "about_from", "time", "When the time begins that its text tells of; read from the text.", nullable=True, **_BOTH
    ),
    _standing("about_to", "time", "When that time ends.", nullable=True, **_BOTH),
    _standing("expires_at", "time", "Hidden after this time; archived by tidy.", nullable=True, **_BOTH),
    _standing("archived_at", "time", "Hidden since this time.", nullable=True, update=True),
    _said("cycle", "integer", "The agent's cycle in which it was said, for recency by cycles."),
    _kept("access_count", "count", "How often it was recalled.", default=0),
    _kept("last_access", "time", "When it was last recalled.", nullable=True),
    _said("speaker", "name", "Who said it: a name, or user, assistant or tool."),
    _said("source", "name", "Where it comes from; it is never taken for a speaker."),
    _said("user", "name", "The user it belongs to."),
    _said("agent", "name", "The agent it belongs to."),
    _said("trust", "fraction", "How far the source is trusted, 0 to 1.", default=1.0),
    _kept("embedded", "flag", "Whether it has a vector.", default=False, draft=False, exported=False),
    # Whether `about_from` and `about_to` are the caller's, not read from the text.
    _standing("about_given", "flag", default=False, shown=False),
    # Whether `expires_at` is its tier's, not the caller's, and restarts with every recall.
    _standing("slides", "flag", default=False, shown=False),
)

FILTERS: tuple[FilterField, ...] = (
    FilterField(name="tags", type="tags", alias="tag", help="Only memories with all of these tags."),
    FilterField(name="kinds", type="kinds", alias="kind", help=f"Only memories of these kinds: {', '.join(KINDS)}."),
    FilterField(name="tiers", type="tiers", alias="tier", help=f"Only memories of these tiers: {', '.join(TIERS)}."),
    FilterField(
        name="priorities", type="priorities", alias="priority", help=f"Only these priorities: {', '.join(PRIORITIES)}."
    ),
    FilterField(name="threads", type="names", alias="thread", help="Only memories of these threads (conversations)."),
    FilterField(name="sources", type="names", alias="source", help="Only memories from these sources."),
    FilterField(name="users", type="names", alias="user", help="Only memories of these users."),
    FilterField(name="agents", type="names", alias="agent", help="Only memories of these agents."),
    FilterField(name="metadata", type="object", help="Only memories with these values in their metadata."),
    FilterField(
        name="where", type="where", help='Conditions joined by and, or and not, as JSON: {"metadata.n": {"gt": 6}}.'
    ),
    FilterField(name="since", type="time", help="Only memories dated at or after this time."),
    FilterField(name="until", type="time", help="Only memories dated before this time."),
    FilterField(name="as_of", type="time", help="Only what was valid at this time, instead of now."),
    FilterField(name="known_at", type="time", help="Only what the store knew at this time, before later corrections."),
    FilterField(name="min_trust", type="fraction", help="Only memories with at least this trust."),
    FilterField(
        name="everything",
        type="flag",
        default=False,
        help="Include memories that are expired, no longer valid or archived.",
    ),
    FilterField(name="include_reflections", type="flag", default=True, help="Include reflections."),
)


def names(fields: Iterable[Field | FilterField]) -> tuple[str, ...]:
    """The names of some rows, in the order of the table."""
    return tuple(field.name for field in fields)


VERSIONED = names(field for field in FIELDS if field.role == "versioned")
STANDING = names(field for field in FIELDS if field.role == "standing")
REMEMBERED = tuple(field for field in FIELDS if field.remember)
CHANGEABLE = tuple(field for field in FIELDS if field.update)
TIMES = frozenset(names(field for field in FIELDS if field.type == "time"))
