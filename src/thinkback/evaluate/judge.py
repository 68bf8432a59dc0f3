"""Judgements: that a memory was, or was not, the answer to a query; they make a benchmark of one's own store.

A set of judgements travels as JSON Lines, one `{"query", "memory_id", "grade", "judged_at"}` a line: grade 0 is "not the
answer", 1 "an answer", and up to 3 for better answers. The latest judgement of a query and a memory is the one that
holds.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from thinkback.clock import iso, to_us
from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.datasets.files import Node, read_lines
from thinkback.stores.base import Judgement

MAX_GRADE = 3


def judgement(query: str, memory_id: str, grade: int, judged_at: int) -> Judgement:
    """A checked judgement; the query's white space is evened out, so that the same question is one question."""
    text = _even(query)
    if not text or not memory_id.strip():
        raise InvalidInput("a judgement needs a query and the id of a memory; one of them is empty")
    if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= MAX_GRADE:
        raise InvalidInput(
            f"a grade is a whole number from 0 (not the answer) to {MAX_GRADE} (the best one), not {grade!r}"
        )
    return Judgement(text, memory_id, grade, judged_at)


def _even(query: str) -> str:
    return " ".join(query.split())


def latest(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """One judgement for each query and memory: the last made; equal times go to the one that comes later."""
    chosen: dict[tuple[str, str], Judgement] = {}
    for entry in judgements:
        key = (_even(entry.query), entry.memory_id)
        if key not in chosen or entry.judged_at >= chosen[key].judged_at:
            chosen[key] = entry
    return tuple(chosen.values())


def judged_questions(judgements: Iterable[Judgement], corpus_id: str) -> tuple[tuple[Question, ...], int]:
    """Questions with the judged answers as gold, and how many queries have only refusals and cannot be scored.

    The question's id is its text, so that rankings saved before and after new judgements can be compared; it is asked
    as of its latest judgement.
    """
    gold: dict[str, dict[str, float]] = {}
    asked: dict[str, int] = {}
    for entry in latest(judgements):
        text = _even(entry.query)
        answers = gold.setdefault(text, {})
        asked[text] = max(entry.judged_at, asked.get(text, entry.judged_at))
        if entry.grade > 0:
            answers[entry.memory_id] = float(entry.grade)
    questions = tuple(
        Question(text, corpus_id, text, answers, now_us=asked[text]) for text, answers in gold.items() if answers
    )
    return questions, len(gold) - len(questions)


def to_line(entry: Judgement) -> str:
    """One JSON line, without its line end."""
    fields = {
        "query": entry.query,
        "memory_id": entry.memory_id,
        "grade": entry.grade,
        "judged_at": iso(entry.judged_at),
    }
    return json.dumps(fields, ensure_ascii=False)


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    """Write a set that `read_judgements` reads back unchanged."""
    path.write_text("".join(to_line(entry) + "\n" for entry in judgements), encoding="utf-8")


def read_judgements(path: Path) -> tuple[Judgement, ...]:
    """Read a set; a wrong line is named and nothing is taken."""
    return tuple(from_node(node) for node in read_lines(path))


def from_node(node: Node) -> Judgement:
    """A judgement from one line of a file."""
    query, memory_id = node.get("query").text(), node.get("memory_id").label()
    grade, written = node.get("grade").whole(), node.get("judged_at").text()
    try:
        return judgement(query, memory_id, grade, to_us(written))
    except InvalidInput as error:
        raise node.error(str(error)) from None
