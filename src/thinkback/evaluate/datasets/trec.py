"""TREC run and qrels files: rankings that other systems made, and the judgements to score them by.

A run line is `query Q0 document rank score tag`, a qrels line `query 0 document grade`, fields separated by white
space. As in trec_eval the score decides and the written rank is ignored; equal scores keep the file's order.
"""

import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from thinkback.errors import DatasetError
from thinkback.evaluate.datasets.base import Corpus, Dataset, Question, checked
from thinkback.evaluate.datasets.files import numbered_lines
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class TrecRun:
    """One system's rankings: query id to (document id, score), best first."""

    name: str
    rankings: Mapping[str, tuple[tuple[str, float], ...]]

    @property
    def fingerprint(self) -> str:
        """A hash of every ranking (16 hex digits), independent of the run's name and of the order of queries."""
        return sha256(repr(sorted(self.rankings.items())).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_run(path: Path) -> TrecRun:
    """Read a run file; its name is its tag, or the file's name where the lines disagree."""
    found: dict[str, dict[str, float]] = {}
    tags = set()
    for number, (query_id, _, document_id, _, written, tag) in _fields(path, 6, "query Q0 document rank score tag"):
        score = _number(path, number, written, "score")
        ranking = found.setdefault(query_id, {})
        if document_id in ranking:
            message = f"{path}: line {number}: document {document_id!r} is twice in query {query_id!r}"
            raise DatasetError(message, code="duplicate_document")
        ranking[document_id] = score
        tags.add(tag)
    rankings = {query: tuple(sorted(ranking.items(), key=lambda pair: -pair[1])) for query, ranking in found.items()}
    return TrecRun(tags.pop() if len(tags) == 1 else path.stem, rankings)


def read_qrels(path: Path) -> tuple[Question, ...]:
    """Read judgements as questions without text; those without a relevant document have empty gold."""
    judged: dict[str, dict[str, float]] = {}
    for number, (query_id, _, document_id, written) in _fields(path, 4, "query 0 document grade"):
        grade = _number(path, number, written, "grade")
        gold = judged.setdefault(query_id, {})
        if grade > 0:
            gold[document_id] = grade
    return tuple(Question(query_id, "trec", "", gold) for query_id, gold in judged.items())


def read_trec(path: Path) -> Dataset:
    """Read judgements as a dataset without documents: its corpus is whatever the runs were made on."""
    judged = read_qrels(path)
    questions = tuple(question for question in judged if question.gold)
    left_out = {"without a relevant document": len(judged) - len(questions)} if len(questions) < len(judged) else {}
    return checked(Dataset(path.stem, (Corpus("trec", ()),), questions, left_out), gold_exists=False)


def write_run(path: Path, run: TrecRun) -> None:
    """Write a run that `read_run` and trec_eval read back in the same order."""
    with path.open("w", encoding="utf-8") as file:
        for query_id, ranking in run.rankings.items():
            for rank, (document_id, score) in enumerate(ranking, start=1):
                file.write(f"{query_id} Q0 {document_id} {rank} {score!r} {run.name}\n")


def _fields(path: Path, count: int, layout: str) -> Iterator[tuple[int, list[str]]]:
    empty = True
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) != count:
            message = f"{path}: line {number}: expected '{layout}', found {len(fields)} fields: {line[:80]!r}"
            raise DatasetError(message, code="wrong_fields")
        empty = False
        yield number, fields
    if empty:
        raise DatasetError(f"{path}: the file is empty; expected lines '{layout}'", code="empty_file")


def _number(path: Path, line: int, written: str, what: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        message = f"{path}: line {line}: expected a finite number as {what}, found {written!r}"
        raise DatasetError(message, code="not_a_number")
    return number
