"""Answers that are more than one of the shapes all apps share."""

from typing import Any

from typing_extensions import TypedDict

from thinkback.apps.wire import EdgeShape, JudgementShape, MemoryShape, ProblemShape, RecipeShape


class PageShape(TypedDict):
    """A page of memories; `next` continues behind it, null at the end."""

    memories: list[MemoryShape]
    next: str | None


class MemoriesShape(TypedDict):
    """Several memories."""

    memories: list[MemoryShape]


class TimelineShape(TypedDict):
    """A thread's memories in order."""

    thread: str
    memories: list[MemoryShape]


class HistoryShape(TypedDict):
    """Every version of a memory, oldest first."""

    versions: list[MemoryShape]


class CountShape(TypedDict):
    """How many."""

    count: int


class EdgesShape(TypedDict):
    """Links, strongest first."""

    edges: list[EdgeShape]


class GraphShape(TypedDict):
    """The memories around one, nearest first, the links among them, and whether there were more than could be shown."""

    center: str
    nodes: list[MemoryShape]
    edges: list[EdgeShape]
    truncated: bool


class ReflectionShape(TypedDict):
    """A reflection and the memories it was made from."""

    memory: MemoryShape
    members: list[str]


class ReflectionsShape(TypedDict):
    """A page of reflections."""

    reflections: list[ReflectionShape]
    next: str | None


class RemovedShape(TypedDict):
    """How many links there were."""

    removed: int


class JudgementsShape(TypedDict):
    """Every judgement."""

    judgements: list[JudgementShape]


class ProblemsShape(TypedDict):
    """What a check found; nothing is good."""

    problems: list[ProblemShape]


class EmbeddedShape(TypedDict):
    """How many memories were embedded."""

    embedded: int


class TagsShape(TypedDict):
    """Every tag with the number of memories that carry it, most used first."""

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
    """The recipes a search may name; `usual` is used when it names none."""

    usual: str
    recipes: list[RecipeShape]


class SpacesShape(TypedDict):
    """The spaces this token reaches."""

    spaces: list[str]


class ImportedShape(TypedDict):
    """What an import did."""

    imported: dict[str, Any]


class HealthShape(TypedDict):
    """Whether the server answers."""

    status: str


class WhoShape(TypedDict):
    """What the bearer of this token may do."""

    name: str
    scopes: list[str]
    spaces: list[str]


class LoginCodeShape(TypedDict):
    """A code for the address bar, good once and for ten minutes."""

    code: str


class IdsShape(TypedDict):
    """The memories that were changed."""

    ids: list[str]
