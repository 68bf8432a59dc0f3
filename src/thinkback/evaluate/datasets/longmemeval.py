"""LongMemEval: a question, and the haystack of dated chat sessions that holds its answer.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025. The files' own
session ids begin with "answer" where the answer is, so documents are numbered by place instead and the ids are used
for nothing but the gold. The layouts `_s`, `_m` and `_oracle` differ only in how large the haystack is.
"""

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from thinkback.clock import to_us
from thinkback.errors import DatasetError, did_you_mean
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question, checked
from thinkback.evaluate.datasets.files import Node, read_array
from thinkback.values import dataclass

LEVELS = ("session", "turn")

_DATE = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)\s*(?:\([A-Za-z]+\))?\s*(?:(\d\d?):(\d\d))?")


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    created_us: int
    answers: bool
    turns: tuple[tuple[str, str, bool], ...]


def read_longmemeval(path: Path, *, level: str = "session", abstention: bool = False) -> Dataset:
    """Read a LongMemEval file; questions that must not be answered (`_abs`) only if `abstention`."""
    if level not in LEVELS:
        hint = did_you_mean(level, LEVELS)
        raise DatasetError(
            f"LongMemEval has no level {level!r}; choose one of {', '.join(LEVELS)}.{hint}", code="unknown_level"
        )
    corpora: list[Corpus] = []
    questions: list[Question] = []
    left_out: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    shared: dict[str, str] = {}
    for node in read_array(path):
        question_id = node.get("question_id").label()
        if question_id.endswith("_abs") and not abstention:
            left_out["abstention (nothing to find)"] += 1
            continue
        sessions = _sessions(node, shared, notes)
        documents, gold = _turns(sessions) if level == "turn" else _whole_sessions(sessions)
        if not gold:
            left_out["without a marked answer turn" if level == "turn" else "without an answer session"] += 1
            continue
        corpora.append(Corpus(question_id, documents))
        questions.append(_question(node, question_id, gold))
    name = f"{path.stem} ({level})"
    return checked(Dataset(name, tuple(corpora), tuple(questions), dict(left_out), dict(+notes)))


def _question(node: Node, question_id: str, gold: dict[str, float]) -> Question:
    category = node.get("question_type").label()
    return Question(
        id=question_id,
        corpus_id=question_id,
        text=node.get("question").text(),
        gold=gold,
        category="abstention" if question_id.endswith("_abs") else category,
        now_us=parse_date(node.get("question_date")),
    )


def _sessions(node: Node, shared: dict[str, str], notes: Counter[str]) -> list[_Session]:
    """The haystack in its own order; texts that many haystacks share are kept once."""
    ids = [entry.label() for entry in node.get("haystack_session_ids").each()]
    dates = node.get("haystack_dates").each()
    haystack = node.get("haystack_sessions").each()
    if not len(ids) == len(dates) == len(haystack):
        raise node.error(
            "haystack_session_ids, haystack_dates and haystack_sessions must be equally long, "
            f"not {len(ids)}, {len(dates)} and {len(haystack)}",
            "unequal_lengths",
        )
    answers = {entry.label() for entry in node.get("answer_session_ids").each()}
    notes["answer sessions that do not exist"] += len(answers - set(ids))
    sessions = []
    for number, (name, date, session) in enumerate(zip(ids, dates, haystack, strict=True), start=1):
        turns = []
        for turn in session.each():
            text = turn.get("content").text().strip()
            if not text:
                notes["turns without text"] += 1
                continue
            marked = turn.has("has_answer") and turn.get("has_answer").value is True
            turns.append((turn.get("role").label(), shared.setdefault(text, text), marked))
        if turns:
            sessions.append(_Session(f"s{number}", parse_date(date), name in answers, tuple(turns)))
    return sessions


def _turns(sessions: list[_Session]) -> tuple[tuple[Document, ...], dict[str, float]]:
    documents = []
    gold = {}
    for session in sessions:
        for place, (role, text, marked) in enumerate(session.turns):
            document = Document(f"{session.id}:{place + 1}", text, session.id, place, session.created_us, role)
            documents.append(document)
            if marked and session.answers:
                gold[document.id] = 1.0
    return tuple(documents), gold


def _whole_sessions(sessions: list[_Session]) -> tuple[tuple[Document, ...], dict[str, float]]:
    documents = tuple(
        Document(s.id, "\n".join(f"{role}: {text}" for role, text, _ in s.turns), created_us=s.created_us)
        for s in sessions
    )
    return documents, {session.id: 1.0 for session in sessions if session.answers}


def parse_date(node: Node) -> int:
    """Microseconds of a date written '2023/05/20 (Sat) 02:21'."""
    match = _DATE.fullmatch(node.text().strip())
    try:
        if match is None:
            raise ValueError
        return to_us(datetime(*(int(part or 0) for part in match.groups()), tzinfo=UTC))  # type: ignore[arg-type, misc]
    except ValueError:
        raise node.error(
            f"expected a date such as '2023/05/20 (Sat) 02:21', found {node.text()!r}", "not_a_date"
        ) from None
