"""Run recipes over a dataset: every question once, timed, saved as it goes, and resumed where it stopped.

The runner knows nothing of the engine. It is given a function that makes a corpus searchable and yields one recall
function a recipe; `thinkback.evaluate.systems` builds that function from a `Memory`.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import field
from hashlib import sha256
from pathlib import Path

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Corpus, Dataset, Question
from thinkback.evaluate.metrics import STANDARD, Metric, first_rank
from thinkback.evaluate.rankings import Ranking, RankingLog
from thinkback.evaluate.scores import (
    DEFAULT,
    Bootstrap,
    Interval,
    ScoreTable,
    Summary,
    by_category,
    differences,
    score,
    summarize,
)
from thinkback.values import dataclass

GOOD_RANK = 10  # a first answer beyond this rank is a failure worth explaining


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a recipe, best first; `explain` explains the ranks of the gold."""

    ids: Sequence[str]
    scores: Sequence[float]
    explain: Callable[[], str] | None = None


Recall = Callable[[Question, int], Answer]
OpenCorpus = Callable[[Corpus], AbstractContextManager[Mapping[str, Recall]]]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Contender:
    """A recipe under test; its fingerprints identify its saved rankings."""

    name: str
    recipe: str = ""
    embedder: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """How to run: `depth` results a question, rankings saved under `save`, explanations for failures if `explain`."""

    depth: int = 50
    save: Path | None = None
    explain: bool = False
    metrics: tuple[Metric, ...] = STANDARD
    bootstrap: Bootstrap = DEFAULT
    progress: Progress | None = None
    timer: Callable[[], float] = time.perf_counter
    cpu_timer: Callable[[], float] = time.process_time


