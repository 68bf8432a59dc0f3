"""What happens when things go wrong: each fault has one clear error, and nothing acknowledged is lost."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from thinkback import opening
from thinkback.errors import (
    InvalidInput,
    NotAStore,
    NotFound,
    StoreBusy,
    StoreConflict,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
    ThinkbackError,
)
from thinkback.model import Draft
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces, admin, errors, hnsw, schema, session
from thinkback.stores.postgres import server as servers
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing.contract.words import NOW, by_keyword, everything, ids, put, put_one

from codes import raises  # isort: skip
from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres


@pytest.fixture
def mortal() -> Iterator[LocalServer]:
    """A server that may be killed."""
    found = LocalServer()
    yield found
    found.stop()


def test_a_killed_server_loses_no_acknowledged_write(mortal: LocalServer) -> None:
    spaces = PostgresSpaces(mortal.database(), wait_s=5)
    store = spaces.open("alice")
    kept: list[str] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                kept.append(put_one(store, f"cat number {number}").id)
            except (StoreUnreachable, StoreBusy, StoreError):
                return

    met: list[StoreError] = []

    def read() -> None:
        try:
            while not stop.is_set():
                with store.view() as view:
                    by_keyword(view, "cat")
        except StoreError as error:
            met.append(error)

    writers = [threading.Thread(target=work) for work in (write, write, write, read, read)]
    for writer in writers:
        writer.start()
    while len(kept) < 30:
        stop.wait(0.01)
    mortal.kill()
    for writer in writers:
        writer.join(60)
    assert [error for error in met if not isinstance(error, StoreUnreachable | StoreBusy)] == []
    assert len(met) == 2
    mortal.restart()
    _reached(store)
    assert set(kept) <= set(store.get(kept))
    assert store.check() == []
    assert put_one(store, "the cat is back").id
    spaces.close()


def test_recalls_amid_a_crash_are_answered_or_refused(mortal: LocalServer) -> None:
    """By a copy too: it cannot know whether the space was changed. After a restart the next recall is answered."""
    opener = Opener(Settings(embedder="none", reranker="none"), clock=lambda: NOW)
    spaces = PostgresSpaces(mortal.database())
    store = spaces.open("alice")
    memory = opener.over(store)
    memory.remember_many({"text": f"cat {n} sleeps in room {n % 7}"} for n in range(40))
    told = [hit.id for hit in memory.recall("cat 3", counted=False)]
    stop, met, answers = threading.Event(), list[ThinkbackError](), list[list[str]]()

    def ask() -> None:
        while not stop.is_set():
            try:
                answers.append([hit.id for hit in memory.recall("cat 3", counted=False)])
            except ThinkbackError as error:
                met.append(error)

    readers = [threading.Thread(target=ask) for _ in range(3)]
    for reader in readers:
        reader.start()
    while len(answers) < 50:
        stop.wait(0.01)
    assert spaces.copies.facts()["copies"] == 1
    mortal.kill()
    while len(met) < 3:
        stop.wait(0.01)
    stop.set()
    for reader in readers:
        reader.join(60)
    assert all(answer == told for answer in answers)
    assert {type(error) for error in met} == {StoreUnreachable}
    mortal.restart()
    _reached(store)
    assert [hit.id for hit in memory.recall("cat 3", counted=False)] == told
    spaces.close()


def _reached(store: Store) -> None:
    """A server that was restarted may still replay its log."""
    until = time.monotonic() + 120
    while True:
        try:
            store.state()
            return
        except (StoreBusy, StoreUnreachable):
            assert time.monotonic() < until


def test_a_recall_outlives_connections_that_were_cut(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    with spaces.open("alice") as store:
        record = put_one(store, "a grey cat")
        for _ in range(3):
            _cut(url)
            assert ids(by_keyword(store, "cat")) == [record.id]
            _cut(url)
            put(store, "a dog")
        assert store.count(everything()) == 4
    spaces.close()


def test_a_write_whose_answer_was_lost_is_kept_once(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = PostgresSpaces(server.database())
    store = spaces.open("alice")
    put(store, "a cat")
    at_once = session.Sessions.at_once

    def lost(self: session.Sessions, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        if next(committed):
            at_once(self, sql, params)
        raise StoreUnreachable("cut")

    monkeypatch.setattr(session.Sessions, "at_once", lost)
    committed = iter((True, False))
    for _ in range(2):
        kept = put(store, "a dog", "a bird", thread="t")
        assert store.get([record.id for record in kept]) == {record.id: record for record in kept}
    assert [record.position for record in kept] == [2, 3]
    assert store.count(everything()) == 5
    assert store.check() == []
    spaces.close()


def _cut(url: str) -> None:
    """Ends every other connection to the database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_view_whose_connection_was_cut_says_so(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    with spaces.open("alice") as store:
        put(store, "a cat")
        with pytest.raises(StoreUnreachable), store.view() as view:  # noqa: PT012
            view.state()
            _cut(url)
            by_keyword(view, "cat")
        assert len(by_keyword(store, "cat")) == 1
    spaces.close()


def test_an_exhausted_pool_says_so(server: LocalServer) -> None:
    spaces = PostgresSpaces(server.database(), pool_size=1, wait_s=0.2)
    with (
        spaces.open("alice") as store,
        store.view(),
        ThreadPoolExecutor(1) as other,
        raises(StoreBusy, "pool_exhausted"),
    ):
        other.submit(store.count, everything()).result()
    spaces.close()


def test_two_migrations_at_once(server: LocalServer) -> None:
    url = server.database()
    with ThreadPoolExecutor(4) as several:
        steps = list(several.map(admin.migrate, [url] * 4))
    assert sorted(steps) == [0, 0, 0, schema.VERSION]


_MIGRATES = "import sys; from thinkback.stores.postgres import admin; print(admin.migrate(sys.argv[1]))"


def test_two_processes_migrate_at_once(server: LocalServer) -> None:
    url = server.database()
    command = [sys.executable, "-c", _MIGRATES, url]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [one.communicate() for one in running]
    assert [error for _, error in told] == ["", ""]
    assert sorted(int(steps) for steps, _ in told) == [0, schema.VERSION]


@pytest.mark.parametrize("name", ["", "A", "../x", "a'; DROP TABLE thinkback.memories; --", "a" * 64, "-a", "a\n", "ü"])
def test_a_hostile_name_of_a_space_is_refused(shared_spaces: PostgresSpaces, name: str) -> None:
    for work in (shared_spaces.open, shared_spaces.create, shared_spaces.drop, shared_spaces.exists):
        with raises(InvalidInput, "space_name"):
            work(name)


def test_a_hostile_name_makes_no_store_of_a_database(server: LocalServer, tmp_path: Path) -> None:
    url, name = server.database(), "a'; DROP TABLE thinkback.memories; --"
    with raises(InvalidInput, "space_name"):
        opening.open_store(url, name)
    SqliteStore(tmp_path / "a.db").close()
    with raises(InvalidInput, "space_name"):
        opening.move(tmp_path / "a.db", url, space=name)
    with psycopg.connect(url) as connection:
        assert schema.version(connection) == 0


def test_spaces_are_made_listed_and_dropped(server: LocalServer) -> None:
    spaces = PostgresSpaces(server.database())
    alice, bob = spaces.open("alice"), spaces.open("bob")
    put(alice, "a cat", id="same"), put(bob, "a dog", id="same")
    assert spaces.names() == ["alice", "bob"]
    assert (spaces.exists("bob"), spaces.exists("eve")) == (True, False)
    spaces.drop("bob")
    with raises(NotFound, "unknown_space"):
        spaces.drop("bob")
    with raises(NotFound, "unknown_space"):
        put(bob, "a bird")
    assert spaces.names() == ["alice"]
    assert [record.text for record in alice.get(["same"]).values()] == ["a cat"]
    spaces.close()


def test_writers_of_one_space_and_of_many_lose_nothing(shared_spaces: PostgresSpaces) -> None:
    names = [f"many-{n}" for n in range(5)]
    stores = [shared_spaces.open(name) for name in names]

    def write(number: int) -> None:
        for turn in range(10):
            put(stores[0], f"cat {number} {turn}")
            put(stores[1 + number % 4], f"dog {number} {turn}")

    with ThreadPoolExecutor(6) as several:
        list(several.map(write, range(6)))
    assert [store.count(everything()) for store in stores] == [60, 20, 20, 10, 10]
    assert [store.state().changes for store in stores] == [60, 20, 20, 10, 10]
    assert [store.check() for store in stores] == [[]] * 5
    for name in names:
        shared_spaces.drop(name)


def test_conflicts_are_tried_again_and_then_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def conflict(*_: object) -> None:
        tried.append(1)
        raise psycopg.errors.DeadlockDetected("deadlock")

    monkeypatch.setattr("thinkback.stores.postgres.journal.set_setting", conflict)
    with pytest.raises(StoreConflict):
        store.set_setting("a", "b")
    assert len(tried) == errors.TRIES


def test_row_level_security_fences_a_tenant_off(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    put(spaces.open("alice"), "alice has a cat")
    put(spaces.open("bob"), "bob has a dog")
    spaces.close()
    with psycopg.connect(url, autocommit=True) as owner:
        for role in ("app_role", "alice_role"):
            owner.execute(f"DROP ROLE IF EXISTS {role}")  # type: ignore[arg-type]
            owner.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[arg-type]
    admin.secure(url, "app_role", {"alice": "alice_role"})
    database = url.split("/")[3].split("?")[0]
    with psycopg.connect(server.url(database, "alice_role"), autocommit=True) as raw:
        raw.execute("SET thinkback.space = '2'")
        assert raw.execute("SELECT text FROM thinkback.memories").fetchall() == [("alice has a cat",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw.execute("DELETE FROM thinkback.memories")
    with psycopg.connect(server.url(database, "app_role"), autocommit=True) as raw:
        assert raw.execute("SELECT count(*) FROM thinkback.memories").fetchone() == (0,)
    fenced = PostgresSpaces(server.url(database, "app_role"))
    bob = fenced.open("bob")
    put(bob, "bob has a bird")
    assert [hit.score > 0 for hit in by_keyword(bob, "bob")] == [True, True]
    assert by_keyword(bob, "alice") == []
    assert put_one(fenced.open("carol"), "a new space").id
    fenced.close()
    with psycopg.connect(url, autocommit=True) as owner:
        for role in ("app_role", "alice_role"):
            owner.execute(f"DROP OWNED BY {role}")  # type: ignore[arg-type]
            owner.execute(f"DROP ROLE {role}")  # type: ignore[arg-type]


# -- bad input: one clear error each, and nothing is changed


def test_addresses_that_lead_nowhere(server: LocalServer) -> None:
    with raises(InvalidInput, "store_url"):
        opening.open_store("postgresql://[host/x")
    for url in ("postgresql://postgres@127.0.0.1:1/x", server.url("no_such_database"), server.url(user="nobody")):
        with raises(StoreUnreachable, "cannot_connect"):
            opening.open_store(url)


def test_a_wrong_password_is_one_clear_error(server: LocalServer) -> None:
    url = server.database()
    name = url.split("/")[3].split("?")[0]
    rules = server.folder / "pg_hba.conf"
    before = rules.read_text()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("CREATE ROLE careful_role LOGIN PASSWORD 'right-secret'")
        owner.execute(f"GRANT CREATE ON DATABASE {name} TO careful_role")  # type: ignore[arg-type]
        owner.execute("CREATE EXTENSION vector")
        rules.write_text(f"local all careful_role scram-sha-256\n{before}")
        owner.execute("SELECT pg_reload_conf()")
        try:
            _refused(server.url(name, "careful_role"))
            for login in ("careful_role:wrong-secret", "careful_role"):
                with raises(StoreUnreachable, "cannot_connect") as found:
                    opening.open_store(server.url(name, login))
                assert "careful_role" in str(found.value) or "password" in str(found.value)
                assert "secret" not in str(found.value)
                assert schema.version(owner) == 0
            opening.open_store(server.url(name, "careful_role:right-secret")).close()
            assert schema.version(owner) == schema.VERSION
        finally:
            rules.write_text(before)
            owner.execute("SELECT pg_reload_conf()")


def _refused(url: str) -> None:
    """Waits until the server has read its rules again, and asks for a password."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            return
    raise AssertionError("the server asks for no password")


def test_a_password_never_shows(server: LocalServer) -> None:
    url = "postgresql://postgres:very-secret@127.0.0.1:1/x"
    with pytest.raises(StoreUnreachable) as found:
        opening.open_store(url)
    assert "very-secret" not in str(found.value)
    assert servers.shown(url) == "postgresql://127.0.0.1:1/x"


def test_a_database_that_is_not_ours_is_left_alone(server: LocalServer) -> None:
    url = server.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA thinkback; CREATE TABLE thinkback.notes (a int)")
        with raises(NotAStore, "foreign_schema"):
            opening.open_store(url)
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'thinkback'").fetchall()
    assert found == [("notes",)]


def test_a_newer_schema_is_left_alone(server: LocalServer) -> None:
    url = server.database()
    admin.migrate(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO thinkback.schema_version VALUES (99)")
    with pytest.raises(StoreTooNew):
        opening.open_store(url)


def test_an_old_server_a_missing_extension_and_another_encoding(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.database()
    with monkeypatch.context() as patch:
        patch.setattr(servers, "OLDEST_SERVER", 990000)
        with raises(StoreError, "server_too_old"):
            opening.open_store(url)
    with monkeypatch.context() as patch:
        patch.setattr(servers, "OLDEST_PGVECTOR", (99, 0))
        for work in (opening.open_store, admin.migrate):
            with raises(StoreError, "pgvector_old"):
                work(url)
    name = url.split("/")[3].split("?")[0]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET extension_control_path = '/nowhere'")  # type: ignore[arg-type]
        for work in (opening.open_store, admin.migrate):
            with raises(StoreError, "pgvector_missing"):
                work(url)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with raises(StoreError, "encoding"):
        opening.open_store(server.url("latin"))
    with psycopg.connect(url) as connection:
        assert schema.version(connection) == 0


def test_a_database_without_a_store_is_not_made_one_by_reading(server: LocalServer, tmp_path: Path) -> None:
    url = server.database()
    works: tuple[Callable[[], object], ...] = (
        lambda: opening.open_store(url, create=False),
        lambda: opening.open_store(url, read_only=True),
        lambda: opening.move(url, tmp_path / "a.db"),
        lambda: hnsw.listed(url),
        lambda: admin.secure(url, "postgres"),
    )
    for work in works:
        with raises(NotFound, "no_store"):
            work()
    with psycopg.connect(url) as connection:
        assert schema.version(connection) == 0


def test_the_address_of_another_kind_of_server_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("mysql://root:secret@host/x", "postgresql+psycopg://host/x", "sqlite:///x.db"):
        with raises(InvalidInput, "store_url") as found:
            opening.open_store(url)
        assert "secret" not in str(found.value)
    assert list(tmp_path.iterdir()) == []


def test_a_role_that_may_not_create_tables_is_told(server: LocalServer) -> None:
    url = server.database()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS weak_role")
        owner.execute("CREATE ROLE weak_role LOGIN")
    database = url.split("/")[3].split("?")[0]
    with raises(StoreError, "not_permitted"):
        opening.open_store(server.url(database, "weak_role"))


def test_a_standby_reads_and_says_that_it_takes_no_writes(server: LocalServer) -> None:
    """A server in read-only mode refuses as a standby does."""
    url = server.database()
    spaces = PostgresSpaces(url)
    put(spaces.open("alice"), "a cat")
    spaces.close()
    database = url.split("/")[3].split("?")[0]
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")  # type: ignore[arg-type]
    spaces = PostgresSpaces(url)
    store = spaces.open("alice")
    assert len(by_keyword(store, "cat")) == 1
    with raises(StoreReadOnly, "standby"):
        store.add([Draft(text="a dog")], NOW)
    spaces.close()


def test_citus_is_asked_for_by_name(server: LocalServer) -> None:
    with raises(StoreError, "citus_missing"):
        admin.distribute(server.database())


# What Citus demands of a table, by functions of its names and arguments that only look.
_CITUS = """
CREATE TABLE public.distributed (name text PRIMARY KEY, by text, beside text);
CREATE FUNCTION public.create_reference_table(place regclass) RETURNS void LANGUAGE sql AS
$$ INSERT INTO public.distributed VALUES (place::text, NULL, NULL) $$;
CREATE FUNCTION public.create_distributed_table(place regclass, by text, colocate_with text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = place AND i.indisunique AND NOT EXISTS (
        SELECT 1 FROM pg_attribute a WHERE a.attrelid = place AND a.attname = by
        AND a.attnum = ANY(i.indkey[0:i.indnkeyatts - 1]))) THEN
        RAISE EXCEPTION 'a unique index of % lacks %', place, by;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conrelid = place AND c.contype = 'f') THEN
        RAISE EXCEPTION '% has foreign keys', place;
    END IF;
    IF colocate_with IS NOT NULL AND NOT EXISTS (SELECT 1 FROM public.distributed d WHERE d.name = colocate_with) THEN
        RAISE EXCEPTION '% is not distributed', colocate_with;
    END IF;
    INSERT INTO public.distributed VALUES (place::text, by, colocate_with);
END $$;
"""


def test_every_table_is_one_that_citus_can_distribute(server: LocalServer) -> None:
    """By an extension of that name, made for the test: unique indexes hold the space, and all lie beside the first table."""
    url = server.database()
    folder = Path(f"{server.folder}-citus")
    (folder / "extension").mkdir(parents=True)
    (folder / "extension" / "citus.control").write_text("default_version = '1'\n")
    (folder / "extension" / "citus--1.sql").write_text(_CITUS)
    for path in (folder, folder / "extension", *(folder / "extension").iterdir()):
        path.chmod(0o755)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET extension_control_path = '{folder}:$system'")  # type: ignore[arg-type]
            connection.execute("CREATE EXTENSION citus")
            assert admin.distribute(url) == list(schema.BY_SPACE)
            rows = connection.execute("SELECT d.name, d.by, d.beside FROM public.distributed d").fetchall()
    finally:
        shutil.rmtree(folder)
    first, *others = (f"thinkback.{table}" for table in schema.BY_SPACE)
    expected = {(f"thinkback.{table}", None, None) for table in schema.EVERYWHERE}
    expected |= {(first, "space", None), *((table, "space", first) for table in others)}
    assert set(rows) == expected
    found = {f"thinkback.{table}" for table in _tables(url)}
    assert found - {"thinkback.schema_version"} == {name for name, _, _ in expected} - {"thinkback.schema_version"}


def _tables(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'thinkback'"
        return [name for (name,) in connection.execute(sql).fetchall()]
