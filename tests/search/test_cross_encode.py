"""The cross-encoder's step: what it is shown, and what becomes of a search when it fails."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from engine_fixtures import START, memory, toy_memory

from thinkback.clock import to_us
from thinkback.errors import ModelError, ModelUnavailable
from thinkback.memory import Memory
from thinkback.model import Column, Filter, Ledger, StoredRecord
from thinkback.search.cross_encode import passages, undecided
from thinkback.search.ranking import Ordered
from thinkback.search.recipes.model import SCALES, Rerank
from thinkback.search.recipes.named import RECIPES

FILTER = Filter(now=to_us(START))
PRECISE = RECIPES["precise"]
ALL = PRECISE.with_(reranker={"within": 0})


class Reranker:
    """Answers what it is told to."""

    fingerprint = "told"

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.answer = answer

    def scores(self, query: str, texts: Sequence[str]) -> Any:
        return self.answer(texts)


def failing(error: Exception) -> Callable[[Sequence[str]], Any]:
    def fail(texts: Sequence[str]) -> Any:
        raise error

    return fail


FAILURES = {
    "no memory": (failing(RuntimeError("CUDA out of memory")), "RuntimeError: CUDA out of memory"),
    "no weights": (failing(ModelUnavailable("the weights are not here")), "the weights are not here"),
    "a bug": (failing(KeyError("logits")), "KeyError: 'logits'"),
    "not a number": (lambda texts: [float("nan"), *[0.5] * (len(texts) - 1)], "NaN or infinite"),
    "infinite": (lambda texts: [*[0.5] * (len(texts) - 1), float("inf")], "NaN or infinite"),
    "too few": (lambda texts: [0.5] * (len(texts) - 1), "gave 3 scores for 4 texts"),
    "too many": (lambda texts: [0.5] * (len(texts) + 1), "gave 5 scores for 4 texts"),
    "words": (lambda texts: ["good"] * len(texts), "TypeError"),
    "nothing": (lambda texts: None, "TypeError"),
}


@pytest.mark.parametrize(("answer", "said"), FAILURES.values(), ids=FAILURES)
def test_whatever_fails_keeps_the_order_and_is_named(answer: Callable[[Sequence[str]], Any], said: str) -> None:
    with toy_memory(reranker=Reranker(answer)) as m:
        for n in range(4):
            m.remember(f"red apple pie {'and so on ' * n}")
        plain, found = m.recall("red apple"), m.recall("red apple", recipe=ALL)
        assert [(hit.id, hit.score) for hit in found] == [(hit.id, hit.score) for hit in plain]
        assert found.trace.reranked == 0
        (warning,) = found.warnings
        assert warning.code in ("model_error", "model_unavailable", "invalid_scores")
        assert said in warning.message


@pytest.mark.parametrize(("answer", "said"), FAILURES.values(), ids=FAILURES)
def test_a_strict_memory_raises_instead(answer: Callable[[Sequence[str]], Any], said: str) -> None:
    with toy_memory(reranker=Reranker(answer)) as m:
        m.strict = True
        for n in range(4):
            m.remember(f"red apple pie {'and so on ' * n}")
        with pytest.raises(ModelError) as raised:
            m.recall("red apple", recipe=ALL)
        assert said in str(raised.value)


# -- how deep it reads ----------------------------------------------------------------------------------------------------------


SCORES = np.array([0.5, 1.0, 0.8, 0.7, -0.2])


def decided(**plan: Any) -> list[int]:
    ledger = Ledger.of([str(row) for row in range(5)], [Column("leg", "keyword", SCORES, SCORES, "")])
    records = tuple(StoredRecord(id=str(row), text="red apple") for row in range(5))
    return list(undecided(Ordered(ledger, records, ledger.order()), Rerank(**plan)))


def test_only_what_is_undecided_is_read() -> None:
    assert decided() == [1, 2, 3, 0, 4]
    assert decided(top=2) == [1, 2]
    assert decided(within=0.25) == [1, 2]
    assert decided(within=0.3, top=12) == [1, 2, 3]
    assert decided(within=2) == [1, 2, 3, 0, 4]
    assert decided(within=0.1) == []  # the best one is ahead


@pytest.mark.parametrize("seed", range(8))
def test_precise_reorders_the_first_five_and_never_loses_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    with toy_memory(reranker=Reranker(lambda texts: chance.random(len(texts)).tolist())) as m:
        for n in range(12):
            m.remember(f"red apple pie number {n * n} {'and so on ' * int(chance.integers(3))}")
        plain, found = m.recall("red apple pie", recipe="default"), m.recall("red apple pie", recipe=ALL)
        assert set(found.ids[:5]) == set(plain.ids[:5])
        assert found.ids[5:] == plain.ids[5:]
        assert found.trace.reranked == 5


class Slow(Reranker):
    """Reaches its deadline after one text."""

    def scores_until(self, query: str, texts: Sequence[str], deadline: Callable[[], bool]) -> list[float | None]:
        return [0.9, *[None] * (len(texts) - 1)]


def test_at_the_deadline_the_order_is_sound_and_the_trace_says_so() -> None:
    plan = {"within": 0, "budget_ms": 5}
    with toy_memory(reranker=Slow(lambda texts: [])) as m:
        for n in range(4):
            m.remember(f"red apple pie {'and so on ' * n}")
        plain, found = m.recall("red apple"), m.recall("red apple", recipe=PRECISE.with_(reranker=plan))
        assert found.ids == plain.ids  # what was read keeps its place before what was not
        assert found.trace.reranked == 1
        assert dict(found.trace.skipped)["default"] == "it had read 1 of 4 candidates when its 5 ms were over"
        assert not found.warnings


def test_tempered_scores_do_not_depend_on_what_else_is_read() -> None:
    few, many = SCALES["tempered"](np.array([0.5, 0.9])), SCALES["tempered"](np.array([0.5, 0.9, 0.001]))
    assert few == pytest.approx([0.5, 1 / (1 + (1 / 9) ** (1 / 3))])
    assert few == pytest.approx(many[:2])


# -- what it is shown --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def thread() -> Iterator[Memory]:
    with memory() as m:
        for n in range(6):
            m.remember(f"turn {n}", id=f"t{n}", thread="t")
        yield m


def shown(m: Memory, id: str, **plan: Any) -> str:
    (passage,) = passages([m.get(id)], Rerank(**plan), FILTER, m.store)
    return passage


def test_without_context_a_candidate_is_shown_alone(thread: Memory) -> None:
    assert shown(thread, "t2") == "turn 2"
    assert shown(thread, "t2", max_chars=4) == "turn"


def test_context_counts_neighbours_on_each_side(thread: Memory) -> None:
    assert shown(thread, "t3", context=1) == "turn 2\nturn 3\nturn 4"
    assert shown(thread, "t3", context=2) == "turn 1\nturn 2\nturn 3\nturn 4\nturn 5"
    assert shown(thread, "t0", context=2) == "turn 0\nturn 1\nturn 2"
    assert shown(thread, "t5", context=99) == "\n".join(f"turn {n}" for n in range(6))


def test_candidates_that_are_neighbours_each_have_their_own_context(thread: Memory) -> None:
    together = passages([thread.get(id) for id in ("t1", "t2", "t4")], Rerank(context=1), FILTER, thread.store)
    assert together == ["turn 0\nturn 1\nturn 2", "turn 1\nturn 2\nturn 3", "turn 3\nturn 4\nturn 5"]


def test_links_do_not_push_the_thread_out(thread: Memory) -> None:
    for n in range(5):
        thread.remember(f"elsewhere {n}", id=f"a{n}")
        thread.link("t2", f"a{n}", weight=9.0)
    assert shown(thread, "t2", context=1) == "turn 1\nturn 2\nturn 3"


def test_hidden_turns_are_passed_over(thread: Memory) -> None:
    thread.archive("t1")
    assert shown(thread, "t2", context=2) == "turn 0\nturn 2\nturn 3\nturn 4"


def test_the_candidate_has_the_room_first_and_its_neighbours_share_the_rest() -> None:
    with memory() as m:
        for id, text in (("long", "x" * 2500), ("answer", "the answer is 42"), ("short", "thanks")):
            m.remember(text, id=id, thread="t")
        assert shown(m, "answer", context=1) == "x" * (2000 - 16 - 1 - 7) + "\nthe answer is 42\nthanks"
        assert shown(m, "answer", context=1, max_chars=30) == "x" * 6 + "\nthe answer is 42" + "\nthanks"
        assert shown(m, "answer", context=1, max_chars=26) == "x" * 4 + "\nthe answer is 42" + "\nthan"
        assert shown(m, "answer", context=1, max_chars=16) == "the answer is 42"
        assert shown(m, "answer", context=1, max_chars=10) == "the answer"
