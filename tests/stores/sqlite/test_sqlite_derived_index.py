"""The derived index: equal to the last bit to a search without it, never trusted when it is wrong, and reached by forgetting."""

import json
import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest
from codes import raises

import thinkback
from thinkback.errors import StoreDamaged, StoreError
from thinkback.mentions import mentions
from thinkback.model import Draft, Filter, KeywordQuery, Scored
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.index.folder import MANIFEST, Folder, Manifest
from thinkback.stores.sqlite import (
    SqliteStore,
    catalogue,
    counters,
    derived,
    impact,
    keywords,
    matrices,
    rarest,
    segment_files,
    term_gains,
)
from thinkback.stores.sqlite import store as stores
from thinkback.stores.sqlite.columns import COLUMNS
from thinkback.stores.sqlite.derived import folder_of
from thinkback.stores.sqlite.history_index import HistoryIndex
from thinkback.stores.sqlite.index_cache import IndexCache, View
from thinkback.stores.sqlite.segment_files import Reading

SPACE = EmbeddingSpace("toy", 24)
WORDS = [f"{a}{b}" for a in ("ba", "ren", "mo", "ti", "ska", "lor") for b in ("vin", "de", "pu", "gra", "fel", "no")]
NOW = 1_000_000_000


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_files, "SEGMENT_ROWS", 64)
    for module in (derived, stores):
        monkeypatch.setattr(module, "PAYS_FROM", 40)
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", 0)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 1)


