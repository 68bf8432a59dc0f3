"""A store as JSON Lines: there and back without loss, twice is once, all or nothing."""

import json
import re
import tracemalloc
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from codes import raises
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import thinkback
from thinkback.apps import wire
from thinkback.clock import DAY, from_us
from thinkback.errors import Action, InvalidInput, Remedy
from thinkback.interop.jsonl import BATCH, export_lines, import_lines
from thinkback.interop.jsonl_lines import judgement_line, memory_line
from thinkback.testing import FixedClock, ToyEmbedder

START = "2026-05-08T12:00:00Z"


@contextmanager
def opened(embedder=None, start=START):
    with thinkback.open(":memory:", embedder=embedder, reranker=None, clock=FixedClock(start)) as memory:
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


@contextmanager
def refused(line):
    """The import is refused because of this line."""
    with raises(InvalidInput, "bad_line") as caught:
        yield caught
    assert caught.value.message.startswith(f"line {line}: ")
    assert caught.value.remedy == Remedy(Action.SKIP_BAD_LINES)


def everything(memory):
    return list(export_lines(memory))


def texts(memory):
    return sorted(record.text for record in memory.list(limit=10_000, everything=True))


def test_there_and_back_nothing_is_lost():
    with opened() as one, opened(start="2029-01-01") as two:
        cat, _ = told(one)
        report = import_lines(two, everything(one))
        assert everything(two) == everything(one)
        counts = {"lines": 7, "memories": 2, "versions": 2, "links": 1, "judgements": 1}
        assert report.counts == {**counts, "updated": 0, "known": 0, "differing": 0}
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
        assert report.known == 6  # two memories, two versions, one link, one judgement
        assert report.warnings == ()


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
        assert [judgement.grade for judgement in two.judgements()] == [0]


