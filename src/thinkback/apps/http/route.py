"""A row of the table of routes, and how a request finds its row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from thinkback.apps.http import requests
from thinkback.apps.http.tokens import Scope
from thinkback.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row. `run` is a verb on a memory; without one the server itself answers, under the route's name.

    `scope` None means any token. `searches` puts the verb under the search deadline, `creates` lets it make a space.
    """

    name: str
    method: str
    path: str
    about: str
    scope: Scope | None
    asks: type[requests.Asked] = requests.Nothing
    gives: Any = None
    run: Callable[[Memory, Any], Any] | None = None
    status: int = 200
    searches: bool = False
    creates: bool = False
    content: str = "application/json"
    takes: str | None = None  # the content type of a body that is not JSON
    public: bool = False
    everywhere: bool = False  # about all spaces, so only for a token that reaches them all
    documented: bool = True

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))

    @property
    def in_path(self) -> tuple[str, ...]:
        """Names of the fields that stand in the path."""
        return tuple(part[1:-1] for part in self.segments if part.startswith("{"))

    @property
    def has_json_body(self) -> bool:
        """Whether fields come from a JSON body and not from the query string."""
        return self.method in ("POST", "PATCH", "PUT") and self.takes is None


@dataclass(frozen=True, slots=True)
class Matched:
    """A row that fits a path, with the fields that stand in it."""

    route: Route
    fields: dict[str, str]


def match(method: str, raw_path: str, routes: tuple[Route, ...]) -> Matched | tuple[str, ...]:
    """The row for a request, or the methods its path would take (none: there is no such path).

    Paths are taken apart before they are decoded, so that an id may hold a slash, written %2F.
    """
    segments = raw_path.split("/")
    allowed = []
    for route in routes:
        fields = _fields(route.segments, segments)
        if fields is None:
            continue
        if route.method == method:
            return Matched(route, fields)
        allowed.append(route.method)
    return tuple(allowed)


def _fields(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    fields = {}
    for part, segment in zip(pattern, segments, strict=True):
        if part.startswith("{") and segment:
            fields[part[1:-1]] = unquote(segment)
        elif part != segment:
            return None
    return fields
