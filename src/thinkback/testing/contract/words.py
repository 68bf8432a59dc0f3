"""Helpers of the contract's tests."""

from collections.abc import Sequence
from typing import Any

from thinkback.clock import to_us
from thinkback.model import Draft, Filter, Scored, StoredRecord
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.testing.toys import ToyEmbedder

NOW = to_us("2026-03-01T12:00:00")
TOY = ToyEmbedder(64)
SPACE = EmbeddingSpace(TOY.fingerprint, TOY.dimensions)


def put(store: Store, *texts: str, now: int = NOW, **fields: Any) -> list[StoredRecord]:
    """Add memories with these texts and equal fields otherwise, embedded by the toy."""
    return store.add([Draft(text=text, vector=TOY.embed_query(text), **fields) for text in texts], now, SPACE)


def put_one(store: Store, text: str, now: int = NOW, **fields: Any) -> StoredRecord:
    """Add one memory, embedded by the toy."""
    return put(store, text, now=now, **fields)[0]


def everything(now: int = NOW, **fields: Any) -> Filter:
    """A filter with only the given restrictions."""
    return Filter(now=now, everything=True, **fields)


def by_keyword(store: Store, text: str, filter: Filter | None = None, limit: int = 50) -> list[Scored]:
    return store.search_keywords(parse_keywords(text), filter or Filter(now=NOW), limit)


def by_vector(store: Store, text: str, filter: Filter | None = None, limit: int = 50) -> list[Scored]:
    return store.search_vectors(TOY.embed_query(text), filter or Filter(now=NOW), limit)


def ids(found: Sequence[Any]) -> list[str]:
    return [item.id for item in found]


def found_everywhere(store: Store, text: str, filter: Filter) -> dict[str, set[str]]:
    """The ids that each search finds; `text` must share a word with every memory."""
    return {
        "keywords": set(ids(by_keyword(store, text, filter, 1000))),
        "vectors": set(ids(by_vector(store, text, filter, 1000))),
        "recent": set(ids(store.recent(filter, 1000))),
        "dated": set(ids(store.dated(NOW, filter, 1000))),
        "list": set(ids(store.list(filter, 1000))),
    }
