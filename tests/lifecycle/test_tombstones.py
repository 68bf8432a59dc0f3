"""What was forgotten with a tombstone stays forgotten, and the tombstone tells nothing of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.errors import gathered_warnings
from thinkback.interop import jsonl
from thinkback.memory import Memory
from thinkback.settings import Settings
from thinkback.testing import FixedClock, ToyEmbedder

TEXT = "Caroline adopted a grey cat, Oscar"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with thinkback.open(
        tmp_path / "memory.db", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")
    ) as opened:
        yield opened


def exported(memory: Memory, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in jsonl.export_lines(memory))


def imported(memory: Memory, path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [warning.code for warning in jsonl.import_lines(memory, file).warnings]


def test_an_import_does_not_bring_it_back(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Caroline owns a black cat", id="cat")
    memory.update("cat", text=TEXT)
    memory.remember("Rex is a dog", id="dog")
    memory.link("dog", "cat", "fears")
    memory.judge("which cat?", "cat")
    exported(memory, tmp_path / "all.jsonl")
    done = memory.forget("cat", tombstone=True)
    assert len(done.tombstones) == 3  # its id, and the texts of two versions
    assert imported(memory, tmp_path / "all.jsonl") == ["buried"]
    assert [record.id for record in memory.list(everything=True)] == ["dog"]
    assert memory.judgements() == []
    assert memory.history("dog")[-1].text == "Rex is a dog"
    assert memory.revoke_tombstones(*done.tombstones, "unknown") == done.tombstones
    assert imported(memory, tmp_path / "all.jsonl") == []
    assert memory.get("cat").text == TEXT
    assert len(memory.history("cat")) == 2


def test_without_one_it_comes_back(memory: Memory, tmp_path: Path) -> None:
    memory.remember(TEXT, id="cat")
    exported(memory, tmp_path / "all.jsonl")
    assert memory.forget("cat").tombstones == ()
    imported(memory, tmp_path / "all.jsonl")
    assert memory.get("cat").text == TEXT


def test_the_same_text_under_another_id_is_known_and_whoever_says_it_again_is_heard(memory: Memory) -> None:
    memory.remember(TEXT, id="cat")
    memory.forget("cat", tombstone=True)
    assert memory.buried([("other", TEXT.upper() + "  "), (None, TEXT), ("other", "else"), ("cat", "else")]) == [
        True,
        True,
        False,
        True,
    ]
    assert memory.remember(TEXT).text == TEXT


def test_the_receipt_names_them_and_they_are_listed(memory: Memory) -> None:
    memory.remember(TEXT, id="cat-1")
    receipt = memory.forget_verified("cat-1", tombstone=True)
    assert receipt.verified
    assert {stone.hash for stone in memory.tombstones()} == set(receipt.tombstones)
    assert {stone.at.isoformat() for stone in memory.tombstones()} == {"2026-05-08T00:00:00+00:00"}
    assert set(receipt.tombstones) <= set(json.dumps(receipt.to_dict(), default=str).replace('"', " ").split())


def test_hashes_differ_from_store_to_store_and_hold_no_text(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        with thinkback.open(tmp_path / f"{name}.db", embedder=None, reranker=None) as memory:
            memory.remember(TEXT, id="cat-1")
            found.append(memory.forget("cat-1", tombstone=True).tombstones)
        data = (tmp_path / f"{name}.db").read_bytes().lower()
        assert b"caroline" not in data
        assert b"cat-1" not in data
    assert not set(found[0]) & set(found[1])


def test_the_setting_makes_it_the_rule(tmp_path: Path) -> None:
    settings = Settings(embedder="none", reranker="none", tombstones=True)
    with thinkback.open(tmp_path / "m.db", settings=settings) as memory:
        memory.remember_many([{"text": TEXT, "id": "a"}, {"text": "Rex is a dog", "id": "b"}])
        assert len(memory.forget("a").tombstones) == 2
        assert memory.forget("b", tombstone=False).tombstones == ()
        assert memory.forget("unknown").tombstones == ()


def test_messages_and_files_do_not_bring_it_back(memory: Memory, tmp_path: Path) -> None:
    said = [{"role": "user", "content": TEXT, "id": "m1"}, {"role": "user", "content": "Rex is a dog"}]
    notes = tmp_path / "notes.md"
    notes.write_text("# Cat\n\nOscar is grey\n\n# Dog\n\nRex is brown\n")
    memory.remember(messages=said)
    cat, _ = memory.remember(file=notes).added
    memory.forget("m1", cat, tombstone=True)
    with gathered_warnings() as heard:
        assert [record.text for record in memory.remember(messages=said[:1])] == []
        read = memory.remember(file=notes)
    assert [notice.code for notice in heard] == ["buried", "buried"]
    assert (read.added, read.unchanged) == ((), 1)
    assert memory.get_many(["m1", cat]) == {}


def test_a_section_that_was_gone_may_come_back(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    settings = Settings(embedder="none", reranker="none", tombstones=True)
    with thinkback.open(tmp_path / "m.db", settings=settings) as memory:
        notes.write_text("# Cat\n\nOscar is grey\n\n# Dog\n\nRex is brown\n")
        cat, _ = memory.remember(file=notes).added
        notes.write_text("# Dog\n\nRex is brown\n")
        assert memory.remember(file=notes).forgotten == (cat,)
        assert memory.tombstones() == []
        notes.write_text("# Cat\n\nOscar is grey\n\n# Dog\n\nRex is brown\n")
        assert memory.remember(file=notes).added == (cat,)
