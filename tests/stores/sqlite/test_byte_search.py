"""Looking for many needles in a file finds exactly what bytes.find finds, wherever windows are cut."""

import random
from pathlib import Path
from typing import Any

import pytest

from thinkback.model import Draft
from thinkback.stores.sqlite import SqliteStore, byte_search
from thinkback.stores.sqlite.byte_search import found_in


@pytest.mark.parametrize("window", [64, 1000, 1 << 24])
def test_it_finds_what_is_there_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(byte_search, "_WINDOW", window)
    chance = random.Random(7)
    data = bytes(chance.choices(b"abcd", k=5000))
    file = tmp_path / "file"
    file.write_bytes(data)
    there = {data[at : at + size] for at in (0, 3, 61, 997, 4960) for size in (8, 9, 24, 40) if at + size <= 5000}
    absent = {bytes(chance.choices(b"abcd", k=size)) for size in (12, 24, 40) for _ in range(300)} - there
    absent = {needle for needle in absent if needle not in data}
    assert found_in(file, there | absent) == there


def test_no_needles_and_no_file_are_fine(tmp_path: Path) -> None:
    assert found_in(tmp_path / "none", [b"12345678"]) == set()
    assert found_in(tmp_path / "none", []) == set()


def test_files_of_a_store_are_searched_and_the_schema_is_no_trace(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        store.add([Draft(text="the grey cat sleeps")], now=1)
        needles = {b"grey cat sleeps", b"CREATE TABLE memories", b"nowhere at all"}
        scans = store.traces(needles)
        assert [scan.file for scan in scans] == ["m.db", "m.db-wal"]
        assert {needle for scan in scans for needle in scan.found} == {b"grey cat sleeps"}
        assert all(scan.size == (tmp_path / scan.file).stat().st_size for scan in scans)


def test_a_store_in_memory_has_no_files() -> None:
    with SqliteStore(":memory:") as store:
        assert store.traces({b"grey cat sleeps"}) == []


@pytest.mark.parametrize("opened", [False, True])
def test_files_that_another_process_writes_meanwhile_are_searched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: bool
) -> None:
    """A segment may go, and what it held be in another one, before it is looked at or in that moment."""
    path, index = tmp_path / "m.db", tmp_path / "m.db-index"
    index.mkdir()
    path.write_bytes(b"nothing")
    (index / "a.segment").write_bytes(b"the needle")
    search = byte_search._blocks if opened else byte_search._searched

    def meanwhile(file: Path, *given: Any) -> Any:
        if (index / "a.segment").exists() and (file.name == "a.segment" or not opened):
            (index / "a.segment").rename(index / "b.segment")
        return search(file, *given)

    monkeypatch.setattr(byte_search, "_blocks" if opened else "_searched", meanwhile)
    scans = byte_search.scan_files(path, [b"the needle"], lambda empty: None)
    assert {scan.file: set(scan.found) for scan in scans} == {"m.db": set(), "b.segment": {b"the needle"}}
