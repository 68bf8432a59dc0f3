"""A store as JSON Lines: there and back without loss, twice is once, all or nothing."""

import json
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.apps import wire
from recollect.clock import DAY
from recollect.errors import InvalidInput
from recollect.interop.jsonl import BATCH, export_lines, import_lines
from recollect.interop.lines import memory_line
from recollect.testing import FixedClock, ToyEmbedder

START = "2026-05-08T12:00:00Z"


@contextmanager
def opened(embedder=None, start=START):
    with recollect.open(":memory:", embedder=embedder, reranker=None, clock=FixedClock(start)) as memory:
        yield memory


def told(memory):
    """A memory with everything a store can hold."""
    clock = memory.clock
    cat = memory.remember(
        "Oscar lives in Oslo", tags=["pets"], thread="chat", metadata={"n": 1, "é": [None, True, 1.5]}
    )
    dog = memory.remember(
        "Rex ünd 猫 \U0001f408\u2028",
        essence="a dog",
        kind="fact",
        tier="episodic",
        priority="P1",
        importance=0.5,
        thread="chat",
        valid_from="2020-01-01T00:00:00.000001Z",
        valid_to="2030-01-01",
        expires_at="2031-01-01",
        cycle=7,
        source="diary",
        trust=0.25,
    )
    clock.advance(DAY)
    memory.update(cat.id, text="Oscar lives in Bergen")
    clock.advance(DAY)
    memory.update(cat.id, tags=["pets", "bergen"], archived_at="2026-05-10")
    memory.link(cat.id, dog.id, kind="knows", weight=0.5, valid_to="2027-01-01")
    memory.judge("who lives in Bergen?", cat.id, 3)
    memory.recall("Oscar")
    memory.flush()
    return cat.id, dog.id


def everything(memory):
    return list(export_lines(memory))


def texts(memory):
    return sorted(record.text for record in memory.list(limit=10_000, everything=True))


def test_there_and_back_nothing_is_lost():
    with opened() as one, opened(start="2029-01-01") as two:
        cat, _ = told(one)
        report = import_lines(two, everything(one))
        assert everything(two) == everything(one)
        assert report.counts == {"lines": 7, "memories": 2, "versions": 2, "links": 1, "judgements": 1, "known": 0}
        assert two.history(cat) == one.history(cat)
        assert two.get(cat, known_at=START).text == "Oscar lives in Oslo"


def test_rankings_survive_the_journey():
    with opened(ToyEmbedder()) as one, opened(ToyEmbedder()) as two:
        told(one)
        import_lines(two, list(export_lines(one, vectors=True)))
        ask = {"now": "2026-06-01", "everything": True}
        before = [(hit.id, hit.score) for hit in one.recall("Oscar in Bergen", **ask)]
        assert before
        assert [(hit.id, hit.score) for hit in two.recall("Oscar in Bergen", **ask)] == before


def test_importing_twice_adds_nothing():
    with opened() as one, opened() as two:
        told(one)
        lines = everything(one)
        import_lines(two, lines)
        before = everything(two)
        report = import_lines(two, lines)
        assert everything(two) == before
        assert (report.memories, report.versions, report.judgements) == (0, 0, 0)
        assert report.known == 5  # two memories, two versions, one judgement


def test_what_the_store_has_it_keeps():
    with opened() as one, opened() as two:
        cat, _ = told(one)
        lines = everything(one)
        import_lines(two, lines)
        two.clock.advance(30 * DAY)
        two.update(cat, text="Oscar lives in Rome")
        two.judge("who lives in Bergen?", cat, 0)
        import_lines(two, lines)
        assert two.get(cat).text == "Oscar lives in Rome"
        assert [judgement.grade for judgement in two.store.judgements()] == [0]


def test_a_file_names_no_memory_it_lacks_whoever_writes_meanwhile(tmp_path):
    """Another process links a memory of its own, and forgets one, while the file is being written."""
    with (
        recollect.open(tmp_path / "m.db", embedder=None, reranker=None) as one,
        recollect.open(tmp_path / "m.db", embedder=None, reranker=None) as other,
        opened() as two,
    ):
        a, b, c = (one.remember(text).id for text in "abc")
        one.link(a, b)
        one.link(b, c)
        lines = export_lines(one)
        written = [next(lines), next(lines)]  # the header and the first memory
        young = other.remember("young").id
        other.link(a, young)
        other.forget(c)
        written += lines
        report = import_lines(two, written)
        assert report.memories == 3
        assert [(edge.from_id, edge.to_id) for edge in two.store.export_edges()] == [(a, b)]


def test_the_vectors_come_back_bit_for_bit():
    with opened(ToyEmbedder()) as one, opened() as two:
        told(one)
        import_lines(two, list(export_lines(one, vectors=True)))
        ids = [record.id for record in one.list(everything=True)]
        mine, theirs = one.store.vectors(ids), two.store.vectors(ids)
        assert mine.keys() == theirs.keys() != set()
        for id in ids:
            np.testing.assert_array_equal(mine[id], theirs[id])
        assert two.store.embedding_space() == one.store.embedding_space()


def test_vectors_of_another_model_are_left_out_and_that_is_said():
    with opened(ToyEmbedder(128)) as one, opened(ToyEmbedder(64)) as two:
        told(one)
        two.remember("already here")
        report = import_lines(two, list(export_lines(one, vectors=True)))
        assert report.memories == 2
        (warning,) = report.warnings
        assert "toy-words-128" in warning
        assert "recollect embed --missing" in warning
        assert two.embed_missing() == 4  # two memories and two retired versions, which `known_at` searches


def test_a_record_is_spelt_as_everywhere_else():
    with opened() as memory:
        cat, _ = told(memory)
        record = memory.get(cat)
        line = json.loads(memory_line(record))
        assert line.pop("type") == "memory"
        shape = dict(wire.memory(record))
        del shape["embedded"]  # follows from the vectors
        assert line == shape


# -- foreign files -----------------------------------------------------------------------------------------------------------------


def test_a_text_is_enough():
    with opened() as memory:
        report = import_lines(
            memory, ['{"text": "hello"}', "", '  {"text": "world", "tags": ["a"], "created_at": "2020-01-01"}  ']
        )
        assert (report.lines, report.memories) == (2, 2)
        hello, world = sorted(memory.list(), key=lambda record: record.text)
        assert hello.confidence == 0.25
        assert hello.created_at == memory.clock()
        assert (world.tags, world.confidence) == (("a",), 0.25)


def test_the_same_words_twice_are_two_memories_and_the_same_two_next_time():
    lines = ['{"text": "ok", "thread": "t"}'] * 3 + ['{"thread": "t", "text": "ok"}', '{"text": "ok"}']
    with opened() as memory:
        assert import_lines(memory, lines).memories == 5
        assert import_lines(memory, lines).memories == 0
        assert import_lines(memory, lines[:2]).memories == 0
        assert len(texts(memory)) == 5


def test_a_byte_order_mark_and_carriage_returns_do_no_harm():
    with opened() as memory:
        assert import_lines(memory, ["\ufeff" + '{"text": "a"}\r\n', '{"text": "b"}\r\n']).memories == 2


# -- bad lines ---------------------------------------------------------------------------------------------------------------------

GOOD = '{"id": "a", "text": "a"}'
BAD = {
    "not JSON": '{"text": "x"',
    "a list": '["text"]',
    "a number": "3",
    "no text": '{"tags": ["a"]}',
    "empty object": "{}",
    "blank text": '{"text": "  "}',
    "text is a number": '{"text": 3}',
    "NUL": '{"text": "a\\u0000b"}',
    "lone surrogate": '{"text": "\\ud800"}',
    "not UTF-8": '{"text": "caf\udce9"}',
    "unknown field": '{"text": "x", "author": "me"}',
    "unknown kind": '{"text": "x", "kind": "nonsense"}',
    "unknown priority": '{"text": "x", "priority": "P9"}',
    "unknown type": '{"type": "memroy", "text": "x"}',
    "type is a list": '{"type": [], "text": "x"}',
    "bad time": '{"text": "x", "created_at": "soon"}',
    "time out of range": '{"text": "x", "created_at": 99999999999999999999}',
    "time is true": '{"text": "x", "created_at": true}',
    "NaN": '{"text": "x", "trust": NaN}',
    "trust of 2": '{"text": "x", "trust": 2}',
    "tags as one word": '{"text": "x", "tags": "a"}',
    "metadata is a list": '{"text": "x", "metadata": []}',
    "too deep": '{"text": "x", "metadata": ' + '{"a":' * 60 + "1" + "}" * 61,
    "deeper than the parser": '{"text": "x", "metadata": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "link to nobody": '{"type": "link", "from_id": "a", "to_id": "nobody"}',
    "link without end": '{"type": "link", "from_id": "a"}',
    "link to itself": '{"type": "link", "from_id": "a", "to_id": "a"}',
    "link of text weight": '{"type": "link", "from_id": "a", "to_id": "a", "weight": "heavy"}',
    "judgement of nobody": '{"type": "judgement", "query": "q", "memory_id": "x", "grade": 1, "judged_at": "2026-01-01"}',
    "grade is true": '{"type": "judgement", "query": "q", "memory_id": "a", "grade": true, "judged_at": "2026-01-01"}',
    "retired without a past": '{"text": "x", "retired_at": "2026-01-01"}',
    "vector without header": '{"text": "x", "vector": "AACAPwAAAAA="}',
    "newer format": '{"type": "header", "recollect": 99}',
}


@pytest.mark.parametrize("name", ["content", "memory", "body", "message", "txet"])
def test_what_other_programs_call_the_text_is_pointed_to_it(name):
    with (
        opened() as memory,
        pytest.raises(InvalidInput, match=r"metadata\. Did you mean 'text'\? Nothing was imported"),
    ):
        import_lines(memory, [f'{{"{name}": "x"}}'])


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_one_bad_line_in_the_middle_and_nothing_is_imported(line):
    with opened() as memory:
        memory.remember("before", id="before")
        with pytest.raises(InvalidInput, match=r"^line 2: .*[^.?][.?] Nothing was imported"):
            import_lines(memory, [GOOD, line, '{"text": "z"}'])
        assert texts(memory) == ["before"]
        assert list(memory.store.export_edges()) == []
        assert memory.store.judgements() == []
        assert memory.check() == []


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_skip_bad_imports_the_rest_and_reports(line):
    with opened() as memory:
        report = import_lines(memory, [GOOD, line, '{"text": "z"}'], skip_bad=True)
        assert texts(memory) == ["a", "z"]
        assert [bad.line for bad in report.bad] == [2]
        assert report.bad[0].reason


def test_a_bad_line_is_named_wherever_it_stands_in_a_batch():
    lines = [json.dumps({"text": f"memory {number}"}) for number in range(3 * BATCH)]
    lines[2 * BATCH + 7] = "oops"
    with opened() as memory:
        with pytest.raises(InvalidInput, match=f"^line {2 * BATCH + 8}: not JSON"):
            import_lines(memory, lines)
        assert memory.count() == 0


def test_vectors_that_are_none_are_refused():
    header = '{"type":"header","recollect":1,"embedding":{"fingerprint":"f","dimensions":2}}'
    for vector in (
        "!!",
        "AAAA",
        "AACAfwAAAAA=",
        "AAAAAAAAAAA=",
        "AACAPwAAAAAAAAAA",
        3,
    ):  # 3 bytes, inf, zero, three numbers
        with opened() as memory, pytest.raises(InvalidInput, match=r"^line 2: "):
            import_lines(memory, [header, json.dumps({"text": "x", "vector": vector})])


def test_an_interrupted_import_leaves_nothing():
    def lines():
        yield from (json.dumps({"text": f"memory {number}"}) for number in range(2 * BATCH))
        raise KeyboardInterrupt

    with opened() as memory:
        with pytest.raises(KeyboardInterrupt):
            import_lines(memory, lines())
        assert memory.count() == 0


def test_memory_stays_bounded_however_long_the_file():
    """Ten times the lines may not take much more memory; they are generated, so only the reader can hold on to them."""

    def peak(count):
        lines = (json.dumps({"text": f"memory {number} " + "x" * 1000}) for number in range(count))
        with recollect.open(path.format(count), embedder=None, reranker=None) as memory:
            tracemalloc.start()
            import_lines(memory, lines)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return most

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/{}.db"
        few, many = peak(2 * BATCH), peak(10 * BATCH)
    assert many < 1.5 * few


def test_progress_counts_lines():
    seen = []
    with opened() as memory:
        lines = (json.dumps({"text": str(number)}) for number in range(2 * BATCH + 1))
        import_lines(memory, lines, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(BATCH, 0), (2 * BATCH, 0)]


plain_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40).filter(
    str.strip
)
whole = st.integers(min_value=0, max_value=4_000_000_000_000_000)
fractions = st.floats(0, 1)
memories = st.fixed_dictionaries(
    {"text": plain_text},
    optional={
        "essence": plain_text,
        "kind": st.sampled_from(["fact", "task", "reflection"]),
        "importance": fractions,
        "trust": fractions,
        "tags": st.lists(st.sampled_from(["a", "b c", "é"]), max_size=3),
        "metadata": st.dictionaries(plain_text, st.none() | st.booleans() | whole | fractions | plain_text, max_size=3),
        "thread": st.sampled_from(["t", "u"]),
        "created_at": whole,
        "expires_at": whole,
        "cycle": whole,
        "source": st.sampled_from(["x", "y"]),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(memories, min_size=1, max_size=6))
def test_any_memories_survive_the_journey(given_memories):
    with opened() as one, opened(start="2029-01-01") as two:
        one.remember_many(given_memories)
        import_lines(two, everything(one))
        assert everything(two) == everything(one)
