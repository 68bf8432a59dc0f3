"""LoCoMo: very long conversations of two people, with questions and the turns that answer them.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. A turn is a memory
`Speaker: text [image: caption]`, a session is a thread, and every turn is dated by its session.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from thinkback.clock import to_us
from thinkback.errors import DatasetError, did_you_mean
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question, checked
from thinkback.evaluate.datasets.files import Node, read_array
from thinkback.values import dataclass

CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
LEVELS = ("turn", "session")

_SESSION = re.compile(r"session_(\d+)")
# Evidence is written by hand: 'D1:3', 'D8:6; D9:17', 'D:11:26', 'D30:05' all occur.
_TURN = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d\d)\s*([ap]m)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class _Session:
    number: int
    created_us: int
    turns: tuple[Document, ...]

    @property
    def id(self) -> str:
        return f"S{self.number}"


def read_locomo(path: Path, *, level: str = "turn", adversarial: bool = False) -> Dataset:
    """Read a LoCoMo file at the level of turns or of whole sessions; category 5 only if `adversarial`."""
    if level not in LEVELS:
        raise DatasetError(
            f"LoCoMo has no level {level!r}; choose one of {', '.join(LEVELS)}.{did_you_mean(level, LEVELS)}",
            code="unknown_level",
        )
    corpora: list[Corpus] = []
    questions: list[Question] = []
    left_out: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for sample in read_array(path):
        corpus_id = sample.get("sample_id").label() if sample.has("sample_id") else f"conversation-{len(corpora) + 1}"
        sessions = tuple(_sessions(sample.get("conversation")))
        corpora.append(Corpus(corpus_id, _documents(sessions, level)))
        homes = _homes(sessions, level)
        now_us = max(session.created_us for session in sessions)
        for number, node in enumerate(sample.get("qa").each(), start=1):
            category = _category(node)
            if category == 5 and not adversarial:
                left_out["adversarial (category 5)"] += 1
                continue
            gold, lost = _gold(node.get("evidence"), homes)
            notes["evidence ids that do not exist"] += lost
            if not gold:
                left_out["without evidence that exists" if lost else "without evidence"] += 1
                continue
            text = node.get("question").text()
            questions.append(Question(f"{corpus_id}/q{number}", corpus_id, text, gold, CATEGORIES[category], now_us))
    name = f"{path.stem} ({level})"
    return checked(Dataset(name, tuple(corpora), tuple(questions), dict(left_out), dict(+notes)))


def _sessions(conversation: Node) -> Iterator[_Session]:
    numbers = sorted(int(m[1]) for key in conversation.fields() if (m := _SESSION.fullmatch(key)))
    sessions = [(n, conversation.get(f"session_{n}").each()) for n in numbers]
    if not any(turns for _, turns in sessions):
        raise conversation.error(
            "no session with turns; expected fields session_1, session_1_date_time, …", "no_session"
        )
    for number, turns in sessions:
        if turns:
            created_us = parse_date(conversation.get(f"session_{number}_date_time"))
            yield _Session(number, created_us, tuple(_turn(t, number, i, created_us) for i, t in enumerate(turns)))


def _turn(turn: Node, session: int, position: int, created_us: int) -> Document:
    speaker = turn.get("speaker").text()
    parts = [turn.get("text").text().strip()]
    if turn.has("blip_caption"):
        parts.append(f"[image: {turn.get('blip_caption').text().strip()}]")
    text = f"{speaker}: {' '.join(part for part in parts if part)}"
    return Document(turn.get("dia_id").label(), text, f"S{session}", position, created_us, speaker)


def _documents(sessions: tuple[_Session, ...], level: str) -> tuple[Document, ...]:
    if level == "turn":
        return tuple(turn for session in sessions for turn in session.turns)
    return tuple(Document(s.id, "\n".join(t.text for t in s.turns), created_us=s.created_us) for s in sessions)


def _homes(sessions: tuple[_Session, ...], level: str) -> Mapping[tuple[int, int], str]:
    """Which document holds the turn of a given session and number."""
    homes: dict[tuple[int, int], str] = {}
    for session in sessions:
        for turn in session.turns:
            for named in _named_turns(turn.id):
                homes[named] = turn.id if level == "turn" else session.id
    return homes


def _named_turns(text: str) -> list[tuple[int, int]]:
    return [(int(session), int(turn)) for session, turn in _TURN.findall(text)]


def _gold(evidence: Node, homes: Mapping[tuple[int, int], str]) -> tuple[dict[str, float], int]:
    """The documents the evidence names, and how many names lead nowhere."""
    gold: dict[str, float] = {}
    lost = 0
    for entry in evidence.each():
        named = _named_turns(entry.text())
        lost += not named
        for turn in named:
            if turn in homes:
                gold[homes[turn]] = 1.0
            else:
                lost += 1
    return gold, lost


def _category(question: Node) -> int:
    category = question.get("category")
    if category.whole() not in CATEGORIES:
        raise category.error(f"expected a category from 1 to 5, found {category.value}", "unknown_category")
    return category.whole()


def parse_date(node: Node) -> int:
    """Microseconds of a session's date, which is written '1:56 pm on 8 May, 2023'."""
    match = _DATE.fullmatch(node.text().strip())
    try:
        if match is None:
            raise ValueError
        hour, minute, half, day, month, year = match.groups()
        hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
        moment = datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), hours, int(minute), tzinfo=UTC)
    except ValueError:
        raise node.error(
            f"expected a date such as '1:56 pm on 8 May, 2023', found {node.text()!r}", "not_a_date"
        ) from None
    return to_us(moment)
