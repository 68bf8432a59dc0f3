"""One memory over standard input and output."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from thinkback.apps.mcp.server import Context, build
from thinkback.memory import Memory

T = TypeVar("T")
EVERYTHING = frozenset({"read", "write", "delete"})
READING = frozenset({"read"})


class OneMemory:
    """The door of a process that serves one memory to one client, which started it and knows the machine."""

    tells_paths = True

    def __init__(self, memory: Memory, scopes: frozenset[str] = EVERYTHING) -> None:
        self._memory = memory
        self._scopes = scopes

    def scopes(self, context: Context) -> frozenset[str]:
        """The same for every request."""
        return self._scopes

    @contextmanager
    def memory(self, context: Context, scope: str) -> Iterator[Memory]:
        """The one memory."""
        yield self._memory

    def run(self, context: Context, work: Callable[[], T], searches: bool) -> Awaitable[T]:
        """In a thread, so that the connection stays responsive."""
        return anyio.to_thread.run_sync(work)


def run(memory: Memory, *, read_only: bool = False) -> None:
    """Serves until the client closes the connection."""
    server = build(OneMemory(memory, READING if read_only else EVERYTHING))

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
