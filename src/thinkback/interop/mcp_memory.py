"""A store as the JSON Lines of the MCP reference memory: entities with observations, and relations between entities.

What came from such a file goes back as it was. Every other memory is an observation of an entity named after its thread, or of
`memories`, and its links are relations of those entities.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from thinkback.interop.stores import ABOUT, ENTITY, OBSERVATION
from thinkback.model import StoredRecord

if TYPE_CHECKING:
    from thinkback.memory import Memory

REST = "memories"


def export_mcp(memory: "Memory") -> Iterator[str]:
    """One line for each entity, then one for each relation; archived memories are left out."""
    with memory.export() as snapshot:
        entities: dict[str, dict[str, Any]] = {}
        owners: dict[str, str] = {}
        observed: dict[str, list[tuple[int, int, str]]] = {}
        for record, *_ in snapshot.records:
            if record.retired_at is None and record.archived_at is None:
                owners[record.id] = _take(record, entities, observed)
        for name, entity in entities.items():
            entity["observations"] = [text for _, _, text in sorted(observed.get(name, ()))]
            yield _line(entity)
        known: set[tuple[str, str, str]] = set()
        for edge in snapshot.edges:
            ends = owners.get(edge.from_id), owners.get(edge.to_id)
            relation = (str(ends[0]), str(ends[1]), edge.kind)
            within = ends[0] == ends[1] and (edge.kind == ABOUT or ends[0] == REST)  # tells nothing about the entity
            if None in ends or relation in known or within:
                continue
            known.add(relation)
            yield _line({"type": "relation", "from": relation[0], "to": relation[1], "relationType": edge.kind})


def _take(
    record: StoredRecord, entities: dict[str, dict[str, Any]], observed: dict[str, list[tuple[int, int, str]]]
) -> str:
    """Note a memory as an entity or as an observation; return the name of its entity."""
    if ENTITY in record.metadata:
        name, kind = str(record.metadata[ENTITY]), record.metadata.get("entity_type") or ""
    else:
        name = str(record.metadata.get(OBSERVATION) or record.thread or REST)
        kind = "thread" if record.thread and OBSERVATION not in record.metadata else "memory"
        place = record.metadata.get("number", record.position or 0)
        observed.setdefault(name, []).append((place if isinstance(place, int) else 0, record.date, record.text))
    entity = entities.setdefault(name, {"type": "entity", "name": name, "entityType": kind})
    if ENTITY in record.metadata:
        entity["entityType"] = kind
    return name


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)