def test_a_file_is_of_one_moment_whoever_writes_meanwhile(tmp_path):
    """Another process links a memory of its own, and forgets one, while the file is being written."""
    with (
        thinkback.open(tmp_path / "m.db", embedder=None, reranker=None) as one,
        thinkback.open(tmp_path / "m.db", embedder=None, reranker=None) as other,
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
        assert [(edge.from_id, edge.to_id) for edge in two.store.export_edges()] == [(a, b), (b, c)]


@pytest.mark.parametrize("meanwhile", ["update", "reembed"])
def test_every_vector_in_a_file_is_that_of_its_text(tmp_path, meanwhile):
    """What another process writes or embeds anew, while the file is being written, is not in it."""
    path, toy = tmp_path / "m.db", ToyEmbedder(32)
    with (
        thinkback.open(path, embedder=toy, reranker=None) as one,
        thinkback.open(path, embedder=toy if meanwhile == "update" else ToyEmbedder(16), reranker=None) as other,
        opened(toy) as two,
    ):
        one.remember_many([f"note number {n}" for n in range(BATCH + 3)])
        last = one.list(limit=1)[0]
        lines = export_lines(one, vectors=True)
        written = [next(lines) for _ in range(3)]
        other.update(last.id, text="something else") if meanwhile == "update" else other.reembed()
        written += lines
        import_lines(two, written)
        assert two.store.unembedded(9) == {}
        records = {record.id: record for record in two.list(limit=BATCH + 3)}
        for id, vector in two.store.vectors(list(records)).items():
            assert np.allclose(vector, toy.embed_query(records[id].text))


# -- a file beside a store that has some of it already


def test_a_newer_version_follows_the_one_the_store_has():
    with opened() as one, opened() as two:
        cat = one.remember("Oscar lives in Oslo").id
        import_lines(two, everything(one))
        for place in ("Bergen", "Rome"):
            one.clock.advance(DAY)
            one.update(cat, text=f"Oscar lives in {place}")
        report = import_lines(two, everything(one))
        assert (report.updated, report.known, report.differing, report.warnings) == (2, 1, 0, ())
        assert spans(two, cat) == spans(one, cat)
        for day in (0, 1, 2):
            known_at = one.history(cat)[day].recorded_at
            assert (two.count(known_at=known_at), len(two.list(known_at=known_at))) == (1, 1)
        assert import_lines(two, everything(one)).known == 3


def test_a_line_that_differs_and_is_not_newer_is_told():
    with opened() as one, opened() as two:
        cat = one.remember("Oscar lives in Oslo", id="cat").id
        two.clock.advance(DAY)
        two.remember("Oscar lives in Rome", id="cat")
        report = import_lines(two, everything(one))
        assert (report.memories, report.known, report.differing) == (0, 0, 1)
        assert [warning.code for warning in report.warnings] == ["older_lines_ignored"]
        assert "cat" in report.warnings[0].message
        assert [version.text for version in two.history(cat)] == ["Oscar lives in Rome"]


def test_an_older_file_says_nothing_new():
    with opened() as memory:
        cat = memory.remember("Oscar lives in Oslo").id
        lines = everything(memory)
        memory.clock.advance(DAY)
        memory.update(cat, text="Oscar lives in Rome")
        report = import_lines(memory, lines)
        assert (report.known, report.updated, report.differing) == (1, 0, 0)
        assert memory.get(cat).text == "Oscar lives in Rome"


def test_two_lives_of_one_memory_are_never_known_at_once():
    """Both stores changed it after they parted: what was known when stays as the store knew it."""
    with opened() as one, opened() as two:
        cat = one.remember("Oscar lives in Oslo").id
        import_lines(two, everything(one))
        one.clock.advance(DAY)
        one.update(cat, text="Oscar lives in Bergen")
        two.clock.advance(2 * DAY)
        two.update(cat, text="Oscar lives in Rome")
        one.clock.advance(2 * DAY)
        one.update(cat, text="Oscar lives in Paris")
        report = import_lines(two, everything(one))
        assert (report.updated, report.known, report.differing) == (1, 1, 1)
        assert [text for text, *_ in spans(two, cat)] == [f"Oscar lives in {p}" for p in ("Oslo", "Rome", "Paris")]
        ends = [(version.recorded_at, version.retired_at) for version in two.history(cat)]
        assert all(before[1] <= after[0] for before, after in pairwise(ends))


def test_versions_that_were_replaced_at_once_come_back_too():
    with opened() as one, opened() as two:
        cat = one.remember("Oscar").id
        for tag in ("a", "b", "a", "b", "c"):
            one.update(cat, tags=[tag])
        import_lines(two, everything(one))
        assert spans(two, cat) == spans(one, cat)
        assert len(two.history(cat)) == 6
        assert import_lines(two, everything(one)).known == 6


def test_a_link_the_store_has_is_kept():
    with opened() as memory:
        a, b = (memory.remember(text).id for text in ("one fish", "red fish"))
        memory.link(a, b, weight=1.0)
        lines = everything(memory)
        memory.link(a, b, weight=0.2)
        report = import_lines(memory, lines)
        assert (report.links, report.differing) == (0, 1)
        assert f"{a} → {b}" in report.warnings[0].message
        assert [edge.weight for edge in memory.store.export_edges()] == [0.2]


def test_a_present_version_that_overlaps_its_own_past_is_refused():
    past = '{"id": "x", "text": "a", "created_at": 5, "updated_at": 5, "recorded_at": 5, "retired_at": 9}'
    with opened() as memory, refused(2):
        import_lines(memory, [past, '{"id": "x", "text": "b", "recorded_at": 7}'])


def test_upkeep_goes_on_where_it_was():
    with opened() as one, opened() as two, opened() as three:
        cat = one.remember("Oscar lives in Paris now").id
        one.clock.advance(21 * DAY)
        one.tidy(dry_run=False)
        one.store.set_setting("reflect.raised", json.dumps({cat: "P2"}))
        lines = everything(one)
        two.clock.advance(21 * DAY)
        import_lines(two, lines)
        two.tidy(dry_run=False)
        assert two.get(cat).confidence == one.get(cat).confidence
        assert two.store.setting("reflect.raised") == one.store.setting("reflect.raised")
        three.remember("somebody was here before")
        import_lines(three, lines)
        assert three.store.setting("reflect.raised") is None


def spans(memory, id):
    return [(v.text, v.tags, v.recorded_at, v.retired_at) for v in memory.history(id)]


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
        assert (warning.code, warning.remedy) == ("vectors_left_out", Remedy(Action.EMBED_MISSING))
        assert "toy-words-128" in warning.message
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
        assert hello.created_at == from_us(memory.clock())
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


# -- judgements alone --------------------------------------------------------------------------------------------------------------


def test_a_set_of_judgements_is_exported_and_imported_alone():
    with opened() as one, opened() as two:
        cat, dog = told(one)
        one.judge("what’s “new”?", dog, 0)
        two.remember_many([{"text": "Oscar", "id": cat}, {"text": "Rex", "id": dog}])
        lines = [judgement_line(judged) for judged in one.judgements()]
        assert import_lines(two, lines, types=("judgement",)).judgements == 2
        assert two.judgements() == one.judgements()
        assert import_lines(two, lines, types=("judgement",)).known == 2


def test_where_judgements_are_expected_a_line_needs_no_type_and_may_have_no_other():
    plain = '{"query": "who?", "memory_id": "cat", "grade": 2, "judged_at": "2026-01-01"}'
    with opened() as memory:
        memory.remember("Oscar", id="cat")
        assert import_lines(memory, [plain], types=("judgement",)).judgements == 1
        with refused(2):
            import_lines(memory, [plain, '{"type": "memory", "text": "x"}'], types=("judgement",))


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
    "a weight beyond all numbers": '{"type": "link", "from_id": "a", "to_id": "b", "weight": 1' + "0" * 400 + "}",
    "settings that are no texts": '{"type": "header", "thinkback": 1, "settings": {"tidy.decayed_until": 5}}',
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
    "a query of spaces": '{"type": "judgement", "query": " ", "memory_id": "a", "grade": 1, "judged_at": "2026-01-01"}',
    "a grade of 4": '{"type": "judgement", "query": "q", "memory_id": "a", "grade": 4, "judged_at": "2026-01-01"}',
    "a grade below 0": '{"type": "judgement", "query": "q", "memory_id": "a", "grade": -1, "judged_at": "2026-01-01"}',
    "judged some time": '{"type": "judgement", "query": "q", "memory_id": "a", "grade": 1, "judged_at": "soon"}',
    "grade is true": '{"type": "judgement", "query": "q", "memory_id": "a", "grade": true, "judged_at": "2026-01-01"}',
    "retired without a past": '{"text": "x", "retired_at": "2026-01-01"}',
    "vector without header": '{"text": "x", "vector": "AACAPwAAAAA="}',
    "newer format": '{"type": "header", "thinkback": 99}',
}


