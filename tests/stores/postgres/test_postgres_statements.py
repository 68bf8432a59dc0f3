"""Every statement names the space of every table it touches, so that a cluster can send it to one shard; and there are few."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from thinkback.memory import Memory
from thinkback.model import StoredEdge
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.base import Store
from thinkback.stores.postgres import schema, session
from thinkback.testing import StoreContract, ToyEmbedder
from thinkback.testing.contract.words import NOW, put

pytestmark = pytest.mark.postgres
_TABLES = "|".join(schema.BY_SPACE)
_USE = re.compile(rf"(?:FROM|JOIN|UPDATE|USING)\s+thinkback\.({_TABLES})\s+(\w+)")
_INSERT = re.compile(rf"(?:INSERT INTO|COPY)\s+thinkback\.({_TABLES})\s*\(([^)]*)\)")
_ANY = re.compile(rf"thinkback\.({_TABLES})\b")


def unnamed(sql: str) -> list[str]:
    """The tables of a statement that are used without their space."""
    uses, inserts = _USE.findall(sql), _INSERT.findall(sql)
    missing = [table for table, alias in uses if f"{alias}.space = %(space)s" not in sql]
    missing += [table for table, columns in inserts if not columns.startswith("space")]
    if len(uses) + len(inserts) != len(_ANY.findall(sql)):
        missing.append(f"not understood: {sql}")
    return missing


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    seen: list[str] = []
    execute = session.execute

    def watched(connection: Any, sql: str, params: Mapping[str, Any] | None) -> Any:
        seen.append(sql)
        return execute(connection, sql, params)

    monkeypatch.setattr(session, "execute", watched)
    yield seen
    wrong = {sql: found for sql in seen if (found := unnamed(sql))}
    assert not wrong, wrong


class TestTheWholeContract(StoreContract):
    """Every statement that the contract makes a store run."""

    @pytest.fixture(autouse=True)
    def watch(self, statements: list[str]) -> None:
        """Watch them all."""


def test_the_watch_sees_what_is_missing() -> None:
    assert unnamed("SELECT 1 FROM thinkback.memories m WHERE m.id = 'x'") == ["memories"]
    assert unnamed("SELECT 1 FROM thinkback.memories m WHERE m.space = %(space)s") == []
    assert unnamed("INSERT INTO thinkback.edges (from_id) VALUES (1)") == ["edges"]
    assert unnamed("TRUNCATE thinkback.edges")


def test_a_recall_is_at_most_six_statements_once_words_are_known(store: Store, statements: list[str]) -> None:
    opener = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW)
    memory: Memory = opener.over(store)
    records = memory.remember_many(
        {"text": f"cat {n} sleeps in room {n % 9}", "thread": f"t{n % 4}", "tags": ["pets"]} for n in range(200)
    )
    store.link([StoredEdge(from_id=records[0].id, to_id=records[5].id)], NOW)
    query = "which cat sleeps in room 3?"
    memory.recall(query, counted=False)
    statements.clear()
    memory.recall(query, counted=False)
    assert 0 < len(statements) <= 6, statements


def test_a_few_memories_are_one_statement(store: Store, statements: list[str]) -> None:
    put(store, "a first cat")
    statements.clear()
    put(store, "a cat", "a dog", tags=("pets",))
    assert len(statements) <= 2, statements
