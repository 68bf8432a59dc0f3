"""What requests may ask: one model a verb, checked before the engine sees it; a misspelt field is an error.

Fields named in a route's path come from the path; the others from the query string of GET and DELETE, else from the JSON body.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from thinkback.apps.http.strict_json import strict_json
from thinkback.apps.validation import TEXT_LIMIT
from thinkback.model import KINDS, PRIORITIES, TIERS

MOST_AT_ONCE = 1000
MOST_HITS = 1000
_INT64 = 1 << 63

Word = Annotated[str, Field(max_length=500)]
Words = Annotated[list[Word], Field(max_length=100)]
Time = Annotated[
    str,
    Field(
        max_length=80, description="An ISO 8601 time; without an offset it is UTC.", examples=["2026-05-08T13:56:00Z"]
    ),
]
Whole = Annotated[int, Field(ge=-_INT64, lt=_INT64)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Numbers = Annotated[list[float], Field(min_length=1, max_length=8192)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
Query = Annotated[str, Field(max_length=10_000, description="What to look for.")]


class Asked(BaseModel):
    """The root of everything that can be asked."""

    model_config = ConfigDict(extra="forbid")

    def given(self, *without: str) -> dict[str, Any]:
        """Only what the caller wrote, as keyword arguments for the engine."""
        return self.model_dump(exclude_unset=True, exclude=set(without))


class Nothing(Asked):
    """No questions."""


class Where(Asked):
    """What may be found at all."""

    tags: Words | None = Field(None, description="Only memories that carry all of these.")
    kinds: Words | None = Field(None, description=f"Only of these kinds: {', '.join(KINDS)}.")
    tiers: Words | None = Field(None, description=f"Only of these tiers: {', '.join(TIERS)}.")
    priorities: Words | None = Field(None, description=f"Only of these priorities: {', '.join(PRIORITIES)}.")
    threads: Words | None = Field(None, description="Only of these threads.")
    sources: Words | None = Field(None, description="Only from these sources.")
    metadata: dict[str, Any] | None = Field(None, description="Only with these values in their metadata.")
    since: Time | None = Field(None, description="Only dated at or after this time.")
    until: Time | None = Field(None, description="Only dated before this time.")
    as_of: Time | None = Field(None, description="What was true at this time.")
    known_at: Time | None = Field(None, description="What the store knew at this time.")
    min_trust: Fraction | None = Field(None, description="Only from sources trusted at least this much.")
    everything: bool = Field(False, description="Also what is expired, closed or archived.")
    include_reflections: bool = Field(True, description="Also reflections.")

    @field_validator("metadata", mode="before")
    @classmethod
    def _from_query_string(cls, value: object) -> object:
        """In a query string the object is written as JSON."""
        if not isinstance(value, str):
            return value
        try:
            return strict_json(value)
        except ValueError:
            raise ValueError("must be a JSON object") from None


class Recall(Where):
    """A search."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=MOST_HITS)] | None = Field(None, description="How many hits at most.")
    recipe: Word | None = Field(None, description="A named recipe; the server's own if left out.")
    max_tokens: Annotated[int, Field(ge=0, le=10_000_000)] | None = Field(
        None, description="About how many tokens of text at most."
    )
    reflection_boost: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="A factor for reflections."
    )
    now: Time | None = Field(None, description="The moment the search looks back from.")
    vector: Numbers | None = Field(None, description="The query's own embedding.")
    cycle: Whole | None = Field(None, description="The present cycle, for recency by cycles.")
    counted: bool = Field(True, description="Whether the hits count as used; for a mere look they need not.")
    trace: bool = Field(False, description="Also everything that happened in the search.")


class WhyNot(Recall):
    """A search, and the memory that is missed among its hits."""

    id: Word


class Keywords(Where):
    """A search by words alone, with its whole syntax."""

    query: Query
    limit: int = Field(10, ge=1, le=MOST_HITS)
    trace: bool = Field(False, description="Also everything that happened in the search.")


class List(Where):
    """A page of memories, newest first."""

    limit: int = Field(100, ge=1, le=1000)
    after: Word | None = Field(None, description="The last id of the page before.")


class Reflections(Asked):
    """A page of reflections, newest first."""

    limit: int = Field(100, ge=1, le=1000)
    after: Word | None = Field(None, description="The last id of the page before.")


