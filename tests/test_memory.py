"""Memory, as people use it."""

import asyncio
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codes import raises, warns
from engine_fixtures import QUERY_VECTOR, START, direction, memory, toy_memory

import thinkback
from thinkback.aio import AsyncMemory
from thinkback.clock import DAY, from_us, to_us
from thinkback.errors import EmbeddingSpaceMismatch, InvalidInput, ModelUnavailable, NotFound
from thinkback.memory import Memory
from thinkback.models.embedders.base import unit
from thinkback.search.recipes.named import DEFAULT
from thinkback.testing import FixedClock, ToyEmbedder

NOW = to_us(START)


def test_remember_and_recall(tmp_path: Path) -> None:
    with toy_memory(tmp_path / "m.db") as m:
        m.remember("Caroline adopted a grey cat, Oscar", tags=["Pets"], thread="chat-7")
        m.remember("Melanie ran a marathon", thread="chat-7")
    with toy_memory(tmp_path / "m.db") as m:
        found = m.recall("which cat did Caroline adopt?")
        assert found[0].text == "Caroline adopted a grey cat, Oscar"
        assert found[0].record.tags == ("pets",)
        assert (found[0].record.thread, found[0].record.position) == ("chat-7", 0)
        assert found.warnings == ()


def test_times_of_judgements_and_of_the_journal_are_aware_datetimes() -> None:
    with toy_memory() as m:
        old = m.remember("Ann has a cat", expires_at=from_us(NOW - DAY))
        assert m.judge("cat?", old.id).judged_at == from_us(NOW)
        assert [judged.judged_at for judged in m.judgements()] == [from_us(NOW)]
        m.tidy(dry_run=False)
        assert {(entry.at, entry.undone_at) for entry in m.journal()} == {(from_us(NOW), None)}
        m.undo()
        assert {entry.undone_at for entry in m.journal()} == {from_us(NOW)}


def test_thread_neighbours_lift_each_other() -> None:
    alone = DEFAULT.with_(signals={"ranker": False})
    with toy_memory() as m:
        m.remember("Ann: which flower do you love?", thread="t")
        answer = m.remember("Bob: tulips", thread="t")
        for n in range(5):
            m.remember(f"Bob: something about number {n} and soup", thread="u")
        assert m.recall("which flower is loved?").ids[1] == answer.id
        assert answer.id not in m.recall("which flower is loved?", recipe=alone, limit=1).ids


def test_bad_texts_are_refused_and_nothing_is_stored() -> None:
    with memory() as m:
        for text in ("", "  \n ", "a\0b", "lone \ud800 surrogate"):
            with pytest.raises(InvalidInput):
                m.remember(text)
        with pytest.raises(InvalidInput):
            m.remember_many(["good", ""])
        assert m.count() == 0


@pytest.mark.parametrize(
    "vector",
    [np.array([np.nan, 1.0]), np.array([np.inf, 1.0]), np.array([0.0, 0.0]), np.array([]), np.array([[1.0, 0.0]])],
    ids=["nan", "inf", "zero", "empty", "matrix"],
)
def test_bad_vectors_are_refused_when_writing_and_when_asking(vector: Any) -> None:
    with memory() as m:
        with pytest.raises(InvalidInput):
            m.remember("text", vector=vector)
        with pytest.raises(InvalidInput):
            m.recall("text", vector=vector)
        assert m.count() == 0


def test_a_vector_of_the_wrong_size_is_refused() -> None:
    with memory() as m:
        m.remember("text", vector=direction(0.5))
        with raises(InvalidInput, "wrong_dimensions"):
            m.remember("other", vector=np.ones(3, dtype=np.float32))
        with raises(InvalidInput, "wrong_dimensions"):
            m.recall("text", vector=np.ones(3, dtype=np.float32))


def test_a_first_vector_must_fit_the_embedder() -> None:
    with toy_memory() as m:
        with raises(InvalidInput, "wrong_dimensions"):
            m.remember("text", vector=np.ones(3, dtype=np.float32))
        m.remember("text")


def test_tags_must_be_words() -> None:
    with memory() as m:
        id = m.remember("text").id
        for tags in (None, 3, [3]):
            with raises(InvalidInput, "not_text"):
                m.update(id, tags=tags)


def test_misspelt_fields_and_unknown_values_name_the_nearest() -> None:
    with memory() as m:
        with pytest.raises(InvalidInput, match=r"no field 'tgas'.*Did you mean 'tags'"):
            m.remember_many([{"text": "x", "tgas": ["a"]}])
        with pytest.raises(InvalidInput, match="Did you mean 'task'"):
            m.remember("x", kind="tasks")
        with raises(InvalidInput, "unknown_value"):
            m.remember("x", priority="P5")
        with raises(InvalidInput, "out_of_range"):
            m.remember("x", confidence=0.9)
        with raises(InvalidInput, "not_a_time"):
            m.recall("x", since="soon")


