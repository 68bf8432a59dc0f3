"""Exports of other memory stores: mem0, engrava's snapshot, the MCP reference memory, and a LangGraph store."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thinkback.fields import KINDS
from thinkback.interop.drafts import draft, edge, moment, required, tags_of
from thinkback.interop.langgraph_items import KEY, NAMESPACE, PATH, VALUE, item_id, path_of, said
from thinkback.lifecycle.transfer import Value

ENTITY, OBSERVATION, ABOUT = "mcp_entity", "mcp_observation", "about"
_ENGRAVA_KINDS = {"belief": "fact"}


def mem0(one: Mapping[str, Any]) -> Iterator[Value]:
    """A memory as mem0's `get_all`, its API and its exports write it."""
    required(one, "id", "memory")
    metadata = dict(one.get("metadata") or {})
    yield draft(
        str(one["id"]),
        one["memory"],
        user=one.get("user_id"),
        agent=one.get("agent_id") or one.get("app_id"),
        thread=one.get("run_id"),
        speaker=one.get("actor_id") or one.get("role"),
        tags=tags_of(one.get("categories")),
        created_at=moment(one.get("created_at")),
        updated_at=moment(one.get("updated_at") or one.get("created_at")),
        expires_at=moment(one.get("expiration_date")),
        source="mem0",
        metadata=metadata,
    )


def engrava(line: Mapping[str, Any]) -> Iterator[Value]:
    """A line of `engrava snapshot`: a thought or an edge; embeddings, actions and the header are left out."""
    table, data = line.get("_type") or line.get("table"), line.get("data") or {}
    if table == "thought":
        yield _thought(data)
    elif table == "edge":
        required(data, "from_thought_id", "to_thought_id", "edge_type")
        times = {"valid_from": moment(data.get("valid_from")), "valid_to": moment(data.get("valid_until"))}
        weight = data.get("weight")
        kind = str(data["edge_type"]).lower()
        yield edge(data["from_thought_id"], data["to_thought_id"], kind, 1.0 if weight is None else weight, **times)


def _thought(data: Mapping[str, Any]) -> Value:
    required(data, "thought_id", "content")
    kind = str(data.get("thought_type", "")).lower()
    extra = json.loads(data.get("metadata_json") or "{}")
    kept = {
        name: data.get(name) for name in ("thought_type", "lifecycle_status", "source_type", "provenance", "pinned")
    }
    essence = data.get("essence")
    return draft(
        data["thought_id"],
        data["content"],
        essence=None if essence == data["content"] else essence,
        kind=_ENGRAVA_KINDS.get(kind, kind if kind in KINDS else "observation"),
        priority=data.get("priority"),
        confidence=data.get("confidence"),
        cycle=data.get("updated_cycle") or data.get("created_cycle"),
        access_count=data.get("access_count"),
        last_access=moment(data.get("last_accessed_at")),
        created_at=moment(data.get("created_at")),
        updated_at=moment(data.get("updated_at") or data.get("created_at")),
        expires_at=moment(data.get("expires_at")),
        archived_at=moment(data.get("archived_at")),
        valid_from=moment(data.get("valid_from")),
        valid_to=moment(data.get("valid_until")),
        source=data.get("source") or "engrava",
        metadata={**(extra if isinstance(extra, Mapping) else {}), **kept},
    )


def mcp(line: Mapping[str, Any]) -> Iterator[Value]:
    """A line of the MCP reference memory: an entity with its observations, or a relation between two entities."""
    if line.get("type") == "relation":
        required(line, "from", "to", "relationType")
        yield edge(entity_id(line["from"]), entity_id(line["to"]), line["relationType"])
        return
    required(line, "name")
    name, kind = line["name"], line.get("entityType")
    own = entity_id(name)
    shared = {"tags": tags_of(kind), "source": "mcp-memory"}
    label = f"{name} ({kind})" if kind else name
    yield draft(own, label, kind="fact", **shared, metadata={ENTITY: name, "entity_type": kind})
    for number, text in enumerate(line.get("observations") or ()):
        id = f"{own}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        about = {OBSERVATION: name, "number": number}
        yield draft(id, text, essence=f"{name}: {text}"[:500], kind="fact", **shared, metadata=about)
        yield edge(id, own, ABOUT)


def entity_id(name: str) -> str:
    """The id of the memory that stands for an entity."""
    return f"entity-{hashlib.sha256(name.encode()).hexdigest()[:20]}"


def langgraph(item: Mapping[str, Any]) -> Iterator[Value]:
    """An item of a LangGraph store as `item.dict()` writes it; `ThinkbackStore` finds it under its namespace and key."""
    required(item, "namespace", "key", "value")
    namespace: Sequence[str] = item["namespace"]
    value: Mapping[str, Any] = item["value"]
    fields = {f"{VALUE}{name}": one for name, one in value.items()}
    text = "\n".join(one for one in said(value) if one.strip()) or json.dumps(value, ensure_ascii=False)
    yield draft(
        item_id(namespace, item["key"]),
        text,
        kind="fact",
        created_at=moment(item.get("created_at")),
        updated_at=moment(item.get("updated_at") or item.get("created_at")),
        metadata={NAMESPACE: list(namespace), PATH: path_of(namespace), KEY: item["key"], **fields},
    )
