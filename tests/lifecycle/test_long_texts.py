"""A long text through its life: exported, re-embedded, forgotten, split late, and bounded."""

import resource
from pathlib import Path

import pytest
from codes import raises

import thinkback
from thinkback.errors import InvalidInput
from thinkback.inputs import LONGEST_TEXT
from thinkback.interop.jsonl import export_lines, import_lines
from thinkback.memory import Memory
from thinkback.model import Draft, Filter
from thinkback.passages import split
from thinkback.testing import ToyEmbedder

TEXT = "\n\n".join(f"Chapter {n}: " + f"in year {1900 + n} the ship sailed to port{n}. " * 20 for n in range(12))
QUESTION = "which ship sailed to port7?"


def opened(path: Path | str = ":memory:", size: int = 64) -> Memory:
    return thinkback.open(path, embedder=ToyEmbedder(size), reranker=None)


def shown(memory: Memory) -> list[str]:
    return [hit.passage.text for hit in memory.recall(QUESTION) if hit.passage is not None]


def test_short_memories_have_no_row_of_passages(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.remember_many(f"a short memory, number {n}" for n in range(50))
        assert memory.stats()["passages"] == 0
        assert [draft.passages for draft in memory._embedding.fill([Draft(text="short")])[0]] == [None]


def test_an_export_with_vectors_brings_passages_back() -> None:
    with opened() as one, opened() as two:
        record = one.remember(TEXT)
        lines = list(export_lines(one, vectors=True))
        assert import_lines(two, lines).memories == 1
        assert shown(two) == shown(one)
        assert two.store.passages([record.id])[record.id].spans == split(TEXT)
        assert two.recall(QUESTION)[0].score == one.recall(QUESTION)[0].score


@pytest.mark.parametrize("passages", ['"x"', "[]", '[{"start": 0}]', '[{"start": 0, "end": 9, "vector": "AAAA"}]'])
def test_a_line_with_bad_passages_is_refused(passages: str) -> None:
    with opened() as memory:
        vector = '"vector": "AACAPwAAAAA="'
        header = '{"type": "header", "thinkback": 1, "embedding": {"fingerprint": "x", "dimensions": 2}}'
        with raises(InvalidInput, "bad_line"):
            import_lines(memory, [header, f'{{"text": "a text", {vector}, "passages": {passages}}}'])


def test_reembedding_makes_passages_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.remember(TEXT)
        before = shown(memory)
    with opened(tmp_path / "memory.db", 32) as memory:
        assert memory.reembed() == 1
        assert memory.stats()["passages"] == len(split(TEXT))
        assert shown(memory) == before
        assert list(memory.check()) == []


def test_long_memories_of_an_older_file_are_split_later() -> None:
    with opened() as memory:
        (record,) = memory.store.add(
            [Draft(text=TEXT, vector=ToyEmbedder(64).embed_query(TEXT))], memory.clock(), memory._embedding.space()
        )
        assert memory.stats()["passages"] == 0
        assert shown(memory)  # by words
        assert memory.embed_missing() == 1
        assert memory.stats()["passages"] == len(split(TEXT))
        hits = memory.store.search_passages(ToyEmbedder(64).embed_query("port7"), Filter(now=memory.clock()), 9)
        assert [hit.id for hit in hits] == [record.id]
        assert memory.embed_missing() == 0


def test_a_forgotten_long_text_leaves_no_trace(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.remember("a short note that stays")
        record = memory.remember(TEXT)
        receipt = memory.forget_verified(record.id)
        assert receipt.verified
        assert any(search.where == "passages" for search in receipt.searches)
        assert sum(scan.traces for scan in receipt.files) == 0
        assert memory.stats()["passages"] == 0


def test_another_long_text_changes_no_score_once_it_is_forgotten() -> None:
    with opened() as memory, opened() as other:
        for one in (memory, other):
            one.remember(TEXT, id="kept")
        gone = memory.remember(TEXT.replace("ship", "boat"), id="gone")
        memory.recall(QUESTION)
        memory.forget(gone.id)
        mine, theirs = (one.recall(QUESTION, counted=False) for one in (memory, other))
        assert [(hit.id, hit.score, hit.passage) for hit in mine] == [
            (hit.id, hit.score, hit.passage) for hit in theirs
        ]


@pytest.mark.slow
def test_a_text_has_a_greatest_length() -> None:
    with thinkback.open(":memory:", embedder=None) as memory, raises(InvalidInput, "text_too_long"):
        memory.remember("x" * (LONGEST_TEXT + 1))


@pytest.mark.slow
def test_five_megabytes_are_remembered_and_recalled_in_bounded_memory(tmp_path: Path) -> None:
    lines = [
        f"Line {n}: the report of day {n % 365} names part {n * 7919 % 10007} and shelf {n % 97}."
        for n in range(85_000)
    ]
    text = "\n".join(lines)
    assert len(text) > 5_000_000
    with opened(tmp_path / "memory.db") as memory:
        memory.remember("a short note")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        memory.remember(text)
        (hit, *_) = memory.recall("which line names part 7919?", max_tokens=500)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert hit.passage is not None
        assert "part 7919 " in hit.passage.text
        assert grown < 300_000  # kilobytes: some 60 times the text, whatever else the process holds
