"""Haystack: a document store, and a retriever for pipelines.

store = ThinkbackDocumentStore("memory.db")
pipeline.add_component("retriever", ThinkbackRetriever(store, top_k=5))
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from thinkback.integrations import needs
from thinkback.memory import Memory
from thinkback.model import Record
from thinkback.opening import open as open_memory

with needs("haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.errors import FilterError

OWN, META = "haystack", "meta."  # in the metadata: the document itself, and its meta, one key each
_COMPARED = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


class ThinkbackDocumentStore:
    """Documents in a memory. `options` are those of `thinkback.open`; only plain ones can be serialised with a pipeline."""

    def __init__(self, path: str, **options: Any) -> None:
        self.path, self.options = path, options
        self.memory: Memory = open_memory(path, **options)

    def to_dict(self) -> dict[str, Any]:
        """The store as a pipeline saves it: its path and options."""
        return dict(default_to_dict(self, path=self.path, **self.options))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ThinkbackDocumentStore":
        """The store that was saved."""
        found: ThinkbackDocumentStore = default_from_dict(cls, data)
        return found

    def count_documents(self) -> int:
        """How many documents there are."""
        return self.memory.count(where=_where(None))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """The documents that pass a filter, newest first."""
        where = _where(filters)
        return [_document(record) for record in self.memory.list(limit=2**31, where=where)]

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Store documents; of one whose id is known, the policy decides. Tombstones keep out what was forgotten."""
        if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
            raise ValueError("write_documents takes a list of Documents")
        known = self.memory.get_many([one.id for one in documents])
        twice = [one for one in documents if one.id in known]
        if twice and policy in (DuplicatePolicy.NONE, DuplicatePolicy.FAIL):
            raise DuplicateDocumentError(f"the document {twice[0].id!r} exists already")
        new = self.memory.unburied(_draft(one) for one in documents if one.id not in known)
        self.memory.remember_many(new)
        for one in twice if policy == DuplicatePolicy.OVERWRITE else ():
            self.memory.update(one.id, **{name: value for name, value in _draft(one).items() if name != "id"})
        return len(new) + (len(twice) if policy == DuplicatePolicy.OVERWRITE else 0)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Forget documents for good; unknown ids are ignored."""
        self.memory.forget(*document_ids)

    def search(
        self,
        query: str,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        min_relevance: float | None = None,
    ) -> list[Document]:
        """Documents by recall, best first, with their scores; those below `min_relevance` are left out."""
        every = {"selection.dedup": False}
        hits = self.memory.recall(
            query, limit=top_k, where=_where(filters), min_relevance=min_relevance, overrides=every
        )
        return [_document(hit.record, hit.score) for hit in hits]


@component
class ThinkbackRetriever:
    """Finds documents of a `ThinkbackDocumentStore` by recall."""

    def __init__(
        self,
        document_store: ThinkbackDocumentStore,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        min_relevance: float | None = None,
    ) -> None:
        self.document_store, self.top_k, self.filters = document_store, top_k, filters
        self.min_relevance = min_relevance

    def to_dict(self) -> dict[str, Any]:
        """The component as a pipeline saves it."""
        store = self.document_store.to_dict()
        own = {"top_k": self.top_k, "filters": self.filters, "min_relevance": self.min_relevance}
        return dict(default_to_dict(self, document_store=store, **own))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ThinkbackRetriever":
        """The component that was saved."""
        parameters = data["init_parameters"]
        parameters["document_store"] = ThinkbackDocumentStore.from_dict(parameters["document_store"])
        found: ThinkbackRetriever = default_from_dict(cls, data)
        return found

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """The documents that answer a query."""
        asked = (top_k or self.top_k, filters or self.filters, self.min_relevance)
        return {"documents": self.document_store.search(query, *asked)}


def _draft(document: Document) -> dict[str, Any]:
    own = document.to_dict(flatten=False)
    return {
        "id": document.id,
        "text": (document.content or "").strip() or "(no text)",
        "metadata": {OWN: own, "content": document.content, **dict(_flat(META, own.get("meta") or {}))},
    }


def _document(record: Record, score: float | None = None) -> Document:
    own = dict(record.metadata[OWN])
    return Document.from_dict(own if score is None else {**own, "score": score})


def _flat(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Each key of the meta, and of the objects in it, by its path."""
    pairs = [(f"{prefix}{key}", value) for key, value in values.items()]
    inner = [pair for name, value in pairs if isinstance(value, Mapping) for pair in _flat(f"{name}.", value)]
    return [pair for pair in pairs if not isinstance(pair[1], Mapping)] + inner


def _where(filters: Mapping[str, Any] | None) -> dict[str, Any]:
    ours = {f"metadata.{OWN}": {"exists": True}}
    return {"and": [ours, _condition(filters)]} if filters else ours


def _condition(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Haystack's filter as a condition of ours."""
    if "field" in filters:
        return _comparison(filters)
    if "operator" not in filters or "conditions" not in filters:
        raise FilterError(f"a filter needs a field, or an operator and conditions; got {filters!r:.80}")
    parts = [_condition(one) for one in filters["conditions"]]
    if filters["operator"] not in ("AND", "OR", "NOT"):
        raise FilterError(f"unknown operator {filters['operator']!r}; one of AND, OR, NOT")
    return {"or": parts} if filters["operator"] == "OR" else _joined(filters["operator"], parts)


def _joined(operator: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"and": parts} if operator == "AND" else {"not": {"and": parts}}


def _comparison(filters: Mapping[str, Any]) -> dict[str, Any]:
    for needed in ("operator", "value"):
        if needed not in filters:
            raise FilterError(f"a comparison needs {needed}; got {filters!r:.80}")
    operator, value = filters["operator"], filters["value"]
    name = _name(str(filters["field"]))
    if operator in ("==", "!="):
        return {name: {"eq" if operator == "==" else "ne": value}}
    if operator in ("in", "not in"):
        if not isinstance(value, list):
            raise FilterError(f"{operator!r} takes a list; got {value!r:.80}")
        found = {name: {"in": value}} if value else {"id": "no document"}
        return found if operator == "in" else {"not": found}
    if operator not in _COMPARED:
        raise FilterError(f"unknown operator {operator!r}")
    if value is None:
        return {"id": "no document"}
    return {name: {_COMPARED[operator]: _bound(value)}}


def _name(field: str) -> str:
    if field == "id":
        return field
    if field == "content":
        return "metadata.content"
    return f"metadata.{META}{field.removeprefix(META)}"


def _bound(value: Any) -> Any:
    """A number, or a time in ISO 8601, which compares as a text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise FilterError(f"a text is larger or smaller only if it is a time; got {value!r:.80}") from None
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FilterError(f"cannot be larger or smaller than {value!r:.80}")
    return value
