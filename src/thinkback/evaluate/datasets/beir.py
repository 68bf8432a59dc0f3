"""BEIR: a folder with corpus.jsonl, queries.jsonl and relevance judgements.

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models", 2021.
As there, a judged document that the corpus lacks still counts towards the ideal, and a query's own id is never
accepted as its answer.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from thinkback.errors import DatasetError, did_you_mean
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question, checked
from thinkback.evaluate.datasets.files import numbered_lines, read_lines

_HEADER = ("query-id", "corpus-id", "score")


def read_beir(folder: Path, *, split: str = "test") -> Dataset:
    """Read a BEIR folder with the judgements of one split (`qrels/<split>.tsv`, else `qrels.tsv`)."""
    if not folder.is_dir():
        message = f"{folder}: expected a folder with corpus.jsonl, queries.jsonl and qrels/{split}.tsv"
        raise DatasetError(message, code="no_folder")
    judged = _judgements(_qrels_file(folder, split))
    notes: Counter[str] = Counter()
    documents = tuple(_documents(folder / "corpus.jsonl", notes))
    known = {document.id for document in documents}
    lost = sum(document_id not in known for gold in judged.values() for document_id in gold)
    if lost and lost == sum(map(len, judged.values())):
        message = f"{folder}: none of the {lost} judged documents is in corpus.jsonl; do the files match?"
        raise DatasetError(message, code="unknown_document")
    notes["judged documents that the corpus lacks"] = lost
    questions, left_out = _questions(folder, judged)
    name = f"{folder.resolve().name} ({split})"
    corpus = Corpus(folder.resolve().name, documents)
    return checked(Dataset(name, (corpus,), questions, dict(left_out), dict(+notes)), gold_exists=False)


def _qrels_file(folder: Path, split: str) -> Path:
    chosen = folder / "qrels" / f"{split}.tsv"
    if chosen.is_file():
        return chosen
    splits = sorted(path.stem for path in (folder / "qrels").glob("*.tsv"))
    if splits:
        given = ", ".join(splits)
        message = f"{chosen}: there is no split {split!r}; given are {given}.{did_you_mean(split, splits)}"
        raise DatasetError(message, code="unknown_split")
    if (folder / "qrels.tsv").is_file():
        return folder / "qrels.tsv"
    raise DatasetError(f"{folder}: no judgements; expected qrels/{split}.tsv or qrels.tsv", code="no_judgements")


def _judgements(path: Path) -> dict[str, dict[str, float]]:
    """Query id to document id to grade, grades of 0 and below left out."""
    judged: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if number == 1 and tuple(field.strip() for field in fields) == _HEADER:
            continue
        if len(fields) != 3:
            message = f"{path}: line {number}: expected 3 fields separated by tabs ({', '.join(_HEADER)})"
            raise DatasetError(message, code="wrong_fields")
        query_id, document_id, written = (field.strip() for field in fields)
        try:
            grade = float(int(written))
        except ValueError:
            message = f"{path}: line {number}: expected a whole number as score, found {written!r}"
            raise DatasetError(message, code="not_a_number") from None
        gold = judged.setdefault(query_id, {})
        if grade > 0:
            gold[document_id] = grade
    if not judged:
        raise DatasetError(f"{path}: the file holds no judgement", code="no_judgements")
    return judged


def _documents(path: Path, notes: Counter[str]) -> Iterator[Document]:
    for node in read_lines(path):
        title = node.get("title").text().strip() if node.has("title") else ""
        text = node.get("text").text().strip()
        if title or text:
            yield Document(node.get("_id").label(), "\n".join(part for part in (title, text) if part))
        else:
            notes["documents without text"] += 1


def _questions(folder: Path, judged: dict[str, dict[str, float]]) -> tuple[tuple[Question, ...], Counter[str]]:
    questions = []
    left_out: Counter[str] = Counter()
    corpus_id = folder.resolve().name
    unasked = set(judged)
    for node in read_lines(folder / "queries.jsonl"):
        query_id = node.get("_id").label()
        unasked.discard(query_id)
        gold = judged.get(query_id)
        if gold:
            text = node.get("text").text()
            questions.append(Question(query_id, corpus_id, text, gold, excluded=frozenset({query_id})))
        else:
            left_out["not judged in this split" if gold is None else "without a relevant document"] += 1
    left_out["judged but not in queries.jsonl"] = len(unasked)
    return tuple(questions), +left_out
