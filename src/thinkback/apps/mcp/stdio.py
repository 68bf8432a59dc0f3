"""One memory over standard input and output."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from thinkback.apps.garbage import collect_as_usual
from thinkback.apps.mcp.server import Context, build
from thinkback.apps.mcp.stores import Stores
from thinkback.memory import Memory

T = TypeVar("T")
ALL_SCOPES = frozenset({"read", "write", "delete"})
READ_SCOPES = frozenset({"read"})


class OneMemory:
    """The access of a process that serves one memory to the client that started it; `beside` is the user's, if it is another."""

    shows_paths = True

    def __init__(self, memory: Memory, scopes: frozenset[str] = ALL_SCOPES, beside: Memory | None = None) -> None:
        self._stores = Stores.of(memory, beside)
        self._scopes = scopes

    def scopes(self, context: Context) -> frozenset[str]:
        """The same for every request."""
        return self._scopes

    @contextmanager
    def stores(self, context: Context, scope: str) -> Iterator[Stores]:
        """The same for every request."""
        yield self._stores

    def run(self, context: Context, work: Callable[[], T], searches: bool) -> Awaitable[T]:
        """In a thread, so that the connection stays responsive."""
        return anyio.to_thread.run_sync(work)


def run(memory: Memory, *, read_only: bool = False, beside: Memory | None = None) -> None:
    """Serve until the client closes the connection."""
    server = build(OneMemory(memory, READ_SCOPES if read_only else ALL_SCOPES, beside))

    collect_as_usual()

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
