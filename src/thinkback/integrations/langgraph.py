"""LangGraph: a `BaseStore` over a memory.

An item is a memory whose text is what the item's value says, so that `search(namespace, query=…)` ranks by Thinkback's recall. The
namespace, the key and the fields of the value are metadata, so filters apply inside the search. Items expire by `expires_at`.

    store = ThinkbackStore(thinkback.open("memory.db"))
    graph = builder.compile(store=store)
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from thinkback.clock import from_us
from thinkback.integrations import needs
from thinkback.interop.langgraph_items import KEY, NAMESPACE, PATH, VALUE, item_id, path_of, said
from thinkback.memory import Memory
from thinkback.model import Record

with needs("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        PutOp,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )

TTL, HIDDEN = "ttl", "unindexed"  # in the metadata
EVERY_ITEM = {"selection.dedup": False}  # two keys may hold the same text
_PAGE = 500


class ThinkbackStore(BaseStore):
    """Items in a memory, beside whatever else it holds. `fields` are the paths of a value that are searched; all, by default."""

    supports_ttl = True
    __slots__ = ("fields", "memory", "ttl_config")

    def __init__(self, memory: Memory, *, fields: Sequence[str] = ("$",), ttl: TTLConfig | None = None) -> None:
        self.memory, self.fields, self.ttl_config = memory, tuple(fields), ttl

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer reads from what was there before the batch, then write; the last write to a key counts."""
        ops = list(ops)
        results = [self._answer(op) for op in ops]
        for op in {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Forget expired items for good; until then they are only hidden. Returns how many."""
        expired = {"expires_at": {"lte": from_us(self.memory.clock())}, f"metadata.{PATH}": {"exists": True}}
        return len(self.memory.forget(where=expired, tombstone=False))

    def _answer(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise ValueError(f"unknown operation {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        id = item_id(op.namespace, op.key)
        record = self.memory.get_many([id]).get(id)
        if record is None or self._expired(record):
            return None
        self._refresh(op.refresh_ttl, [record])
        return Item(**_item(record))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        asked = (op.filter or {}).items()
        parts = [_within(op.namespace_prefix), *(_filter(f"metadata.{VALUE}{name}", value) for name, value in asked)]
        most = op.offset + op.limit
        if op.query:
            shown = {"and": [*parts, {f"metadata.{HIDDEN}": {"exists": False}}]}
            hits = self.memory.recall(op.query, limit=most, where=shown, overrides=EVERY_ITEM)[op.offset :]
            found: list[tuple[Record, float | None]] = [(hit.record, hit.score) for hit in hits]
        else:
            found = [(record, None) for record in self.memory.list(limit=most, where={"and": parts})[op.offset :]]
        self._refresh(op.refresh_ttl, [record for record, _ in found])
        return [SearchItem(**_item(record), score=score) for record, score in found]

    def _put(self, op: PutOp) -> None:
        id = item_id(op.namespace, op.key)
        if op.value is None:
            self.memory.forget(id)
            return
        fields = self._fields(op)
        if id in self.memory.get_many([id]):
            self.memory.update(id, **fields)
        else:
            self.memory.remember(id=id, kind="fact", **fields)

    def _fields(self, op: PutOp) -> dict[str, Any]:
        own = {NAMESPACE: list(op.namespace), PATH: path_of(op.namespace), KEY: op.key}
        hidden = {HIDDEN: True} if op.index is False else {}
        ttl = {} if op.ttl is None else {TTL: op.ttl}
        value = {f"{VALUE}{name}": one for name, one in (op.value or {}).items()}
        paths = self.fields if op.index is None or op.index is False else op.index
        return {
            "text": _text(op.value or {}, paths),
            "metadata": {**own, **hidden, **ttl, **value},
            "expires_at": None if op.ttl is None else self._after(op.ttl),
        }

    def _after(self, minutes: float) -> Any:
        return from_us(self.memory.clock()) + timedelta(minutes=minutes)

    def _expired(self, record: Record) -> bool:
        return record.expires_at is not None and record.expires_at <= from_us(self.memory.clock())

    def _refresh(self, asked: bool, records: Iterable[Record]) -> None:
        for record in records if asked else ():
            if TTL in record.metadata:
                self.memory.update(record.id, expires_at=self._after(record.metadata[TTL]))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {tuple(record.metadata[NAMESPACE]) for record in self._items()}
        kept = [one for one in found if all(_matches(one, condition) for condition in op.match_conditions or ())]
        cut = sorted({one[: op.max_depth] for one in kept})
        return cut[op.offset : op.offset + op.limit]

    def _items(self) -> Iterator[Record]:
        after = None
        while page := self.memory.list(limit=_PAGE, after=after, where={f"metadata.{PATH}": {"exists": True}}):
            yield from page
            after = page[-1].id


def _item(record: Record) -> dict[str, Any]:
    value = {name.removeprefix(VALUE): one for name, one in record.metadata.items() if name.startswith(VALUE)}
    return {
        "namespace": tuple(record.metadata[NAMESPACE]),
        "key": record.metadata[KEY],
        "value": value,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _within(prefix: Sequence[str]) -> dict[str, Any]:
    below = path_of(prefix)
    return {f"metadata.{PATH}": {"gte": below, "lt": f"{below[:-1]}/"} if below else {"exists": True}}


def _filter(name: str, value: Any) -> dict[str, Any]:
    """LangGraph's filter of one field: a value, or operators that begin with `$`."""
    operators = isinstance(value, Mapping) and bool(value) and all(str(key).startswith("$") for key in value)
    return {name: value if operators else {"eq": value}}


def _matches(namespace: tuple[str, ...], condition: Any) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", found) for found, wanted in zip(part, path, strict=True))


def _text(value: Mapping[str, Any], paths: Sequence[str]) -> str:
    found = [text for path in paths for text in (said(value) if path == "$" else _at(value, path)) if text.strip()]
    return "\n".join(found) or json.dumps(value, ensure_ascii=False, default=str)


def _at(value: Any, path: str) -> list[str]:
    return list(get_text_at_path(value, tokenize_path(path)))
