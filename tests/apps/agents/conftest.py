"""A repository, a home and the agents of a user; with the default embedder only where a test is marked for models."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from thinkback.apps.agents.answers import Agents
from thinkback.settings import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("THINKBACK_")]:
        monkeypatch.delenv(name)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def repository(home: Path) -> Path:
    folder = home / "src" / "app"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(store=home.parent / "data" / "memory.db", embedder="none", reranker="none")


@pytest.fixture
def agents(settings: Settings) -> Iterator[Callable[[], Agents]]:
    """Each call is a helper of its own, as after a restart."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Agents(settings))
