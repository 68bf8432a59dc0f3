"""The types that every benchmark is read into."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from hashlib import sha256

from thinkback.errors import DatasetError
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One memory to be found; `id` is neutral (it does not reveal an answer) and unique in its corpus."""

    id: str
    text: str
    thread: str | None = None
    position: int | None = None
    created_us: int | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents that are searched together: one conversation, one haystack, one collection."""

    id: str
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its gold: document id to grade, every grade above zero.

    `excluded` are ids that no ranking of this question may hold, such as the query's own text in its collection.
    """

    id: str
    corpus_id: str
    text: str
    gold: Mapping[str, float]
    category: str = ""
    now_us: int | None = None
    excluded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Corpora and the questions asked of them; `left_out` counts the excluded questions by reason."""

    name: str
    corpora: tuple[Corpus, ...]
    questions: tuple[Question, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    identity: str = ""

    @property
    def fingerprint(self) -> str:
        """Identity of everything that can change a ranking or its score; a part keeps the identity of its whole."""
        if self.identity:
            return self.identity
        digest = sha256()
        for corpus in self.corpora:
            digest.update(repr((corpus.id, len(corpus.documents))).encode())
            for document in corpus.documents:
                digest.update(repr(document).encode("utf-8", "surrogatepass"))
        for question in self.questions:
            parts = (question.id, question.corpus_id, question.text, sorted(question.gold.items()), question.now_us)
            digest.update(repr(parts).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    def first(self, n: int | None) -> "Dataset":
        """The first n questions, spread evenly over the corpora, with only the corpora they need."""
        if n is None or n >= len(self.questions):
            return self
        if n < 1:
            raise DatasetError(
                f"{self.name}: cannot measure with {n} questions; ask for at least 1", code="no_question"
            )
        chosen = set(_round_robin(self.questions, n))
        questions = tuple(q for q in self.questions if q.id in chosen)
        needed = {q.corpus_id for q in questions}
        limited = Counter(self.left_out) + Counter({"beyond the limit": len(self.questions) - n})
        return replace(
            self,
            corpora=tuple(c for c in self.corpora if c.id in needed),
            questions=questions,
            left_out=dict(limited),
            identity=self.fingerprint,
        )


def _round_robin(questions: Iterable[Question], n: int) -> list[str]:
    seen: Counter[str] = Counter()
    order: list[tuple[int, int, str]] = []
    for place, question in enumerate(questions):
        order.append((seen[question.corpus_id], place, question.id))
        seen[question.corpus_id] += 1
    return [question_id for _, _, question_id in sorted(order)[:n]]


def checked(dataset: Dataset, *, gold_exists: bool = True) -> Dataset:
    """The dataset, after checking that its ids are unique and its references exist."""
    if not dataset.questions:
        reasons = ", ".join(f"{n} {why}" for why, n in dataset.left_out.items()) or "the file holds none"
        raise DatasetError(f"{dataset.name}: no question can be measured ({reasons})", code="no_question")
    known = {corpus.id: {document.id for document in corpus.documents} for corpus in dataset.corpora}
    if len(known) != len(dataset.corpora):
        twice = _repeated(corpus.id for corpus in dataset.corpora)
        raise DatasetError(f"{dataset.name}: two corpora share the id {twice!r}", code="duplicate_corpus")
    for corpus in dataset.corpora:
        if len(known[corpus.id]) != len(corpus.documents):
            twice = _repeated(document.id for document in corpus.documents)
            raise DatasetError(
                f"{dataset.name}: {corpus.id}: two documents share the id {twice!r}", code="duplicate_document"
            )
    if len({question.id for question in dataset.questions}) != len(dataset.questions):
        twice = _repeated(question.id for question in dataset.questions)
        raise DatasetError(f"{dataset.name}: two questions share the id {twice!r}", code="duplicate_question")
    for question in dataset.questions:
        _check_question(dataset.name, question, known, gold_exists)
    return dataset


def _check_question(name: str, question: Question, known: Mapping[str, set[str]], gold_exists: bool) -> None:
    if question.corpus_id not in known:
        message = f"{name}: question {question.id!r} asks corpus {question.corpus_id!r}, which is not there"
        raise DatasetError(message, code="unknown_corpus")
    if not question.gold or min(question.gold.values()) <= 0:
        message = f"{name}: question {question.id!r} needs gold with grades above 0, not {question.gold!r}"
        raise DatasetError(message, code="no_gold")
    if gold_exists and not known[question.corpus_id].issuperset(question.gold):
        lost = sorted(set(question.gold) - known[question.corpus_id])
        message = f"{name}: the gold {lost[0]!r} of question {question.id!r} is not in its corpus"
        raise DatasetError(message, code="unknown_document")


def _repeated(ids: Iterable[str]) -> str:
    return Counter(ids).most_common(1)[0][0]
