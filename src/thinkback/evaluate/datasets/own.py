"""Your own store as a benchmark: the judged queries, asked again of the present memories."""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from thinkback.clock import to_us
from thinkback.errors import Action, DatasetError, Remedy
from thinkback.evaluate.datasets.base import Corpus, Dataset, Question, checked
from thinkback.memory import Memory
from thinkback.model import Judgement

OWN = "own"


def read_own(memory: Memory, name: str = OWN) -> Dataset:
    """The judged queries of a memory; its one corpus is the store itself, so it lists no documents."""
    judgements = memory.judgements()
    if not judgements:
        raise DatasetError(f"{name}: nothing has been judged yet", code="nothing_judged", remedy=Remedy(Action.JUDGE))
    questions, refused = judged_questions(judgements)
    present = memory.get_many(sorted({memory_id for question in questions for memory_id in question.gold}))
    kept, notes, left_out = [], Counter[str](), Counter({"without a judged answer": refused})
    for question in questions:
        gold = {memory_id: grade for memory_id, grade in question.gold.items() if memory_id in present}
        notes["judged memories that were forgotten"] += len(question.gold) - len(gold)
        if gold:
            kept.append(Question(question.id, OWN, question.text, gold, now_us=question.now_us))
        else:
            left_out["whose answers were forgotten"] += 1
    identity = sha256(repr((str(memory.state()), sorted(map(repr, kept)))).encode()).hexdigest()[:16]
    corpora = (Corpus(OWN, ()),)
    return checked(Dataset(name, corpora, tuple(kept), dict(+left_out), dict(+notes), identity), gold_exists=False)


def judged_questions(judgements: Iterable[Judgement]) -> tuple[list[Question], int]:
    """Questions with the judged answers as gold, and how many queries have no answer and cannot be scored.

    Queries that differ in white space alone are one question; its latest judgement of a memory holds, and it is asked as of its
    latest judgement. Its id is its text, so that rankings saved before and after new judgements can be compared.
    """
    judged: dict[str, dict[str, Judgement]] = {}
    for one in judgements:
        latest = judged.setdefault(" ".join(one.query.split()), {})
        if one.memory_id not in latest or one.judged_at >= latest[one.memory_id].judged_at:
            latest[one.memory_id] = one
    questions = []
    for text, latest in judged.items():
        gold = {memory_id: float(one.grade) for memory_id, one in latest.items() if one.grade > 0}
        if gold:
            asked = max(one.judged_at for one in latest.values())
            questions.append(Question(text, OWN, text, gold, now_us=to_us(asked)))
    return questions, len(judged) - len(questions)
