"""BM25 of passages: a long text counts by its best passage, among the passages of all candidates."""

import math
from dataclasses import replace

import numpy as np
import pytest

import thinkback
from thinkback.model import Filter, Run, StoredRecord
from thinkback.passages import split
from thinkback.search.query.parse import parse
from thinkback.search.recipes.model import Parsing
from thinkback.search.recipes.named import named
from thinkback.search.signals import ranker_view
from thinkback.search.signals.base import Scene
from thinkback.search.signals.passage_words import passage_words
from thinkback.search.signals.ranker import features

FILLER = "The committee read the minutes of its last session and went on to the next point of the agenda. "


def long_text(*said: str, passages: int = 8) -> str:
    """A text of many passages, in which these sentences stand far apart."""
    parts = [FILLER * 12 for _ in range(passages)]
    for place, sentence in enumerate(said):
        parts[place * passages // len(said)] += sentence
    return "\n\n".join(parts)


def asked(question: str, *texts: str):
    records = [StoredRecord(id=str(row), text=text) for row, text in enumerate(texts)]
    return parse(question, Filter(now=0), Parsing()), records


def test_one_passage_with_all_words_beats_many_with_one_each():
    together = long_text("The budget for the harbour bridge was approved.")
    apart = long_text("The budget is small.", "The harbour is old.", "The bridge is closed.", "They approved it.")
    query, records = asked("Who approved the budget for the harbour bridge?", apart, together)
    found = passage_words(query, records)
    assert found[1] == 1.0
    assert found[0] < 0.5


def test_it_is_bm25_over_the_passages_of_all():
    text, short = long_text("A harbour."), "the harbour at dawn"
    query, records = asked("harbour", text, short, "nothing here")
    lengths = [span.end - span.start for span in split(text)] + [len(short), len("nothing here")]
    mean, rare = sum(lengths) / len(lengths), math.log(1 + (len(lengths) - 2 + 0.5) / 2.5)
    values = [rare * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / mean)) for length in lengths]
    assert passage_words(query, records).tolist() == pytest.approx([values[0] / values[-2], 1.0, 0.0])
    assert not passage_words(*asked("zebra", text, short)).any()


def scene(*texts: str, question: str = "harbour bridge") -> Scene:
    query, records = asked(question, *texts)
    keyword = np.full(len(texts), 0.25)
    return Scene(query, tuple(records), np.arange(len(texts), 0, -1.0), {"keyword": keyword})


def test_the_feature_is_that_of_documents_less_the_value_of_the_keyword_leg():
    found = features(scene(long_text("The harbour bridge."), "a harbour bridge", long_text("nothing")))
    values = found["document_passage"].tolist()
    assert 0 < values[0] + 0.25 < 1  # a short text is the best
    assert values[1:] == [0, -0.25]
    across = replace(scene(long_text("nothing"), "harbour"), runs=[Run("keyword", factor=0.1)])
    assert features(across)["document_passage"].tolist() == pytest.approx([-0.025, 0])
    without = features(scene(long_text("nothing"), "nothing"))
    assert without["document_passage"].tolist() == [0, 0]


def test_only_the_best_documents_are_read_and_never_too_much_text(monkeypatch):
    monkeypatch.setattr(ranker_view, "MOST_DOCUMENTS", 2)
    texts = [long_text("The harbour bridge.") for _ in range(3)]
    assert features(scene(*texts))["document_passage"].tolist() == [0.75, 0.75, 0]
    monkeypatch.setattr(ranker_view, "MOST_LETTERS", len(texts[0]))
    assert features(scene(*texts))["document_passage"].tolist() == [0.75, 0, 0]
    assert features(scene(texts[0] + FILLER, *texts))["document_passage"].tolist() == [0, 0.75, 0, 0]
    assert features(scene(texts[0] + FILLER, "harbour"))["document_passage"].tolist() == [0, 0]


def test_a_long_memory_is_ranked_by_its_best_passage():
    with thinkback.open(":memory:", embedder=None) as memory:
        apart = long_text(*["The budget grew. The harbour is old. A bridge was painted."] * 4)
        memory.remember(apart, id="apart")
        memory.remember(long_text("The budget of the new harbour bridge is four million."), id="together")
        question = "What is the budget of the new harbour bridge?"
        assert memory.recall(question, recipe="keyword").ids == ("apart", "together")
        assert memory.recall(question).ids == ("together", "apart")
        without = named("default").with_paths({"signals.ranker.document_passage": 0.0})
        assert memory.recall(question, recipe=without).ids == ("apart", "together")
