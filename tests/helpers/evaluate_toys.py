"""A small dataset and a toy retrieval for tests of the runner: rank documents by shared words."""

from contextlib import contextmanager

from thinkback.evaluate.bench import Answer
from thinkback.evaluate.datasets import Corpus, Dataset, Document, Question

TALK = Corpus(
    "talk",
    (
        Document("t1", "Ada planted figs in the garden"),
        Document("t2", "Ben named his boat Gull"),
        Document("t3", "the garden has a red gate"),
    ),
)
TRIP = Corpus("trip", (Document("r1", "we took the night train"), Document("r2", "the hotel had a red door")))
DATASET = Dataset(
    "toy",
    (TALK, TRIP),
    (
        Question("q1", "talk", "what did Ada plant in the garden", {"t1": 1.0}, "easy"),
        Question("q2", "talk", "the boat", {"t2": 1.0}, "easy"),
        Question("q3", "trip", "how did we travel", {"r1": 1.0, "r2": 1.0}, "hard"),
    ),
    {"without evidence": 2},
)


class Toy:
    """Opens corpora for the runner and counts what it is asked."""

    def __init__(self, *names: str, fail_at: str = "") -> None:
        self.names = names or ("overlap",)
        self.fail_at = fail_at
        self.opened: list[str] = []
        self.asked: list[tuple[str, str]] = []

    @contextmanager
    def open(self, corpus):
        self.opened.append(corpus.id)
        yield {name: self._recall(name, corpus) for name in self.names}

    def _recall(self, name, corpus):
        def recall(question, depth):
            if question.id == self.fail_at:
                raise KeyboardInterrupt
            self.asked.append((name, question.id))
            words = set(question.text.split())
            scored = [(d.id, float(len(words & set(d.text.split())))) for d in corpus.documents]
            if name == "nothing":
                scored = []
            best = sorted(scored, key=lambda pair: -pair[1])[:depth]
            return Answer([i for i, _ in best], [s for _, s in best], lambda: f"why {question.id}")

        return recall
