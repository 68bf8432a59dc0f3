"""Themes: identity is a hash of the sorted members; a cluster of 3 to 200, without duplicates, of mean cosine .40 at least."""

import hashlib
import json

import numpy as np
import pytest

from thinkback.clock import DAY
from thinkback.lifecycle.reflect.model import Consolidation, Theme
from thinkback.lifecycle.reflect.themes import centre, coherence, draft, identity, refusal
from thinkback.model import StoredRecord, Vector


def test_identity_is_the_hash_of_the_sorted_members() -> None:
    digest = hashlib.sha256(b"a\nb\nc").hexdigest()
    assert identity(["c", "a", "b"]) == identity(["a", "b", "c"]) == f"reflection-{digest[:32]}"
    assert identity(["a", "b"]) != identity(["a", "b", "c"])


def rows(*values: tuple[float, float]) -> Vector:
    return np.array(values, dtype=np.float32)


def test_coherence_is_the_mean_cosine_of_all_pairs() -> None:
    # pairs: (1,0)·(0,1) = 0, (1,0)·(.6,.8) = .6, (0,1)·(.6,.8) = .8
    assert coherence(rows((1, 0), (0, 1), (0.6, 0.8))) == pytest.approx((0 + 0.6 + 0.8) / 3, abs=1e-6)


def test_the_vector_is_the_normalised_mean() -> None:
    assert np.allclose(centre(rows((1, 0), (0, 1))), (np.sqrt(0.5), np.sqrt(0.5)))
    assert np.allclose(centre(rows((1, 0), (-1, 0))), (1, 0))  # no direction is left; the first member stands for all


def records(count: int) -> list[StoredRecord]:
    return [StoredRecord(id=f"m{n}", text=f"text {n}") for n in range(count)]


def alike(count: int) -> Vector:
    return np.tile(rows((1, 0)), (count, 1))


@pytest.mark.parametrize(("size", "reason"), [(2, "too small"), (3, None), (200, None), (201, "too large")])
def test_sizes_from_3_to_200(size: int, reason: str | None) -> None:
    assert refusal(records(size), alike(size), Consolidation()) == reason


def test_duplicates_are_refused() -> None:
    same = [*records(3), StoredRecord(id="m9", text="TEXT  0")]
    assert refusal(same, alike(4), Consolidation()) == "holds duplicates"


def test_coherence_from_forty_hundredths() -> None:
    # one vector against two equal ones: mean = (1 + c + c) / 3, which is .40 at c = .1
    for c, reason in ((0.11, None), (0.09, "not coherent")):
        vectors = rows((1, 0), (1, 0), (c, float(np.sqrt(1 - c * c))))
        assert refusal(records(3), vectors, Consolidation()) == reason


def test_a_reflection_is_p2_dated_by_its_newest_and_tagged_by_all() -> None:
    members = {
        "a": StoredRecord(id="a", text="a", tags=("pets", "cat"), created_at=DAY, updated_at=5 * DAY, trust=0.9),
        "b": StoredRecord(
            id="b", text="b", tags=("cat", "pets", "fish"), created_at=3 * DAY, updated_at=3 * DAY, trust=0.5
        ),
    }
    theme = Theme("reflection-1", ("a", "b"), ("grey cat", "Oscar"), 0.9)
    made = draft(theme, members, centre(alike(2)))
    assert json.loads(made.text) == {"member_ids": ["a", "b"], "keywords": ["grey cat", "Oscar"]}
    assert (made.id, made.kind, made.priority, made.essence) == ("reflection-1", "reflection", "P2", "grey cat, Oscar")
    assert (made.tags, made.valid_from, made.updated_at, made.trust) == (("pets", "cat"), 3 * DAY, 5 * DAY, 0.5)
