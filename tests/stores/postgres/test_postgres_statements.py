"""Every statement names the space of every table it touches, so that a cluster can send it to one shard; and there are few."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest

from thinkback.clock import DAY
from thinkback.errors import EmbeddingSpaceMismatch, InvalidInput
from thinkback.memory import Memory
from thinkback.model import CONSOLIDATED, CORROBORATES, Draft, Filter, StoredEdge
from thinkback.opening import Opener
from thinkback.search.trace import Recall
from thinkback.settings import Settings
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.stores.postgres import PostgresSpaces, schema, session
from thinkback.testing import StoreContract, ToyEmbedder
from thinkback.testing.contract.words import NOW, put

from codes import raises  # isort: skip

pytestmark = pytest.mark.postgres
_TABLES = "|".join(schema.BY_SPACE)
_USE = re.compile(rf"(?:FROM|JOIN|UPDATE|USING)\s+thinkback\.({_TABLES})\s+(\w+)")
_SPACE = r"\.space = (?:%\(space\)s|%s|\$1|\d+)(?!\w)"
_INSERT = re.compile(rf"(?:INSERT INTO|COPY)\s+thinkback\.({_TABLES})\s*\(([^)]*)\)")
_ANY = re.compile(rf"thinkback\.({_TABLES})\b")


def unnamed(sql: str) -> list[str]:
    """The tables of a statement that are used without their space."""
    uses, inserts = _USE.findall(sql), _INSERT.findall(sql)
    named = {alias: len(re.findall(rf"\b{alias}{_SPACE}", sql)) for _, alias in uses}
    often = Counter(alias for _, alias in uses)  # an alias may stand for a table in several parts of a statement
    missing = [table for table, alias in uses if named[alias] < often[alias]]
    missing += [table for table, columns in inserts if not columns.startswith("space")]
    if len(uses) + len(inserts) != len(_ANY.findall(sql)):
        missing.append(f"not understood: {sql}")
    return missing


@pytest.fixture(autouse=True)
def everything_sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """All that reaches the server in a test, by whatever way; each names its space."""
    seen: list[str] = []

    def watched(work: Callable[..., Any]) -> Callable[..., Any]:
        def send(self: Any, sql: Any, *given: Any, **named: Any) -> Any:
            seen.append(str(sql))
            return work(self, sql, *given, **named)

        return send

    for way in ("execute", "executemany", "copy", "stream"):
        monkeypatch.setattr(psycopg.Cursor, way, watched(getattr(psycopg.Cursor, way)))
    yield seen
    wrong = {sql: found for sql in seen if (found := unnamed(sql))}
    assert not wrong, wrong


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements inside of transactions."""
    seen: list[str] = []
    execute = session.execute

    def watched(connection: Any, sql: str, params: Mapping[str, Any] | None) -> Any:
        seen.append(sql)
        return execute(connection, sql, params)

    monkeypatch.setattr(session, "execute", watched)
    return seen


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that open a transaction."""
    seen: list[str] = []
    begun = session.begin

    def watched(connection: Any, sql: str) -> Any:
        seen.append(sql)
        return begun(connection, sql)

    monkeypatch.setattr(session, "begin", watched)
    return seen


class TestTheWholeContract(StoreContract):
    """Every statement that the contract makes a store run."""


def test_many_memories_spaces_and_copies_name_theirs_too(
    shared_spaces: PostgresSpaces, everything_sent: list[str]
) -> None:
    """What the contract does not do: many memories at once, a space that comes and goes, a copy of it."""
    memory = _many(shared_spaces.open("passing"))
    for _ in range(9):
        memory.recall("which cat sleeps in room 3?", counted=False)
    memory.remember(LONG)
    memory.forget(memory.list(limit=1)[0].id)
    shared_spaces.drop("passing")
    sent = " ".join(everything_sent)
    assert all(f"COPY thinkback.{table}" in sent for table in ("memories", "postings", "vectors", "memory_tags"))
    assert all(f"DELETE FROM thinkback.{table}" in sent for table in schema.BY_SPACE)
    assert "INSERT INTO thinkback.spaces" in sent


def test_the_watch_sees_what_is_missing() -> None:
    assert (
        unnamed("SELECT 1 FROM thinkback.edges e, (SELECT 1 FROM thinkback.edges e WHERE e.space = 7) x")
        == ["edges"] * 2
    )
    assert unnamed("DELETE FROM thinkback.edges x WHERE x.space = %s") == []
    assert unnamed("SELECT 1 FROM thinkback.memories m WHERE m.id = 'x'") == ["memories"]
    assert unnamed("SELECT 1 FROM thinkback.memories m WHERE m.space = %(space)s") == []
    assert unnamed("INSERT INTO thinkback.edges (from_id) VALUES (1)") == ["edges"]
    assert unnamed("TRUNCATE thinkback.edges")


LONG = " ".join(f"On day {day} the cat slept in room {day % 9} and the dog barked at the gate." for day in range(60))


def _many(store: Store, **options: Any) -> Memory:
    """A memory with threads, tags, links and vectors; `options` are fields of every one."""
    memory: Memory = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW).over(store)
    records = memory.remember_many(
        {"text": f"cat {n} sleeps in room {n % 9}", "thread": f"t{n % 4}", "tags": ["pets"], **options}
        for n in range(200)
    )
    store.link([StoredEdge(from_id=records[0].id, to_id=records[5].id)], NOW)
    return memory


def _recalled(memory: Memory, query: str, seen: Sequence[list[str]]) -> tuple[Recall, int]:
    """The answer, and how many messages it took, the one that opens the view and reads the counters included.

    The process has recalled before, but then the space was changed, and the words are new.
    """
    memory.recall("something else", counted=False)
    memory.remember("a bird")
    for one in seen:
        one.clear()
    found = memory.recall(query, counted=False)
    assert len(seen[0]) == 1
    return found, sum(map(len, seen))


def test_a_recall_is_at_most_six_statements(store: Store, statements: list[str], opened: list[str]) -> None:
    found, count = _recalled(_many(store), "which cat sleeps in room 3?", (opened, statements))
    assert len(found) > 3
    assert count <= 6, [sql[:200] for sql in statements]


def test_one_that_names_a_time_too(store: Store, statements: list[str], opened: list[str]) -> None:
    found, count = _recalled(
        _many(store, created_at=NOW - DAY), "which cat slept in room 3 yesterday?", (opened, statements)
    )
    skipped = {run.leg: run.skipped for run in found.trace.runs}
    assert skipped["dates"] == "most memories are of the time the query names"  # which took two counts
    assert count <= 6, statements


def test_one_with_themes_and_long_memories_too(store: Store, statements: list[str], opened: list[str]) -> None:
    memory = _many(store)
    assert memory.remember(LONG).embedded
    assert store.search_passages(ToyEmbedder(64).embed_query("cat"), Filter(now=NOW), 5)
    theme = memory.remember("cats sleep in rooms", kind="reflection")
    members = [record.id for record in memory.list(limit=9) if record.id != theme.id]
    store.link([StoredEdge(from_id=theme.id, to_id=id, kind=CONSOLIDATED) for id in members], NOW)
    found, count = _recalled(memory, "which cat sleeps in room 3?", (opened, statements))
    assert {"reflections", "members"} <= {run.leg for run in found.trace.runs if run.skipped is None}
    assert count <= 6, [sql[:200] for sql in statements]


def test_no_statement_of_a_recall_reads_a_whole_table(
    store: Store, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the planner holds for cheap: these tables are so small that it would."""
    memory, plans, execute = _many(store), [], session.execute

    def explained(connection: Any, sql: str, params: Mapping[str, Any] | None) -> Any:
        plans.append("\n".join(line for (line,) in connection.execute(f"EXPLAIN {sql}", params)))
        return execute(connection, sql, params)

    monkeypatch.setattr(session, "execute", explained)
    assert len(memory.recall("which cat sleeps in room 3?", counted=False)) > 3
    assert len(plans) > 2
    assert not [plan for plan in plans if "Seq Scan" in plan]


