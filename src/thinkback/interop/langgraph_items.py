"""How an item of a LangGraph store is kept as a memory; the adapter and the import share it."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NAMESPACE, KEY, PATH = "namespace", "key", "path"  # in the metadata
VALUE = "value."  # before the fields of a value, among the metadata


def item_id(namespace: Sequence[str], key: str) -> str:
    """The id of the memory that holds an item."""
    return f"langgraph-{hashlib.sha256(json.dumps([*namespace, key]).encode()).hexdigest()[:24]}"


def path_of(namespace: Sequence[str]) -> str:
    """Labels contain no dot, so that texts between `a.` and `a/` are the paths below a."""
    return "".join(f"{label}." for label in namespace)


def said(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from said(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from said(one)
