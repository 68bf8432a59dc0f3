"""Responses that are more than one shape of the wire."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from thinkback.apps.wire import EdgeShape, JudgementShape, MemoryShape, ProblemShape, RecipeShape
from thinkback.apps.wire_upkeep import BatchShape, EntryShape


class PageShape(TypedDict):
    """A page of memories; `next` is the `after` of the next page, null at the end."""

    memories: list[MemoryShape]
    next: str | None


class MemoriesShape(TypedDict):
    """Several memories."""

    memories: list[MemoryShape]


class WrittenManyShape(MemoriesShape):
    """Several memories that were stored, and what to know about them."""

    warnings: list[str]


class TimelineShape(TypedDict):
    """A thread's memories in order."""

    thread: str
    memories: list[MemoryShape]


class HistoryShape(TypedDict):
    """Every version of a memory, oldest first."""

    versions: list[MemoryShape]


class CountShape(TypedDict):
    """A count."""

    count: int


class EdgesShape(TypedDict):
    """Links, strongest first."""

    edges: list[EdgeShape]


class GraphShape(TypedDict):
    """The memories around one, nearest first, the links between them, and whether some were left out."""

    center: str
    nodes: list[MemoryShape]
    edges: list[EdgeShape]
    truncated: bool


class ReflectionShape(TypedDict):
    """A reflection and the memories it was made from."""

    memory: MemoryShape
    members: list[str]


class ReflectionsShape(TypedDict):
    """A page of reflections, and how many there are in all."""

    reflections: list[ReflectionShape]
    next: str | None
    total: int


class RemovedShape(TypedDict):
    """How many links were removed."""

    removed: int


class JudgementsShape(TypedDict):
    """Every judgement."""

    judgements: list[JudgementShape]


class ProblemsShape(TypedDict):
    """The problems a check found; none is good."""

    problems: list[ProblemShape]


class EmbeddedShape(TypedDict):
    """How many memories were embedded."""

    embedded: int


class TagsShape(TypedDict):
    """Every tag with the number of its memories, most used first."""

    tags: list["TagShape"]


class TagShape(TypedDict):
    """One tag."""

    tag: str
    count: int


class StatsShape(TypedDict):
    """Counts and sizes of a space."""

    space: str
    stats: dict[str, Any]


class RecipesShape(TypedDict):
    """The named recipes; `usual` is the default."""

    usual: str
    recipes: list[RecipeShape]


class SpacesShape(TypedDict):
    """The spaces this token reaches."""

    spaces: list[str]


class ImportedShape(TypedDict):
    """The result of an import."""

    imported: dict[str, Any]


class PoolShape(TypedDict):
    """Connections to a database: how many there are and may be, how many are free, and how many requests wait for one."""

    size: int
    max: int
    available: int
    waiting: int


class HealthShape(TypedDict):
    """Whether the server answers, and how its connections to a database are used."""

    status: str
    pool: NotRequired[PoolShape]


class WhoShape(TypedDict):
    """The scopes and spaces of a token."""

    name: str
    scopes: list[str]
    spaces: list[str]


class LoginCodeShape(TypedDict):
    """A code that logs a browser in once, within ten minutes."""

    code: str


class IdsShape(TypedDict):
    """The memories that were changed."""

    ids: list[str]


class JournalShape(TypedDict):
    """The batches of the journal, newest first."""

    batches: list[BatchShape]


class EntriesShape(TypedDict):
    """The actions of a batch."""

    entries: list[EntryShape]


class AskedShape(TypedDict):
    """A judged question and the rank of its first right answer, null if none was found."""

    query: str
    first: int | None


class BenchShape(TypedDict):
    """What a recipe is worth on the judged questions; each metric is a mean over them."""

    recipe: str
    metrics: dict[str, float]
    questions: list[AskedShape]


class TomlShape(TypedDict):
    """A recipe as TOML."""

    toml: str
