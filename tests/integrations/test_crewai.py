"""The CrewAI storage backend, alone and under its unified memory with an embedder of toys."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory as CrewMemory

import thinkback
from thinkback.integrations.crewai import ThinkbackStorage
from thinkback.testing import ToyEmbedder

TOY = ToyEmbedder(32)


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(number) for number in TOY.embed_query(text)] for text in texts]


def record(id: str, text: str, scope: str = "/", **fields: Any) -> MemoryRecord:
    return MemoryRecord(id=id, content=text, scope=scope, embedding=embed([text])[0], **fields)


@pytest.fixture
def storage(tmp_path: Path) -> ThinkbackStorage:
    storage = ThinkbackStorage(thinkback.open(tmp_path / "memory.db", embedder=None))
    storage.memory.remember("something that is none of the crew's")
    storage.save(
        [
            record("cat", "Oscar is a grey cat", "/home/pets", categories=["pets"], metadata={"n": 7}),
            record("dog", "Rex is a dog", "/home/pets", categories=["pets", "dogs"], importance=0.9),
            record("rent", "The rent is 940", "/home", source="ann", private=True),
            record("job", "Ann bakes bread", "/homework", created_at=datetime(2020, 1, 1)),
        ]
    )
    return storage


def test_it_is_a_storage_backend(storage: ThinkbackStorage) -> None:
    assert isinstance(storage, StorageBackend)
    cat = storage.get_record("cat")
    assert cat is not None
    assert (cat.content, cat.scope, cat.categories, cat.metadata) == (
        "Oscar is a grey cat",
        "/home/pets",
        ["pets"],
        {"n": 7},
    )
    rent = storage.get_record("rent")
    assert rent is not None
    assert (rent.source, rent.private) == ("ann", True)
    assert storage.get_record("nobody") is None


def test_search_goes_by_cosine_within_scope_categories_and_metadata(storage: ThinkbackStorage) -> None:
    (query,) = embed(["a grey cat"])
    found = storage.search(query)
    assert (found[0][0].id, len(found)) == ("cat", 4)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert {one.id for one, _ in storage.search(query, scope_prefix="/home")} == {"cat", "dog", "rent"}
    assert [one.id for one, _ in storage.search(query, categories=["dogs", "birds"])] == ["dog"]
    assert [one.id for one, _ in storage.search(query, metadata_filter={"n": 7})] == ["cat"]
    assert len(storage.search(query, limit=2)) == 2
    assert [one.id for one, _ in storage.search(query, min_score=found[0][1])] == ["cat"]


def test_scopes_counts_and_categories(storage: ThinkbackStorage) -> None:
    assert (storage.count(), storage.count("/home"), storage.count("/home/pets")) == (4, 3, 2)
    assert storage.list_scopes() == ["/home", "/homework"]
    assert storage.list_scopes("/home") == ["/home/pets"]
    assert storage.list_categories() == {"pets": 2, "dogs": 1}
    info = storage.get_scope_info("/home")
    assert (info.record_count, info.categories, info.child_scopes) == (3, ["dogs", "pets"], ["/home/pets"])
    assert len(storage.list_records("/home", limit=2)) == 2
    assert len(storage.list_records("/home", limit=2, offset=2)) == 1


def test_update_delete_and_reset(storage: ThinkbackStorage) -> None:
    storage.update(record("cat", "Oscar is a black cat", "/home/pets"))
    changed = storage.get_record("cat")
    assert changed is not None
    assert changed.content == "Oscar is a black cat"
    assert storage.delete(older_than=datetime(2021, 1, 1, tzinfo=UTC)) == 1
    assert storage.delete(record_ids=["dog", "nobody"]) == 1
    assert storage.delete(scope_prefix="/home/pets") == 1
    storage.reset()
    assert (storage.count(), storage.memory.count()) == (0, 1)


def test_the_unified_memory_works_on_it(storage: ThinkbackStorage) -> None:
    memory = CrewMemory(storage=storage, embedder=embed)
    memory.remember("Melanie painted a lake", scope="/art", categories=["art"], importance=0.5)
    memory.drain_writes() if hasattr(memory, "drain_writes") else None
    matches = memory.recall("Melanie painted a lake", scope="/art", depth="shallow", limit=3)
    assert matches[0].record.content == "Melanie painted a lake"
    assert storage.memory.recall("lake", recipe="keyword")[0].record.tags == ("art",)
