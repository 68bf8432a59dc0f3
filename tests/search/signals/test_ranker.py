"""The linear ranker: each feature on its own, by a weight of 1, with the arithmetic written out."""

import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.mentions import mentions
from thinkback.model import Filter, Run, Scored, StoredRecord
from thinkback.passages import Span
from thinkback.search.query.parse import Parsing, parse
from thinkback.search.recipes.named import named
from thinkback.search.signals.base import Scene
from thinkback.search.signals.ranker import Ranker, features

TEXTS = ("Where did you go?", "To the lake, where we swam and had a picnic with my sister", "x" * 500, "y" * 1600)
SPEAKERS = ("Ann", "Ben", "assistant", None)
SCORES = np.array([1.0, 0.5, 0.25, 0.125])


def scene(question: str = "What did Ben do?", **more) -> Scene:
    records = tuple(
        StoredRecord(id=str(row), text=text, speaker=who, thread="t", position=row, created_at=row * 10)
        for row, (text, who) in enumerate(zip(TEXTS, SPEAKERS, strict=True))
    )
    query = parse(question, Filter(now=0), Parsing())
    legs = {"keyword": np.array([0.0, 0.5, 1.0, 0.2]), "vector": np.array([1.0, 0.4, 0.0, 0.5])}
    return Scene(query, records, SCORES, legs, None, np.array([10, 11, 12, 13]), **more)


# "Where did you go?" and the others: of the words of the question, "ben" stands nowhere and every other one is a function word.
NO_WORD = [0, 0, 0, 0]
EXPECTED = {
    "score": [1.0, 0.5, 0.25, 0.125],
    "keyword": [0.0, 0.5, 1.0, 0.2],
    "vector": [1.0, 0.4, 0.0, 0.5],
    "both": [0.0, 0.5 * 0.4, 0.0, 0.2 * 0.5],
    "instruction": [0, 0, 0, 0],
    "linked": [0, 0, 0, 0],
    "covered": NO_WORD,
    "covered2": NO_WORD,
    "covered_near": NO_WORD,
    "document_vector": [0, 0, 0, 0.5],  # longer than an embedder reads, and said by nobody
    "document_length": [0, 0, 0, 0.125 * math.log(1600 / 1500) / 5],
    "document_covered": NO_WORD,
    "document_passage": NO_WORD,
    "before": [0, 1.0, 0.5, 0.25],
    "after": [0.5, 0.25, 0.125, 0],
    "before2": [0, 0, 1.0, 0.5],
    "beside": [0.5, 1.0, 0.5, 0.25],
    "before_score": [0, 0.5, 0.25 * 0.5, 0.125 * 0.25],
    "after_score": [0.5, 0.5 * 0.25, 0.25 * 0.125, 0],
    "reply": [0, 1.0, 0, 0],  # only the first one asks
    "before_long": [0, 0, 0.5, 0.25],
    "after_long": [0, 0, 0.125, 0],
    "wide": [0.875, 1.375, 1.625, 1.75],
    "thread": [1, 1, 1, 1],
    "voice": [0, 1, 0, 0],
    "voice_score": [0, 0.5, 0, 0],
    "voice_near": [0, 1.25, 0, 0],
    "question": [1.0, 0, 0, 0],
    "short": [1.0, 0, 0, 0],
    "length": [score * math.log(len(text) + 1) / 5 for score, text in zip(SCORES, TEXTS, strict=True)],
    "dated": [0, 0, 0, 0],
    "counted": [0, 0, 0, 0],
    "somebody": [0, 0, 0, 0],
    "own": [0, 0, 0, 0],
    "own_assistant": [0, 0, 0, 0],
    "user_before": [0, 0, 0, 0],
    "user_wide": [0, 0, 0, 0],
    "assistant": [0, 0, 0.25, 0],
    "assistant_keyword": [0, 0, 1.0, 0],
    "assistant_vector": [0, 0, 0, 0],
    "assistant_after": [0, 0, 0.125, 0],
    "preference": [0, 0, 0, 0],
    "newer": [0, 0.5 * 1 / 3, 0.25 * 2 / 3, 0.125],
}


def test_every_weight_has_its_feature():
    assert set(features(scene())) == {each.name for each in fields(Ranker)} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_feature_with_the_weight_one(name):
    assert Ranker(**{name: 1.0}).values(scene()) == pytest.approx(EXPECTED[name])


def test_a_question_in_the_first_person_asks_for_the_users_own_words():
    asked = scene("What did I do?")
    asked = replace(asked, records=tuple(replace(one, speaker="user") if one.speaker else one for one in asked.records))
    assert Ranker(own=1.0).values(asked) == pytest.approx([1.0, 0.5, 0.25, 0])


def test_the_default_adds_it_before_it_looks_for_updates():
    term, last = named("default").signals[-2:]
    assert last.signal.name == "updates"
    assert isinstance(term.signal, Ranker)
    assert term.how == "add"


def test_without_threads_nobody_stands_near():
    alone = replace(scene(), places=None)
    assert not Ranker(before=1.0, after=1.0, wide=1.0).values(alone).any()


