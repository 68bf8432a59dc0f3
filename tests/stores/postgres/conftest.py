"""A PostgreSQL server for the tests, started once per process from a wheel; each test gets a database or a space of its own."""

from collections.abc import Iterator

import pytest

from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces

from postgres_server import LocalServer, numbers  # isort: skip


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
    name = f"space-{next(numbers)}"
    with shared_spaces.open(name) as found:
        yield found
    shared_spaces.drop(name)
