"""Chinese and Hindi with the default embedder, which reads neither: never below keywords alone, and the user is told."""

import pytest
from other_scripts import CHINESE, HINDI

import thinkback

pytestmark = pytest.mark.models


def _any_at_1(memory, pairs, recipe):
    first = [memory.recall(question, recipe=recipe, limit=1) for _, question in pairs]
    return sum(found[0].id == str(place) if len(found) else False for place, found in enumerate(first))


@pytest.mark.parametrize(("pairs", "language"), [(CHINESE, "Chinese"), (HINDI, "Devanagari script")])
def test_the_default_is_at_least_as_good_as_keywords_alone(tmp_path, pairs, language):
    with thinkback.open(tmp_path / "m.db", reranker=None) as memory:
        memory.remember_many([{"id": str(place), "text": text} for place, (text, _) in enumerate(pairs)])
        keyword, default = (_any_at_1(memory, pairs, recipe) for recipe in ("keyword", "default"))
        print(
            f"{language}: keyword {keyword}, vector {_any_at_1(memory, pairs, 'vector')}, default {default} of {len(pairs)}"
        )
        assert len(pairs) >= 40
        assert default >= keyword >= 0.8 * len(pairs)
        warnings = " ".join(str(one) for one in memory.recall(pairs[0][1]).warnings)
        assert language in warnings
        assert "multilingual" in warnings
