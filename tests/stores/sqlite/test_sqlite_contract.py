"""SqliteStore keeps every law of a store, in a file and in memory, and also when plain words are answered from postings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from thinkback.stores.base import Store
from thinkback.stores.sqlite import SqliteStore, keywords
from thinkback.testing import StoreContract


class TestInAFile(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with SqliteStore(tmp_path / "memory.db") as store:
            yield store


class TestInMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with SqliteStore(":memory:") as store:
            yield store


class TestWithPostings(StoreContract):
    @pytest.fixture
    def store(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
        monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", -1)
        monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 0)
        with SqliteStore(":memory:") as store:
            yield store
