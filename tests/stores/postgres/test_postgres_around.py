"""What stands around a server in the field: pgbouncer in transaction mode before it, a standby beside it."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from thinkback.errors import StoreReadOnly
from thinkback.stores.postgres import PostgresSpaces
from thinkback.testing.contract.words import by_keyword, by_vector, everything, ids, put, put_one

from codes import raises  # isort: skip
from postgres_server import LocalServer, binaries  # isort: skip

pytestmark = pytest.mark.postgres
PGBOUNCER = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")
WAIT_S = 60


@contextmanager
def _running(command: list[str], address: str, folder: Path, user: str | None) -> Iterator[None]:
    """A program, once it answers as a database does."""
    with (folder / "log").open("wb") as log:
        program = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, user=user)
    try:
        until = time.monotonic() + WAIT_S
        while True:
            try:
                psycopg.connect(address, connect_timeout=2).close()
                break
            except psycopg.OperationalError:
                if program.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.05)
        yield
    finally:
        program.send_signal(signal.SIGINT)  # for both a fast shutdown, whoever is connected
        program.wait(WAIT_S)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def _bouncer(server: LocalServer, database: str, folder: Path) -> Iterator[str]:
    """The address of pgbouncer in transaction mode, with fewer connections to the server than callers."""
    assert PGBOUNCER is not None
    port = _free_port()
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n{database} = host={server.folder} dbname={database} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"auth_file = {folder / 'users'}\npool_mode = transaction\ndefault_pool_size = 3\nserver_reset_query =\n"
    )
    user = "nobody" if os.geteuid() == 0 else None  # pgbouncer refuses to run as root
    for path in (folder, folder / "users", folder / "pgbouncer.ini"):
        path.chmod(0o755)
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    address = f"postgresql://postgres@127.0.0.1:{port}/{database}"
    with _running([PGBOUNCER, str(folder / "pgbouncer.ini")], address, folder, user):
        yield address


@pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed")
def test_a_store_behind_pgbouncer_in_transaction_mode(server: LocalServer, tmp_path: Path) -> None:
    direct = server.database()
    name = direct.split("/")[3].split("?")[0]
    server.folder.chmod(0o755)
    with _bouncer(server, name, tmp_path) as address:
        spaces = PostgresSpaces(address, pool_size=8)
        stores = [spaces.open(f"space-{n}") for n in range(4)]

        def work(number: int) -> int:
            store = stores[number % 4]
            for turn in range(5):
                put(store, f"cat {number} {turn}", thread="t")
                with store.view() as view:
                    assert len(by_vector(view, f"cat {number} {turn}")) > 0
            return len(by_keyword(store, "cat"))

        with ThreadPoolExecutor(8) as several:
            assert min(several.map(work, range(8))) >= 5
        with stores[0].transaction():
            put(stores[0], "one more")
        assert [store.count(everything()) for store in stores] == [11, 10, 10, 10]
        assert [store.check() for store in stores] == [[]] * 4
        with spaces.server.connection() as connection:
            assert connection.prepare_threshold is None  # one of the three would be asked for what another has prepared
        spaces.close()


def test_a_statement_is_prepared_on_a_connection_of_its_own(server: LocalServer) -> None:
    spaces = PostgresSpaces(server.database(), pool_size=1, copies_mb=0)
    store = spaces.open("alice")
    put(store, "a grey cat")
    for _ in range(5):
        assert len(by_keyword(store, "cat")) == 1
    with spaces.server.connection() as connection:
        found = connection.execute("SELECT statement FROM pg_prepared_statements").fetchall()
    assert any("thinkback.memories" in sql for (sql,) in found)  # the postings of a word are read once
    spaces.close()


@contextmanager
def _standby(primary: LocalServer, folder: Path) -> Iterator[str]:
    """The address of a standby that follows the primary."""
    owner = primary.folder.stat().st_uid
    user = pwd.getpwuid(owner).pw_name if owner != os.geteuid() else None
    data = Path(f"{primary.folder}-standby")
    command = [
        str(binaries() / "pg_basebackup"),
        "-h",
        str(primary.folder),
        "-U",
        "postgres",
        "-D",
        str(data),
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
    ]
    subprocess.run(command, check=True, user=user, capture_output=True, cwd="/")
    port = _free_port()
    run = [
        str(binaries() / "postgres"),
        "-D",
        str(data),
        "-c",
        f"port={port}",
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        f"unix_socket_directories={data}",
    ]
    address = f"postgresql://postgres@/postgres?host={data}&port={port}"
    try:
        with _running(run, address, folder, user):
            yield address
    finally:
        shutil.rmtree(data, ignore_errors=True)


def test_a_standby_answers_and_takes_no_writes(tmp_path: Path) -> None:
    primary = LocalServer()
    try:
        spaces = PostgresSpaces(primary.url())
        store = spaces.open("alice")
        first = put_one(store, "a grey cat", thread="t")
        tmp_path.chmod(0o777)
        with _standby(primary, tmp_path) as address:
            behind = PostgresSpaces(address, read_only=True)
            copy = behind.open("alice")
            assert ids(by_keyword(copy, "cat")) == [first.id]
            with pytest.raises(StoreReadOnly):
                put(copy, "a dog")
            with psycopg.connect(address, autocommit=True) as raw:
                raw.execute("SELECT pg_wal_replay_pause()")
                second = put_one(store, "a black cat", thread="t")
                for _ in range(5):  # from a copy too: it is behind, and answers of one earlier moment
                    assert ids(by_keyword(copy, "cat")) == [first.id]
                assert copy.state() != store.state()
                raw.execute("SELECT pg_wal_replay_resume()")
            until = time.monotonic() + WAIT_S
            while copy.state() != store.state():
                assert ids(by_keyword(copy, "cat")) in ([first.id], ids(by_keyword(store, "cat")))
                assert time.monotonic() < until
            assert ids(by_keyword(copy, "cat")) == ids(by_keyword(store, "cat"))
            assert ids(by_vector(copy, "a black cat")) == ids(by_vector(store, "a black cat"))
            assert second.id in copy.get([second.id])
            behind.close()
            careless = PostgresSpaces(address)
            with raises(StoreReadOnly, "standby"):
                put(careless.open("alice"), "a dog")
            careless.close()
        spaces.close()
    finally:
        primary.stop()
