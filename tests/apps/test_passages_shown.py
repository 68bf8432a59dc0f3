"""Every front end shows the passage of a long memory that fits the question, not the whole text."""

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

import thinkback
from thinkback.apps import wire
from thinkback.apps.cli import render_search
from thinkback.apps.mcp import answers
from thinkback.apps.mcp.brief import brief
from thinkback.apps.mcp.stores import Found, Stores
from thinkback.memory import Memory
from thinkback.search.trace import Recall
from thinkback.testing import ToyEmbedder

TEXT = "\n\n".join(f"Chapter {n}: " + f"in year {1900 + n} the ship sailed to port{n}. " * 20 for n in range(12))
QUESTION = "which ship sailed to port7?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with thinkback.open(":memory:", embedder=ToyEmbedder(), reranker=None) as memory:
        memory.remember(TEXT)
        yield memory


@pytest.fixture
def found(memory: Memory) -> Recall:
    return memory.recall(QUESTION)


def test_json_has_the_passage_beside_the_memory(found: Recall) -> None:
    data = wire.hit(found[0])
    passage = data["passage"]
    assert passage is not None
    assert "port7" in passage["text"]
    assert data["memory"]["text"][passage["start"] : passage["end"]] == passage["text"]


def test_mcp_quotes_the_passage_and_says_where_it_stands(found: Recall) -> None:
    answer = answers.found(Found.of(found), False)
    assert "Chapter 7" in answer.text
    assert "Chapter 1:" not in answer.text
    passage = found[0].passage
    assert passage is not None
    assert f"characters {passage.start}-{passage.end} of {len(TEXT)}" in answer.text


def test_a_brief_holds_passages(memory: Memory) -> None:
    written = brief(Stores.of(memory, None), "port7", 600)
    assert "Chapter 7" in written
    assert len(written) < len(TEXT) / 3


def test_the_command_line_prints_the_passage(found: Recall) -> None:
    console = Console(file=io.StringIO(), width=200)
    console.print(render_search.hits(found, explained=True))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Chapter 7" in printed
    assert "Chapter 1:" not in printed
    assert f"of {len(TEXT)}" in printed
