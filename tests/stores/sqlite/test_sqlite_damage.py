"""Damage is named, with its table and row, and never silent; what is derived may be damaged without stopping a search."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from codes import raises

import thinkback
from thinkback.errors import InvalidInput, StoreDamaged, StoreError
from thinkback.memory import Memory
from thinkback.model import Draft, Filter
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing.toys import ToyEmbedder

NOW = 1_700_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two memories, a link, a judgement and a tag."""
    with thinkback.open(tmp_path / "memory.db", embedder=ToyEmbedder(), reranker=None) as memory:
        memory.remember("the grey cat sleeps", id="cat", tags=["pets"])
        memory.remember("the brown dog barks", id="dog")
        memory.link("cat", "dog")
        memory.judge("which animal sleeps", "cat")
    return tmp_path / "memory.db"


def harm(path: Path, sql: str) -> None:
    """Changes the file as no Thinkback would."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(sql)
    connection.close()


def opened(path: Path) -> Memory:
    return thinkback.open(path, embedder=ToyEmbedder(), reranker=None)


READS = {
    "list": lambda memory: memory.list(),
    "get": lambda memory: memory.get("cat"),
    "history": lambda memory: memory.history("cat"),
    "export": lambda memory: list(memory.store.export_records()),
    "audit": lambda memory: memory.audit(),
    "recall": lambda memory: memory.recall("grey cat sleeps"),
}
HARM = {
    "text that is not UTF-8": "UPDATE memories SET text = CAST(x'74ff74' AS TEXT) WHERE id = 'cat'",
    "an impossible kind": "UPDATE memories SET kind = 'seman-ic' WHERE id = 'cat'",
    "tags that are not JSON": "UPDATE memories SET tags = '[oops' WHERE id = 'cat'",
    "metadata of another shape": "UPDATE memories SET metadata = '{\"a' WHERE id = 'cat'",
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("what", HARM)
def test_a_row_that_cannot_be_is_named(path: Path, what: str, read: str) -> None:
    harm(path, HARM[what])
    with opened(path) as memory, raises(StoreDamaged, "damaged_row") as error:
        READS[read](memory)
    assert "row 1 of memories" in error.value.message


@pytest.mark.parametrize("what", HARM)
def test_a_check_reports_the_row_and_repair_changes_nothing(path: Path, what: str) -> None:
    harm(path, HARM[what])
    with opened(path) as memory:
        found = [problem for problem in memory.check() if problem.area == "memories"]
        assert found
        assert not any(problem.repairable for problem in found)
        assert any(problem.area == "memories" for problem in memory.repair())


DERIVED = {
    "a tag that is not UTF-8": ("UPDATE memory_tags SET tag = CAST(x'74ff' AS TEXT)", "tags"),
    "an index whose text is not UTF-8": ("UPDATE fts_content SET c0 = CAST(x'74ff' AS TEXT)", "full text"),
    "a vector of another size": ("UPDATE vectors SET vector = x'00000000'", "vectors"),
    "a full-text index that is gone": ("DROP TABLE fts", "full text"),
    "a full-text index of no known version": ("UPDATE fts_config SET v = 0 WHERE k = 'version'", "full text"),
}


@pytest.mark.parametrize("what", DERIVED)
def test_a_search_goes_on_without_a_damaged_index(path: Path, what: str) -> None:
    sql, area = DERIVED[what]
    harm(path, sql)
    with opened(path) as memory:
        found = memory.recall("grey cat sleeps")
        assert "cat" in [hit.id for hit in found]
        assert area in {problem.area for problem in memory.check()}
        left = memory.repair()
        assert [problem for problem in left if problem.area != "vectors"] == []
        memory.embed_missing()
        assert memory.check() == []


ELSEWHERE = {
    "a time beyond the calendar": ("UPDATE memories SET created_at = 1 << 62", lambda m: m.list(everything=True)),
    "a vector that is gone": ("DELETE FROM vectors", lambda m: list(exported(m))),
    "a setting that is another's": (
        "REPLACE INTO settings (key, value) VALUES ('tidy.decayed_until', '01KR2E4K')",
        lambda m: m.tidy(dry_run=False),
    ),
    "a column of another name": ("ALTER TABLE memories RENAME COLUMN slides TO slidez", lambda m: m.list()),
}


def exported(memory: Memory) -> Iterator[object]:
    with memory.export(vectors=True) as snapshot:
        yield from snapshot.records


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_is_only_noticed_later_is_damage_too(path: Path, what: str) -> None:
    sql, use = ELSEWHERE[what]
    harm(path, sql)
    with opened(path) as memory, raises(StoreDamaged, "damaged_row"):
        use(memory)


def test_a_write_to_an_unreadable_index_is_refused_with_a_remedy(path: Path) -> None:
    harm(path, "UPDATE fts_config SET v = 0 WHERE k = 'version'")
    with opened(path) as memory:
        for write in (lambda: memory.remember("a dog"), lambda: memory.forget("cat")):
            with raises(StoreDamaged, "missing_index") as refused:
                write()
            assert refused.value.remedy is not None
        assert memory.repair() == []
        assert memory.remember("a dog").text == "a dog"


@pytest.mark.parametrize(("spelt", "misspelt"), [("tokenize", "tooenize"), ("unicode61", "unicode62")])
def test_an_index_whose_definition_is_damaged_is_one_that_is_gone(path: Path, spelt: str, misspelt: str) -> None:
    definition = f"UPDATE sqlite_master SET sql = replace(sql, '{spelt}', '{misspelt}') WHERE name = 'fts'"
    harm(path, f"PRAGMA writable_schema = ON; {definition}")
    with opened(path) as memory, raises(StoreDamaged, "missing_index"):
        memory.remember("a dog")


def test_a_search_says_which_leg_it_did_without(path: Path) -> None:
    harm(path, "UPDATE vectors SET vector = x'00000000'")
    with opened(path) as memory:
        assert "damaged_row" in {warning.code for warning in memory.recall("grey cat sleeps").warnings}


def test_damage_of_a_judgement_a_link_and_the_journal_is_named(path: Path) -> None:
    harm(path, "UPDATE judgements SET query = CAST(x'ff' AS TEXT)")
    with opened(path) as memory, raises(StoreDamaged, "damaged_row") as error:
        memory.judgements()
    assert "judgements" in error.value.message


@pytest.mark.parametrize("main", ["empty", "missing"])
def test_a_log_without_its_file_is_left_alone(path: Path, main: str, tmp_path: Path) -> None:
    log = Path(f"{path}-wal")
    log.write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    path.write_bytes(b"") if main == "empty" else path.unlink()
    for read_only in (False, True):
        with raises(StoreDamaged, "lone_log"):
            SqliteStore(path, read_only=read_only)
    assert log.stat().st_size == 5004


def test_an_error_of_the_caller_inside_a_transaction_stays_its_own(path: Path) -> None:
    harm(path, HARM["an impossible kind"])
    with SqliteStore(path) as store, pytest.raises(KeyError, match="mine"), store.transaction():
        raise KeyError("mine")


@pytest.mark.parametrize("size", [1e308, 1e39, -1e300])
def test_a_vector_beyond_32_bits_is_refused(size: float) -> None:
    with SqliteStore(":memory:") as store, raises(InvalidInput, "not_finite"):
        store.add([Draft(text="far", vector=np.array([size, size]))], NOW, EmbeddingSpace("toy", 2))
    with thinkback.open(":memory:", embedder=None) as memory, raises(InvalidInput, "invalid_vectors"):
        memory.recall("far", vector=np.array([size, size]))


class _Forgetful(SqliteStore):
    """A store whose index reports the same versions as missing, whatever is written."""

    def next_to_reembed(self, limit):  # type: ignore[no-untyped-def]
        return dict(enumerate(self.list(Filter(now=NOW, everything=True), 1), 1))

    unembedded = next_to_reembed


def test_embedding_stops_when_it_makes_no_progress(tmp_path: Path) -> None:
    from thinkback.lifecycle.embed import Embedding

    with _Forgetful(tmp_path / "memory.db") as store:
        store.add([Draft(text="again and again")], NOW)
        embedding = Embedding(store, ToyEmbedder)
        with raises(StoreDamaged, "no_progress"):
            embedding.reembed()
        with raises(StoreDamaged, "no_progress"):
            embedding.embed_missing()


@pytest.fixture
def no_descriptors() -> Iterator[object]:
    """A function after which no file can be opened."""
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []

    def take() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, usual[1]), usual[1]))
        try:
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return

    yield take
    for descriptor in taken:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def test_what_was_forgotten_is_told_although_no_file_can_be_opened(path: Path, no_descriptors) -> None:  # type: ignore[no-untyped-def]
    with opened(path) as memory:
        memory.remember("the bird sings", id="bird")
        memory.forget_verified("bird")  # modules are files too: those that forgetting needs are loaded now
        no_descriptors()
        done = memory.forget("cat")
        receipt = memory.forget_verified("dog")
    assert done.ids == ("cat",)
    assert receipt.forgotten == ("dog",)
    assert not receipt.verified or not receipt.warnings


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_a_thread_opens_stores_does_not_hang_the_child(tmp_path: Path) -> None:
    """In a process of its own: threads of other tests may be in the middle of a query, which no fork waits for."""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", _FORKING, str(tmp_path)], check=False, timeout=300)
    assert ended.returncode == 0


_FORKING = """
import os, signal, sys, threading
from pathlib import Path
from thinkback.stores.sqlite import SqliteStore

folder, stop, statuses = Path(sys.argv[1]), threading.Event(), []

def open_stores():
    while not stop.is_set():
        SqliteStore(folder / "parent.db").close()

thread = threading.Thread(target=open_stores)
thread.start()
for _ in range(15):
    child = os.fork()
    if not child:
        signal.alarm(30)
        SqliteStore(folder / "child.db").close()
        os._exit(0)
    statuses.append(os.waitpid(child, 0)[1])
stop.set()
thread.join()
sys.exit(any(statuses))
"""


@pytest.mark.parametrize("bad", ["a\0b", "a" * 5000, "x/" * 4000 + "m.db", "\ud800.db"])
def test_a_path_that_no_file_can_have(bad: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        SqliteStore(os.path.join(tmp_path, bad))


@pytest.mark.parametrize("column", ["essenc%", "essence nonsense", "rank"])
def test_a_full_text_index_that_is_declared_wrongly_is_a_damaged_index(path: Path, column: str) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'essence', ?) WHERE name = 'fts'", (column,))
        assert connection.changes() == 1
    connection.close()
    with opened(path) as memory, raises(StoreDamaged, "missing_index"):
        memory.update("cat", text="the grey cat wakes")