class Random:
    """A store that is written at random."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.chance = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.store = SqliteStore(path)
        self.ids: list[str] = []
        self.now = NOW

    def add(self, count: int, without_vector: float = 0.1) -> None:
        drafts = [self._draft(without_vector) for _ in range(count)]
        self.now += 1
        self.ids += [record.id for record in self.store.add(drafts, self.now, SPACE)]

    def _draft(self, without_vector: float) -> Draft:
        none = self.chance.random() < without_vector
        return Draft(
            text=" ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 12))),
            tags=tuple(sorted(set(self.chance.choices(("red", "blue", "green"), k=2)))),
            kind=self.chance.choice(("fact", "preference")),
            thread=self.chance.choice((None, "a", "b")),
            vector=None if none else self.numbers.standard_normal(SPACE.dimensions).astype(np.float32),
        )

    def change(self) -> None:
        """One write of some kind."""
        self.now += 1
        id = self.chance.choice(self.ids)
        kind = self.chance.randrange(5)
        if kind == 0:
            self.ids.remove(id)
            self.store.forget([id])
        elif kind == 1:
            self.store.update(id, {"text": " ".join(self.chance.choices(WORDS, k=5))}, self.now)
        elif kind == 2:
            self.store.amend({id: {"importance": self.chance.random(), "tier": "semantic"}}, self.now)
        elif kind == 3:
            late = self.store.unembedded(3)
            vectors = {seq: self.numbers.standard_normal(SPACE.dimensions).astype(np.float32) for seq in late}
            self.store.put_vectors(vectors, SPACE)
        else:
            self.add(self.chance.randint(1, 8))

    def reopen(self) -> None:
        self.store.close()
        self.store = SqliteStore(self.path)

    def questions(self) -> list[tuple[KeywordQuery, np.ndarray, Filter]]:
        filters = (
            Filter(now=self.now),
            Filter(now=self.now, tags=("red",)),
            Filter(now=self.now, threads=("a",), kinds=("fact",)),
            Filter(now=self.now, ids=frozenset(self.ids[::7])),
        )
        return [
            (
                parse_keywords(" ".join(self.chance.choices(WORDS, k=3)), drop_function_words=False),
                self.numbers.standard_normal(SPACE.dimensions).astype(np.float32),
                filter,
            )
            for filter in filters
        ]


Answers = list[tuple[list[Scored], list[Scored], int, tuple[int, Mapping[str, int]], list[object]]]


def answers(store: SqliteStore, questions: list[tuple[KeywordQuery, np.ndarray, Filter]]) -> Answers:
    found = [
        (
            store.search_vectors(vector, filter, 9),
            store.search_keywords(words, filter, 9),
            store.count(filter),
            store.frequencies([*WORDS[:5], "nowhere"]),
            [value for name, value in store.stats().items() if name != "engine"],
        )
        for words, vector, filter in questions
    ]
    if store._derived is not None:
        store._derived.wait()
    return found


def without_index(path: Path, questions: list[tuple[KeywordQuery, np.ndarray, Filter]]) -> Answers:
    with SqliteStore(path, read_only=True) as store:
        store._derived = None  # so that it counts in the file, too
        store._indexes = stores.IndexCache()
        return answers(store, questions)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Random]:
    made = Random(tmp_path / "memory.db", 5)
    made.add(300)
    answers(made.store, made.questions())
    yield made
    made.store.close()


@pytest.mark.parametrize("seed", range(6))
def test_rankings_are_equal_with_and_without_the_index(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed > 2:  # read rows and words in several goes
        monkeypatch.setattr(catalogue, "_READ_AT_ONCE", 7)
        monkeypatch.setattr(impact, "_OCCURRENCES_AT_ONCE", 50)
    if seed % 2:  # search by the rarest words, and look others up
        monkeypatch.setattr(rarest, "_PAYS_FROM", 0)
        monkeypatch.setattr(rarest, "_LOOKED_UP_AT_ONCE", 0)
        monkeypatch.setattr(impact, "_READ_AT_ONCE", 1)
        monkeypatch.setattr(term_gains, "_FEW", 0 if seed == 3 else 8)  # by parts, or row by row
    if seed in (1, 4):  # hold codes from the beginning
        monkeypatch.setattr(matrices, "MANY", 0)
        monkeypatch.setattr(matrices, "BLOCK_ROWS", 64)
    made = Random(tmp_path / "memory.db", seed)
    for turn in range(6):
        made.add(60)
        questions = made.questions()
        assert answers(made.store, questions) == without_index(made.path, questions)
        for _ in range(10):
            made.change()
        if turn % 2:
            made.reopen()
        questions = made.questions()
        assert answers(made.store, questions) == without_index(made.path, questions)
        assert Folder(folder_of(str(made.path))).manifest().segments
    made.store.close()


def test_what_texts_mention_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the memories in segments a record tells it; those that are written later are read by whoever asks."""
    read: list[str] = []
    monkeypatch.setattr(segment_files, "mentions", lambda text: read.append(text) or mentions(text))
    made = Random(tmp_path / "memory.db", 3)
    made.add(150)
    told = ("we met Ann yesterday", "it costs 20", "three of them", "we saw Ben", "nothing")
    made.ids += [record.id for record in made.store.add([made._draft(0) for _ in told], made.now, SPACE)]
    for id, text in zip(made.ids[-5:], told, strict=True):
        made.store.update(id, {"text": text}, made.now)
    for _ in range(4):
        answers(made.store, made.questions())
        made.reopen()
        with made.store.view() as view:
            view.search_vectors(
                made.numbers.standard_normal(SPACE.dimensions).astype(np.float32), Filter(now=made.now), 999
            )
            records = view.get(made.ids)
        with made.store._connections.read() as connection:
            versions = counters.last_seq(connection)
        found = [(record.text, getattr(record, "mentions", 0)) for record in records.values()]
        assert {mentioned for text, mentioned in found if mentioned != mentions(text)} <= {0}
        assert sum(mentioned > 0 for _, mentioned in found) > 100
        assert len(read) <= versions
        for _ in range(20):
            made.change()
        made.add(50)
    made.store.close()


@pytest.mark.slow
def test_an_earlier_moment_is_searched_in_the_present_postings(made: Random) -> None:
    """The scores are those of an index over the versions that were known then, to the last bit."""
    moments = [made.now]
    for number in range(60):
        made.change()
        if number % 15 == 14:
            moments.append(made.now)
            made.add(10)
    made.reopen()
    for then in moments:
        for words, vector, filter in made.questions():
            earlier = replace(filter, known_at=then, without_kinds=("reflection",))
            found = made.store.search_keywords(words, earlier, 9)
            with made.store._connections.read() as connection:
                assert found == HistoryIndex().search(connection, -1, words, earlier, 9)
                known = catalogue.versions(connection, earlier).tolist()
                ids = {made.store.get([hit.id], then)[hit.id].id for hit in found}
                sql = "SELECT id FROM memories WHERE seq IN (SELECT value FROM json_each(?)) AND embedded"
                embedded = {id for (id,) in connection.execute(sql, (json.dumps(known),))}
            assert len(ids) == len(found)
            assert {hit.id for hit in made.store.search_vectors(vector, earlier, 9999)} == embedded
    assert made.store._history._last is not None
    assert not made.store._history._moments


