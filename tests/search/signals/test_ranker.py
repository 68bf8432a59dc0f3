"""The linear ranker: each feature on its own, by a weight of 1, with the arithmetic written out."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from thinkback.model import Filter, StoredRecord
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


EXPECTED = {
    "score": [1.0, 0.5, 0.25, 0.125],
    "keyword": [0.0, 0.5, 1.0, 0.2],
    "vector": [1.0, 0.4, 0.0, 0.5],
    "both": [0.0, 0.5 * 0.4, 0.0, 0.2 * 0.5],
    "keyword2": [0.0, 0.5 * 0.5, 1.0, 0.2 * 0.2],
    "vector2": [1.0, 0.4 * 0.4, 0.0, 0.5 * 0.5],
    "instruction": [0, 0, 0, 0],
    "linked": [0, 0, 0, 0],
    "document_keyword": [0, 0, 0, 0.2],  # longer than an embedder reads, and said by nobody
    "document_vector": [0, 0, 0, 0.5],
    "document_both": [0, 0, 0, 0.2 * 0.5],
    "before": [0, 1.0, 0.5, 0.25],
    "after": [0.5, 0.25, 0.125, 0],
    "before2": [0, 0, 1.0, 0.5],
    "after2": [0.25, 0.125, 0, 0],
    "reply": [0, 1.0, 0, 0],  # only the first one asks
    "before_long": [0, 0, 0.5, 0.25],
    "after_long": [0, 0, 0.125, 0],
    "before_assistant": [0, 0, 0.5, 0],
    "after_assistant": [0, 0, 0.125, 0],
    "wide": [0.875, 1.375, 1.625, 1.75],
    "thread": [1, 1, 1, 1],
    "voice": [0, 1, 0, 0],
    "voice_score": [0, 0.5, 0, 0],
    "voice_near": [0, 1.25, 0, 0],
    "question": [1.0, 0, 0, 0],
    "short": [1.0, 0, 0, 0],
    "length": [score * math.log(len(text) + 1) / 5 for score, text in zip(SCORES, TEXTS, strict=True)],
    "long_text": [math.log(len(text) + 1) / 5 for text in TEXTS],
    "own": [0, 0, 0, 0],
    "own_assistant": [0, 0, 0, 0],
    "assistant": [0, 0, 0.25, 0],
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


def test_the_default_adds_it_last():
    term = named("default").signals[-1]
    assert isinstance(term.signal, Ranker)
    assert term.how == "add"


def test_without_threads_nobody_stands_near():
    alone = replace(scene(), places=None)
    assert not Ranker(before=1.0, after=1.0, wide=1.0).values(alone).any()