@pytest.mark.parametrize("name", ["content", "memory", "body", "message", "txet"])
def test_what_other_programs_call_the_text_is_pointed_to_it(name):
    with opened() as memory, pytest.raises(InvalidInput, match=r"Did you mean 'text'\? Nothing was imported\."):
        import_lines(memory, [f'{{"{name}": "x"}}'])


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_one_bad_line_in_the_middle_and_nothing_is_imported(line):
    with opened() as memory:
        memory.remember("before", id="before")
        with refused(2) as caught:
            import_lines(memory, [GOOD, line, '{"text": "z"}'])
        assert re.search(r"[^.?][.?] Nothing was imported\.$", caught.value.message)
        assert texts(memory) == ["before"]
        assert list(memory.store.export_edges()) == []
        assert memory.judgements() == []
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
        with refused(2 * BATCH + 8):
            import_lines(memory, lines)
        assert memory.count() == 0


def test_vectors_that_are_none_are_refused():
    header = '{"type":"header","thinkback":1,"embedding":{"fingerprint":"f","dimensions":2}}'
    for vector in (
        "!!",
        "AAAA",
        "AACAfwAAAAA=",
        "AAAAAAAAAAA=",
        "AACAPwAAAAAAAAAA",
        3,
    ):  # 3 bytes, inf, zero, three numbers
        with opened() as memory, refused(2):
            import_lines(memory, [header, json.dumps({"text": "x", "vector": vector})])


def test_an_interrupted_import_leaves_nothing():
    def lines():
        yield from (json.dumps({"text": f"memory {number}"}) for number in range(2 * BATCH))
        raise KeyboardInterrupt

    with opened() as memory:
        with pytest.raises(KeyboardInterrupt):
            import_lines(memory, lines())
        assert memory.count() == 0


@pytest.mark.slow
def test_memory_stays_bounded_however_long_the_file():
    """Ten times the lines may not take much more memory; they are generated, so only the reader can hold on to them."""

    def peak(count):
        lines = (json.dumps({"text": f"memory {number} " + "x" * 1000}) for number in range(count))
        with thinkback.open(path.format(count), embedder=None, reranker=None) as memory:
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


def test_a_reflection_that_came_without_its_vector_gets_the_mean_of_its_members():
    toy = ToyEmbedder(64)
    with opened(toy) as one, opened(toy) as two:
        for thing in ("sofa", "fish", "birds", "garden"):
            one.remember(f"the small grey cat Oscar likes his {thing}")
        (theme,) = one.reflect().created
        import_lines(two, everything(one))
        two.embed_missing()
        assert np.allclose(two.store.vectors([theme])[theme], one.store.vectors([theme])[theme], atol=1e-6)
