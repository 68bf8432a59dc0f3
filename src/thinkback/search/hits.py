"""The end of a search: hits, with everything that is known about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from thinkback.model import REFLECTION, Drop, Hit, Later, Placing, Run
from thinkback.reflections import members
from thinkback.search.engine import Engine
from thinkback.search.excerpts import Excerpts
from thinkback.search.ranking import Gathered, Ordered
from thinkback.search.relevance import HEAD, Judge
from thinkback.search.selection import Ranked
from thinkback.search.updates import replaced


def in_order(ordered: Ordered) -> Iterator[Ranked]:
    """Candidates best first."""
    for rank_now, row in enumerate(ordered.order.tolist(), 1):
        yield Ranked(ordered.records[row], float(ordered.ledger.totals[row]), rank_now, row)


def judge_of(
    ordered: Ordered, gathered: Gathered, engine: Engine, verdicts: Mapping[str, float], excerpts: Excerpts
) -> Judge | None:
    """What tells the relevance of hits; None if nothing was searched."""
    if not gathered.searched:
        return None
    head = [ordered.records[row] for row in ordered.order[: 2 * HEAD].tolist()]
    head = [record for record in head if record.kind != REFLECTION][:HEAD]
    excerpts.choose(head)
    return Judge(gathered.query, gathered.runs, head, engine.embedder, verdicts, excerpts.text)


def relevant(hits: Sequence[Hit], least: float) -> tuple[tuple[Hit, ...], list[Drop]]:
    """The hits that are relevant enough, ranked anew, and the drops of the others."""
    kept = [hit for hit in hits if hit.relevance >= least]
    drops = [
        Drop(hit.id, "relevance", f"its relevance {hit.relevance:.3g} is below {least:g}", hit.score, hit.rank)
        for hit in hits
        if hit.relevance < least
    ]
    return tuple(replace(hit, rank=place) if hit.rank != place else hit for place, hit in enumerate(kept, 1)), drops


def hits_of(
    kept: Sequence[Ranked],
    ordered: Ordered,
    runs: Sequence[Run],
    judge: Judge | None,
    excerpts: Excerpts,
    question: str = "",
) -> tuple[Hit, ...]:
    """The kept candidates with everything about them; for a `question`, also what each seems to replace."""
    records = [candidate.record for candidate in kept]
    excerpts.choose(records)
    if judge is not None:
        judge.read(records)
    newer = replaced(records, question) if question else {}
    placings: Any = Later(_Placings(runs, frozenset(record.id for record in records)).of)
    contributions: Any = Later(lambda hit: ordered.ledger.contributions(ordered.ledger.ids.index(hit.id)))
    evidence: Any = () if judge is None else Later(lambda hit: judge.evidence(hit.stored))
    return tuple(
        Hit(
            rank=place,
            score=candidate.score,
            stored=record,
            placings=placings,
            contributions=contributions,
            members=members(record) if record.kind == REFLECTION else (),
            relevance=0.0 if judge is None else judge.relevance(record),
            evidence=evidence,
            passage=excerpts.of(record),
            supersedes=tuple(old for old, new in newer.items() if new == record.id) if newer else (),
        )
        for place, (candidate, record) in enumerate(zip(kept, records, strict=True), 1)
    )


class _Placings:
    """Where hits stood in the runs; read for all of them when it is asked for one."""

    def __init__(self, runs: Sequence[Run], wanted: frozenset[str]) -> None:
        self.runs, self.wanted = runs, wanted

    def of(self, hit: Hit) -> tuple[Placing, ...]:
        return tuple(self._found[hit.id])

    @cached_property
    def _found(self) -> Mapping[str, Sequence[Placing]]:
        found: dict[str, list[Placing]] = {id: [] for id in self.wanted}
        for run in self.runs:
            for rank_in_leg, hit in enumerate(run.hits, 1):
                if hit.id in self.wanted:
                    found[hit.id].append(Placing(run.leg, rank_in_leg, hit.score))
        return found
