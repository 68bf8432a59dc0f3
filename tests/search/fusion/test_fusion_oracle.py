"""Rank and score fusions against ranx, an independent implementation, on random runs."""

import random
import warnings
from typing import Any

import pytest

from thinkback.model import Run, Scored
from thinkback.search.fusion import CombMnz, CombSum, Fusion, Isr, Rrf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ranx: Any = pytest.importorskip("ranx")


def random_runs(seed: int) -> list[Run]:
    dice = random.Random(seed)
    runs = []
    for leg in ("keyword", "vector", "graph")[: dice.randint(2, 3)]:
        ids = dice.sample([f"d{n}" for n in range(60)], dice.randint(2, 40))
        scores = sorted((dice.uniform(0.01, 50) for _ in ids), reverse=True)
        runs.append(Run(leg, tuple(Scored(id, score) for id, score in zip(ids, scores, strict=True))))
    return runs


def theirs(runs: list[Run], method: str, norm: str | None, **parameters: Any) -> dict[str, float]:
    as_ranx = [ranx.Run({"q": {hit.id: hit.score for hit in run.hits}}) for run in runs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ranx.fuse(runs=as_ranx, norm=norm, method=method, params=parameters or None)
    return dict(result.to_dict()["q"])


ORACLES: list[tuple[str, Fusion, str, str | None, dict[str, Any]]] = [
    ("rrf k=60", Rrf(k=60, first_rank=1), "rrf", None, {"k": 60}),
    ("rrf k=5", Rrf(k=5, first_rank=1), "rrf", None, {"k": 5}),
    ("isr", Isr(), "isr", None, {}),
    ("combsum", CombSum(), "sum", "min-max", {}),
    ("combmnz", CombMnz(), "mnz", "min-max", {}),
]


@pytest.mark.parametrize(
    ("fusion", "method", "norm", "parameters"), [o[1:] for o in ORACLES], ids=[o[0] for o in ORACLES]
)
@pytest.mark.slow  # numba compiles each of them for half a minute
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_ranx(fusion: Fusion, method: str, norm: str | None, parameters: dict[str, Any], seed: int) -> None:
    runs = random_runs(seed)
    ledger = fusion.fuse(runs, {}).ledger
    ours = dict(zip(ledger.ids, ledger.totals.tolist(), strict=True))
    assert ours == pytest.approx(theirs(runs, method, norm, **parameters), rel=1e-9, abs=1e-9)
