"""MCP over streamable HTTP, behind the same door as everything else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

from thinkback.apps.http.body import JSON_LIMIT
from thinkback.apps.http.errors import Refused
from thinkback.apps.http.spaces import Spaces
from thinkback.apps.http.tokens import Grant
from thinkback.apps.http.workers import Workers, whose
from thinkback.apps.mcp.server import Context, build
from thinkback.errors import InvalidInput
from thinkback.memory import Memory

T = TypeVar("T")


class HttpDoor:
    """Reaches the space of the request, with the scopes of its token; `most` takes scopes away from all tokens."""

    tells_paths = False

    def __init__(
        self, spaces: Spaces, workers: Workers, search_seconds: float, most: frozenset[str] | None = None
    ) -> None:
        self._spaces = spaces
        self._workers = workers
        self._search_seconds = search_seconds
        self._most = most

    def scopes(self, context: Context) -> frozenset[str]:
        """What the token allows."""
        grant: Grant = _state(context).grant
        return grant.scopes if self._most is None else grant.scopes & self._most

    @contextmanager
    def memory(self, context: Context, scope: str) -> Iterator[Memory]:
        """The memory of the request's space."""
        space: str | None = _state(context).space
        if space is None:
            raise InvalidInput("this token reaches several spaces; say which in the address: /mcp?space=NAME")
        with self._spaces.lease(space, create=scope == "write") as memory:
            yield memory

    async def run(self, context: Context, work: Callable[[], T], searches: bool) -> T:
        """In the server's own threads, searches under its deadline."""
        state = _state(context)
        seconds = self._search_seconds if searches else None
        try:
            return await self._workers.run(work, seconds, whose(state.grant, state.space))
        except Refused as refused:  # there is no status inside MCP, only what it says
            raise MCPError(types.INTERNAL_ERROR, refused.message) from None


def _state(context: Context) -> Any:
    """What the doorkeeper left with the request."""
    assert context.request is not None  # streamable HTTP always brings its request
    return context.request.state


class McpEndpoint:
    """The ASGI app at /mcp; without sessions, so that every request shows its own token."""

    def __init__(self, door: HttpDoor) -> None:
        self.sessions = StreamableHTTPSessionManager(
            build(door), json_response=True, stateless=True, max_request_body_size=JSON_LIMIT
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.sessions.handle_request(scope, receive, send)
