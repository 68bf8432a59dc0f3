"""`check` finds every index that has drifted from the text, and `repair` puts it right without touching the text."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from codes import raises

from thinkback.errors import StoreDamaged
from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.sqlite import SqliteStore, keywords
from thinkback.testing.contract.words import NOW, SPACE, TOY, put

HARM = {
    "a full-text row is gone": ("DELETE FROM fts WHERE rowid = 2", "full text", "not in the index"),
    "a full-text row is of nobody": (
        "INSERT INTO fts (rowid, content) VALUES (99, 'ghost')",
        "full text",
        "not in the store",
    ),
    "another text is indexed": ("UPDATE fts SET content = 'a lie' WHERE rowid = 2", "full text", "another text"),
    "history is not indexed": ("DELETE FROM fts_history WHERE rowid = 1", "full text", "fts_history"),
    "the index is broken inside": ("DELETE FROM fts_data WHERE id > 10", "full text", "fts5"),
    "an exact row is gone": (
        "INSERT INTO fts_exact (fts_exact, rowid, content, essence, tags) "
        "SELECT 'delete', rowid, content, essence, tags FROM fts WHERE rowid = 2",
        "full text",
        "fts_exact",
    ),
    "other words are indexed as spelt": (
        "INSERT INTO fts_exact (fts_exact, rowid, content, essence, tags) "
        "SELECT 'delete', rowid, content, essence, tags FROM fts WHERE rowid = 2; "
        "INSERT INTO fts_exact (rowid, content, essence, tags) VALUES (2, 'one two three', '', 'pets')",
        "full text",
        "fts_exact",
    ),
    "the index contradicts its own text": ("UPDATE fts_content SET c0 = 'other words'", "full text", "another text"),
    "a tag is missing": ("DELETE FROM memory_tags WHERE seq = 2", "tags", "missing"),
    "a tag is left over": ("INSERT INTO memory_tags VALUES ('ghost', 2)", "tags", "left over"),
    "a tag of nobody": ("INSERT INTO memory_tags VALUES ('ghost', 99)", "memory_tags", "do not exist"),
    "a vector is cut": ("UPDATE vectors SET vector = x'0000' WHERE place = 1 << 40 | 2", "vectors", "unit length"),
    "a vector is zero": (
        "UPDATE vectors SET vector = zeroblob(256) WHERE place = 1 << 40 | 2",
        "vectors",
        "unit length",
    ),
    "a vector is NaN": (
        "UPDATE vectors SET vector = CAST(x'0000c07f' || zeroblob(252) AS BLOB) WHERE place = 1 << 40 | 2",
        "vectors",
        "unit length",
    ),
    "a vector is missing": ("DELETE FROM vectors WHERE place = 1 << 40 | 2", "vectors", "marked as embedded"),
    "a vector of nobody": ("INSERT INTO vectors VALUES (1 << 40 | 99, 1, zeroblob(256))", "vectors", "do not exist"),
    "a vector of no space": ("INSERT INTO vectors VALUES (7 << 40 | 2, 7, zeroblob(256))", "vectors", "do not exist"),
    "an edge to nobody": ("INSERT INTO edges VALUES ('a', 'nobody', 'k', 1.0, NULL, NULL, 0)", "edges", "do not exist"),
    "a judgement of nobody": ("INSERT INTO judgements VALUES ('q', 'nobody', 1, 0)", "judgements", "do not exist"),
    "the counters lag": ("UPDATE counters SET last_seq = 1, changes = 1", "counters", "lag behind"),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Three memories, one of which has an older version."""
    with SqliteStore(tmp_path / "memory.db") as store:
        put(store, "the grey cat", "the brown dog", "the old bird", tags=("pets",))
        first = store.list(Filter(now=NOW), 9)[-1]
        store.update(first.id, {"text": "the black cat"}, NOW + 1, TOY.embed_query("the black cat"), SPACE)
        assert store.check() == []
        yield store


def _harm(store: SqliteStore, sql: str) -> None:
    with store._connections.write() as connection:
        connection.execute(sql)


@pytest.mark.parametrize(("sql", "area", "says"), HARM.values(), ids=HARM)
def test_what_drifted_is_found_and_put_right(store: SqliteStore, sql: str, area: str, says: str) -> None:
    before = list(store.export_records())
    _harm(store, sql)
    found = store.check()
    assert [p for p in found if p.area == area and says in p.message], found
    assert all(problem.repairable for problem in found), found
    assert store.repair() == []
    assert store.check() == []
    after = list(store.export_records())
    assert [(r.id, r.text, r.tags, r.retired_at) for r in after] == [
        (r.id, r.text, r.tags, r.retired_at) for r in before
    ]
    found_now = store.search_keywords(parse_keywords("cat dog bird"), Filter(now=NOW + 1), 9)
    assert len(found_now) == 3
    record = store.add([Draft(text="a new cat")], NOW)[0]
    assert record.id in {hit.id for hit in store.search_keywords(parse_keywords("new"), Filter(now=NOW), 9)}


def test_an_impossible_row_is_reported_and_left(store: SqliteStore) -> None:
    _harm(store, "UPDATE memories SET kind = 'ghost', metadata = 'not json' WHERE seq = 2")
    found = store.check()
    assert {(p.area, p.repairable) for p in found} == {("memories", False)}
    assert len(found) == 2
    assert store.repair() == found


def test_mirrors_made_from_a_broken_index_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", -1)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 0)
    path, query, filter = tmp_path / "memory.db", parse_keywords("cat"), Filter(now=NOW)
    with SqliteStore(path) as healer, SqliteStore(path) as other:
        (record,) = put(healer, "the grey cat")
        _harm(healer, "UPDATE fts SET content = 'a lie' WHERE rowid = 1")
        assert other.search_keywords(query, filter, 9) == []
        assert healer.repair() == []
        assert [hit.id for hit in other.search_keywords(query, filter, 9)] == [record.id]


@pytest.mark.parametrize("table", ["fts", "fts_themes", "fts_history", "fts_exact"])
def test_a_full_text_index_that_is_gone_is_built_anew(tmp_path: Path, table: str) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        (record,) = store.add([Draft(text="a grey cat")], NOW)
        store.update(record.id, {"text": "a black cat"}, NOW + 1)
    connection = apsw.Connection(str(path))
    connection.execute(f"DROP TABLE {table}")
    connection.close()
    with SqliteStore(path) as store:
        with raises(StoreDamaged, "missing_index"):
            store.update(record.id, {"text": "a white cat"}, NOW + 2)
        if table == "fts":
            with raises(StoreDamaged, "missing_index"):
                store.frequencies(["cat"])
            with raises(StoreDamaged, "missing_index"):
                store.search_keywords(parse_keywords("cat"), Filter(now=NOW), 5)
        assert [problem.message for problem in store.check()] == [f"the full-text index {table} is gone"]
        assert store.repair() == []
        assert [hit.id for hit in store.search_keywords(parse_keywords("black"), Filter(now=NOW), 5)] == [record.id]