def test_words_of_the_query_count_by_their_rarity_and_also_beside():
    asked = scene("Who swam in the lake with a sister?")  # "swam", "lake" and "sister" in one text, "with" too
    assert Ranker(covered=1.0).values(asked) == pytest.approx([0, 1, 0, 0])
    assert Ranker(covered_near=1.0).values(asked) == pytest.approx([1, 1, 1, 0])
    told = ("Lakes and ponds", "A pond", "", "")
    records = tuple(replace(one, text=text) for one, text in zip(asked.records, told, strict=True))
    two = replace(scene("the lakes, the ponds"), records=records)  # in one text and in two: ln(5 / 1.5) and ln(5 / 2.5)
    share = math.log(5 / 2.5) / (math.log(5 / 2.5) + math.log(5 / 1.5))
    assert Ranker(covered=1.0).values(two) == pytest.approx([1, share, 0, 0])


def test_a_question_for_a_time_or_a_number_lifts_texts_that_have_one():
    told = ("We met yesterday", "We met", "We met three times", "In 2019")
    asked = scene("When did we meet?")
    records = tuple(replace(one, text=text) for one, text in zip(asked.records, told, strict=True))
    for record in records[1:3]:  # as if the store knew
        StoredRecord.mentions.__set__(record, mentions(record.text))
    assert Ranker(dated=1.0).values(replace(asked, records=records)) == pytest.approx([1.0, 0, 0, 0.125])
    counting = replace(scene("How many times did we meet?"), records=records)
    assert Ranker(counted=1.0).values(counting) == pytest.approx([0, 0, 0.25, 0.125])


def test_a_question_for_somebody_lifts_texts_that_name_another_than_their_speaker():
    told = ("Emre is allergic", "we saw Lena", "Then it rained in May", "we like Paul")
    asked = scene("Who met Paul?")
    records = tuple(
        replace(one, text=text, speaker=who)
        for one, text, who in zip(asked.records, told, ("Lena", "Emre", "Tomas", "Ines"), strict=True)
    )
    assert Ranker(somebody=1.0).values(replace(asked, records=records)) == pytest.approx([1.0, 0.5, 0, 0])


@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from(
                    ["Ann", "Ben", "AnnBen", "ann", "May", "Paul", "_", "ä", "é", ", ", "; ", " ", " a ", "."]
                )
            ),
            st.sampled_from(["Ann", "Ben Ö", "Paul", "user", None]),
        ),
        min_size=4,
        max_size=4,
    )
)
def test_a_capital_names_somebody_at_the_beginning_of_a_word_and_alone_only_in_mid_sentence(told):
    texts = ["".join(parts) for parts, _ in told]
    names = [frozenset((who or "").lower().split()) - {"user"} for _, who in told]
    expected = []
    for text, own in zip(texts, names, strict=True):
        words = [
            (found[0].lower(), bool(re.search("[a-z,;] $", text[: found.start()])))
            for found in re.finditer("[A-Z][a-z]+", text)
            if not re.search(r"\w$", text[: found.start()])
        ]
        somebody = {word for word, within in words if word in frozenset().union(*names) or (within and word != "may")}
        expected.append(float(bool(somebody - own - {"paul"})))
    asked = scene("Who met Paul?")
    records = tuple(
        replace(one, text=text, speaker=who) for one, text, (_, who) in zip(asked.records, texts, told, strict=True)
    )
    for record in records[::2]:  # as if the store knew
        StoredRecord.mentions.__set__(record, mentions(record.text))
    assert features(replace(asked, records=records, totals=np.ones(4)))["somebody"].tolist() == expected


def test_the_users_words_and_preferences():
    asked = scene("What did I do?")
    records = tuple(replace(one, speaker="user", kind="preference") for one in asked.records)
    asked = replace(asked, records=records)
    for name, like in (("user_before", "before"), ("user_wide", "wide")):
        assert Ranker(**{name: 1.0}).values(asked) == pytest.approx(EXPECTED[like])
    assert Ranker(preference=1.0).values(asked) == pytest.approx([1, 1, 1, 1])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_sum_is_the_same_to_the_last_bit_however_many_candidates_there_are(size):
    whole = scene("When did I ask Ben about the picnic?")
    part = replace(
        whole,
        records=whole.records[:size],
        totals=whole.totals[:size] / 3,
        legs={leg: values[:size] / 7 for leg, values in whole.legs.items()},
        places=whole.places[:size],
    )
    ranker = next(term.signal for term in named("default").signals if isinstance(term.signal, Ranker))
    assert ranker.values(part).tobytes() == ranker.weigh(features(part)).tobytes()


def test_one_vector_of_a_document_counts_unless_it_was_found_by_a_passage():
    found = (Scored("3", 0.5, Span(0, 100)),)
    for run in (Run("vector", found), Run("vector", filled=found)):
        assert features(scene(runs=[run]))["document_vector"].tolist() == [0, 0, 0, 0]
        assert features(scene(runs=[run]))["document_length"].tolist() == [0, 0, 0, 0]
    for run in (Run("vector", (Scored("3", 0.5),)), Run("keyword", found)):
        assert features(scene(runs=[run]))["document_vector"].tolist() == [0, 0, 0, 0.5]


def test_the_assistants_words_count_fully_when_they_are_asked_for():
    asked = features(scene("What did you recommend?"))
    assert [asked[name].tolist() for name in ("assistant", "assistant_keyword", "assistant_after")] == [
        [0, 0, 0, 0]
    ] * 3