class One(Asked):
    """One memory."""

    id: Word
    known_at: Time | None = Field(None, description="As the store knew it at this time.")


class History(Asked):
    """Every version of one memory."""

    id: Word


class Neighbours(Asked):
    """A memory's strongest links."""

    id: Word
    limit: int = Field(10, ge=1, le=1000)


class Graph(Asked):
    """The graph around a memory."""

    id: Word
    depth: int = Field(2, ge=1, le=3)
    limit_each: int = Field(10, ge=1, le=50, description="How many links of each memory are followed.")
    limit: int = Field(200, ge=1, le=1000, description="How many memories at most.")


class Thread(Asked):
    """The timeline of a thread, in order."""

    thread: Text = Field(max_length=500)
    limit: int = Field(1000, ge=1, le=10_000)
    everything: bool = Field(True, description="Also what is expired, closed or archived.")


class Fields(Asked):
    """A memory to be stored."""

    text: Text
    id: Word | None = None
    essence: Annotated[str, Field(max_length=TEXT_LIMIT)] | None = None
    kind: Word | None = None
    tier: Word | None = None
    priority: Word | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    tags: Words | None = None
    metadata: dict[str, Any] | None = None
    thread: Word | None = None
    position: Whole | None = None
    created_at: Time | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None
    cycle: Whole | None = None
    source: Word | None = None
    trust: Fraction | None = None
    vector: Numbers | None = Field(None, description="The text's own embedding.")


class Batch(Asked):
    """Memories to be stored together, all or none."""

    memories: Annotated[list[Fields], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Changes(Asked):
    """What is to be different about a memory; null empties a field that may be empty."""

    id: Word
    text: str = Field(default_factory=str, max_length=TEXT_LIMIT)
    essence: Annotated[str, Field(max_length=TEXT_LIMIT)] | None = None
    kind: Word = Field(default_factory=str)
    tier: Word = Field(default_factory=str)
    priority: Word = Field(default_factory=str)
    importance: Fraction | None = None
    confidence: Fraction = Field(default_factory=float)
    tags: Words = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    thread: Word | None = None
    position: Whole | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None
    archived_at: Time | None = None
    cycle: Whole | None = None
    source: Word | None = None
    trust: Fraction = Field(default_factory=float)


class Ids(Asked):
    """Memories to be forgotten."""

    ids: Annotated[list[Word], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Link(Asked):
    """A link to be made."""

    from_id: Word
    to_id: Word
    kind: Annotated[str, Field(min_length=1, max_length=100)] = "related"
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    valid_from: Time | None = None
    valid_to: Time | None = None


class Unlink(Asked):
    """Links to be removed."""

    from_id: Word
    to_id: Word
    kind: Word | None = None


class Judgement(Asked):
    """Whether a memory was an answer: 0 for no, 1 to 3 for ever better."""

    query: Annotated[str, Field(min_length=1, max_length=10_000)]
    id: Word
    grade: int = Field(1, ge=0, le=3)


class Space(Asked):
    """A space."""

    name: Word


class Import(Asked):
    """How an import is read; its body is JSON, one object a line."""

    skip_bad: bool = Field(False, description="Pass over lines that cannot be read instead of stopping.")


class File(Asked):
    """A file of the page."""

    file: Word


class Themes(Asked):
    """A search among reflections alone."""

    query: Query
    limit: int = Field(10, ge=1, le=MOST_HITS)
    recency: Fraction = Field(0.0, description="How much freshness counts: 0 not at all, 0.1 a little.")
    trace: bool = Field(False, description="Also everything that happened in the search.")


class Reflect(Asked):
    """Whether to consolidate, or only to say what would be done."""

    dry_run: bool = False


class Tidy(Asked):
    """Whether to tidy, or only to say what would be done."""

    dry_run: bool = True


class Undo(Asked):
    """What to take back."""

    batch: Word | None = Field(None, description="As the answer of reflect or tidy names it; the last one if left out.")


class Contest(Asked):
    """A newer memory that contradicts an older one."""

    new_id: Word
    old_id: Word
    close: bool = Field(False, description="Whether the older one stops being true.")


class Redact(Asked):
    """Memories to take likely secrets out of; all, if none is named."""

    ids: Annotated[list[Word], Field(max_length=MOST_AT_ONCE)] = []
