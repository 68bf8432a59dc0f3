"""The parameters of every route: one model each, checked before the engine sees them; an unknown field is an error.

Fields named in a route's path come from the path; the others from the query string of GET and DELETE, else from the JSON body.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator, model_validator

from thinkback import fields
from thinkback.apps.validation import TEXT_LIMIT, strict_json

MAX_BATCH = 1000
_INT64 = 1 << 63

Word = Annotated[str, Field(max_length=500)]
Words = Annotated[list[Word], Field(max_length=100)]
Time = Annotated[
    str, Field(max_length=80, description="An ISO 8601 time, UTC without an offset.", examples=["2026-05-08T13:56:00Z"])
]
Whole = Annotated[int, Field(ge=-_INT64, lt=_INT64)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Numbers = Annotated[list[float], Field(min_length=1, max_length=8192)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
Query = Annotated[str, Field(max_length=10_000, description="The search query.")]
Limit = Annotated[int, Field(ge=1, le=1000, description="Maximum number of results.")]
Traced = Annotated[bool, Field(description="Include the trace of the search.")]
Everything = Annotated[bool, Field(description="Include memories that are expired, no longer valid or archived.")]
DryRun = Annotated[bool, Field(description="Report what would be done without doing it.")]


Overrides = Annotated[dict[Word, Any], Field(max_length=100)]


class Parameters(BaseModel):
    """The base of all parameters."""

    model_config = ConfigDict(extra="forbid")

    def given(self, *without: str) -> dict[str, Any]:
        """The fields the caller gave, as keyword arguments for the engine."""
        return self.model_dump(exclude_unset=True, exclude=set(without))


class Nothing(Parameters):
    """No parameters."""


_TYPES: dict[str, Any] = {
    "text": Annotated[str, Field(max_length=TEXT_LIMIT)],
    "fraction": Fraction,
    "integer": Whole,
    "time": Time,
    "tags": Words,
    "kinds": Words,
    "tiers": Words,
    "priorities": Words,
    "names": Words,
    "object": dict[str, Any],
    "where": dict[str, Any],
    "flag": bool,
}  # all other types are short texts


def filters_model(filters: Iterable[fields.FilterField]) -> type[Parameters]:
    """A model of these filters, all optional."""
    return _model("Filters", filters, lambda field: field.default is None)


def fields_model(rows: Iterable[fields.Field]) -> type[Parameters]:
    """A model of fields to be stored, all optional; null means the default."""
    return _model("Fields", rows, lambda field: True)


def changes_model(rows: Iterable[fields.Field]) -> type[Parameters]:
    """A model of fields to be changed, all optional; null empties a field that may be empty."""
    return _model("Changes", rows, lambda field: field.clearable)


def _model(name: str, rows: Iterable[Any], nullable: Callable[[Any], bool]) -> type[Parameters]:
    made: dict[str, Any] = {}
    for row in rows:
        type = _TYPES.get(row.type, Word)
        if nullable(row):
            made[row.name] = (type | None, Field(None, description=row.help))
        elif row.type == "flag":
            made[row.name] = (type, Field(row.default, description=row.help))
        else:  # no default that would show in the schema: what is left out is left alone
            made[row.name] = (type, Field(default_factory=lambda: None, description=row.help))
    return create_model(name, __base__=Parameters, **made)


class Where(filters_model(fields.FILTERS)):  # type: ignore[misc]
    """A filter."""

    @model_validator(mode="before")
    @classmethod
    def _singular(cls, given: Any) -> Any:
        """`thread` is `threads` of one."""
        if not isinstance(given, dict):
            return given
        full = {row.alias: row.name for row in fields.FILTERS if row.alias in given and row.name not in given}
        return {full.get(name, name): [value] if name in full else value for name, value in given.items()}

    @field_validator("metadata", "where", mode="before")
    @classmethod
    def _from_query_string(cls, value: object) -> object:
        """In a query string an object is written as JSON."""
        if not isinstance(value, str):
            return value
        try:
            return strict_json(value)
        except ValueError:
            raise ValueError("must be a JSON object") from None


class Recall(Where):
    """A search."""

    query: Query
    limit: Limit | None = Field(None, description="Maximum number of hits (default: the recipe's).")
    recipe: Word | None = Field(None, description="A named recipe (default: the server's).")
    max_tokens: int | None = Field(
        None, ge=0, le=10_000_000, description="Approximate maximum number of tokens of text."
    )
    min_relevance: Fraction | None = Field(
        None, description="Leave out hits that answer with less than this probability."
    )
    reflection_boost: float | None = Field(None, ge=0, le=1000, description="A factor for the score of reflections.")
    now: Time | None = Field(None, description="The time of the search (default: now).")
    vector: Numbers | None = Field(None, description="The embedding of the query, instead of the embedder's.")
    cycle: Whole | None = Field(None, description="The current cycle, for recency by cycles.")
    overrides: Overrides | None = Field(None, description="Changes to the recipe by path: signals.recency.weight.")
    counted: bool = Field(True, description="Count the hits as used, which later rankings may consider.")
    trace: Traced = False


class WhyNot(Recall):
    """A search, and a memory that is missing from its hits."""

    id: Word


class Keywords(Where):
    """A keyword search."""

    query: Query
    limit: Limit = 10
    trace: Traced = False


class Page(Parameters):
    """A page of results."""

    limit: Limit = 100
    after: Word | None = Field(None, description="The last id of the previous page.")


class List(Page, Where):
    """A page of memories that pass a filter."""


class One(Parameters):
    """One memory."""

    id: Word
    known_at: Time | None = Field(None, description="The version the store knew at this time.")


class Id(Parameters):
    """One memory by its id."""

    id: Word


class Neighbours(Parameters):
    """The strongest links of a memory."""

    id: Word
    limit: Limit = 10


class Graph(Parameters):
    """The graph around a memory."""

    id: Word
    depth: int = Field(2, ge=1, le=3)
    limit_each: int = Field(10, ge=1, le=50, description="Maximum number of links followed from each memory.")
    limit: int = Field(200, ge=1, le=1000, description="Maximum number of memories.")


class Thread(Parameters):
    """A thread."""

    thread: Text = Field(max_length=500)
    limit: int = Field(1000, ge=1, le=10_000)
    everything: Everything = True


class Fields(fields_model(field for field in fields.REMEMBERED if field.name != "text")):  # type: ignore[misc]
    """A memory to store."""

    text: Text
    vector: Numbers | None = Field(None, description="The embedding of the text, instead of the embedder's.")


class Batch(Parameters):
    """Memories to store together, all or none."""

    memories: Annotated[list[Fields], Field(min_length=1, max_length=MAX_BATCH)]


class Changes(changes_model(fields.CHANGEABLE)):  # type: ignore[misc]
    """The fields of a memory to change; null clears a field that may be empty."""

    id: Word


class Ids(Parameters):
    """Several memories by their ids."""

    ids: Annotated[list[Word], Field(min_length=1, max_length=MAX_BATCH)]


class Forget(Parameters):
    """Memories to forget: by their ids, and all that a condition holds for."""

    ids: Annotated[list[Word], Field(max_length=MAX_BATCH)] = []
    where: dict[str, Any] | None = Field(None, description='A condition, such as {"thread": "chat-7"}.')
    dry_run: DryRun = False


class Link(Parameters):
    """A link to make."""

    from_id: Word
    to_id: Word
    kind: Annotated[str, Field(min_length=1, max_length=100)] = "related"
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    valid_from: Time | None = None
    valid_to: Time | None = None


class Unlink(Parameters):
    """Links to remove."""

    from_id: Word
    to_id: Word
    kind: Word | None = None


class Judgement(Parameters):
    """Whether a memory answers a query: 0 for no, 1 to 3 for how well."""

    query: Annotated[str, Field(min_length=1, max_length=10_000)]
    id: Word
    grade: int = Field(1, ge=0, le=3)


class Space(Parameters):
    """A space."""

    name: Word


class Import(Parameters):
    """An import; its body is JSON Lines."""

    skip_bad: bool = Field(False, description="Leave out bad lines instead of importing nothing.")


class File(Parameters):
    """A file of the inspector."""

    file: Word


class Themes(Parameters):
    """A search of reflections only."""

    query: Query
    limit: Limit = 10
    recency: Fraction | None = Field(None, description="Weight of recency (default: 0.1 with a cycle, else 0).")
    vector: Numbers | None = Field(None, description="The embedding of the query, instead of the embedder's.")
    cycle: Whole | None = Field(None, description="The current cycle, for recency by cycles.")
    trace: Traced = False


class Reflect(Parameters):
    """A consolidation."""

    dry_run: DryRun = False


class Tidy(Parameters):
    """A tidying."""

    dry_run: DryRun = True


class Undo(Parameters):
    """A batch to undo."""

    batch: Word | None = Field(None, description="The batch that reflect or tidy returned (default: the last).")


class Contest(Parameters):
    """A newer memory that contradicts an older one."""

    new_id: Word
    old_id: Word
    close: bool = Field(False, description="End the validity of the older one.")


class Redact(Parameters):
    """Memories to redact; all if none is named."""

    ids: Annotated[list[Word], Field(max_length=MAX_BATCH)] = []


class Batched(Parameters):
    """One batch of the journal."""

    batch: Word


class Formula(Parameters):
    """A recipe with changes."""

    recipe: Word | None = Field(None, description="A named recipe (default: the server's).")
    overrides: Overrides | None = Field(None, description="Changes to the recipe by path: signals.recency.weight.")


class NamedFormula(Formula):
    """A recipe with changes, and the name it gets."""

    name: Word | None = None


class TokenName(Parameters):
    """A token by its name."""

    name: Word


class NewToken(TokenName):
    """A token to make."""

    scopes: Annotated[list[Word], Field(min_length=1, max_length=4)]
    spaces: Words
