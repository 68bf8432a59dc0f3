"""The MCP server: the table of tools, two resources and a prompt."""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from thinkback import __version__
from thinkback.apps import wire
from thinkback.apps.mcp.answers import WORDS, uri
from thinkback.apps.mcp.brief import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, brief
from thinkback.apps.mcp.envelope import NOTICE, Quoted, provenance, quote, shown, visible
from thinkback.apps.mcp.tools import TOOLS, Tool
from thinkback.apps.validation import problems
from thinkback.errors import InvalidInput, ThinkbackError, worded
from thinkback.memory import Memory

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "A memory that lasts between sessions. Call recall before answering what may have come up before; call remember for "
    f"facts, preferences and decisions worth keeping. {NOTICE}"
)
STATS_URI = "thinkback://stats"
MEMORY_URI = "thinkback://memory/"


class Access(Protocol):
    """How a request reaches a memory: the scopes of its caller, its memory, and where blocking work runs.

    `shows_paths` is whether callers may see file paths.
    """

    shows_paths: bool

    def scopes(self, context: Context) -> frozenset[str]: ...
    def memory(self, context: Context, scope: str) -> AbstractContextManager[Memory]: ...
    def run(self, context: Context, work: Callable[[], T], searches: bool) -> Awaitable[T]: ...


def build(access: Access) -> Server[Any]:
    """A server with this access to memories."""
    handlers = _Handlers(access)
    return Server(
        "thinkback",
        version=__version__,
        title="Thinkback",
        description="Memory search for AI agents",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: input_schema(TOOLS[name]) if name in TOOLS else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


@cache
def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    return tool.takes.model_json_schema()


@cache
def output_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's structured content."""
    return TypeAdapter(tool.gives).json_schema()


@cache
def described(tool: Tool) -> types.Tool:
    """A tool as clients see it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.scope == "read",
            destructive_hint=tool.scope == "delete",
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


class _Handlers:
    """The handlers of one server."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        scopes = self._access.scopes(context)
        return types.ListToolsResult(tools=[described(tool) for tool in TOOLS.values() if tool.scope in scopes])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None or tool.scope not in self._access.scopes(context):
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}")
        try:
            asked = tool.takes.model_validate(_text_only(params.arguments or {}))
            answer = await self._with_memory(
                context, tool.scope, lambda memory: tool.run(memory, asked, _client(context)), tool.searches
            )
        except ValidationError as error:
            return _failed("\n".join(problems(error, tool.takes)))
        except ThinkbackError as error:
            return _failed(worded(error, WORDS))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], structured_content=answer.structured
        )

    async def list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[STATS] if self._may_read(context) else [])

    async def list_templates(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[ONE_MEMORY] if self._may_read(context) else [])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = str(params.uri)
        if address == STATS_URI:
            counts = await self._read(context, address, self._stats)
            return _resource(address, json.dumps(counts, ensure_ascii=False), "application/json")
        if not address.startswith(MEMORY_URI):
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {address[:200]!r}", {"uri": address})
        id = unquote(address.removeprefix(MEMORY_URI))
        record = await self._read(context, address, lambda memory: memory.get(id))
        return _resource(uri(record.id), quote([Quoted(record.text, provenance(record))]), "text/plain")

    async def list_prompts(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[BRIEF] if self._may_read(context) else [])

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != BRIEF.name:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}; known: {BRIEF.name}")
        given = params.arguments or {}
        topic, budget = visible(given.get("topic", "")).strip()[:500], _budget(given)
        try:
            text = await self._with_memory(context, "read", lambda memory: brief(memory, topic, budget), searches=True)
        except ThinkbackError as error:
            raise MCPError(types.INVALID_PARAMS, visible(worded(error, WORDS))) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=BRIEF.description, messages=[message])

    async def _read(self, context: Context, address: str, work: Callable[[Memory], T]) -> T:
        try:
            return await self._with_memory(context, "read", work)
        except ThinkbackError as error:
            raise MCPError(types.INVALID_PARAMS, visible(worded(error, WORDS)), {"uri": address}) from None

    async def _with_memory(
        self, context: Context, scope: str, work: Callable[[Memory], T], searches: bool = False
    ) -> T:
        """The only way to a memory, so that no handler can skip the check of the scope."""
        if scope not in self._access.scopes(context):
            raise MCPError(types.INVALID_PARAMS, f"this needs the scope {scope}")

        def reached() -> T:
            with self._access.memory(context, scope) as memory:
                return work(memory)

        return await self._access.run(context, reached, searches)

    def _may_read(self, context: Context) -> bool:
        return "read" in self._access.scopes(context)

    def _stats(self, memory: Memory) -> Any:
        counts = wire.stats(memory.stats())
        if not self._access.shows_paths:
            counts["engine"].pop("path", None)
        return shown(counts)


STATS = types.Resource(
    uri=STATS_URI, name="stats", title="Counts and sizes of the memory", mime_type="application/json"
)
ONE_MEMORY = types.ResourceTemplate(
    uri_template=f"{MEMORY_URI}{{id}}", name="memory", title="One memory, quoted as data", mime_type="text/plain"
)
BRIEF = types.Prompt(
    name="brief",
    title="Brief me from memory",
    description="Memories about a topic; without one, the standing and the latest memories.",
    arguments=[
        types.PromptArgument(name="topic", description="What the session is about.", required=False),
        types.PromptArgument(
            name="max_tokens",
            description=f"Approximate maximum number of tokens, {MIN_TOKENS} to {MAX_TOKENS} (default: {DEFAULT_TOKENS}).",
            required=False,
        ),
    ],
)


def _text_only(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, if all their strings are valid text: JSON can express a lone surrogate, which cannot be stored."""
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "the arguments hold a lone surrogate, which is not valid text", code="lone_surrogate"
        ) from None
    return arguments


def _budget(given: Mapping[str, str]) -> int:
    written = given.get("max_tokens") or str(DEFAULT_TOKENS)
    if not (written.isascii() and written.isdigit() and MIN_TOKENS <= int(written[:9]) <= MAX_TOKENS):
        raise MCPError(
            types.INVALID_PARAMS,
            f"max_tokens must be a number from {MIN_TOKENS} to {MAX_TOKENS}; got {written[:40]!r}",
        )
    return int(written)


def _client(context: Context) -> str:
    """The client's name, for provenance."""
    known = context.session.client_params
    name = known.client_info.name.strip() if known is not None else ""
    return f"mcp:{name[:100]}" if name else "mcp"


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=visible(message))], is_error=True)


def _resource(address: str, text: str, mime_type: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=address, text=text, mime_type=mime_type)
    return types.ReadResourceResult(contents=[contents])
