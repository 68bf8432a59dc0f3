"""MCP over streamable HTTP, behind the same access control as every route."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from thinkback.apps.http.body import JSON_LIMIT, read
from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.spaces import Spaces
from thinkback.apps.http.tokens import Grant
from thinkback.apps.http.workers import Workers, clients_of
from thinkback.apps.mcp.server import Context, build
from thinkback.apps.mcp.stores import Stores
from thinkback.errors import InvalidInput

T = TypeVar("T")


class HttpAccess:
    """The space of the request and the scopes of its token; `allowed` limits the scopes of all tokens."""

    shows_paths = False

    def __init__(
        self, spaces: Spaces, workers: Workers, search_seconds: float, allowed: frozenset[str] | None = None
    ) -> None:
        self._spaces = spaces
        self._workers = workers
        self._search_seconds = search_seconds
        self._allowed = allowed

    def scopes(self, context: Context) -> frozenset[str]:
        """The scopes of the token."""
        grant: Grant = _state(context).grant
        return grant.scopes if self._allowed is None else grant.scopes & self._allowed

    @contextmanager
    def stores(self, context: Context, scope: str) -> Iterator[Stores]:
        """The memory of the request's space."""
        space: str | None = _state(context).space
        if space is None:
            raise InvalidInput(
                "this token reaches several spaces; name one in the address: /mcp?space=NAME", code="space"
            )
        with self._spaces.lease(space, create=scope == "write") as memory:
            yield Stores.of(memory, None)

    async def run(self, context: Context, work: Callable[[], T], searches: bool) -> T:
        """In the server's worker threads, searches under its deadline."""
        state = _state(context)
        seconds = self._search_seconds if searches else None
        try:
            return await self._workers.run(work, seconds, clients_of(state.grant, state.space))
        except HttpError as error:  # MCP has no status, only a message
            raise MCPError(types.INTERNAL_ERROR, error.message) from None


def _state(context: Context) -> Any:
    """The state that the access control attached to the request."""
    assert context.request is not None  # streamable HTTP always has a request
    return context.request.state


class McpEndpoint:
    """The ASGI app at /mcp; without sessions, so that every request carries its own token."""

    def __init__(self, access: HttpAccess) -> None:
        self.sessions = StreamableHTTPSessionManager(
            build(access), json_response=True, stateless=True, max_request_body_size=JSON_LIMIT
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read(Request(scope, receive))
        await self.sessions.handle_request(scope, _replayed(body, receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A body that has been read, then whatever comes after it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay
