"""Looking for many needles in a file finds exactly what bytes.find finds, wherever windows are cut."""

import random
from pathlib import Path

import pytest

from thinkback.lifecycle.proof import runs_of
from thinkback.stores import byte_search as scanning
from thinkback.stores.byte_search import found_in


@pytest.mark.parametrize("window", [64, 1000, 1 << 24])
def test_it_finds_what_is_there_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(scanning, "_WINDOW", window)
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


def test_a_text_is_cut_into_runs_that_cover_it() -> None:
    assert runs_of("x" * 7) == []
    assert runs_of("twelve bytes") == [b"twelve bytes"]
    assert runs_of("a" * 24 + "b" * 10) == [b"a" * 24, b"a" * 14 + b"b" * 10]
    text = "".join(chr(97 + n % 26) for n in range(100))
    runs = runs_of(text)
    assert all(len(run) == 24 for run in runs)
    assert runs[0] == text[:24].encode()
    assert runs[-1] == text[-24:].encode()
