"""Reflections written by hand: whatever stands in them, a consolidation and everything around it leaves them alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from reflect_fixtures import NOW, fill, snapshot

import thinkback
from thinkback.lifecycle.reflect.run import reflect
from thinkback.lifecycle.reflect.themes import identity
from thinkback.model import Draft, StoredRecord
from thinkback.reflections import keywords, members
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

LATER = NOW * 2
MANY = 20_000

STRANGE = {
    "plain words": "what I think of it all",
    "half of JSON": '{"members": ["a"',
    "a list": '["a", "b"]',
    "a number": "7",
    "null": "null",
    "no members": '{"keywords": ["cat"]}',
    "members null": '{"members": null}',
    "members a string": '{"members": "abc"}',
    "members a number": '{"members": 5}',
    "members an object": '{"members": {"a": 1}}',
    "members of two types": '{"members": [1, "a"]}',
    "members lists": '{"members": [["x"]]}',
    "members objects": '{"members": [{"id": "a"}]}',
    "members null inside": '{"members": ["a", null]}',
    "members half a character": '{"members": ["\\ud800"]}',
    "nested deep": '{"members": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "a number too long to read": '{"members": ' + "9" * 5_000 + "}",
    "no members at all": '{"members": []}',
}
NAMING = {
    "members nobody knows": '{"members": ["nobody"]}',
    "keywords not strings": '{"members": ["a"], "keywords": [1, ["x"]]}',
    "keywords a number": '{"members": ["a"], "keywords": 5}',
    "members with a zero byte": '{"members": ["a\\u0000b"]}',
    "very many members": json.dumps({"members": [f"m{n}" for n in range(MANY)]}),
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_only_an_object_with_a_list_of_strings_names_members(text: str) -> None:
    assert members(StoredRecord(id="mine", text=text, kind="reflection")) == ()


def test_very_many_members_are_members() -> None:
    record = StoredRecord(id="mine", text=NAMING["very many members"], kind="reflection")
    assert members(record) == tuple(f"m{n}" for n in range(MANY))


@pytest.mark.parametrize("said", [5, None, "cat", [1, "cat"], [["cat"]], {"cat": 1}])
def test_keywords_are_a_list_of_strings_or_none(said: object) -> None:
    record = StoredRecord(id="mine", text=json.dumps({"members": ["a"], "keywords": said}), kind="reflection")
    assert (members(record), keywords(record)) == (("a",), ())


@pytest.fixture
def cats(tmp_path: Path) -> Iterator[thinkback.Memory]:
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None, clock=clock) as memory:
        for thing in ("sofa", "fish", "birds", "garden"):
            memory.remember(f"the small grey cat Oscar likes his {thing}", id=thing)
        yield memory


@pytest.mark.parametrize("text", [*STRANGE.values(), *NAMING.values()], ids=[*STRANGE, *NAMING])
def test_it_is_left_alone_by_all_that_looks_at_reflections(cats: thinkback.Memory, text: str) -> None:
    cats.remember(text, id="mine", kind="reflection")
    mine = cats.get("mine")
    (theme,) = cats.reflect().created
    assert cats.reflect().created == ()
    assert cats.get(theme).kind == "reflection"
    cats.audit()
    assert len(cats.search_reflections_only("grey cat")) == 2
    cats.reembed()
    cats.forget("sofa")
    assert cats.get("mine").text == mine.text


def test_the_id_of_a_theme_without_members_is_nobodys(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        fill(store)
        store.add([Draft(id=identity(()), text="written by hand", kind="reflection")], NOW)
        assert reflect(store, LATER).removed == ()
        assert store.get([identity(())])[identity(())].text == "written by hand"


@pytest.mark.parametrize("said", [5, [1], None], ids=["a number", "not strings", "null"])
def test_a_theme_whose_keywords_were_spoiled_is_described_anew(tmp_path: Path, said: object) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        fill(store)
        theme = reflect(store, LATER).themes[0]
        before = snapshot(store)
        spoiled = json.dumps({"members": list(theme.members), "keywords": said})
        store.update(theme.id, {"text": spoiled}, LATER, store.vectors([theme.id])[theme.id], store.embedding_space())
        assert reflect(store, LATER).refreshed == (theme.id,)
        assert snapshot(store) == before


@pytest.mark.parametrize("text", ["plain words", '{"members": 5}'])
def test_a_theme_rewritten_by_hand_is_left_to_its_writer(cats: thinkback.Memory, text: str) -> None:
    (theme,) = cats.reflect().created
    cats.update(theme, text=text)
    mine = cats.get(theme)
    for _ in range(2):
        for dry_run in (True, False):
            made = cats.reflect(dry_run=dry_run)
            assert (made.themes, made.created, made.refreshed, made.removed) == ((), (), (), ())
            assert made.batch is None
            assert made.refused["rewritten by hand"] == 1
    assert cats.get(theme) == mine
    cats.forget(theme)
    assert cats.reflect().created == (theme,)
