"""Forgetting for good: the memory, its index rows, links, reflections and journal text; and the receipt that proves it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lifecycle_fixtures import START, living

import thinkback
from thinkback.clock import DAY
from thinkback.lifecycle import proof as proofs
from thinkback.lifecycle.reflect.promote import RAISED, raised
from thinkback.memory import Memory
from thinkback.stores.sqlite import SqliteStore, scrub
from thinkback.testing import FixedClock, ToyEmbedder

THINGS = ("sofa", "fish", "birds", "garden", "window")


def cats(memory: Memory, things: tuple[str, ...] = THINGS) -> list[str]:
    return [memory.remember(f"the small grey cat Oscar likes his {thing}").id for thing in things]


def test_forgetting_returns_what_existed() -> None:
    with living() as (memory, _):
        id = memory.remember("Oscar is a grey cat").id
        assert memory.forget(id, "unknown", id).ids == (id,)
        assert memory.forget(id).ids == ()


def test_a_reflection_is_rebuilt_without_the_forgotten() -> None:
    with living() as (memory, _):
        ids = cats(memory)
        (old,) = memory.reflect().created
        memory.forget(ids[0])
        (new,) = memory.list(kinds=["reflection"])
        content = json.loads(new.text)
        assert new.id != old
        assert content["member_ids"] == sorted(ids[1:])
        assert "sofa" not in new.text
        vectors = np.stack([memory.store.vectors([id])[id] for id in ids[1:]]).astype(np.float64).mean(axis=0)
        assert np.allclose(memory.store.vectors([new.id])[new.id], vectors / np.linalg.norm(vectors), atol=1e-6)
        assert {e.to_id for e in memory.store.export_edges() if e.kind == "consolidated_from"} == set(ids[1:])


def test_a_reflection_with_two_members_left_goes() -> None:
    with living() as (memory, _):
        ids = cats(memory, THINGS[:3])
        memory.reflect()
        memory.forget(ids[0])
        assert memory.list(kinds=["reflection"], everything=True) == []


def test_words_only_the_forgotten_said_leave_the_reflection() -> None:
    with living() as (memory, _):
        secret = [memory.remember(f"the small grey cat Oscar likes zanzibar {thing}").id for thing in THINGS[:2]]
        others = [memory.remember(f"the small grey cat Oscar likes his {thing}").id for thing in THINGS]
        (theme,) = memory.reflect().themes
        assert {*secret, *others} == set(theme.members)
        memory.forget(*secret)
        (new,) = memory.list(kinds=["reflection"])
        assert "zanzibar" not in f"{new.text} {new.essence}".lower()


def held(folder: Path, needle: str) -> int:
    """How often a needle stands in the files of a folder."""
    return sum(file.read_bytes().count(needle.encode()) for file in folder.iterdir())


ALICE = "alice-has-diabetes-type2"


def test_the_journal_keeps_no_word_of_it() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        clock.advance(20 * DAY)
        memory.tidy(dry_run=False)
        memory.forget(id)
        assert [entry.action for entry in memory.store.journal()] == ["decayed-until"]


def test_no_byte_of_the_id_stays(tmp_path: Path) -> None:
    """Its own entries go, and the mention goes from those of others, from settings and from themes that are gone."""
    with living(tmp_path / "memory.db") as (memory, _):
        memory.remember("the small grey cat Oscar likes his doctor", id=ALICE)
        ids = cats(memory)
        memory.archive(ALICE)
        memory.restore(ALICE)
        memory.contest(ALICE, ids[0])
        memory.contest(ids[0], ALICE)
        memory.judge("who likes the doctor?", ALICE)
        memory.remember("the small grey cat Oscar likes his doctor!")
        memory.undo(memory.reflect().batch)
        memory.reflect()
        memory.store.set_setting(RAISED, json.dumps({ALICE: "P2", ids[1]: "P3"}))
        assert held(tmp_path, ALICE) > 9
        receipt = memory.forget_verified(ALICE)
        assert (receipt.verified, receipt.too_short, receipt.warnings) == (True, 0, ())
        assert held(tmp_path, ALICE) == 0
        assert raised(memory.store) == {ids[1]: "P3"}
    assert held(tmp_path, ALICE) == 0


def test_what_was_about_the_forgotten_cannot_be_undone_and_says_so() -> None:
    with living() as (memory, clock):
        memory.remember("Caroline is pregnant", id="caroline-is-pregnant")
        memory.remember("Caroline is not pregnant", id="d1")
        memory.remember("Caroline has no children", id="d2")
        clock.advance(DAY)
        memory.remember("Caroline is pregnant!", id="again")
        confirming = memory.store.journal()[0].batch
        memory.archive("d1")
        memory.contest("caroline-is-pregnant", "d1")
        memory.contest("caroline-is-pregnant", "d2", close=True)
        closing, contesting, archiving = list(dict.fromkeys(entry.batch for entry in memory.store.journal()))[:3]
        memory.forget("caroline-is-pregnant")
        assert memory.undo(confirming).skipped == {"again": "its subject was forgotten"}
        assert memory.undo(contesting).skipped == {"d1": "its subject was forgotten"}
        assert memory.undo(closing).undone == ("d2",)  # it is open again, whoever closed it
        assert memory.get("d2").valid_to is None
        undone = memory.undo()
        assert (undone.batch, undone.undone) == (archiving, ("d1",))
        assert undone.passed_over == {contesting: {"d1": "its subject was forgotten"}}


def test_a_theme_that_was_undone_is_still_known_to_be() -> None:
    with living() as (memory, _):
        cats(memory)
        done = memory.reflect()
        assert memory.undo(done.batch).undone == done.created
        assert memory.undo(done.batch).skipped == dict.fromkeys(done.created, "was undone already")


def test_the_proof_would_find_an_id_in_the_journal_the_settings_and_the_files(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, clock):
        memory.remember("Oscar is a grey cat", id=ALICE)
        other = memory.remember("Rex is a brown dog").id
        evidence = proofs.gather(memory.store, [ALICE])
        memory.forget(ALICE)
        memory.contest(memory.remember("Rex is a black dog").id, other)
        entry = replace(memory.store.journal()[0], id=0, after={"contested_by": ALICE})
        memory.store.log([entry])
        memory.store.set_setting(RAISED, json.dumps({ALICE: "P2"}))
        assert {s.where for s in proofs.search(memory.store, evidence, clock()) if s.found} == {"journal", "settings"}
        assert memory.store.scrub()
        (file, *_), _ = proofs.scan(memory.store, evidence)
        assert (file.file, file.ids) == ("memory.db", (ALICE,))


def test_a_receipt_names_the_id_that_is_left(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        memory.remember("Oscar is a grey cat", id=ALICE)
        (tmp_path / "memory.db.notes").write_text(f"see {ALICE}")
        receipt = memory.forget_verified(ALICE)
        assert (receipt.verified, [warning.code for warning in receipt.warnings]) == (False, ["id_in_file"])


@pytest.mark.parametrize("where", ["text", "metadata", "tags", "thread", "id"])
def test_an_id_that_another_memory_holds_is_not_ours_to_take(tmp_path: Path, where: str) -> None:
    other = {"text": f"see {ALICE} for more", "metadata": {"see": ALICE}, "tags": [ALICE], "thread": ALICE}
    with living(tmp_path / "memory.db") as (memory, _):
        memory.remember("Oscar is a grey cat", id=ALICE)
        given = {"id": f"not-{ALICE}"} if where == "id" else {where: other[where]}
        kept = memory.remember(**{"text": "Rex is a brown dog", **given}).id
        assert memory.forget_verified(ALICE).verified
        assert held(tmp_path, ALICE)
        assert memory.get(kept)


def test_what_a_store_calls_its_own_things_is_no_trace(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, clock):
        first = memory.remember("Rex is a brown dog").id
        clock.advance(DAY)
        memory.contest(memory.remember("rex is a brown dog!").id, first)
        id = memory.remember("semantic observations corroborate the contested confidence").id
        assert memory.forget_verified(id).verified


def test_an_id_of_few_bytes_is_asked_for_in_the_indexes_alone(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        memory.remember("Oscar is a grey cat", id="P2")
        other = memory.remember("Rex is a brown dog").id
        memory.update(other, priority="P2")
        memory.store.set_setting(RAISED, json.dumps({other: "P2"}))
        receipt = memory.forget_verified("P2")
        assert (receipt.verified, receipt.too_short) == (True, 1)
        assert raised(memory.store) == {other: "P2"}


def test_the_receipt_says_what_went_and_that_nothing_is_left(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, clock):
        ids = cats(memory)
        memory.remember("Rex is a brown dog")
        memory.judge("who likes the sofa?", ids[0])
        memory.reflect()
        clock.advance(1)
        memory.update(ids[0], text="the small grey cat Oscar likes his old sofa best")
        receipt = memory.forget_verified(ids[0], "unknown")
        assert receipt.forgotten == (ids[0],)
        assert receipt.unknown == ("unknown",)
        counted = {
            name: receipt.removed[name] for name in ("memories", "versions", "vectors", "judgements", "reflections")
        }
        assert counted == {"memories": 1, "versions": 2, "vectors": 1, "judgements": 1, "reflections": 1}
        assert len(receipt.rebuilt) == 1
        assert {search.where for search in receipt.searches} >= {
            "memories", "history", "keyword leg", "vector leg", "dates leg", "graph leg", "links", "reflections", "journal",
        }  # fmt: skip
        assert all(search.found == 0 for search in receipt.searches)
        assert {file.file for file in receipt.files} >= {"memory.db", "memory.db-wal"}
        assert (receipt.log_cleared, receipt.verified) == (True, True)
        assert "sofa" not in json.dumps(receipt.to_dict())


def test_the_proof_would_find_a_trace(tmp_path: Path) -> None:
    """The byte scan is no formality: text left in any file beside the store is told."""
    with living(tmp_path / "memory.db") as (memory, _):
        id = memory.remember("the small grey cat Oscar likes his sofa").id
        (tmp_path / "memory.db.cache").write_bytes(b"..small grey cat Oscar likes his sofa..")
        receipt = memory.forget_verified(id)
        assert {file.file: file.traces > 0 for file in receipt.files}["memory.db.cache"]
        assert not receipt.verified


def test_the_proof_would_find_what_an_index_keeps() -> None:
    with living() as (memory, clock):
        kept = memory.remember("the small grey cat Oscar likes his sofa").id
        evidence = proofs.gather(memory.store, [kept])
        told = {search.where for search in proofs.search(memory.store, evidence, clock()) if search.found}
        assert told == {"memories", "history", "keyword leg", "vector leg", "dates leg"}


def test_what_another_memory_says_too_is_no_trace(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        first = memory.remember("the small grey cat Oscar likes his sofa").id
        memory.remember("the small grey cat Oscar likes his sofa")
        assert memory.forget_verified(first).verified


def test_a_reader_in_another_connection_leaves_the_log_and_the_receipt_says_so(tmp_path: Path) -> None:
    import apsw

    with living(tmp_path / "memory.db") as (memory, _):
        id = memory.remember("the small grey cat Oscar likes his sofa").id
        other = apsw.Connection(str(tmp_path / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM memories").get == 1
        receipt = memory.forget_verified(id)
        other.close()
        assert not receipt.log_cleared
        assert not receipt.verified
        assert memory.store.scrub()


def test_what_is_not_there_is_named_and_not_verified(tmp_path: Path) -> None:
    with living(tmp_path / "memory.db") as (memory, _):
        id = memory.remember("the small grey cat Oscar likes his sofa").id
        assert memory.forget_verified(id).verified
        receipt = memory.forget_verified(id)
        assert (receipt.forgotten, receipt.unknown, receipt.verified) == ((), (id,), False)
        assert [warning.code for warning in receipt.warnings] == ["nothing_forgotten"]


def test_a_store_in_memory_has_no_files_and_the_receipt_says_so() -> None:
    with living() as (memory, _):
        receipt = memory.forget_verified(memory.remember("the small grey cat Oscar likes his sofa").id)
        assert (receipt.files, receipt.verified) == ((), True)
        assert [warning.code for warning in receipt.warnings] == ["no_file_read"]


def test_verifying_clears_a_large_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrub, "IMMEDIATE_UP_TO", 0)
    with living(tmp_path / "memory.db") as (memory, _):
        first, second = cats(memory, THINGS[:2])
        memory.forget(first)
        assert memory.stats()["scrub_pending"]
        assert memory.forget_verified(second).verified
        assert not memory.stats()["scrub_pending"]


# -- a thousand canaries among ten thousand

PLAIN = 9000
CANARIES = 1000


def write(path: Path, with_canaries: bool) -> tuple[Memory, list[str]]:
    chance = np.random.default_rng(5)
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("lor", "min", "ten", "rik", "sol")]
    clock = FixedClock(START)
    store = SqliteStore(path, entropy=lambda count: bytes(count))
    memory = Memory(store, clock=clock, count_accesses=False)
    embedder = ToyEmbedder(64)
    canaries = []
    for start in range(0, PLAIN + CANARIES, 500):
        items = []
        for n in range(start, start + 500):
            said = " ".join(words[w] for w in chance.integers(0, len(words), 9))
            is_canary = n % 10 == 3
            text = f"canary{n}x {said} chirps{n}q" if is_canary else said
            id = f"canary-{n:05d}" if is_canary else f"m{n:05d}"
            if is_canary:
                canaries.append(id)
            if with_canaries or not is_canary:
                thread, tag = (None, "canary") if is_canary else (f"t{n % 40}", "plain")
                vector = embedder.embed_query(text)
                items.append({"id": id, "text": text, "thread": thread, "vector": vector, "tags": [tag]})
        memory.remember_many(items)
        clock.advance(1000)
    return memory, canaries


@pytest.mark.slow
def test_a_thousand_canaries_among_ten_thousand_leave_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "had").mkdir()
    (tmp_path / "never").mkdir()
    had, canaries = write(tmp_path / "had" / "memory.db", True)
    never, _ = write(tmp_path / "never" / "memory.db", False)
    embedder = ToyEmbedder(64)
    texts = {id: had.get(id).text for id in canaries}
    assert len(canaries) == CANARIES
    queries = [never.get(f"m{n:05d}").text[:30] for n in range(0, 10_000, 500)] + ["canary3x chirps13q dalor"]
    before = [had.recall(query, vector=embedder.embed_query(query), limit=50).ids for query in queries]

    had.archive(*canaries[:100])
    had.restore(*canaries[:50])
    for canary in canaries[::50]:
        had.contest(canary, "m00000")
        had.judge("who chirps?", canary)
    had.store.set_setting(RAISED, json.dumps(dict.fromkeys(canaries, "P2")))

    receipt = had.forget_verified(*canaries)

    assert receipt.verified
    assert receipt.too_short == 1  # their tag
    assert receipt.removed["memories"] == CANARIES
    assert all(search.found == 0 for search in receipt.searches)
    data = b"".join(file.read_bytes() for file in (tmp_path / "had").rglob("*") if file.is_file())
    assert all(text.encode() not in data for text in texts.values())
    assert b"canary" not in data
    assert b"chirps" not in data
    for query, at_first in zip(queries, before, strict=True):
        vector = embedder.embed_query(query)
        mine, theirs = had.recall(query, vector=vector, limit=50), never.recall(query, vector=vector, limit=50)
        assert [(hit.id, hit.score) for hit in mine] == [(hit.id, hit.score) for hit in theirs]
        assert at_first  # there was something to compare
    assert before != [had.recall(query, vector=embedder.embed_query(query), limit=50).ids for query in queries]
    had.close()
    never.close()


def test_the_public_verb_is_the_same(tmp_path: Path) -> None:
    with thinkback.open(tmp_path / "memory.db", embedder=ToyEmbedder(), reranker=None) as memory:
        id = memory.remember("the small grey cat Oscar likes his sofa").id
        assert memory.forget_verified(id).verified


def test_a_receipt_says_that_a_forgotten_word_stands_in_a_judged_query():
    """The query is about another memory, so it is kept; the word stands in no memory any more."""
    with thinkback.open(":memory:", embedder=None) as memory:
        memory.remember("Zanzibar is the password", id="a")
        memory.remember("passwords are kept in the safe", id="b")
        memory.judge("where is zanzibar kept", "b")
        receipt = memory.forget_verified("a")
        assert "word_in_judged_query" in {warning.code for warning in receipt.warnings}
        assert "anzibar" not in str(receipt.warnings)
        assert not any(w.code == "word_in_judged_query" for w in memory.forget_verified("b").warnings)
