"""Searches that look at a few of the best before they are filtered: equal to SQLite's where that was not enough."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thinkback.model import Draft, Filter, Scored
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces, session
from thinkback.stores.postgres.store import PostgresStore
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_keyword, by_vector

pytestmark = pytest.mark.postgres


@pytest.fixture
def both(shared_spaces: PostgresSpaces, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """A file, and a space that has no copy."""
    space = shared_spaces.open("nearest")
    with (
        SqliteStore(tmp_path / "a.db") as here,
        PostgresStore(shared_spaces.server, space._sessions.space, "n") as there,
    ):
        yield here, there
    shared_spaces.drop("nearest")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of searches."""
    seen: list[str] = []
    execute = session.execute

    def watched(connection: Any, sql: str, params: Any) -> Any:
        if "UNION" in sql or "score" in sql or "distance" in sql:
            seen.append(sql)
        return execute(connection, sql, params)

    monkeypatch.setattr(session, "execute", watched)
    return seen


def _fill(both: tuple[Store, Store], drafts: list[Draft]) -> None:
    for store in both:
        store.add(drafts, NOW, SPACE)


def _draft(number: int, text: str, **fields: Any) -> Draft:
    return Draft(id=f"m{number:04}", text=text, vector=TOY.embed_query(text), **fields)


def _near(both: tuple[Store, Store], text: str, limit: int = 10, **asked: Any) -> list[Scored]:
    here, there = (by_vector(store, text, Filter(now=NOW, **asked), limit) for store in both)
    assert here == there
    return here


def test_the_nearest_are_found_in_one_statement(both: tuple[Store, Store], sent: list[str]) -> None:
    _fill(both, [_draft(n, f"cat {n} sleeps in room {n % 17} beside dog {n % 5}") for n in range(400)])
    sent.clear()
    assert len(_near(both, "cat 3 in room 7")) == 10
    assert len(sent) == 1


def test_those_behind_many_that_do_not_pass_are_found(both: tuple[Store, Store], sent: list[str]) -> None:
    """The nearest 300 are archived, so looking at a few of the nearest finds none."""
    hidden = [_draft(n, "a grey cat", archived_at=NOW - 1) for n in range(300)]
    _fill(both, [*hidden, *(_draft(n, f"a grey dog {n}") for n in range(300, 340))])
    sent.clear()
    found = _near(both, "a grey cat", 20)
    assert len(found) == 20
    assert len(sent) == 2
    assert len(_near(both, "a grey cat", 20, everything=True)) == 20
    assert len(_near(both, "a grey cat", 20, kinds=("observation",))) == 20


def test_equal_vectors_are_placed_by_id(both: tuple[Store, Store]) -> None:
    _fill(both, [_draft(n, "a grey cat") for n in reversed(range(500))])
    assert [hit.id for hit in _near(both, "a grey cat")] == [f"m{n:04}" for n in range(10)]


def test_one_message_after_a_rollback(server: Any) -> None:
    """psycopg forgets what is prepared when a transaction is rolled back; the next one prepares it again."""
    spaces = PostgresSpaces(server.database(), pool_size=1)
    with spaces.open("alice") as store:
        for _ in range(5):
            store.add([Draft(text="a cat")], NOW)
            assert len(by_keyword(store, "cat")) > 0
        for _ in range(2):
            with pytest.raises(RuntimeError), store.transaction():  # noqa: PT012
                store.add([Draft(text="a dog")], NOW)
                raise RuntimeError
            assert store.search_keywords(parse_keywords("dog"), Filter(now=NOW), 5) == []
            assert len(store.add([Draft(text="a cat")], NOW)) == 1
        assert store.state().changes == 7
    spaces.close()
