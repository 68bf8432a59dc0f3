"""Whatever is given, the answer is a result or an error of Thinkback's own; nothing runs for ever."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from codes import raises

import thinkback
from thinkback.errors import InvalidInput, RecipeError, ThinkbackError
from thinkback.interop.jsonl import import_lines
from thinkback.memory import Memory
from thinkback.search.recipes.named import DEFAULT

SURROGATE = "\ud800"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with thinkback.open(":memory:", embedder=None, reranker=None) as memory:
        memory.remember("the grey cat sleeps", id="cat")
        memory.remember("the brown dog barks", id="dog")
        yield memory


CALLS: dict[str, Callable[[Memory], Any]] = {
    "a limit beyond 64 bits": lambda m: m.recall("cat", limit=2**64),
    "a limit of thousands of digits": lambda m: m.recall("cat", limit=10**5000),
    "a budget beyond 64 bits": lambda m: m.recall("cat", max_tokens=2**80),
    "a boost beyond a float": lambda m: m.recall("cat", reflection_boost=10**400),
    "no query": lambda m: m.recall(None),  # type: ignore[arg-type]
    "no query to gather for": lambda m: m.gather(None),  # type: ignore[arg-type]
    "no memory among many": lambda m: m.remember_many([None]),  # type: ignore[list-item]
    "a negative limit": lambda m: m.list(limit=-1),
    "a page beyond 64 bits": lambda m: m.list(limit=2**64),
    "a journal beyond 64 bits": lambda m: m.journal(limit=2**64),
    "a negative part of the journal": lambda m: m.journal(limit=-5),
    "a negative number of neighbours": lambda m: m.neighbours("cat", limit=-1),
    "a surrogate among threads": lambda m: m.recall("cat", threads=[SURROGATE]),
    "a surrogate among sources": lambda m: m.list(sources=[SURROGATE]),
    "a surrogate in a batch": lambda m: m.undo(SURROGATE),
    "a surrogate to unlink": lambda m: m.unlink(SURROGATE, "dog"),
    "a surrogate to link": lambda m: m.link("cat", SURROGATE),
    "a surrogate of a link": lambda m: m.link("cat", "dog", kind=SURROGATE),
    "a surrogate to get": lambda m: m.get(SURROGATE),
    "a surrogate to forget": lambda m: m.forget(SURROGATE),
    "a surrogate to go on from": lambda m: m.list(after=SURROGATE),
    "a surrogate that was judged": lambda m: m.unjudge(SURROGATE, "cat"),
    "no query to judge": lambda m: m.judge(None, "cat"),  # type: ignore[arg-type]
    "a vector of sequences": lambda m: m.remember("x", vector=["a", [], "b"]),  # type: ignore[arg-type]
    "a text that is no text": lambda m: m.remember(False),  # type: ignore[call-overload]
    "changes that are no mapping": lambda m: m.recall("cat", overrides="x"),  # type: ignore[arg-type]
    "a batch that is no name": lambda m: m.undo([]),  # type: ignore[arg-type]
    "a batch of the journal that is no name": lambda m: m.journal({}),  # type: ignore[arg-type]
    "a judged query that is no text": lambda m: m.unjudge([], "cat"),  # type: ignore[arg-type]
    "a neighbour that is no id": lambda m: m.neighbours([]),  # type: ignore[arg-type]
    "a link from no id": lambda m: m.link([], "dog"),  # type: ignore[arg-type]
    "a contradiction of no id": lambda m: m.contest("cat", {}),  # type: ignore[arg-type]
    "a page after no id": lambda m: m.list(after=[1]),  # type: ignore[arg-type]
    "no ids": lambda m: m.get_many(None),  # type: ignore[arg-type]
    "a number of links": lambda m: m.links(3),  # type: ignore[arg-type]
    "a weight beyond a float": lambda m: m.link("cat", "dog", weight=10**400),
    "a weight that is no number": lambda m: m.link("cat", "dog", weight="x"),  # type: ignore[arg-type]
    "a recipe with a NUL": lambda m: m.recall("cat", recipe="\0.toml"),
    "a recipe with an endless name": lambda m: m.recall("cat", recipe="a" * 5000 + ".toml"),
    "a recipe with a surrogate": lambda m: m.recall("cat", recipe=SURROGATE + ".toml"),
    "an unhashable fusion": lambda m: DEFAULT.with_(fusion={"name": []}),
    "an unhashable scale": lambda m: DEFAULT.with_(reranker={"scale": {}}),
    "an unhashable way": lambda m: DEFAULT.with_(signals={"quality": {"how": []}}),
    "an unhashable leg": lambda m: DEFAULT.with_(fusion={"name": "weighted", "raw_legs": [[]]}),
    "a walk without end": lambda m: m.recall("cat", recipe=DEFAULT.with_(legs={"graph": {"depth": 2**63 - 1}})),
    "a leg beyond 64 bits": lambda m: m.recall("cat", recipe=DEFAULT.with_(legs={"keyword": {"limit": 2**63}})),
}


@pytest.mark.parametrize("what", CALLS)
def test_impossible_arguments_give_typed_errors(memory: Memory, what: str) -> None:
    with pytest.raises(ThinkbackError) as error:
        CALLS[what](memory)
    str(error.value).encode("utf-8", "backslashreplace")
    assert memory.get("cat").text == "the grey cat sleeps"


def test_the_deepest_walk_ends_when_nothing_new_is_reached(memory: Memory) -> None:
    memory.link("cat", "dog", weight=1.0)
    assert memory.recall("cat", recipe=DEFAULT.with_(legs={"graph": {"depth": 100}}))
    with raises(RecipeError, "invalid_value"):
        DEFAULT.with_(legs={"graph": {"depth": 101}})


def test_an_import_obeys_the_limit_on_a_text(memory: Memory) -> None:
    lines = ['{"text": "short"}', '{"text": "%s"}' % ("long " * 3)]
    report = import_lines(memory, lines, skip_bad=True, longest=10)
    assert (report.memories, [bad.line for bad in report.bad]) == (1, [2])
    with raises(InvalidInput, "bad_line"):
        import_lines(memory, lines, longest=10)


def test_a_weight_beyond_64_bits_is_a_number_like_any(memory: Memory) -> None:
    memory.link("cat", "dog", weight=2**64)
    assert [edge.weight for edge in memory.links(["cat"])["cat"]] == [2.0**64]
