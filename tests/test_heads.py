"""The speaker at the head of a text: read when a memory is written, corrected by its owner, and seen by filters."""

import json

import pytest

from thinkback.heads import suggested_speaker
from thinkback.interop.jsonl import export_lines, import_lines
from thinkback.interop.markdown import export_markdown
from thinkback.memory import Memory
from thinkback.search.speakers import speaker
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock

SAID = {
    "Caroline: I painted a sunrise": "Caroline",
    "  Ann: under the mat": "Ann",
    "Mary Ann: I painted a sunrise": "Mary Ann",
    "Zoë: bis morgen": "Zoë",
    "McDonald: the deal is done": "McDonald",
    "Dr. Smith: take two a day.": "Dr. Smith",
    "Project Manager: so let us begin": "Project Manager",
    "PhD A: Oh .": "PhD A",
    "ANNA: Where are you?": "ANNA",
    "user: which port was it?": "user",
    "User: which port was it?": "user",
    "Human: hello": "user",
    "assistant: it was 5432": "assistant",
    "ASSISTANT: it was 5432": "assistant",
    "tool: 3 rows": "tool",
    "assistant: add this:\nlabels: [a, b]\nport: 80": "assistant",
    "Caroline: my list.\nNote: buy milk": "Caroline",
    "Caroline: hello\nCaroline: again": "Caroline",
}
UNSAID = [
    "Cell death: how it begins",
    "Cell Death: A Review",
    "Climate Change: Causes and Effects",
    "Star Wars: A New Hope",
    "Note: bring milk",
    "NOTE: you must bring milk",
    "TODO: fix the login",
    "Error: file not found",
    "TypeError: you gave a list",
    "Warning: you will lose it",
    "Deadline: 15 March",
    "Meeting Notes: we met.",
    "Python: prefer f-strings",
    "Q: What is it?",
    "JS: use let",
    "caroline: hello",
    "12: the number of apostles",
    "no head at all",
    "Caroline:hello",
    "https://example.org",
    "Caroline: hello\nMelanie: hello",
    "user: hello\nassistant: hello",
    "Paris, France: I loved it",
    "Caroline: " + "a long day " * 200,
]


@pytest.mark.parametrize(("text", "name"), SAID.items())
def test_a_head_names_the_speaker(text, name):
    assert suggested_speaker(text) == name


@pytest.mark.parametrize("text", UNSAID)
def test_labels_titles_and_texts_of_several_name_nobody(text):
    assert suggested_speaker(text) is None


@pytest.fixture
def memory(tmp_path):
    with Memory(SqliteStore(tmp_path / "m.db"), clock=FixedClock()) as opened:
        yield opened


def said_by(memory, name):
    return {one.text for one in memory.list(where={"speaker": name})}


def test_it_is_filled_when_a_memory_is_written_and_a_filter_sees_it(memory):
    kept = memory.remember("Caroline: I painted a sunrise")
    memory.remember_many(["Melanie: I ran a mile", {"text": "Caroline: I was away", "speaker": "Narrator"}])
    assert (kept.speaker, kept.text) == ("Caroline", "Caroline: I painted a sunrise")
    assert said_by(memory, "Caroline") == {kept.text}
    assert memory.recall("what did she paint?", where={"speaker": "Caroline"}).ids == (kept.id,)
    assert said_by(memory, "Narrator") == {"Caroline: I was away"}


def test_what_an_assistant_says_at_its_head_is_no_instruction(memory):
    assert memory.remember("assistant: Always use a virtual environment.").kind == "observation"
    assert memory.remember("user: Always use a virtual environment.").kind == "preference"


def test_a_correction_stays(memory):
    kept = memory.remember("Berlin: the capital of Germany")
    assert memory.update(kept.id, speaker=None).speaker is None
    assert memory.reindex() == 0
    assert memory.update(kept.id, text="Berlin: the capital").speaker is None
    assert memory.update(kept.id, speaker="Anna").speaker == "Anna"
    assert memory.update(kept.id, text="Bonn: the capital").speaker == "Anna"


def test_a_speaker_that_was_read_from_the_text_follows_a_new_text(memory):
    kept = memory.remember("Caroline: I painted a sunrise")
    assert memory.update(kept.id, text="Melanie: I painted a sunrise").speaker == "Melanie"
    assert memory.update(kept.id, text="A sunrise was painted").speaker is None
    assert memory.update(kept.id, text="Caroline: it was me").speaker == "Caroline"


def test_memories_of_an_older_version_are_ranked_by_their_heads_and_filled_by_reindex(memory):
    old = memory.remember("Caroline: I painted a sunrise")
    other = memory.remember("a plain one")
    connection = memory.store._connections  # as an older version wrote it
    with connection.write() as writing:
        writing.execute("UPDATE memories SET speaker = NULL, changed = 99")
        writing.execute("UPDATE counters SET changes = 99")
    before = memory.store.get([old.id])[old.id]
    assert (before.speaker, speaker(before)) == (None, "caroline")
    assert memory.reindex() == 1
    assert memory.get(old.id).speaker == "Caroline"
    assert memory.get(other.id).speaker is None
    assert [version.speaker for version in memory.history(old.id)] == [None, "Caroline"]
    assert memory.reindex() == 0


def test_an_import_fills_it_too_and_importing_again_changes_nothing(memory):
    lines = [json.dumps({"type": "memory", "text": text}) for text in ("Ann: I am here", "Note: nobody")]
    assert import_lines(memory, lines).memories == 2
    assert said_by(memory, "Ann") == {"Ann: I am here"}
    again = import_lines(memory, lines)
    assert (again.memories, again.known, again.differing) == (0, 2, 0)


def test_an_export_keeps_a_speaker_that_was_emptied(memory, tmp_path):
    memory.remember("Berlin: the capital", id="b")
    memory.update("b", speaker=None)
    lines = list(export_lines(memory))
    with Memory(SqliteStore(tmp_path / "other.db"), clock=FixedClock()) as other:
        import_lines(other, lines)
        assert other.get("b").speaker is None
        assert list(export_lines(other)) == lines


def test_markdown_names_a_speaker_once(memory):
    memory.remember("Caroline: I painted a sunrise")
    memory.remember("a walk", speaker="Ann")
    lines = "\n".join(export_markdown(memory))
    assert "Caroline: I painted" in lines
    assert "**Caroline:**" not in lines
    assert "**Ann:** a walk" in lines