@dataclass(frozen=True, slots=True)
class RecipeResult:
    """One recipe's numbers, and the rankings they were computed from."""

    contender: Contender
    overall: Summary
    categories: Mapping[str, Summary]
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    missing: int
    rankings: tuple[Ranking, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """The second recipe minus the first on the same questions."""

    before: str
    after: str
    means: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The result of a benchmark."""

    dataset: str
    fingerprint: str
    n: int
    left_out: Mapping[str, int]
    notes: Mapping[str, int]
    depth: int
    recipes: tuple[RecipeResult, ...]
    differences: tuple[Difference, ...]

    @property
    def counted(self) -> str:
        """One line with the numbers of counted and excluded questions."""
        left_out = [f"{n} {why}" for why, n in self.left_out.items()]
        notes = [f"{n} {what}" for what, n in self.notes.items()]
        sentence = f"n = {self.n}, the first {self.depth} results count"
        if left_out:
            sentence += f"; left out: {', '.join(left_out)}"
        return sentence + (f"; noted: {', '.join(notes)}" if notes else "")


def bench(
    dataset: Dataset,
    contenders: Sequence[Contender],
    open_corpus: OpenCorpus,
    settings: BenchSettings | None = None,
) -> BenchResult:
    """Ask every contender every question and score the answers; later contenders are compared with the first."""
    settings = settings or BenchSettings()
    names = [contender.name for contender in contenders]
    if not names or len(set(names)) != len(names):
        raise InvalidInput(f"a benchmark needs recipes with different names, not {names}", code="duplicate_name")
    rankings = rank_all(dataset, contenders, open_corpus, settings)
    results, tables = [], []
    for contender in contenders:
        table = score(dataset.questions, rankings[contender.name], settings.metrics)
        tables.append(table)
        results.append(_result(contender, table, dataset, rankings[contender.name], settings))
    return BenchResult(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        n=tables[0].n,
        left_out=dataset.left_out,
        notes=dataset.notes,
        depth=settings.depth,
        recipes=tuple(results),
        differences=tuple(
            Difference(names[0], name, differences(table, tables[0], settings.bootstrap))
            for name, table in zip(names[1:], tables[1:], strict=True)
        ),
    )


def rank_all(
    dataset: Dataset, contenders: Sequence[Contender], open_corpus: OpenCorpus, settings: BenchSettings
) -> dict[str, dict[str, Ranking]]:
    """Rankings by contender and question; a corpus whose questions are all answered is never opened."""
    asked: dict[str, list[Question]] = {}
    for question in dataset.questions:
        asked.setdefault(question.corpus_id, []).append(question)
    with ExitStack() as stack:
        books = {c.name: _open_book(stack, dataset, c, settings) for c in contenders}
        total = len(dataset.questions) * len(contenders)
        ids = {question.id for question in dataset.questions}
        done = sum(len(ids & book.done.keys()) for book in books.values())
        for corpus in dataset.corpora:
            open_work = [
                (question, books[contender.name])
                for contender in contenders
                for question in asked.get(corpus.id, ())
                if question.id not in books[contender.name].done
            ]
            if not open_work:
                continue
            _report(settings, done, total, f"{corpus.id}: {len(corpus.documents)} documents")
            with open_corpus(corpus) as systems:
                for question, book in open_work:
                    book.add(_ask(question, systems[book.name], book.run, settings))
                    done += 1
                    _report(settings, done, total, corpus.id)
        return {name: {i: r for i, r in book.done.items() if i in ids} for name, book in books.items()}


@dataclass(slots=True)
class _Book:
    """One contender's rankings so far, saved if a folder was given."""

    name: str
    run: str
    log: RankingLog | None
    done: dict[str, Ranking]

    def add(self, ranking: Ranking) -> None:
        if self.log is not None:
            self.log.add(ranking)
        self.done[ranking.question_id] = ranking


def _open_book(stack: ExitStack, dataset: Dataset, contender: Contender, settings: BenchSettings) -> _Book:
    run = run_identity(dataset, contender, settings.depth)
    if settings.save is None:
        return _Book(contender.name, run, None, {})
    log = stack.enter_context(RankingLog(rankings_file(settings.save, dataset, contender), run))
    return _Book(contender.name, run, log, dict(log.done))


def run_identity(dataset: Dataset, contender: Contender, depth: int) -> str:
    """What must be equal for two rankings to belong to the same run."""
    parts = (dataset.fingerprint, contender.name, contender.recipe, contender.embedder, depth)
    return sha256(repr(parts).encode()).hexdigest()[:16]


def rankings_file(folder: Path, dataset: Dataset, contender: Contender) -> Path:
    """Where a recipe's rankings of a dataset are saved."""
    return folder / f"{_slug(dataset.name)}.{_slug(contender.name)}.jsonl"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def _ask(question: Question, recall: Recall, run: str, settings: BenchSettings) -> Ranking:
    start, cpu_start = settings.timer(), settings.cpu_timer()
    answer = recall(question, settings.depth)
    cpu_ms, ms = (settings.cpu_timer() - cpu_start) * 1000, (settings.timer() - start) * 1000
    kept = [pair for pair in zip(answer.ids, answer.scores, strict=True) if pair[0] not in question.excluded]
    ids = tuple(document_id for document_id, _ in kept)
    rank = first_rank(question.gold, ids)
    failed = rank is None or rank > GOOD_RANK
    return Ranking(
        question_id=question.id,
        gold=question.gold,
        ids=ids,
        scores=tuple(float(value) for _, value in kept),
        ms=ms,
        cpu_ms=cpu_ms,
        text=question.text,
        category=question.category,
        group=question.corpus_id,
        run=run,
        why=answer.explain() if settings.explain and failed and answer.explain is not None else "",
    )


def _report(settings: BenchSettings, done: int, total: int, what: str) -> None:
    if settings.progress is not None:
        settings.progress(done, total, what)


def _result(
    contender: Contender,
    table: ScoreTable,
    dataset: Dataset,
    rankings: Mapping[str, Ranking],
    settings: BenchSettings,
) -> RecipeResult:
    ordered = tuple(rankings[q.id] for q in dataset.questions if q.id in rankings)
    p50, p95 = latency(ordered)
    return RecipeResult(
        contender=contender,
        overall=summarize(table, settings.bootstrap),
        categories=by_category(table, settings.bootstrap),
        p50_ms=p50,
        p95_ms=p95,
        cpu_ms=float(np.mean([ranking.cpu_ms for ranking in ordered])) if ordered else 0.0,
        missing=table.missing,
        rankings=ordered,
    )


def latency(rankings: Iterable[Ranking]) -> tuple[float, float]:
    """The median and the 95th percentile of the milliseconds a question took."""
    times = [ranking.ms for ranking in rankings]
    if not times:
        return 0.0, 0.0
    p50, p95 = np.quantile(times, [0.5, 0.95])
    return float(p50), float(p95)