def test_of_many_vectors_only_codes_are_held_which_the_index_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrices, "MANY", 250)
    monkeypatch.setattr(matrices, "BLOCK_ROWS", 64)
    made = Random(tmp_path / "memory.db", 5)
    made.add(300)
    questions = made.questions()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(stores, "PAYS_FROM", 10_000)
        assert answers(made.store, questions) == without_index(made.path, questions)
        matrix = made.store._indexes.latest.matrix
        assert matrix is not None
        assert (len(matrix.blocks), matrix.held, len(matrix.vectors)) == (300, 0, 0)
    monkeypatch.setattr(segment_files, "_vectors", None)  # no vector is read again
    made.reopen()
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.rows == 300
    made.store.close()


FORGETFUL = """
import sys, thinkback
from thinkback.stores.sqlite import derived, store
derived.PAYS_FROM = store.PAYS_FROM = 40
memory = thinkback.open(sys.argv[1], embedder=None, reranker=None)
memory.recall("number")
"""


def test_a_program_that_does_not_close_the_store_leaves_an_index_behind(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with thinkback.open(path, embedder=None, reranker=None) as memory:
        for start in range(0, 60, 30):
            memory.remember_many(f"number {n}" for n in range(start, start + 30))
    shutil.rmtree(folder_of(str(path)))
    subprocess.run([sys.executable, "-c", FORGETFUL, str(path)], check=True)
    assert sum(entry.rows for entry in Folder(folder_of(str(path))).manifest().segments) == 60


@pytest.mark.parametrize("leg", ["keyword", "vector"])
def test_one_question_is_enough_for_an_index(tmp_path: Path, leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line asks one question a process, so an index must not wait for a second one."""
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 3)
    made = Random(tmp_path / "memory.db", 5)
    made.add(300)
    words, vector, filter = made.questions()[0]
    with made.store.view() as view:
        if leg == "keyword":
            view.search_keywords(words, filter, 9)
        else:
            view.search_vectors(vector, filter, 9)
    made.reopen()
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    view = made.store._indexes.latest
    assert view.mapped.rows == 300
    assert view.impact is not None
    assert view.matrix is not None
    assert view.matrix.held == 0
    made.store.close()


def test_a_program_that_only_writes_leaves_an_index_behind(tmp_path: Path) -> None:
    """After an import the first question finds it."""
    made = Random(tmp_path / "memory.db", 5)
    made.add(30)
    made.reopen()
    assert not folder_of(str(made.path)).exists()
    made.add(50)
    made.reopen()
    assert sum(entry.rows for entry in Folder(folder_of(str(made.path))).manifest().segments) == 80
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    made.store.close()


def test_a_process_takes_over_the_index_that_another_one_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Random(tmp_path / "memory.db", 5)
    made.add(300)
    questions = made.questions()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(stores, "PAYS_FROM", 10_000)
        expected = answers(made.store, questions)
    with SqliteStore(made.path) as other:
        assert answers(other, questions) == expected
    before = Folder(folder_of(str(made.path))).manifest()
    made.add(1)
    answers(made.store, questions)
    assert Folder(folder_of(str(made.path))).manifest() == before
    assert made.store._indexes.latest.mapped.rows == 300
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    made.store.close()


@pytest.mark.parametrize("adopts", [True, False])
def test_two_processes_that_write_the_index_in_turn_leave_a_whole_one(
    made: Random, adopts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was mapped before the other wrote all files anew must not name those that are gone."""
    if not adopts:  # as if the other one wrote between two steps of this one
        monkeypatch.setattr(derived.DerivedIndex, "_of_another", lambda *_: None)
    folder = folder_of(str(made.path))
    (folder / MANIFEST).unlink()
    with SqliteStore(made.path) as other:
        answers(other, made.questions())
        for store in (made.store, other, made.store):
            made.add(60)
            questions = made.questions()
            assert answers(store, questions) == without_index(made.path, questions)
            named = {entry.file for entry in Folder(folder).manifest().segments}
            assert {file.name for file in folder.glob("*.segment")} == named
    made.reopen()
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.rows == 480


def test_an_index_that_lost_a_file_is_written_anew_by_a_process_without_one(made: Random) -> None:
    made.store.close()
    folder = folder_of(str(made.path))
    next(folder.glob("*.segment")).unlink()
    with SqliteStore(made.path) as store:
        answers(store, made.questions())
        assert store._indexes.latest.mapped.rows == 300
    made.reopen()


def test_a_new_process_answers_from_the_files(made: Random) -> None:
    questions = made.questions()
    expected = answers(made.store, questions)
    made.reopen()
    assert answers(made.store, questions) == expected
    view = made.store._indexes.latest
    assert view.mapped.rows == 300
    assert view.matrix is not None
    assert view.matrix.held == 0, "no vector was read into memory"


def test_the_writing_process_lets_go_of_its_own_copy(made: Random) -> None:
    assert made.store._indexes.latest.mapped.rows == 300


def beside(work: Callable[[], object]) -> None:
    """Do something in another thread, and wait for it."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def writing_before_it_is_published(
    made: Random, write: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Let every writing of the index meet a write and a search; returns the rows of each that was published."""
    published: list[int] = []
    publish = Folder.publish

    def meanwhile(self: Folder, manifest: Manifest) -> None:
        write()
        words, vector, filter = made.questions()[0]
        made.store.search_vectors(vector, filter, 9)
        made.store.search_keywords(words, filter, 9)
        publish(self, manifest)
        published.append(sum(entry.rows for entry in manifest.segments))

    monkeypatch.setattr(Folder, "publish", meanwhile)
    return published


def test_a_store_that_is_written_all_the_time_writes_its_index_once(
    made: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = writing_before_it_is_published(made, lambda: made.add(1), monkeypatch)
    made.add(60)
    for _ in range(10):
        answers(made.store, made.questions())
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert published == [360]
    assert made.store._indexes.latest.mapped.rows == 360


def test_files_that_lost_a_memory_while_they_were_written_are_not_gone_on_from(
    made: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = IndexCache.replace

    def forgetting(self: IndexCache, old: View, new: View) -> None:
        beside(lambda: made.store.forget([made.ids.pop(3)]))
        replace(self, old, new)
        assert self.latest is not new

    made.add(60)
    with monkeypatch.context() as once:
        once.setattr(IndexCache, "replace", forgetting)
        answers(made.store, made.questions())
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)


def test_only_changed_segments_are_written_again(made: Random) -> None:
    folder = Folder(folder_of(str(made.path)))
    before = folder.manifest().segments
    made.add(50)
    answers(made.store, made.questions())
    after = folder.manifest().segments
    assert after[:4] == before[:4]
    assert sum(entry.rows for entry in after) == 350


def test_the_index_is_written_through_no_connection_of_a_search(made: Random, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Reading] = []
    monkeypatch.setattr(derived.DerivedIndex, "write_soon", lambda _, indexes, read: begun.append(read))
    made.add(50)
    (words, vector, filter), *_ = made.questions()
    with made.store.view() as view:
        view.search_vectors(vector, filter, 9)
        view.search_keywords(words, filter, 9)
        assert not begun, "it waits until the search is over"
    assert begun
    with made.store.view() as later:  # which has the connection that the first search had
        before = later.state().changes
        made.add(1)
        with begun[-1]() as connection:
            assert counters.state(connection).changes > before, "it sees what was written since"
        assert later.state().changes == before


def test_a_view_is_of_no_use_when_its_search_is_over(made: Random) -> None:
    with made.store.view() as view:
        assert view.get(made.ids[:1])
    with raises(StoreError, "view_over"):
        view.get(made.ids[:1])
    with made.store.view() as later:
        assert later.get(made.ids[:1])


def _cut(folder: Path) -> None:
    file = next(folder.glob("*.segment"))
    file.write_bytes(file.read_bytes()[:-64])


def _flip(folder: Path) -> None:
    file = next(folder.glob("*.segment"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def _rewrite(**fields: object) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        held = Folder(folder).manifest()
        changed = {
            name: getattr(held, name) for name in ("store_id", "nonce", "changes", "purged", "generation", "segments")
        }
        Folder(folder).publish(type(held)(**(changed | fields)))  # type: ignore[arg-type]

    return rewrite


FAULTS: dict[str, Callable[[Path], None]] = {
    "no manifest": lambda folder: (folder / MANIFEST).unlink(),
    "empty manifest": lambda folder: (folder / MANIFEST).write_bytes(b""),
    "a manifest without a seal": lambda folder: (folder / MANIFEST).write_text(json.dumps({"format": 1})),
    "no segment": lambda folder: next(folder.glob("*.segment")).unlink(),
    "a cut segment": _cut,
    "a flipped bit": _flip,
    "another store": _rewrite(store_id="another"),
    "another nonce": _rewrite(nonce="another"),
    "a later state": _rewrite(changes=1 << 40),
    "other vectors": _rewrite(generation=17),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_index_is_not_used(made: Random, fault: str) -> None:
    made.store.close()
    FAULTS[fault](folder_of(str(made.path)))
    made.store = SqliteStore(made.path)
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    if fault != "other vectors":
        assert Folder(folder_of(str(made.path))).manifest().segments, "it was written anew"


def test_an_older_copy_of_the_file_does_not_meet_a_newer_index(made: Random) -> None:
    """The copy goes on to other memories under the numbers that the index knows from the first file."""
    made.store.scrub()
    older = made.path.read_bytes()
    made.add(60)
    answers(made.store, made.questions())
    made.store.close()
    made.path.write_bytes(older)
    made.store = SqliteStore(made.path)
    made.ids = [record.id for record in made.store.list(Filter(now=made.now, everything=True), None)]
    made.add(90)
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)


def test_a_copy_from_before_a_forgetting_has_the_memory_again(made: Random) -> None:
    made.store.scrub()
    older = made.path.read_bytes()
    made.store.forget(made.ids[:3])
    made.store.close()
    made.path.write_bytes(older)
    made.store = SqliteStore(made.path)
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store.count(Filter(now=made.now)) == 300


def test_files_are_private(made: Random) -> None:
    folder = folder_of(str(made.path))
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(file).st_mode) for file in folder.iterdir()} == {0o600}


def test_a_read_only_store_reads_the_index_and_writes_none(made: Random) -> None:
    questions = made.questions()
    expected = answers(made.store, questions)
    made.store.close()
    before = {file.name for file in folder_of(str(made.path)).iterdir()}
    with SqliteStore(made.path, read_only=True) as store:
        assert answers(store, questions) == expected
        assert store._indexes.latest.mapped.rows == 300
    assert {file.name for file in folder_of(str(made.path)).iterdir()} == before


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "memory.db-index").write_text("in the way")
    made = Random(tmp_path / "memory.db", 1)
    made.add(200)
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.rows == 0
    made.store.forget(made.ids[:1])
    made.store.close()


def test_forgetting_takes_a_memory_out_of_the_segments(made: Random) -> None:
    made.add(60)
    (secret,) = made.store.add([Draft(text="zanzibarquartz in the vault", id="the-secret-id")], made.now, None)
    answers(made.store, made.questions())
    made.add(60)
    answers(made.store, made.questions())
    folder = folder_of(str(made.path))

    def held() -> bytes:
        return b"".join(file.read_bytes() for file in folder.iterdir())

    assert b"zanzibarquartz" in held()
    assert b"the-secret-id" in held()
    made.store.forget([secret.id])
    assert b"zanzibarquartz" not in held()
    assert b"the-secret-id" not in held()
    made.reopen()
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)


def test_a_memory_that_was_forgotten_before_the_index_is_written_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Random(tmp_path / "memory.db", 5)
    made.add(60)
    made.store.add([Draft(text="zanzibarquartz in the vault", id="the-secret-id")], made.now, None)
    whole = IndexCache.whole

    def forgetting(self: IndexCache, connection: apsw.Connection) -> View:
        monkeypatch.setattr(IndexCache, "whole", whole)
        view = whole(self, connection)
        beside(lambda: made.store.forget(["the-secret-id"]))
        return view

    monkeypatch.setattr(IndexCache, "whole", forgetting)
    written = list[bytes]()
    put = Folder._put

    def watched(self: Folder, name: str, content: bytes | bytearray) -> None:
        written.append(bytes(content))
        put(self, name, content)

    monkeypatch.setattr(Folder, "_put", watched)
    answers(made.store, made.questions())
    assert not any(b"zanzibarquartz" in one or b"the-secret-id" in one for one in written)
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.rows == 60
    made.store.close()


def test_a_forgotten_vector_leaves_no_trace_in_the_codes_of_others(tmp_path: Path) -> None:
    """A code depends on its own vector and on a centre that tells nothing of others: here none."""
    parts = []
    for secret in (False, True):
        made = Random(tmp_path / f"{secret}.db", 5)
        made.add(60)
        if secret:
            far = np.full(SPACE.dimensions, 9.0, dtype=np.float32)
            made.store.add([Draft(text="far away", id="secret", vector=far)], made.now, SPACE)
        answers(made.store, made.questions())
        if secret:
            made.store.forget(["secret"])
        (entry,) = Folder(folder_of(str(made.path))).manifest().segments
        parts.append(Folder(folder_of(str(made.path))).open(entry))
        made.store.close()
    for name in ("mean", "codes", "scales", "errors", "norms"):
        assert np.array_equal(parts[0][name], parts[1][name])


def test_a_process_lets_go_of_segments_that_held_a_forgotten_memory(made: Random) -> None:
    made.reopen()
    answers(made.store, made.questions())
    old = made.store._indexes.latest.mapped.entries
    made.store.forget(made.ids[:1])
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.entries[0] != old[0]
    assert made.store._indexes.latest.mapped.entries[1:] == old[1:]
    assert old[0].file not in made.store._derived._held  # type: ignore[union-attr]


def told(store: SqliteStore) -> dict[str, object]:
    """What a view tells of its living rows, in their order."""
    view = store._indexes.latest
    alive = np.flatnonzero(view.catalogue.alive)
    assert view.catalogue.dead == view.catalogue.size - len(alive)
    assert view.matrix is not None
    assert view.impact is not None
    with store._connections.read() as connection:
        seqs = view.catalogue.seqs[alive].tolist()
        ids = view.catalogue.ids.of(alive)
        lines = view.catalogue.lines(connection, ids)
    ending = set(view.catalogue._ending().tolist())
    return {
        "entries": view.mapped.entries,
        "seqs": seqs,
        "ids": ids,
        "columns": {name: view.catalogue.columns[name][alive].tolist() for name, _ in COLUMNS},
        "counts": view.catalogue.groups(),
        "ending": [seq for row, seq in zip(alive.tolist(), seqs, strict=True) if row in ending],
        "threads": [
            line and ([view.catalogue.ids[row] for row in line[0].rows.tolist()], line[1]) for line in lines.values()
        ],
        "vectors": view.matrix.filled[alive].tolist(),
        "lengths": view.impact.lengths[alive].tolist(),
        "words": (view.impact.words, view.impact.alive),
        "postings": [view.impact.find(word.encode(), view.catalogue).living for word in WORDS],
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_process_goes_on_without_forgotten_rows_as_if_it_read_the_index_again(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    purged = derived.DerivedIndex.purged

    def watched(self: derived.DerivedIndex, view: View) -> View | None:
        found = purged(self, view)
        kept.append(found is not None)
        return found

    monkeypatch.setattr(derived.DerivedIndex, "purged", watched)
    made = Random(tmp_path / "memory.db", seed)
    made.add(220)
    made.store.amend({id: {"expires_at": NOW * 2} for id in made.ids[::9]}, made.now)
    made.add(20)
    answers(made.store, made.questions())
    for _ in range(8):
        for _ in range(made.chance.randrange(3)):
            made.change()
        if made.chance.random() < 0.5:  # else the view has not seen what was written before the forgetting
            answers(made.store, made.questions())
        victims = made.chance.sample(made.ids[:200], made.chance.choice((1, 1, 2, 5)))
        made.ids = [id for id in made.ids if id not in victims]
        made.store.forget(victims)
        questions = made.questions()
        assert answers(made.store, questions) == without_index(made.path, questions)
        with SqliteStore(made.path, read_only=True) as again:
            answers(again, questions)
            assert told(made.store) == told(again)
    made.store.close()
    assert sum(kept) > len(kept) / 2  # a row that changed since may have its vector in memory only


def test_a_segment_of_which_everything_was_forgotten_is_gone(made: Random) -> None:
    made.reopen()
    answers(made.store, made.questions())
    old = made.store._indexes.latest
    first = old.mapped.entries[0].rows
    made.store.forget(made.ids[:first])
    assert made.store._indexes.latest.catalogue.changes == old.catalogue.changes  # it was not read again
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    assert made.store._indexes.latest.mapped.entries == old.mapped.entries[1:]


def test_a_search_may_see_a_forgetting_before_the_index_is_purged_of_it(
    made: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_now(self: derived.DerivedIndex, connection: apsw.Connection) -> bool:
        return False

    made.reopen()
    answers(made.store, made.questions())
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(derived.DerivedIndex, "purge", not_now)
        made.store.forget(made.ids[3:6])
        answers(made.store, made.questions())
    before = made.store._indexes.latest
    made.store.scrub()
    after = made.store._indexes.latest
    assert (before.catalogue.dead, after.catalogue.dead) == (3, 0)
    assert after.catalogue.changes == before.catalogue.changes  # it was not read again
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)
    with SqliteStore(made.path, read_only=True) as again:
        answers(again, questions)
        assert told(made.store) == told(again)


def test_a_segment_that_is_gone_after_a_forgetting_is_done_without(
    made: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may write the index between two steps of this one."""
    made.reopen()
    answers(made.store, made.questions())
    purge = derived.DerivedIndex.purge

    def interfering(self: derived.DerivedIndex, connection: apsw.Connection) -> bool:
        done = purge(self, connection)
        (self.folder.path / self.folder.manifest().segments[0].file).unlink()
        return done

    monkeypatch.setattr(derived.DerivedIndex, "purge", interfering)
    made.store.forget(made.ids[:1])
    assert made.store._indexes.latest.catalogue.changes < 0
    questions = made.questions()
    assert answers(made.store, questions) == without_index(made.path, questions)


def test_a_receipt_reads_the_index(tmp_path: Path) -> None:
    with thinkback.open(tmp_path / "memory.db", embedder=None, reranker=None) as memory:
        memory.remember_many(f"number {n} of the words {WORDS[n % 30]}" for n in range(80))
        victim = memory.remember("the zanzibarquartz is in the vault")
        memory.recall("zanzibarquartz vault")
        store = memory.store
        assert isinstance(store, SqliteStore)
        assert store._derived is not None
        store._derived.wait()
        receipt = memory.forget_verified(victim.id)
    assert receipt.verified
    assert MANIFEST in {scan.file for scan in receipt.files}


def test_the_index_goes_with_its_space(tmp_path: Path) -> None:
    spaces = stores.SqliteSpaces(tmp_path)
    made = Random(tmp_path / "alice.db", 3)
    made.add(100)
    answers(made.store, made.questions())
    made.store.close()
    assert folder_of(str(made.path)).is_dir()
    spaces.drop("alice")
    assert not list(tmp_path.iterdir())


def harm(path: Path, sql: str) -> None:
    """Change vectors behind the store's back, so that no counter tells."""
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_a_coded_vector_that_the_file_lacks_is_left_out_alone(made: Random) -> None:
    vector, filter = made.numbers.standard_normal(SPACE.dimensions).astype(np.float32), Filter(now=made.now)
    made.reopen()
    expected = made.store.search_vectors(vector, filter, 9)
    catalogue = made.store._indexes.latest.catalogue
    (seq,) = catalogue.seqs[list(catalogue.present([expected[2].id]).values())].tolist()
    made.store.close()
    harm(made.path, f"DELETE FROM vectors WHERE place = {1 << 40 | seq}")
    made.reopen()
    assert made.store.search_vectors(vector, filter, 8) == [*expected[:2], *expected[3:]]


@pytest.mark.parametrize("size", [8, 4 * 24 + 4])
def test_a_coded_vector_of_another_size_is_damage(made: Random, size: int) -> None:
    vector, filter = made.numbers.standard_normal(SPACE.dimensions).astype(np.float32), Filter(now=made.now)
    made.store.close()
    harm(made.path, f"UPDATE vectors SET vector = zeroblob({size})")
    made.reopen()
    with raises(StoreDamaged, "damaged_row"):
        made.store.search_vectors(vector, filter, 9)