def test_unknown_ids_are_not_found() -> None:
    with memory() as m:
        for call in (m.get, m.history, m.neighbours, lambda id: m.update(id, text="x"), lambda id: m.judge("q", id)):
            with raises(NotFound, "unknown_memory"):
                call("nobody")
        assert m.forget("nobody").ids == ()


def test_update_leaves_the_older_version_for_known_at() -> None:
    clock = FixedClock(START)
    with toy_memory(clock=clock) as m:
        record = m.remember("Ann lives in Paris")
        clock.advance(DAY)
        m.update(record.id, text="Ann lives in Rome", importance=0.9)
        assert m.get(record.id).text == "Ann lives in Rome"
        assert m.get(record.id).importance == 0.9
        assert m.get(record.id, known_at=NOW).text == "Ann lives in Paris"
        assert [version.text for version in m.history(record.id)] == ["Ann lives in Paris", "Ann lives in Rome"]
        assert [hit.text for hit in m.recall("Ann in Paris", known_at=NOW)] == ["Ann lives in Paris"]
        assert [hit.text for hit in m.recall("Ann in Paris")] == ["Ann lives in Rome"]


@pytest.mark.parametrize("recipe", ["default", "keyword", "vector", "memini", "engrava", "gorag", "second-brain"])
def test_as_of_and_known_at_hold_in_every_recipe(recipe: str) -> None:
    clock = FixedClock(START)
    with toy_memory(clock=clock) as m:
        m.remember("Ann lives in Paris", valid_from="2020-01-01", valid_to="2024-01-01")
        m.remember("Ann lives in Rome", valid_from="2024-01-01")
        clock.advance(DAY)
        m.remember("Ann lives in Oslo, she said later", valid_from="2020-01-01")

        def texts(**where: Any) -> set[str]:
            return {hit.text.split(",")[0] for hit in m.recall("where lives Ann", recipe=recipe, **where)}

        assert texts() == {"Ann lives in Rome", "Ann lives in Oslo"}
        assert texts(as_of="2022-06-01") == {"Ann lives in Paris", "Ann lives in Oslo"}
        assert texts(as_of="2022-06-01", known_at=NOW) == {"Ann lives in Paris"}
        assert texts(known_at=NOW - DAY) == set()
        assert texts(everything=True) == {"Ann lives in Paris", "Ann lives in Rome", "Ann lives in Oslo"}


def test_filters_apply_before_the_limit() -> None:
    with toy_memory() as m:
        for n in range(150):
            m.remember(f"cat number {n}")
        rare = m.remember("a cat far down the list, of many words that dilute it", tags=["rare"])
        for recipe in ("default", "keyword", "vector", "gorag"):
            assert m.recall("cat number", tags=["rare"], recipe=recipe).ids == (rare.id,)


def test_without_an_embedder_keywords_answer_and_the_trace_says_what_is_missing() -> None:
    with memory() as m:
        m.remember("a grey cat")
        found = m.recall("cat")
        assert [hit.text for hit in found] == ["a grey cat"]
        assert ("vector", "there is no embedder and no query vector") in found.trace.skipped


class Broken:
    fingerprint = "broken"
    dimensions = 256

    def embed_passages(self, texts: Any) -> Any:
        raise ModelUnavailable("the weights are not here. Fetch them with: thinkback models pull broken")

    def embed_query(self, text: str) -> Any:
        return self.embed_passages([text])


def test_a_failing_embedder_never_blocks_a_write_and_missing_vectors_come_later(tmp_path: Path) -> None:
    with memory(tmp_path / "m.db", embedder=Broken()) as m:
        with warns("model_unavailable"):
            record = m.remember("a grey cat")
        assert not record.embedded
        found = m.recall("cat")
        assert found.ids == (record.id,)
        assert found.warnings[0].code == "model_unavailable"
        m.strict = True
        with pytest.raises(ModelUnavailable):
            m.recall("cat")
    with toy_memory(tmp_path / "m.db") as m:
        assert m.embed_missing() == 1
        assert m.get(record.id).embedded
        assert m.recall("cats", recipe="vector").ids == (record.id,)


def test_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    with toy_memory(tmp_path / "m.db") as m:
        m.remember("a grey cat")
    with memory(tmp_path / "m.db", embedder=ToyEmbedder(dimensions=64)) as m:
        found = m.recall("cat")
        assert found.warnings[0].code == "embedding_space_mismatch"
        with warns("embedding_space_mismatch"):
            m.remember("a brown dog")
        with pytest.raises(EmbeddingSpaceMismatch):
            m.embed_missing()
        assert m.reembed() == 2
        assert m.recall("dog", recipe="vector").warnings == ()
        assert m.recall("dogs", recipe="vector")[0].text == "a brown dog"


