"""The published formulas of memini, gorag, second-brain and PigPig, written out here again, over thousands of random inputs."""

import math
import random
from typing import Any

import numpy as np
import pytest

from thinkback.clock import DAY, to_us
from thinkback.library import composite, dedup, fuse, rerank
from thinkback.model import StoredRecord
from thinkback.search.query.time import proximity
from thinkback.search.signals.decay import decay
from thinkback.search.signals.quality import quality
from thinkback.search.signals.tags import Tags

NOW = to_us("2026-05-08T12:00:00")
ROUNDS = 2000


def _lists(chance: random.Random) -> list[list[str]]:
    """Up to four ranked lists over few ids, so that ties, repetitions and empty lists occur."""
    ids = [f"d{n}" for n in range(12)]
    return [[chance.choice(ids) for _ in range(chance.randint(0, 9))] for _ in range(chance.randint(0, 4))]


def _reciprocal(lists: list[list[str]], k: float, first: int) -> list[tuple[str, float]]:
    scores: dict[str, float] = {}
    for ranked in lists:
        for place, id in enumerate(dict.fromkeys(ranked)):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + place + first)
    seen = list(dict.fromkeys(id for ranked in lists for id in ranked))
    return sorted(((id, scores[id]) for id in seen), key=lambda pair: -pair[1])


@pytest.mark.parametrize(("k", "first"), [(5.0, 0), (60.0, 1)], ids=["memini", "gorag"])
def test_reciprocal_ranks(k: float, first: int) -> None:
    for seed in range(ROUNDS):
        lists = _lists(random.Random(seed))
        expected, found = _reciprocal(lists, k, first), fuse(lists, "rrf", k=k, first_rank=first)
        assert dict(found) == pytest.approx(dict(expected), rel=1e-12)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_gorag_merges_by_first_occurrence() -> None:
    for seed in range(ROUNDS):
        lists = _lists(random.Random(seed))
        assert [id for id, _ in fuse(lists, "merge")] == list(dict.fromkeys(id for ranked in lists for id in ranked))


def test_memini_scales_scores_and_adds_them() -> None:
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        runs = [
            {f"d{n}": float(chance.randint(0, 4)) for n in chance.sample(range(9), chance.randint(0, 7))}
            for _ in range(2)
        ]
        alpha = chance.random()
        expected: dict[str, float] = {}
        for run, weight in zip(runs, (alpha, 1 - alpha), strict=True):
            low, high = min(run.values(), default=0.0), max(run.values(), default=0.0)
            for id, score in run.items():
                scaled = 1.0 if high == low else (score - low) / (high - low)
                expected[id] = expected.get(id, 0.0) + weight * scaled
        lists = [sorted(run.items(), key=lambda pair: -pair[1]) for run in runs]
        found = fuse(lists, "convex", key=lambda p: p[0], score=lambda p: p[1], weights=[alpha, 1 - alpha])
        assert {id: score for (id, _), score in found} == pytest.approx(expected, abs=1e-12)


def _memory(chance: random.Random) -> StoredRecord:
    tags = tuple(chance.sample(["task", "work", "context", "canonical", "pets", "home"], chance.randint(0, 3)))
    metadata: dict[str, Any] = {}
    if chance.random() < 0.5:
        metadata["votes"] = chance.randint(-20, 20)
    created = NOW - int(chance.uniform(0, 400) * DAY)
    return StoredRecord(
        id="m",
        text="t",
        kind=chance.choice(["observation", "task", "fact"]),
        tier=chance.choice(["procedural", "semantic", "episodic", "working", "unknown"]),
        importance=chance.choice([None, 0.0, 0.2, 0.5, 0.8, 1.0]),
        confidence=chance.random(),
        tags=tags,
        metadata=metadata,
        created_at=created,
        access_count=chance.choice([0, 0, 1, 5, 100]),
        last_access=chance.choice([None, NOW, NOW - int(chance.uniform(0, 60) * DAY)]),
    )


def _memini_quality(m: StoredRecord) -> float:
    tiers = {"procedural": 0.95, "semantic": 0.90, "episodic": 0.55, "working": 0.30, "unknown": 0.50}
    importance = 0.5 if m.importance is None else m.importance
    salience = min(1.0, max(0.0, tiers[m.tier] * (0.5 + 0.5 * importance)))
    usage = 1 + math.log(1 + m.access_count)
    if m.tier not in ("working", "episodic"):
        return salience * float(m.confidence) * usage
    age = NOW - (m.created_at if m.last_access is None else m.last_access)
    return salience * usage * math.exp(-max(age, 0) / (7 * DAY * usage))


def test_memini_quality() -> None:
    for seed in range(ROUNDS):
        m = _memory(random.Random(seed))
        assert quality(m, NOW) == pytest.approx(_memini_quality(m), rel=1e-12)


