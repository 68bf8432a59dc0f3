"""One's own store as a benchmark: the queries that were judged, asked again of the memories as they stand."""

from collections import Counter
from hashlib import sha256

from thinkback.errors import DatasetError
from thinkback.evaluate.datasets.base import Corpus, Dataset, Question, checked
from thinkback.evaluate.judge import judged_questions
from thinkback.stores.base import Store

OWN = "own"


def read_own(store: Store, name: str = OWN) -> Dataset:
    """The store's judged queries; its one corpus is the store itself, so it lists no documents."""
    judgements = store.judgements()
    questions, refusals = judged_questions(judgements, OWN)
    present = store.get(sorted({memory_id for question in questions for memory_id in question.gold}))
    kept, notes, left_out = [], Counter[str](), Counter({"with refusals only": refusals})
    for question in questions:
        gold = {memory_id: grade for memory_id, grade in question.gold.items() if memory_id in present}
        notes["judged memories that were forgotten"] += len(question.gold) - len(gold)
        if gold:
            kept.append(Question(question.id, OWN, question.text, gold, now_us=question.now_us))
        else:
            left_out["whose answers were forgotten"] += 1
    if not judgements:
        raise DatasetError(
            f"{name}: nothing has been judged yet; recall something, then: thinkback judge record QUESTION ID"
        )
    identity = sha256(repr((str(store.state()), sorted(map(repr, kept)))).encode()).hexdigest()[:16]
    return checked(
        Dataset(name, (Corpus(OWN, ()),), tuple(kept), dict(+left_out), dict(+notes), identity), gold_exists=False
    )
