"""What people type first: each line works, or is answered with the line to type instead."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import thinkback
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.testing import FixedClock, ToyEmbedder

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "My cat is called Oscar"},
    {"role": "assistant", "content": [{"type": "text", "text": "What a fine name for a cat!"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
]
Attempt = Callable[[Memory], Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), clock=clock) as memory:
        memory.remember("Oscar is a grey cat", id="cat", tags=["pets"], user="ann", thread="t", metadata={"n": 7})
        memory.remember("Rex is a dog", id="dog", tags=["pets", "dogs"], agent="bot", kind="fact", metadata={"n": 5})
        yield memory


def found(memory: Memory, **given: Any) -> set[str]:
    return {hit.id for hit in memory.search("Oscar Rex cat dog", **given)}


WORK: dict[str, tuple[Attempt, Any]] = {
    "add(text)": (lambda m: m.add("a bird").text, "a bird"),
    "search(text)": (lambda m: m.search("grey cat")[0].id, "cat"),
    "add(messages=…)": (lambda m: [one.speaker for one in m.add(messages=CHAT)], ["user", "assistant"]),
    "messages share a thread": (lambda m: len({one.thread for one in m.remember(messages=CHAT)}), 1),
    "messages in order": (lambda m: [one.position for one in m.remember(messages=CHAT, thread="c")], [0, 1]),
    "messages of a user": (lambda m: m.remember(messages=CHAT, user="ann")[0].user, "ann"),
    "a message's name": (
        lambda m: m.remember(messages=[{"role": "user", "name": "Zoë", "content": "hi"}])[0].speaker,
        "Zoë",
    ),
    "a message's time": (
        lambda m: m.remember(messages=[{"role": "user", "content": "hi", "timestamp": 1767225600}])[0].created_at.year,
        2026,
    ),
    "messages twice, by id": (
        lambda m: (
            [len(m.remember(messages=[{"id": "1", "role": "user", "content": "hi"}])) for _ in "12"] + [m.count()]
        ),
        [1, 1, 3],
    ),
    "tag=": (lambda m: m.remember("a bird", tag="pets").tags, ("pets",)),
    "upsert(id=…), new": (lambda m: m.upsert("a bird", id="bird").id, "bird"),
    "upsert(id=…), known": (lambda m: (m.upsert("Oscar is black", id="cat").text, m.count()), ("Oscar is black", 2)),
    "upsert(key=…)": (lambda m: (m.upsert("Oscar, 7", key="n", metadata={"n": 7}).id, m.count()), ("cat", 2)),
    "upsert of the same": (
        lambda m: m.upsert("Oscar is a grey cat", id="cat", tags=["pets"]) == m.get("cat") and len(m.history("cat")),
        1,
    ),
    'metadata={"n": {"gt": 6}}': (lambda m: found(m, metadata={"n": {"gt": 6}}), {"cat"}),
    'metadata={"n": {"$gt": 6}}': (lambda m: found(m, metadata={"n": {"$gt": 6}}), {"cat"}),
    'where={"or": …}': (
        lambda m: found(m, where={"or": [{"metadata.n": {"gt": 6}}, {"tags": {"all": ["pets", "dogs"]}}]}),
        {"cat", "dog"},
    ),
    "any tag": (lambda m: found(m, tags={"any": ["dogs", "birds"]}), {"dog"}),
    "thread=": (lambda m: found(m, thread="t"), {"cat"}),
    "tag= as a filter": (lambda m: found(m, tag="dogs"), {"dog"}),
    "kind=": (lambda m: found(m, kind="fact"), {"dog"}),
    "user=": (lambda m: found(m, user="ann"), {"cat"}),
    "agent=": (lambda m: found(m, agent="bot"), {"dog"}),
    "recall_many": (lambda m: [one[0].id for one in m.recall_many(["grey cat", "Rex dog"])], ["cat", "dog"]),
    "forget(where=…), dry": (lambda m: (m.forget(where={"user": "ann"}, dry_run=True).ids, m.count()), (("cat",), 2)),
    "forget(where=…)": (lambda m: (m.forget(where={"user": "ann"}).ids, m.count()), (("cat",), 1)),
    "repr(recall)": (lambda m: "\n" in repr(m.recall("grey cat")), False),
    "repr(record)": (lambda m: len(repr(m.get("cat"))) < 120, True),
    "to_dict()": (lambda m: m.recall("grey cat").to_dict()["hits"][0]["memory"]["created_at"][:10], "2026-05-08"),
    "_repr_html_": (lambda m: m.recall("grey cat")._repr_html_().count("<tr>"), 3),
}

ANSWERED: dict[str, tuple[Attempt, str]] = {
    'Memory("x.db")': (lambda m: Memory("x.db"), "thinkback.open('x.db')"),  # type: ignore[arg-type]
    "embedder=lambda": (
        lambda m: thinkback.open(":memory:", embedder=lambda texts: [[1.0]]),  # type: ignore[arg-type]
        "thinkback.CallbackEmbedder(",
    ),
    "recall([…])": (lambda m: m.recall(["a", "b"]), "recall_many(["),  # type: ignore[arg-type]
    "remember([…])": (lambda m: m.remember(["a", "b"]), "remember_many(["),  # type: ignore[call-overload]
    "remember(chat)": (lambda m: m.remember(CHAT), "remember(messages=["),  # type: ignore[call-overload]
    "remember(Path)": (lambda m: m.remember(Path("a.md")), "remember(file='a.md')"),  # type: ignore[call-overload]
    "remember()": (lambda m: m.remember(), 'remember("'),  # type: ignore[call-overload]
    "recall_many(text)": (lambda m: m.recall_many("a"), "recall("),
    "user_id=": (lambda m: m.recall("a", user_id="ann"), "Did you mean 'user'?"),  # type: ignore[call-arg]
    "remember(user_id=)": (lambda m: m.remember("a", user_id="ann"), "Did you mean 'user'?"),  # type: ignore[call-overload]
    "session_id=": (lambda m: m.recall("a", session_id="t"), "Did you mean 'thread'?"),  # type: ignore[call-arg]
    "top_k=": (lambda m: m.recall("a", top_k=3), "Did you mean 'limit'?"),  # type: ignore[call-arg]
    "filters=": (lambda m: m.recall("a", filters={}), "Did you mean 'where'?"),  # type: ignore[call-arg]
    "a misspelt operator": (lambda m: m.recall("a", metadata={"n": {"gtt": 6}}), "Did you mean 'gt'?"),
    "a misspelt filter": (lambda m: m.recall("a", tgas=["a"]), "Did you mean 'tags'?"),  # type: ignore[call-arg]
    "a key of metadata in where": (lambda m: m.recall("a", where={"n": {"gt": 6}}), "metadata.n"),
    "forget([ids])": (lambda m: m.forget(["cat"]), "forget(*ids)"),  # type: ignore[arg-type]
    "forget(where={})": (lambda m: m.forget(where={}), "everything"),
    "upsert without a key": (lambda m: m.upsert("a bird"), "an id, or a key"),
    "messages='…'": (lambda m: m.remember(messages="hi"), '{"role": …, "content": …}'),  # type: ignore[call-overload]
}


def test_there_are_forty() -> None:
    assert len(WORK) + len(ANSWERED) >= 40


@pytest.mark.parametrize("name", WORK)
def test_it_works(memory: Memory, name: str) -> None:
    attempt, wanted = WORK[name]
    assert attempt(memory) == wanted


@pytest.mark.parametrize("name", ANSWERED)
def test_it_is_answered_with_what_was_meant(memory: Memory, name: str) -> None:
    attempt, line = ANSWERED[name]
    before = memory.count()
    with pytest.raises(InvalidInput) as caught:
        attempt(memory)
    assert line in str(caught.value)
    assert memory.count() == before


def test_to_pandas_has_a_row_a_hit(memory: Memory) -> None:
    pytest.importorskip("pandas")
    frame = memory.recall("grey cat").to_pandas()
    assert next(iter(frame["id"])) == "cat"
    added = frame.filter(regex="^(leg|signal|rerank|fusion)").iloc[0].sum()
    assert added == pytest.approx(frame["score"].iloc[0])


def test_html_escapes_what_memories_say(memory: Memory) -> None:
    memory.remember("<script>alert(1)</script> grey cat")
    assert "<script>" not in memory.recall("grey cat")._repr_html_()


def test_a_folder_is_kept_in_step(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / ".hidden").mkdir(parents=True)
    (notes / ".hidden" / "x.md").write_text("hidden")
    (notes / "a.md").write_text(
        "---\ntitle: x\n---\nintro\n\n# One\nfirst\n\n## Two\nsecond\n```\n# code\n```\n\nThree\n=====\nlast\n"
    )
    (notes / "b.txt").write_text("# no heading here\nplain")
    done = memory.remember(file=notes, tags=["notes"])
    assert (len(done.added), done.updated, done.forgotten, done.unchanged) == (5, (), (), 0)
    sections = {one.essence: one.text for one in memory.list(tag="notes")}
    assert sections == {
        "a": "intro",
        "a › One": "One\n\nfirst",
        "a › One › Two": "Two\n\nsecond\n```\n# code\n```",
        "a › Three": "Three\n\nlast",
        "b": "# no heading here\nplain",
    }
    assert (memory.remember(file=notes, tags=["notes"]).unchanged, memory.count(tag="notes")) == (5, 5)
    (notes / "a.md").write_text("intro\n\n# One\nfirst, changed\n")
    (notes / "b.txt").unlink()
    again = memory.remember(file=notes, tags=["notes"])
    assert (len(again.added), len(again.updated), len(again.forgotten), again.unchanged) == (0, 1, 3, 1)
    assert memory.get(again.updated[0]).text == "One\n\nfirst, changed"
    assert memory.count(tag="notes") == 2
    alone = memory.remember(file=notes / "a.md")
    assert (len(alone.added), alone.forgotten, alone.unchanged) == (0, (), 2)
    assert memory.count() == 4


def test_a_file_that_cannot_be_read_forgets_nothing(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("one")
    (tmp_path / "n" / "b.md").write_text("two")
    memory.remember(file=tmp_path / "n")
    (tmp_path / "n" / "a.md").write_bytes(b"\xff\xfe\xff")
    done = memory.remember(file=tmp_path / "n")
    assert ([warning.code for warning in done.warnings], done.forgotten) == (["file_not_read"], ())
    with pytest.raises(InvalidInput):
        memory.remember(file=tmp_path / "nowhere")