def test_an_old_episode_that_was_recalled_just_now_is_worth_seventy_hundredths() -> None:
    m = StoredRecord(id="m", text="t", tier="episodic", created_at=NOW - 60 * DAY, access_count=1, last_access=NOW)
    assert quality(m, NOW) == pytest.approx(0.55 * 0.75 * (1 + math.log(2)))
    assert 0.69 < quality(m, NOW) < 0.71


def test_memini_composite() -> None:
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        items = [
            (chance.choice([0.0, 0.5, 1.0, chance.random()]), chance.random()) for _ in range(chance.randint(0, 8))
        ]
        top_r = max((r for r, _ in items), default=0.0) or 1.0
        top_q = max((q for _, q in items), default=0.0) or 1.0
        for how, formula in (("add", lambda r, q: 0.8 * r + 0.2 * q), ("multiply", lambda r, q: r * (0.8 + 0.2 * q))):
            expected = sorted(
                ((item, formula(item[0] / top_r, item[1] / top_q)) for item in items), key=lambda p: -p[1]
            )
            found = composite(items, relevance=lambda i: i[0], quality=lambda i: i[1], how=how)  # type: ignore[arg-type]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-12)


def test_memini_temporal_proximity() -> None:
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        tolerance, distance = chance.randint(1, 90) * DAY, chance.randint(-400, 400) * DAY
        away = abs(distance) / tolerance
        assert proximity(distance, tolerance) == pytest.approx(
            1.0 if away <= 1 else max(0.0, (3 - away) / 2), abs=1e-12
        )


def test_memini_dedup() -> None:
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        texts = [chance.choice(["A cat", "a  CAT", "dog", " dog ", "bird"]) for _ in range(chance.randint(0, 9))]
        kept: list[str] = []
        for text in texts:
            if text.lower().split() not in [one.lower().split() for one in kept]:
                kept.append(text)
        assert dedup(texts) == kept
        assert dedup(texts, limit=2) == kept[:2]


def _second_brain(m: StoredRecord) -> float:
    names = {m.kind, *m.tags}
    tau = 7 if "task" in names else 90 if "work" in names else 180 if "context" in names else 30
    important = m.importance is not None and m.importance * 5 >= 4
    floor = 0.9 if "canonical" in names or important else 0.15 if "task" in names else 0.6
    recency = floor + (1 - floor) * math.exp(-(NOW - m.created_at) / DAY / tau)
    net = m.metadata.get("votes", 0)
    votes = (net > 0) - (net < 0)
    votes = votes * math.log(1 + abs(net))
    importance = 1.0
    if m.importance is not None or net:
        base = 3.0 if m.importance is None else m.importance * 5
        importance = 0.8 + 0.4 * min(5.0, max(1.0, base + votes)) / 5
    return min(1.0, recency * (1 + math.log(1 + m.access_count))) * importance


def test_second_brain_decay() -> None:
    for seed in range(ROUNDS):
        m = _memory(random.Random(seed))
        assert decay(m, NOW) == pytest.approx(_second_brain(m), rel=1e-12)


def test_second_brain_tag_boost() -> None:
    signal = Tags()
    for overlap in range(9):
        assert min(signal.cap, 1 + signal.step * overlap) == pytest.approx(min(1.5, 1 + 0.15 * overlap))


class Judge:
    """A reranker whose verdicts are known."""

    fingerprint = "judge"

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [0.0 if not text.strip() else (hash_of(text) % 5) / 4 for text in texts]


def hash_of(text: str) -> int:
    return sum(map(ord, text))


def test_pigpig_reranks_copies_and_keeps_ties_in_line() -> None:
    fields = ["a", "bb", "", "  ", 7, 3.5, None, ["x"], {"k": 1}, "long text"]
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        given = [{"id": n, "body": chance.choice(fields)} for n in range(chance.randint(0, 8))]
        before = [dict(one) for one in given]
        top = chance.choice([None, 0, 1, 3])

        def verdict(one: dict[str, Any]) -> float:
            text = "" if one["body"] is None else str(one["body"])
            return 0.0 if not text.strip() else (hash_of(text) % 5) / 4

        expected = sorted(given, key=lambda one: -verdict(one))[: top if top else None]
        found = rerank("q", given, "body", top, model=Judge())
        assert [one["id"] for one in found] == [one["id"] for one in expected]
        assert [one["rerank_score"] for one in found] == [verdict(one) for one in expected]
        assert given == before


def test_qwen3_takes_yes_out_of_two() -> None:
    """softmax(no, yes), taking yes, is the sigmoid of their difference."""
    numbers = np.random.default_rng(7).normal(scale=9, size=(ROUNDS, 2))
    two = np.exp(numbers - numbers.max(axis=1, keepdims=True))
    assert two[:, 1] / two.sum(axis=1) == pytest.approx(1 / (1 + np.exp(numbers[:, 0] - numbers[:, 1])))