@pytest.mark.slow
def test_a_megabyte_of_query_and_malformed_syntax_still_answer() -> None:
    with toy_memory() as m:
        m.remember("a grey cat")
        assert m.recall("cat " * 250_000).ids
        for text in ('"unbalanced', "AND", "cat AND", "NEAR(", "essence:", "* * *", "(((", 'cat" OR'):
            m.recall(text)


def test_recalls_count_accesses_but_never_write_on_their_own_path() -> None:
    with toy_memory() as m:
        cat = m.remember("cat")
        before = m.store.state()
        m.recall("cat")
        assert m.store.state() == before
        m.flush()
        assert m.get(cat.id).access_count == 1


def test_a_caller_may_claim_as_much_confidence_when_updating_as_when_remembering() -> None:
    with toy_memory() as m:
        id = m.remember("cat", confidence=0.70).id
        refusals = []
        for claim in (lambda: m.remember("dog", confidence=0.71), lambda: m.update(id, confidence=0.71)):
            with raises(InvalidInput, "out_of_range") as refused:
                claim()
            refusals.append(str(refused.value))
        assert refusals[0] == refusals[1]
        assert m.get(id).confidence == 0.70
        assert m.update(id, confidence=0.10).confidence == 0.10


def test_what_a_redaction_loses_is_told(tmp_path: Path) -> None:
    with toy_memory(tmp_path / "m.db") as m:
        id = m.remember("the wifi password is hunter2!").id
    with memory(tmp_path / "m.db") as m:
        assert [warning.code for warning in m.redact(id).warnings] == ["redacted_without_vectors"]


def test_max_tokens_and_limit_are_taken_per_call() -> None:
    with toy_memory() as m:
        for n in range(5):
            m.remember(f"cat {n} " + "word " * 20)
        assert len(m.recall("cat", limit=3)) == 3
        assert len(m.recall("cat", max_tokens=60)) == 2


def test_dates_named_in_the_query_find_memories_no_word_matches() -> None:
    with toy_memory() as m:
        then = m.remember("repotted the ficus", created_at="2023-05-14")
        m.remember("watered the fern", created_at="2024-08-01")
        assert then.id in m.recall("what happened in May 2023?").ids
        only_words = DEFAULT.with_(legs={"vector": False})
        assert m.recall("what happened in May 2023?", recipe=only_words).ids == (then.id,)


def test_a_time_that_most_memories_share_finds_none_of_them_by_date() -> None:
    with memory() as m:
        m.remember_many([f"note {n} written in one go" for n in range(60)])
        found = m.recall("which note did I write this week")
        assert ("dates", "most memories are of the time the query names") in found.trace.skipped


def test_neighbours_and_links() -> None:
    with memory() as m:
        a, b, c = (m.remember(text, thread="t").id for text in ("one", "two", "three"))
        m.link(a, c, kind="explains", weight=0.5)
        kinds = [(edge.kind, edge.other(a)) for edge in m.neighbours(a)]
        assert kinds == [("next", b), ("explains", c)]
        assert m.unlink(a, c) == 1
        with pytest.raises(NotFound):
            m.link(a, "nobody")


def test_async_memory_has_every_public_verb() -> None:
    verbs = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    # `export` is a context manager whose rows are read as they are asked for: use it in a thread, with the memory itself.
    assert {verb for verb in verbs if not hasattr(AsyncMemory, verb)} == {"export"}


def test_async_memory_recalls_concurrently() -> None:
    async def use() -> list[Any]:
        async with AsyncMemory(thinkback.open(":memory:", embedder=ToyEmbedder(), clock=FixedClock(START))) as m:
            await m.remember("a grey cat")
            return await asyncio.gather(*(m.recall("cat") for _ in range(8)))

    assert all(found[0].text == "a grey cat" for found in asyncio.run(use()))


def test_nothing_warns_in_ordinary_use() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with toy_memory() as m:
            m.remember("a grey cat", vector=None)
            m.recall("cat")


def test_the_query_vector_may_be_brought_along() -> None:
    with memory() as m:
        near = m.remember("near", vector=direction(0.9))
        m.remember("far", vector=direction(0.1))
        assert m.recall("", vector=QUERY_VECTOR)[0].id == near.id


def test_a_unit_vector_of_a_question_stays_as_it_is_the_first_time_and_later() -> None:
    rows = np.random.default_rng(3).standard_normal((20, 384)).astype(np.float32)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert (unit(units) != units).any()  # normalising once more would change some
    for one in units:
        with thinkback.open(":memory:", embedder=None, reranker=None) as m:
            m.remember("near", vector=units[0])
            asked = [m.recall("", vector=one).trace.query.vector for _ in range(2)]
        assert all(vector is not None and np.array_equal(vector, one) for vector in asked)
