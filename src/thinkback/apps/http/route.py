"""One route, and how a request finds it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from thinkback.apps.http import requests
from thinkback.apps.http.tokens import Scope
from thinkback.memory import Memory
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.apps.http.endpoints import Call, Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row of the table of routes.

    `run` works on a memory in a worker thread; `serve` is answered by the server itself. `scope` None means any token.
    """

    name: str
    method: str
    path: str
    about: str
    scope: Scope | None
    takes: type[requests.Parameters] = requests.Nothing
    gives: Any = None
    run: Callable[[Memory, Any], Any] | None = None
    serve: "Callable[[Site, Call], Awaitable[Any]] | None" = None
    status: int = 200
    searches: bool = False  # under the search deadline
    creates: bool = False  # may create the space
    content: str = "application/json"
    body: str | None = None  # the content type of a body that is not JSON
    public: bool = False
    all_spaces: bool = False  # only for a token that reaches every space
    documented: bool = True

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))

    @property
    def in_path(self) -> tuple[str, ...]:
        """The parameters in the path."""
        return tuple(part[1:-1] for part in self.segments if part.startswith("{"))

    @property
    def has_json_body(self) -> bool:
        """Whether parameters come from a JSON body rather than from the query string."""
        return self.method in ("POST", "PATCH", "PUT") and self.body is None

    @property
    def on_memory(self) -> bool:
        """Whether the route works on one space."""
        return self.run is not None or self.name in ("stats", "export", "import")


def match(method: str, raw_path: str, routes: tuple[Route, ...]) -> tuple[Route, dict[str, str]] | tuple[str, ...]:
    """The route of a request with its path parameters, or the methods its path takes (none: there is no such path).

    Paths are split before they are decoded, so an id may contain a slash, written %2F; Starlette's router decodes first.
    """
    segments = raw_path.split("/")
    allowed = []
    for route in routes:
        parameters = _parameters(route.segments, segments)
        if parameters is None:
            continue
        if route.method == method:
            return route, parameters
        allowed.append(route.method)
    return tuple(allowed)


def _parameters(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    found = {}
    for part, segment in zip(pattern, segments, strict=True):
        if part.startswith("{") and segment:
            found[part[1:-1]] = unquote(segment)
        elif part != segment:
            return None
    return found
