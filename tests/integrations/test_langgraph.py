"""The LangGraph store, through the framework's own API and beside its own store."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import thinkback
from thinkback.integrations.langgraph import ThinkbackStore
from thinkback.memory import Memory
from thinkback.testing import FixedClock

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "ann"), "prefs", {"theme": "dark", "n": 3, "deep": {"x": [1, 2]}}),
    (("users", "ann"), "cat", {"text": "Oscar is a grey cat", "n": 7}),
    (("users", "annabel"), "dog", {"text": "Rex is a dog", "n": 7}),
    (("users", "bob", "work"), "job", {"title": "baker", "n": 5.5}),
    (("docs",), "a", {"flag": True, "none": None}),
]


@pytest.fixture
def stores(memory: Memory) -> tuple[ThinkbackStore, InMemoryStore]:
    both = ThinkbackStore(memory), InMemoryStore()
    for store in both:
        for namespace, key, value in ITEMS:
            store.put(namespace, key, value)
    return both


def plain(found: Any) -> Any:
    return sorted((item.namespace, item.key, json.dumps(item.value, sort_keys=True)) for item in found)


def test_items_come_back_as_they_were(stores: Any) -> None:
    ours, theirs = stores
    for namespace, key, value in ITEMS:
        item = ours.get(namespace, key)
        assert (item.namespace, item.key, item.value) == (namespace, key, value)
        assert theirs.get(namespace, key).value == item.value
    assert ours.get(("users",), "nobody") is None
    ours.put(("users", "ann"), "prefs", {"theme": "light"})
    assert ours.get(("users", "ann"), "prefs").value == {"theme": "light"}
    ours.delete(("users", "ann"), "prefs")
    assert ours.get(("users", "ann"), "prefs") is None
    with pytest.raises(InvalidNamespaceError):
        ours.put(("a.b",), "x", {})


@pytest.mark.parametrize(
    ("prefix", "filter"),
    [
        ((), None),
        (("users",), None),
        (("users", "ann"), None),
        (("users",), {"n": 7}),
        (("users",), {"n": {"$gt": 3}}),
        (("users",), {"n": {"$gte": 3, "$lt": 7}}),
        (("users",), {"n": {"$ne": 7}}),
        (("users",), {"deep": {"x": [1, 2]}}),
        (("docs",), {"flag": True}),
        (("docs",), {"none": None}),
        (("nobody",), None),
    ],
)
def test_searches_without_a_query_find_what_the_frameworks_store_finds(stores: Any, prefix: Any, filter: Any) -> None:
    ours, theirs = stores
    if filter == {"n": {"$gt": 3}} or filter == {"n": {"$gte": 3, "$lt": 7}}:
        assert plain(ours.search(prefix, filter=filter))
    assert plain(ours.search(prefix, filter=filter)) == plain(theirs.search(prefix, filter=filter))


def test_pages(stores: Any) -> None:
    ours, _ = stores
    pages = [ours.search((), limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({item.key for page in pages for item in page}) == 5


def test_a_query_ranks_by_recall(stores: Any) -> None:
    ours, _ = stores
    found = ours.search(("users",), query="which cat is grey?")
    assert (found[0].key, found[0].score > 0) == ("cat", True)
    assert "dog" not in [item.key for item in ours.search(("users", "ann"), query="grey cat or dog")]
    assert [item.key for item in ours.search(("users",), query="cat dog", filter={"n": {"$lt": 7}})] == []


def test_what_is_not_indexed_is_not_found_by_a_query(memory: Memory) -> None:
    store = ThinkbackStore(memory, fields=["text"])
    store.put(("a",), "1", {"text": "grey cat", "other": "zebra"})
    store.put(("a",), "2", {"text": "grey cat"}, index=False)
    store.put(("a",), "3", {"text": "x", "title": "grey cat"}, index=["title"])
    assert {item.key for item in store.search(("a",), query="cat")} == {"1", "3"}
    assert store.search(("a",), query="zebra") == []
    assert len(store.search(("a",))) == 3


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"prefix": ("users",)},
        {"prefix": ("users", "*")},
        {"suffix": ("work",)},
        {"suffix": ("*", "work")},
        {"max_depth": 1},
        {"max_depth": 2, "limit": 2, "offset": 1},
    ],
    ids=str,
)
def test_namespaces_are_those_of_the_frameworks_store(stores: Any, asked: Any) -> None:
    ours, theirs = stores
    assert ours.list_namespaces(**asked) == theirs.list_namespaces(**asked)


def test_a_batch_reads_before_it_writes(stores: Any) -> None:
    for store in stores:
        ops = [
            PutOp(("b",), "k", {"v": 1}),
            GetOp(("b",), "k"),
            SearchOp(("users",), limit=10),
            ListNamespacesOp((MatchCondition("prefix", ("docs",)),), None, 10, 0),
            PutOp(("b",), "k", {"v": 2}),
        ]
        results = store.batch(ops)
        assert (results[0], results[1], len(results[2]), results[3]) == (None, None, 4, [("docs",)])
        assert store.get(("b",), "k").value == {"v": 2}


def test_async_is_the_same(stores: Any) -> None:
    async def work() -> Any:
        ours, _ = stores
        await ours.aput(("c",), "k", {"text": "a blue bird"})
        found = await ours.asearch(("c",), query="bird")
        await ours.adelete(("c",), "k")
        return found[0].key, await ours.aget(("c",), "k"), await ours.alist_namespaces(prefix=("c",))

    assert asyncio.run(work()) == ("k", None, [])


def test_items_expire_and_reading_refreshes(tmp_path: Path) -> None:
    clock = FixedClock("2026-05-08T12:00")
    with thinkback.open(tmp_path / "ttl.db", embedder=None, clock=clock) as memory:
        store = ThinkbackStore(memory)
        assert store.supports_ttl
        store.put(("a",), "short", {"text": "gone soon"}, ttl=10)
        store.put(("a",), "read", {"text": "kept by reading"}, ttl=10)
        store.put(("a",), "ever", {"text": "stays"})
        clock.advance(6 * 60 * 1_000_000)
        assert store.get(("a",), "read", refresh_ttl=True) is not None
        assert store.get(("a",), "short", refresh_ttl=False) is not None
        clock.advance(6 * 60 * 1_000_000)
        assert {item.key for item in store.search(("a",))} == {"read", "ever"}
        assert store.get(("a",), "short") is None
        assert (store.sweep_ttl(), memory.count(everything=True)) == (1, 2)


def test_a_graph_uses_it(memory: Memory) -> None:
    from typing import TypedDict

    from langgraph.graph import END, START, StateGraph
    from langgraph.runtime import Runtime

    class State(TypedDict):
        said: str
        known: list[str]

    def note(state: State, runtime: Runtime) -> Any:
        assert runtime.store is not None
        runtime.store.put(("notes",), "1", {"text": state["said"]})
        return {"known": [item.value["text"] for item in runtime.store.search(("notes",), query="cat")]}

    builder = StateGraph(State)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    builder.add_edge("note", END)
    graph = builder.compile(store=ThinkbackStore(memory))
    assert graph.invoke({"said": "Oscar is a cat", "known": []})["known"] == ["Oscar is a cat"]
