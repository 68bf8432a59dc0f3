"""A space that is read again and again unchanged is answered from a copy in the process, while it stays unchanged."""

import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from thinkback.errors import StoreConflict
from thinkback.memory import Memory
from thinkback.model import Access, Filter
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces, admin, copies, session
from thinkback.stores.postgres.store import PostgresStore
from thinkback.stores.sqlite import impact
from thinkback.testing import StoreContract, ToyEmbedder
from thinkback.testing.contract.words import NOW, by_keyword, by_vector, everything, ids, put

from postgres_server import LocalServer, numbers  # isort: skip

pytestmark = pytest.mark.postgres
VIEWS = 5  # of a small space, after which it is surely copied
THROUGH_VIEWS = (
    "about",
    "between",
    "count",
    "dated",
    "edges",
    "frequencies",
    "get",
    "passages",
    "recent",
    "search_keywords",
    "search_passages",
    "search_vectors",
    "tags",
    "vectors",
)


class Viewed:
    """A store whose reads each open a view, and so are answered from a copy."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name not in THROUGH_VIEWS or self._store.in_transaction:
            return getattr(self._store, name)

        def read(*given: Any, **named: Any) -> Any:
            with self._store.view() as view:
                return getattr(view, name)(*given, **named)

        return read


class TestACopyKeepsTheContract(StoreContract):
    """Each read of each test is answered from a copy that was made for it."""

    @pytest.fixture
    def store(self, shared_spaces: PostgresSpaces, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setattr(copies, "_PAYS_FROM", 1)
        name = f"space-{next(numbers)}"
        with shared_spaces.open(name) as found:
            yield Viewed(found)
        shared_spaces.drop(name)


@pytest.fixture
def spaces(server: LocalServer) -> Iterator[PostgresSpaces]:
    found = PostgresSpaces(server.database())
    yield found
    found.close()


@pytest.fixture
def memory(spaces: PostgresSpaces) -> Memory:
    return _memory(spaces.open("alice"))


def _memory(store: Store) -> Memory:
    memory: Memory = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW).over(store)
    return memory


def _filled(memory: Memory, count: int = 20) -> None:
    memory.remember_many({"text": f"cat {n} sleeps in room {n % 9}", "thread": "t"} for n in range(count))


def _heat(memory: Memory) -> None:
    for _ in range(VIEWS):
        memory.recall("which cat sleeps?", counted=False)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every message to the server but the end of a transaction."""
    seen: list[str] = []

    def watched(work: Callable[..., Any]) -> Callable[..., Any]:
        def send(connection: Any, sql: str, *more: Any) -> Any:
            seen.append(sql)
            return work(connection, sql, *more)

        return send

    for name in ("begin", "execute"):
        monkeypatch.setattr(session, name, watched(getattr(session, name)))
    return seen


def test_one_message_asks_whether_the_space_changed(memory: Memory, sent: list[str]) -> None:
    _filled(memory)
    _heat(memory)
    sent.clear()
    assert len(memory.recall("which cat sleeps in room 3?", counted=False)) > 3
    assert len(sent) == 1, sent
    assert "BEGIN" not in sent[0]  # nothing has to be ended after it


def test_a_search_outside_of_a_recall_asks_the_copy_too(memory: Memory, sent: list[str]) -> None:
    _filled(memory)
    store = memory.store
    expected = [(by_keyword(store, "cat"), by_vector(store, "cat"), store.count(everything())) for _ in range(VIEWS)]
    sent.clear()
    assert (by_keyword(store, "cat"), by_vector(store, "cat"), store.count(everything())) == expected[0]
    assert len(sent) == 3, sent


