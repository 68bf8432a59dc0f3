"""A search's fingerprint differs wherever its ranking could: by what was understood, and by what the models said."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from engine_fixtures import memory, toy_memory

from thinkback.errors import RemoteError
from thinkback.search.query.tags import InferredTag
from thinkback.search.recipes.named import RECIPES


class Judge:
    """A cross-encoder that likes short texts, or long ones; both go by the same name."""

    fingerprint = "judge"

    def __init__(self, *, likes_long: bool) -> None:
        self._sign = 1 if likes_long else -1

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [0.5 + self._sign * len(text) / 1000 for text in texts]


class Broken(Judge):
    def scores(self, query: str, texts: list[str]) -> list[float]:
        raise RemoteError("no answer")


def test_the_same_moment_in_another_time_zone_is_another_day() -> None:
    with memory() as m:
        m.remember("stand-up", created_at="2026-05-07T05:00:00Z")
        here = m.recall("what happened today", now=datetime.fromisoformat("2026-05-08T00:30:00+10:00")).trace
        there = m.recall("what happened today", now=datetime.fromisoformat("2026-05-07T14:30:00+00:00")).trace
    assert here.query.now == there.query.now
    assert here.query.anchor != there.query.anchor
    assert here.fingerprint != there.fingerprint


def test_tags_that_were_inferred_count_and_their_order_does_not() -> None:
    with memory() as m:
        m.remember("the cat ran home", tags=["pets", "home"])
        plain = m.recall("what was that").trace
    pets, home = InferredTag("pets", "llm"), InferredTag("home", "llm")
    one, both, turned = (
        replace(plain, query=replace(plain.query, tags=tags)).fingerprint
        for tags in ((pets,), (pets, home), (home, pets))
    )
    assert len({plain.fingerprint, one, both}) == 3
    assert turned == both


@pytest.mark.parametrize("other", [Judge(likes_long=True), Broken(likes_long=False)], ids=["other", "silent"])
def test_what_the_cross_encoder_said_counts_and_not_what_it_is_called(other: Judge, tmp_path: Path) -> None:
    with toy_memory(tmp_path / "m.db") as m:
        m.remember("cat")
        m.remember("the cat ran home")
    prints = []
    for judge in (Judge(likes_long=False), Judge(likes_long=False), other):
        with toy_memory(tmp_path / "m.db", reranker=judge) as m:
            prints.append(
                m.recall(
                    "cat", recipe=RECIPES["precise"].with_(reranker={"within": 0}), counted=False
                ).trace.fingerprint
            )
    assert prints[0] == prints[1] != prints[2]


def test_a_leg_that_did_not_answer_counts() -> None:
    with memory() as m:
        m.remember("cat")
        found = m.recall("cat").trace
    assert replace(found, skipped=()).fingerprint != found.fingerprint


def test_the_first_search_of_a_process_knows_its_embedder(tmp_path: Path) -> None:
    with toy_memory(tmp_path / "m.db") as m:
        m.remember("Oscar is a grey cat")
    with toy_memory(tmp_path / "m.db") as m:
        first, second = m.recall("grey cat").trace, m.recall("grey cat").trace
    assert first.embedder == second.embedder is not None
    assert first.fingerprint == second.fingerprint
