"""Relevance: the probability that a hit answers, what it was computed from, and the gate."""

import math

import numpy as np
import pytest
from codes import raises
from engine_fixtures import toy_memory

import thinkback
from thinkback.errors import InvalidInput
from thinkback.search.reading import stem
from thinkback.search.relevance import BESIDE, GATE, LENT, OTHER, SURE
from thinkback.search.trace import Recall
from thinkback.testing import ToyEmbedder

NONSENSE = ["asdfgh qwerty", "zzyzx plugh", "blorf the snargle?", "?!", "xq"]


def asked(question: str, **given: object) -> Recall:
    with toy_memory() as m:
        m.remember("Caroline adopted a grey cat, Oscar", tags=["pets"], valid_from="2023-05-08")
        m.remember("John went hiking in the mountains", speaker="John", valid_from="2023-06-01")
        m.remember("The deployment failed because of the certificate")
        return m.recall(question, **given)  # type: ignore[arg-type]


def test_a_question_in_the_memorys_words_is_answered() -> None:
    found = asked("what did Caroline adopt?")
    assert found.answered
    assert found[0].relevance == found.relevance >= GATE
    assert 0 <= min(hit.relevance for hit in found) < found.relevance <= 1


def test_the_first_hit_has_the_probability_of_an_answer_even_if_another_is_nearer() -> None:
    """A newer value is ranked before the older one, whatever their words and cosines are; the gate must not drop it."""
    with toy_memory() as m:
        old = m.remember("The response time of the API is 800 ms", valid_from="2023-05-08")
        new = m.remember("The response time of the API is down to 250 ms by now", valid_from="2023-06-01")
        found = m.recall("what is the response time of the API?")
    assert [hit.id for hit in found] == [new.id, old.id]
    assert found[0].relevance == found.relevance > found[1].relevance


@pytest.mark.parametrize("question", NONSENSE)
def test_nonsense_finds_nothing_at_the_default_gate(question: str) -> None:
    assert not asked(question).answered
    assert len(asked(question, min_relevance=GATE)) == 0


def test_the_log_odds_are_the_sum_of_the_evidence_to_the_last_bit() -> None:
    for hit in asked("did Caroline adopt a cat on 8 May 2023?"):
        odds = sum(one.weight * one.value for one in hit.evidence)
        assert hit.relevance == 1 / (1 + math.exp(-odds))
        assert f"relevance {hit.relevance:.2f}" in hit.why()


def test_other_hits_take_over_a_part_of_what_is_sure() -> None:
    first, *others = asked("was it Caroline who adopted the grey cat Oscar?")
    assert first.relevance > 0.99
    assert others
    assert all(hit.relevance < BESIDE for hit in others)
    odds = sum(one.weight * one.value for one in first.evidence)
    apart = {one.name: one for one in others[0].evidence}
    assert apart["sure"].weight == -1.0
    assert apart["sure"].value == pytest.approx(odds - LENT * min(odds, SURE))
    assert (apart["other"].value, apart["other"].weight) == (1.0, OTHER)


def test_a_standing_instruction_counts_by_its_cosine_alone_if_that_says_more() -> None:
    """The question shares no word with it; cosine .9 gives −41.35 + 48 · .9 = 1.85."""
    vectors = {"ask": [1.0, 0.0], "fit": [0.9, math.sqrt(1 - 0.81)], "unfit": [0.8, 0.6]}

    class Given(ToyEmbedder):
        fingerprint = "e5-small-toy"
        dimensions = 2

        def embed_passages(self, texts):
            return np.array([vectors["unfit" if "tea" in text else "fit"] for text in texts], dtype=np.float32)

        def embed_query(self, text):
            return np.array(vectors["ask"], dtype=np.float32)

    with thinkback.open(":memory:", embedder=Given()) as m:
        m.remember("Always format code with highlighting", kind="preference")
        m.remember("Always pour tea first", kind="preference")
        found = m.recall("show me how a login is implemented")
    fit, unfit = sorted(found, key=lambda hit: "tea" in hit.text)
    assert fit.relevance == pytest.approx(1 / (1 + math.exp(41.35 - 48 * 0.9)), abs=1e-4)
    assert {one.name for one in fit.evidence} == {"prior", "fit"}
    assert unfit.relevance < GATE < fit.relevance


def test_a_gate_leaves_out_hits_and_says_so() -> None:
    whole, gated = asked("what did Caroline adopt?"), asked("what did Caroline adopt?", min_relevance=GATE)
    assert gated.ids == tuple(hit.id for hit in gated)
    assert len(gated) == 1 < len(whole)
    left_out = [drop for drop in gated.trace.drops if drop.code == "relevance"]
    assert len(left_out) == len(whole) - 1
    assert gated.relevance == whole.relevance
    with toy_memory() as m:
        dog = m.remember("a dog barked")
        assert "below 1" in m.recall("cat", min_relevance=1.0).why_not(dog.id).verdict


def test_a_time_that_was_named_counts_for_those_of_that_time() -> None:
    then, never = asked("what did Caroline adopt on 8 May 2023?"), asked("what did Caroline adopt on 8 March 2021?")
    value = {
        name: [e.value for e in found[0].evidence if e.name == "dated"]
        for name, found in (("then", then), ("never", never))
    }
    assert value == {"then": [1.0], "never": [-1.0]}
    assert then.relevance > never.relevance


def test_the_speaker_and_the_tags_count_as_words() -> None:
    assert asked("John hiking").relevance == asked("hiking").relevance or asked("John hiking").answered
    assert asked("pets cat").relevance > asked("birds cat").relevance


def covered(found: Recall) -> float:
    return next(one.value for one in found.trace.relevance.evidence if one.name == "covered")


def test_memories_of_one_thread_cover_a_question_together() -> None:
    """Of two memories, each has one of two words; in one thread they answer together."""

    def asked_of(threads: tuple[str, str]) -> float:
        with toy_memory() as m:
            m.remember("the heron came back", thread=threads[0])
            m.remember("it nested by the mill", thread=threads[1])
            m.remember("nothing else was seen that day")
            return covered(m.recall("heron mill"))

    assert asked_of(("walk", "walk")) == 1.0
    assert asked_of(("walk", "other")) == pytest.approx(0.5)


def test_of_a_long_memory_the_passage_counts() -> None:
    filler = "Nothing of note is told in these lines, which only fill the page. " * 20
    with toy_memory() as m:
        m.remember(f"A heron came back. {filler}\n\n{filler}\n\n{filler} The mill is closed.")
        assert covered(m.recall("heron mill")) == pytest.approx(0.5)
        assert covered(m.recall("heron came")) == 1.0


def test_without_a_question_nothing_is_relevant() -> None:
    found = asked("")
    assert len(found) == 3
    assert not found.answered
    assert {hit.relevance for hit in found} == {0.0}
    assert len(asked("", min_relevance=0.1)) == 0


@pytest.mark.parametrize("least", [-0.1, 1.1, True, "high"])
def test_a_gate_is_a_share(least: object) -> None:
    with raises(InvalidInput, "out_of_range"):
        asked("cat", min_relevance=least)


def test_the_gate_is_a_part_of_the_recipe() -> None:
    gated = asked("what did Caroline adopt?", overrides={"selection.min_relevance": GATE})
    assert len(gated) == 1


@pytest.mark.parametrize(
    "words", [("adopt", "adopted", "adopting", "adopts"), ("hike", "hiking", "hiked"), ("study", "studies", "studied")]
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1