def test_what_a_copy_does_not_hold_is_read_at_the_same_moment(spaces: PostgresSpaces, memory: Memory) -> None:
    """A copy and the server answer one view together, or the view is lost; a recall then reads everything again."""
    store = memory.store
    _filled(memory)
    _heat(memory)
    past = Filter(now=NOW, known_at=NOW)
    with store.view() as view:
        assert view.count(past) == view.count(everything()) == 20
        put(store, "a dog")
        assert view.count(past) == view.count(everything()) == 20
    _heat(memory)
    with store.view() as view:
        assert view.count(everything()) == 21
        put(store, "a bird")
        assert view.count(everything()) == 21
        with pytest.raises(StoreConflict):
            view.count(past)
    _heat(memory)
    assert spaces.facts()["copies"] == 1
    assert len(memory.recall("which cat sleeps?", known_at=NOW, counted=False)) > 3
    assert memory.recall("who sings? a bird", known_at=NOW, limit=1, counted=False)[0].text == "a bird"


def test_a_copy_that_is_being_made_while_a_memory_is_forgotten_is_not_kept(
    spaces: PostgresSpaces, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    _filled(memory)
    gone = memory.list(limit=1)[0].id
    contents = copies._contents

    def meanwhile(tx: session.Tx) -> Any:
        found = contents(tx)
        monkeypatch.setattr(copies, "_contents", contents)
        with ThreadPoolExecutor(1) as other:
            other.submit(memory.forget, gone).result()
        return found

    monkeypatch.setattr(copies, "_contents", meanwhile)
    while copies._contents is not contents:  # until a copy was made
        memory.recall("which cat sleeps?", counted=False)
    assert spaces.facts()["copies"] == 0


def test_a_fenced_role_reads_copies_too(server: LocalServer, spaces: PostgresSpaces, sent: list[str]) -> None:
    """Row-level security hides the counters from a message that does not name its space."""
    url = spaces.server.url
    _filled(_memory(spaces.open("alice")))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("CREATE ROLE copying_role LOGIN")
        admin.secure(url, "copying_role")
        fenced = PostgresSpaces(server.url(url.split("/")[3].split("?")[0], "copying_role"))
        memory = _memory(fenced.open("alice"))
        _heat(memory)
        sent.clear()
        assert len(memory.recall("which cat sleeps in room 3?", counted=False)) > 3
        assert len(sent) == 1, sent
        fenced.close()
        owner.execute("DROP OWNED BY copying_role")
        owner.execute("DROP ROLE copying_role")


def test_what_another_process_writes_is_found(server: LocalServer, spaces: PostgresSpaces, memory: Memory) -> None:
    _filled(memory)
    _heat(memory)
    other = PostgresSpaces(spaces.server.url)
    new = _memory(other.open("alice")).remember("a dog barks at the gate")
    assert memory.recall("who barks at the gate?", counted=False)[0].id == new.id
    assert spaces.facts()["copies"] == 0
    other.close()


def test_a_forgotten_memory_is_gone_from_this_process_at_once(spaces: PostgresSpaces, memory: Memory) -> None:
    _filled(memory)
    _heat(memory)
    (held,) = [copied.store for copied in spaces.copies._held.values()]
    gone = weakref.ref(held)
    del held
    memory.forget(memory.list(limit=1)[0].id)
    assert spaces.facts()["copies"] == 0
    assert gone() is None  # with nothing that keeps its memory
    _heat(memory)
    assert spaces.facts()["copies"] == 1
    spaces.drop("alice")
    assert spaces.facts()["copies"] == 0


def test_a_space_that_is_written_between_its_recalls_is_never_copied(spaces: PostgresSpaces, memory: Memory) -> None:
    _filled(memory)
    for n in range(3 * VIEWS):
        memory.recall("which cat sleeps?", counted=False)
        if n % 2:
            memory.remember(f"bird {n} sings")
    assert spaces.facts()["copies"] == 0


def test_accesses_counted_by_others_are_seen(spaces: PostgresSpaces, memory: Memory) -> None:
    _filled(memory)
    _heat(memory)
    id = memory.recall("which cat sleeps?", counted=False)[0].id
    other = PostgresSpaces(spaces.server.url)
    other.open("alice").touch({id: Access(7, NOW)})
    found = memory.recall("which cat sleeps?", counted=False)
    assert {hit.id: hit.stored.access_count for hit in found}[id] == 7
    assert spaces.facts()["copies"] == 1  # nothing that is searched changed
    other.close()


def test_a_restored_backup_is_never_taken_for_what_was_written_after_it(server: LocalServer) -> None:
    """Two lives of a space have the same number of changes, and other memories."""
    url = server.database()
    name = url.split("/")[3].split("?")[0]
    first = PostgresSpaces(url)
    _filled(_memory(first.open("alice")))
    first.close()
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE backup TEMPLATE {name}")  # type: ignore[arg-type]
        lived = PostgresSpaces(url)
        memory = _memory(lived.open("alice"))
        memory.remember("a dog barks at the gate", id="lost")
        _heat(memory)
        before = memory.store.state()
        assert lived.facts()["copies"] == 1
        lived.server.close()
        owner.execute(f"DROP DATABASE {name}")  # type: ignore[arg-type]
        owner.execute(f"ALTER DATABASE backup RENAME TO {name}")  # type: ignore[arg-type]
    again = PostgresSpaces(url)
    _memory(again.open("alice")).remember("a bird sings at the gate", id="kept")
    again.copies = lived.copies  # as in a process that lives on
    restored = _memory(again.open("alice"))
    assert restored.store.state() == before
    assert "lost" not in ids(list(restored.recall("who barks at the gate?", counted=False)))
    assert again.facts()["copies"] == 0
    again.close()


def test_copies_take_no_more_than_they_may(server: LocalServer) -> None:
    spaces = PostgresSpaces(server.database(), copies_mb=1)
    memories = [_memory(spaces.open(f"space-{n}")) for n in range(6)]
    for memory in memories:
        _filled(memory, 100)
    for memory in memories:
        _heat(memory)
    facts = spaces.facts()
    assert 0 < facts["copies"] < len(memories)
    assert 0 < facts["copies_bytes"] <= 1 << 20
    large = _memory(spaces.open("large"))
    _filled(large, 400)
    _heat(large)
    assert spaces.facts() | {"pool_available": 0} == facts | {"pool_available": 0}  # it was not even tried
    for _ in range(4 * VIEWS):
        memories[-1].recall("which cat sleeps?", counted=False)
    assert memories[-1].store._sessions.space in spaces.copies._held  # type: ignore[attr-defined]
    spaces.close()


def test_none_are_made_if_none_are_wanted(server: LocalServer) -> None:
    spaces = PostgresSpaces(server.database(), copies_mb=0)
    memory = _memory(spaces.open("alice"))
    _filled(memory)
    _heat(memory)
    assert spaces.facts()["copies"] == 0
    spaces.close()


def test_readers_of_copies_beside_a_writer_see_one_moment_each(spaces: PostgresSpaces) -> None:
    """Every view sees as many memories as its counters say, however the copy comes and goes."""
    store = spaces.open("alice")
    put(store, *(f"cat {n}" for n in range(5)))

    def read(_: int) -> None:
        for _ in range(40):
            with store.view() as view:
                changes, found = view.state().changes, view.count(everything())
                assert len(by_keyword(view, "cat", limit=99)) == len(by_vector(view, "cat", limit=99)) == found
                assert found == 4 + changes, (found, changes)

    def write() -> None:
        for n in range(12):
            put(store, f"cat again {n}")
            for _ in range(VIEWS):
                with store.view() as view:
                    view.recent(Filter(now=NOW), 1)

    with ThreadPoolExecutor(5) as several:
        writing = several.submit(write)
        list(several.map(read, range(4)))
        writing.result()


def test_texts_are_not_kept_among_the_words_that_were_asked_for(store: Store) -> None:
    """Splitting a text into words leaves nothing of it in the process, so that a forgotten memory is gone."""
    put(store, "the unmistakable sentence about a cat")
    assert len(by_keyword(store, "unmistakable")) == 1
    assert [text for text in impact._tokens if "sentence" in text] == []
