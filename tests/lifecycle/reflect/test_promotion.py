"""Promotion: score = .25 recency + .20 span + .20 confirmation + .15 confidence + .20 frequency.

Above .7 a memory rises to P1, at most 20 a run and 5 % of the store.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from thinkback.clock import DAY
from thinkback.lifecycle.reflect.model import Consolidation
from thinkback.lifecycle.reflect.promote import WEIGHTS, promotions, standing
from thinkback.lifecycle.reflect.run import reflect
from thinkback.model import Access, Draft, Filter, StoredRecord
from thinkback.stores.base import Snapshot
from thinkback.stores.sqlite import SqliteStore

NOW = 100 * DAY


def proved(id: str = "a", **changes: object) -> StoredRecord:
    """A memory with every value full but confidence."""
    fields: dict[str, object] = {
        "created_at": NOW - 30 * DAY, "updated_at": NOW - 30 * DAY, "last_access": NOW, "access_count": 10, "confidence": 0.4,
    }  # fmt: skip
    return StoredRecord(id=id, text=id, **{**fields, **changes})  # type: ignore[arg-type]


def test_the_weights_are_the_published_ones() -> None:
    assert WEIGHTS == {"recency": 0.25, "span": 0.20, "confirmation": 0.20, "confidence": 0.15, "frequency": 0.20}
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_the_score_is_the_weighted_sum() -> None:
    value = standing(proved(confidence=0.6), 5, NOW)
    assert value.score == pytest.approx(0.25 * 1 + 0.20 * 1 + 0.20 * 1 + 0.15 * 0.6 + 0.20 * 1)


def test_recency_halves_every_seven_days_since_the_last_activity() -> None:
    assert standing(proved(last_access=NOW - 7 * DAY), 0, NOW).recency == 0.5
    assert standing(proved(last_access=NOW - 14 * DAY), 0, NOW).recency == 0.25
    assert standing(proved(last_access=None, updated_at=NOW - 7 * DAY), 0, NOW).recency == 0.5
    assert standing(proved(last_access=NOW + DAY), 0, NOW).recency == 1.0


def test_span_is_full_after_thirty_days_of_activity() -> None:
    assert standing(proved(created_at=NOW - 15 * DAY), 0, NOW).span == 0.5
    assert standing(proved(created_at=NOW - 60 * DAY), 0, NOW).span == 1.0
    assert standing(proved(created_at=NOW + DAY), 0, NOW).span == 0.0


def test_confirmation_is_full_at_five_and_frequency_at_ten() -> None:
    assert standing(proved(), 3, NOW).confirmation == 3 / 5
    assert standing(proved(), 9, NOW).confirmation == 1.0
    assert standing(proved(access_count=4), 0, NOW).frequency == 4 / 10
    assert standing(proved(access_count=40), 0, NOW).frequency == 1.0


def test_an_unknown_confidence_counts_as_half() -> None:
    assert standing(proved(confidence=None), 0, NOW).confidence == 0.5


def crowd(count: int) -> list[StoredRecord]:
    return [proved(f"m{n:04d}", access_count=0, last_access=None) for n in range(count)]


def test_only_scores_above_seven_tenths_rise() -> None:
    # .25 + .20 + .20·c/5 + .15·.4 + .20 = .71 + .04·c: with 0 corroborations above, and at exactly .7 not
    everyone = [*crowd(99), proved("risen"), proved("not", confidence=0.3)]
    assert standing(everyone[-1], 0, NOW).score == pytest.approx(0.695)
    assert promotions(everyone, {}, NOW, Consolidation()) == ["risen"]


def test_the_bar_itself_does_not_promote() -> None:
    exactly = Consolidation(promote_above=standing(proved("a"), 0, NOW).score)
    assert promotions([*crowd(99), proved("a")], {}, NOW, exactly) == []


def test_at_most_twenty_a_run_best_first() -> None:
    best = {f"p{n:02d}": n % 6 for n in range(30)}
    everyone = [*crowd(970), *(proved(id) for id in best)]
    risen = promotions(everyone, best, NOW, Consolidation())
    assert len(risen) == 20
    assert risen == sorted(best, key=lambda id: (-min(best[id], 5), id))[:20]


def test_never_more_than_five_percent_of_the_store_stand_at_the_top() -> None:
    assert len(promotions([*crowd(90), *(proved(f"p{n}") for n in range(10))], {}, NOW, Consolidation())) == 5
    already = [proved(f"t{n}", priority="P1") for n in range(3)]
    assert len(promotions([*crowd(87), *already, *(proved(f"p{n}") for n in range(10))], {}, NOW, Consolidation())) == 2
    assert promotions([*crowd(18), proved("p")], {}, NOW, Consolidation()) == []
    assert promotions([*crowd(19), proved("p")], {}, NOW, Consolidation()) == ["p"]


def test_two_processes_at_once_keep_to_the_same_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the one looks at who has proved himself, the other raises two more that were recalled just now."""
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        store.add([Draft(text=f"fact {n}", id=f"m{n:02d}", created_at=0, confidence=0.7) for n in range(40)], 0)
        store.touch({"m10": Access(9, NOW), "m11": Access(9, NOW)})
        look = store.snapshot

        @contextmanager
        def looking(vectors: bool) -> Iterator[Snapshot]:
            monkeypatch.setattr(store, "snapshot", look)  # only once
            with look(vectors) as found:
                other.touch({"m20": Access(10, NOW), "m21": Access(10, NOW)})
                assert reflect(other, NOW).promoted == ("m20", "m21")
                yield found

        monkeypatch.setattr(store, "snapshot", looking)
        assert reflect(store, NOW).promoted == ()
        assert store.count(Filter(now=NOW, priorities=("P1",))) == 0.05 * 40
