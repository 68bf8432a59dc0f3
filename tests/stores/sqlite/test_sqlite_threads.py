"""Threads that a process keeps in memory answer as SQLite does, whatever was written since and by whom."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Access, Draft, Filter, StoredEdge
from thinkback.stores.sqlite import SqliteStore, threads

NOW = 1_770_000_000_000_000
FILTERS = (
    Filter(now=NOW),
    Filter(now=NOW, everything=True),
    Filter(now=NOW, tags=("even",)),
    Filter(now=NOW, threads=("a",), ids=frozenset(["0", "1"])),
    Filter(now=NOW + 60),
    Filter(now=NOW, known_at=NOW + 3),
)
actions = st.tuples(
    st.sampled_from(["add", "add", "add", "move", "text", "amend", "forget", "link", "touch"]),
    st.booleans(),
    st.integers(0, 30),
    st.sampled_from(["a", "b", None]),
)


def _act(store: SqliteStore, action: str, place: int, thread: str | None, step: int) -> None:
    now, ids = NOW + step, sorted(record.id for record in store.list(Filter(now=NOW, everything=True), 99))
    chosen = ids[place % len(ids)] if ids else None
    if action == "add":
        tags = ("even",) if place % 2 == 0 else ()
        at = None if place % 3 else place // 2
        store.add([Draft(text="one", id=str(step), thread=thread, position=at if thread else None, tags=tags)], now)
    elif chosen is None:
        return
    elif action == "move":
        store.update(chosen, {"thread": thread, "position": place % 5 if thread else None}, now)
    elif action == "text":
        store.update(chosen, {"text": "two"}, now)
    elif action == "amend":
        store.amend({chosen: {"archived_at": None if place % 2 else NOW, "expires_at": NOW + 30 + place}}, now)
    elif action == "forget" and place % 3 == 0:
        store.forget([chosen])
    elif action == "link" and ids[0] != chosen:
        store.link([StoredEdge(from_id=ids[0], to_id=chosen, kind="about", weight=place / 9)], now)
    elif action == "touch":
        store.touch({chosen: Access(1, now)})


def _asked(store: SqliteStore, ids: list[str]) -> list[Any]:
    pairs = [(first, second) for first in ids[:8] for second in ids[:8] if first != second]
    return [
        (store.edges(ids, filter, 3), store.edges(ids, filter, 1, sequence=True), store.between(pairs, filter, 2))
        for filter in FILTERS
    ]


def _in_view(store: SqliteStore, ids: list[str]) -> list[Any]:
    with store.view() as view:
        view.search_vectors([1.0, 0.0], FILTERS[0], 1)  # type: ignore[arg-type]  # reads the columns
        return _asked(view, ids)


@settings(deadline=None, max_examples=60)
@given(st.lists(actions, min_size=2, max_size=14), st.sampled_from([3, 128]))
def test_a_view_has_the_edges_and_gaps_that_sql_finds(steps: list[Any], long: int) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(threads, "_LONG", long)
        path = Path(folder) / "m.db"
        with SqliteStore(path) as store, SqliteStore(path) as other:
            for step, (action, by_other, place, thread) in enumerate(steps):
                _act(other if by_other else store, action, place, thread, step)
                if step % 2:
                    ids = sorted(record.id for record in store.list(Filter(now=NOW, everything=True), 99))
                    ids.append("nobody")
                    assert _in_view(store, ids) == _asked(store, ids) == _in_view(other, ids)


def test_rows_that_were_appended_are_found_beside_those_that_were_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_MOST_APPENDED", 2)
    sorted_rows, column = threads.Threads(), np.array([7, 5, 7, 5, 0, 9, 5], dtype=np.int64)
    for size in (3, 7, 4):  # the last is a catalogue from before the second
        rows, which = sorted_rows.rows([5, 7], column[:size])
        found = {thread: sorted(rows[which == place].tolist()) for place, thread in enumerate([5, 7])}
        assert found == {thread: np.flatnonzero(column[:size] == thread).tolist() for thread in (5, 7)}


def test_positions_decide_then_ids() -> None:
    rows, which = np.array([4, 2, 3, 0, 1]), np.array([1, 0, 1, 1, 0])
    made = threads.lines(rows, which, 2, np.array([2, 8, 1, 2, 7]), "edcba".__getitem__)
    assert [line.rows.tolist() for line in made if line is not None] == [[1, 2], [3, 4, 0]]


def test_a_thread_has_the_same_number_in_every_process() -> None:
    assert threads.number_of("chat-7", True) == 8850644899914901626
    assert threads.number_of(None, False) == threads.NO_THREAD
    assert threads.number_of("chat-7", False) == threads.UNPLACED


def test_an_older_view_goes_on_as_it_was(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        store.add([Draft(text="x", id=f"a{n}", thread="a") for n in range(3)], NOW)
        with store.view() as view:
            view.search_vectors([1.0, 0.0], FILTERS[0], 1)  # type: ignore[arg-type]
            before = _asked(view, ["a0", "a1", "a2"])
            store.update("a1", {"thread": None, "position": None}, NOW + 1)
            assert _in_view(store, ["a0", "a1", "a2"]) != before
            assert _asked(view, ["a0", "a1", "a2"]) == before
