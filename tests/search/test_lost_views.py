"""A recall whose view of the store is lost reads everything again, a bounded number of times."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import thinkback
from thinkback.errors import StoreConflict, StoreError, StoreUnreachable
from thinkback.search import pipeline
from thinkback.stores.sqlite import SqliteStore


@pytest.fixture
def memory() -> Iterator[thinkback.Memory]:
    with thinkback.open(":memory:", embedder=None, reranker=None) as memory:
        memory.remember("Caroline adopted a grey cat")
        yield memory


def _lose(memory: thinkback.Memory, errors: list[StoreError], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one view after the other end with one of the errors."""

    @contextmanager
    def view() -> Iterator[SqliteStore]:
        if errors:
            raise errors.pop()
        yield memory.store  # type: ignore[misc]

    monkeypatch.setattr(memory.store, "view", view)


@pytest.mark.parametrize(
    "errors",
    [
        [StoreConflict("written meanwhile")] * (pipeline._CONFLICTS - 1),
        [StoreUnreachable("gone")] * (pipeline._VIEWS - 1),
        [StoreConflict("written meanwhile")] * 5 + [StoreUnreachable("gone")],
    ],
    ids=["conflicts", "connections", "both"],
)
def test_a_view_that_is_lost_is_read_again(
    memory: thinkback.Memory, errors: list[StoreError], monkeypatch: pytest.MonkeyPatch
) -> None:
    _lose(memory, list(errors), monkeypatch)
    assert [hit.text for hit in memory.recall("cat")] == ["Caroline adopted a grey cat"]


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (StoreConflict("written meanwhile"), pipeline._CONFLICTS),
        (StoreUnreachable("gone"), pipeline._VIEWS),
    ],
    ids=["conflicts", "connections"],
)
def test_it_ends_with_the_error_if_it_is_lost_every_time(
    memory: thinkback.Memory, error: StoreError, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [error] * 50
    _lose(memory, errors, monkeypatch)
    with pytest.raises(type(error)):
        memory.recall("cat")
    assert len(errors) == 50 - most


def test_a_connection_that_is_lost_after_conflicts_ends_the_recall(
    memory: thinkback.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lose(memory, [StoreUnreachable("gone"), *[StoreConflict("written meanwhile")] * 5], monkeypatch)
    with pytest.raises(StoreUnreachable):
        memory.recall("cat")
