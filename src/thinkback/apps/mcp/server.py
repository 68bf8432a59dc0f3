"""The MCP server: the table of tools, three resources and a prompt."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from thinkback import __version__
from thinkback.apps import wire
from thinkback.apps.mcp.answers import WORDS, uri
from thinkback.apps.mcp.brief import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, brief
from thinkback.apps.mcp.envelope import NOTICE, Quoted, provenance, quote, shown, visible
from thinkback.apps.mcp.guide import guide
from thinkback.apps.mcp.stores import Stores
from thinkback.apps.mcp.tools import GUIDE, TOOLS, Caller, Tool
from thinkback.apps.validation import problems
from thinkback.apps.words import in_words
from thinkback.errors import InvalidInput, ThinkbackError, worded
from thinkback.fields import REMEMBERED, names
from thinkback.model import Record

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "A memory that lasts between sessions. Call recall before answering what may have come up before; call remember for "
    f"facts, preferences and decisions worth keeping. {NOTICE}"
)
PROGRAMS = "thinkback/result"  # where programs find the result of a tool as data
CONNECTORS = ("openai-mcp", "chatgpt")  # clients that need `search` and `fetch`
# Where a request may state the user and the conversation it belongs to.
STATED = {
    "user": ("thinkback/user", "openai/subject"),
    "thread": ("thinkback/thread", "openai/session"),
}
STATS_URI = "thinkback://stats"
MEMORY_URI = "thinkback://memory/"


class Access(Protocol):
    """How a request reaches a memory: the scopes of its caller, its stores, and where blocking work runs.

    `shows_paths` is whether callers may see file paths.
    """

    shows_paths: bool

    def scopes(self, context: Context) -> frozenset[str]: ...
    def stores(self, context: Context, scope: str) -> AbstractContextManager[Stores]: ...
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
    """The JSON schema of a tool's arguments, without what a language model does not need."""
    schema = tool.takes.model_json_schema()
    short: dict[str, Any] = {name: _slim(field) for name, field in schema.get("properties", {}).items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": short, **required}


def _slim(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Type, description, choices and default; the server checks the rest."""
    if "anyOf" in schema:
        schema = {**schema, **next(one for one in schema["anyOf"] if one.get("type") != "null")}
    kept = {name: schema[name] for name in ("type", "description", "items", "enum") if name in schema}
    default = schema.get("default")
    return {**kept, "default": default} if isinstance(default, str | float) and default else kept


@cache
def described(tool: Tool) -> types.Tool:
    """A tool as clients see it; a hint that says what clients assume anyway is left out."""
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=input_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=True if tool.scope == "read" else None,
            destructive_hint=False if tool.scope == "write" else None,
            idempotent_hint=True if tool.idempotent and tool.scope != "read" else None,
            open_world_hint=False,
        ),
    )


class _Handlers:
    """The handlers of one server."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        scopes, connector = self._access.scopes(context), _is_connector(context)
        listed = [tool for tool in TOOLS.values() if tool.scope in scopes and (connector or not tool.connector)]
        return types.ListToolsResult(tools=[described(tool) for tool in listed])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None or tool.scope not in self._access.scopes(context):
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}")
        try:
            asked = tool.takes.model_validate(_text_only(params.arguments or {}))
            answer = await self._with_stores(
                context, tool.scope, lambda stores: tool.run(stores, asked, _caller(context)), tool.searches
            )
        except ValidationError as error:
            return _failed("\n".join(problems(error, tool.takes)))
        except ThinkbackError as error:
            return _failed(worded(error, WORDS))
        content: list[Any] = [types.TextContent(type="text", text=answer.text)]
        if tool.connector:
            return types.CallToolResult(content=content, structured_content=answer.structured)
        # Some clients show a model the structured content instead of the text, which would lose the quotation.
        return types.CallToolResult(content=content, _meta={PROGRAMS: answer.structured})

    async def list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[STATS, GUIDE_PAGE] if self._may_read(context) else [])

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
        if address == GUIDE and self._may_read(context):
            return _resource(address, guide(), "text/markdown")
        if not address.startswith(MEMORY_URI):
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {address[:200]!r}", {"uri": address})
        id = unquote(address.removeprefix(MEMORY_URI))
        record = await self._read(context, address, lambda stores: _held(stores, id))
        known = json.dumps(shown(provenance(record)), ensure_ascii=False)
        return _resource(uri(record.id), f"{NOTICE}\n{quote([Quoted(in_words(record), known)])}", "text/plain")

    async def list_prompts(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[BRIEF] if self._may_read(context) else [])

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != BRIEF.name:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}; known: {BRIEF.name}")
        given = params.arguments or {}
        topic, budget = visible(given.get("topic", "")).strip()[:500], _budget(given)
        try:
            text = await self._with_stores(context, "read", lambda stores: brief(stores, topic, budget), searches=True)
        except ThinkbackError as error:
            raise MCPError(types.INVALID_PARAMS, visible(worded(error, WORDS))) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=BRIEF.description, messages=[message])

    async def _read(self, context: Context, address: str, work: Callable[[Stores], T]) -> T:
        try:
            return await self._with_stores(context, "read", work)
        except ThinkbackError as error:
            raise MCPError(types.INVALID_PARAMS, visible(worded(error, WORDS)), {"uri": address}) from None

    async def _with_stores(
        self, context: Context, scope: str, work: Callable[[Stores], T], searches: bool = False
    ) -> T:
        """The only way to a memory, so that no handler can skip the check of the scope."""
        if scope not in self._access.scopes(context):
            raise MCPError(types.INVALID_PARAMS, f"this needs the scope {scope}")

        def reached() -> T:
            with self._access.stores(context, scope) as stores:
                return work(stores)

        return await self._access.run(context, reached, searches)

    def _may_read(self, context: Context) -> bool:
        return "read" in self._access.scopes(context)

    def _stats(self, stores: Stores) -> Any:
        counts = wire.stats(stores.first.stats())
        if not self._access.shows_paths:
            counts["engine"].pop("path", None)
        return shown(counts)


