"""`make demo` tells its story on any memory, with a model or without one."""

import io

import pytest
from rich.console import Console

import thinkback
from thinkback.apps.demo import tell
from thinkback.testing import FixedClock, ToyEmbedder


@pytest.mark.parametrize("embedder", [None, ToyEmbedder()], ids=["keywords", "vectors"])
def test_the_story_is_told(embedder):
    printed = io.StringIO()
    clock = FixedClock("2026-05-29T09:00:00Z")
    with thinkback.open(":memory:", embedder=embedder, reranker=None, clock=clock) as memory:
        tell(memory, Console(file=printed, width=200))
        assert memory.count() == 35  # 36 memories, one more that replaces one that is closed, and one forgotten
        assert len(memory.search_keywords("4417")) == 0
    story = printed.getvalue()
    assert "who must not eat nuts?" in story
    assert "rye sourdough likes 78 percent" in story
    assert "why not" in story
    today, _, then = story.partition("as of the tenth of May")
    assert "thirteenth of June" in today.rpartition("(today)")[2]
    assert "sixth of June" in then
    assert "nothing found" in story.rpartition("after")[2]
