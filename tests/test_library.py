"""The pieces as a library: one import, one call, and errors that help."""

from datetime import UTC, datetime, timedelta

import pytest
from codes import raises

from thinkback.errors import InvalidInput, RecipeError
from thinkback.library import NamedTime, composite, dedup, find_anchor, fuse, infer_tags, rerank


def test_objects_of_your_own_come_back_best_first() -> None:
    a, b, c = ({"id": name, "score": score} for name, score in (("a", 3.0), ("b", 2.0), ("c", 1.0)))
    assert fuse([[a, b], [b, c]], k=5, first_rank=0) == [(b, 1 / 6 + 1 / 5), (a, 1 / 5), (c, 1 / 6)]
    found = fuse({"words": [a, b], "meaning": [c]}, "convex", score=lambda d: d["score"], weights={"meaning": 2.0})
    assert [(one["id"], score) for one, score in found] == [("c", 2.0), ("a", 1.0), ("b", 0.0)]
    assert fuse([]) == []


@pytest.mark.parametrize(
    "wrong", [["a"], datetime(2026, 5, 8, tzinfo=UTC), ("a", 1.0), None], ids=lambda w: type(w).__name__
)
def test_what_has_no_id_is_named(wrong: object) -> None:
    with raises(InvalidInput, "no_id"):
        fuse([[wrong]])
    assert fuse([[("a", 1.0)]], key=lambda pair: pair[0])[0][0] == ("a", 1.0)


def test_other_mistakes_are_named_too() -> None:
    with raises(InvalidInput, "not_a_list"):
        fuse(["abc"])
    with raises(InvalidInput, "no_score"):
        fuse([["a"]], "convex")
    with raises(RecipeError, "unknown_name"):
        fuse([["a"]], "rff")
    with raises(InvalidInput, "not_a_mapping"):
        rerank("q", ["a text"])  # type: ignore[list-item]
    with raises(InvalidInput, "not_a_list"):
        infer_tags("q", "pets")
    with raises(InvalidInput, "no_text"):
        dedup([("a", 1)])
    with raises(InvalidInput, "invalid_time"):
        find_anchor("yesterday", now=3.5)  # type: ignore[arg-type]


def test_the_small_ones() -> None:
    now = datetime(2026, 5, 8, 12, tzinfo=UTC)
    assert infer_tags("news of my pet #cats", ["pet", "work"]) == ["cats", "pet"]
    assert find_anchor("what did we do yesterday?", now) == NamedTime(
        now - timedelta(days=1), timedelta(days=1), "yesterday"
    )
    assert find_anchor("what is it?", now) is None
    assert dedup([{"text": "A  cat"}, {"text": "a cat"}]) == [{"text": "A  cat"}]
    assert composite([(1, 0), (2, 4)], relevance=lambda i: i[0], quality=lambda i: i[1]) == [
        ((2, 4), 1.0),
        ((1, 0), 0.4),
    ]