STATS = types.Resource(
    uri=STATS_URI, name="stats", title="Counts and sizes of the memory", mime_type="application/json"
)
GUIDE_PAGE = types.Resource(
    uri=GUIDE, name="guide", title="Filters, fields and changes that the tools take", mime_type="text/markdown"
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


def _caller(context: Context) -> Caller:
    """The client, and what it states about its user and its conversation."""
    name = _client_name(context)
    stated = {field: _stated(context, keys) for field, keys in STATED.items()}
    fields = {field: value for field, value in stated.items() if value and field in names(REMEMBERED)}
    return Caller(f"mcp:{name[:100]}" if name else "mcp", fields)


def _held(stores: Stores, id: str) -> Record:
    memory, whole = stores.holder(id)
    return memory.get(whole)


def _stated(context: Context, keys: Sequence[str]) -> str:
    """The first of these entries of the request's metadata that is a text."""
    meta: Mapping[str, Any] = context.meta or {}
    found = (meta.get(key) for key in keys)
    return next((value.strip()[:200] for value in found if isinstance(value, str) and value.strip()), "")


def _client_name(context: Context) -> str:
    known = context.session.client_params
    return known.client_info.name.strip() if known is not None else ""


def _is_connector(context: Context) -> bool:
    """Whether the client is one that only searches and fetches."""
    headers = getattr(context.request, "headers", {})
    said = f"{_client_name(context)} {headers.get('user-agent', '')}".lower()
    return any(name in said for name in CONNECTORS)


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=visible(message))], is_error=True)


def _resource(address: str, text: str, mime_type: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=address, text=text, mime_type=mime_type)
    return types.ReadResourceResult(contents=[contents])