def test_a_few_memories_are_one_round_trip(store: Store, statements: list[str], opened: list[str]) -> None:
    """The lock, the statement and the commit are sent together; no transaction is opened first."""
    first = put(store, "a first cat", thread="t")
    assert store.embedding_space() is not None  # read once by every process that embeds
    statements.clear(), opened.clear()
    again = put(store, "a cat", "a dog", tags=("pets",), thread="t")
    assert opened == []
    assert len(statements) == 2, statements  # of one pipeline
    assert [record.position for record in (*first, *again)] == [0, 1, 2]
    assert store.get([record.id for record in again]) == {record.id: record for record in again}
    assert store.check() == []


def test_to_remember_what_was_not_said_before_is_one_round_trip(
    store: Store, statements: list[str], opened: list[str]
) -> None:
    """What a memory may repeat is looked for in the statement that writes it."""
    memory = _many(store)
    memory.remember("a first bird sings at the gate")
    statements.clear(), opened.clear()
    new = memory.remember("the second bird sleeps under the roof", thread="t1", tags=["birds"])
    assert opened == []
    assert len(statements) == 2, statements  # of one pipeline
    assert (new.embedded, new.position) == (True, 50)
    opened.clear()
    again = memory.remember("The second bird sleeps under the roof!")
    assert len(opened) == 1  # a transaction, to raise the confidence of the first
    assert memory.get(new.id).confidence > new.confidence
    assert again.id != new.id
    assert store.check() == []


def test_two_who_say_the_same_at_once_are_seen(store: Store) -> None:
    memory = _many(store)
    with ThreadPoolExecutor(4) as several:
        said = list(several.map(lambda _: memory.remember("a wild goose rests on the lake"), range(4)))
    repeats = [edge for edge in store.export_edges() if edge.kind == CORROBORATES]
    assert len(repeats) == 3
    assert {edge.from_id for edge in repeats} <= {one.id for one in said}


def test_what_does_not_fit_into_one_round_trip_is_told_as_ever(store: Store, opened: list[str]) -> None:
    kept = put(store, "a cat", id="cat")
    with raises(InvalidInput, "id_taken"):
        put(store, "another", id="cat")
    with pytest.raises(EmbeddingSpaceMismatch):
        store.add([Draft(text="a dog", vector=np.array([1.0, 0.0, 0.0], np.float32))], NOW, EmbeddingSpace("other", 3))
    mixed = [Draft(text="one", thread="t", position=7), Draft(text="two", thread="t")]
    assert [record.position for record in store.add(mixed, NOW)] == [7, 8]
    assert store.count(Filter(now=NOW)) == 3
    assert list(store.get(["cat"]).values()) == kept
    assert store.check() == []


def test_writers_at_once_get_places_one_after_another(store: Store) -> None:
    with ThreadPoolExecutor(4) as several:
        found = list(several.map(lambda n: put(store, f"cat {n}", thread="t")[0].position, range(24)))
    assert sorted(place for place in found if place is not None) == list(range(24))
