"""What is about to be stored is searched for secrets: warned of, redacted or refused, and never shown or logged."""

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thinkback
from thinkback.errors import InvalidInput, SecretWarning, gathered_warnings
from thinkback.interop import jsonl
from thinkback.memory import Memory
from thinkback.settings import Settings
from thinkback.testing import FixedClock, ToyEmbedder

from codes import raises  # isort: skip

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"  # gitleaks:allow
TEXT = f"The deploy token is {KEY}, kept by Oscar"

Opened = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Opened:
    def make(**given: Any) -> Memory:
        memory = thinkback.open(
            tmp_path / "memory.db", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08"), **given
        )
        request.addfinalizer(memory.close)
        return memory

    return make


def test_a_secret_is_stored_with_a_warning_by_default(opened: Opened) -> None:
    memory = opened()
    with pytest.warns(SecretWarning) as heard:
        record = memory.remember(TEXT)
    assert record.text == TEXT
    assert [warning.message.notice.code for warning in heard] == ["likely_secret"]  # type: ignore[union-attr]
    assert not any(KEY[:8] in str(warning.message) for warning in heard)


def test_redact_replaces_it_before_it_is_embedded_or_stored(opened: Opened, tmp_path: Path) -> None:
    memory = opened(secrets="redact")
    fields = {"tags": [KEY], "metadata": {"password": "hunter2hunter2", "note": KEY}, "source": KEY, "thread": KEY}
    with gathered_warnings() as heard:
        record = memory.remember(TEXT, essence=KEY, vector=[1.0] * 16, **fields)  # type: ignore[arg-type]
        memory.update(record.id, text=f"now {KEY}", metadata={"api_key": KEY})
    assert [notice.code for notice in heard] == ["likely_secret"] * 2
    assert record.text.startswith("The deploy token is [redacted ")
    assert record.metadata["password"] == "[redacted password]"
    assert record.embedded
    assert KEY not in repr([memory.get(record.id), *memory.history(record.id)])
    memory.close()
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_refuse_stores_nothing_of_the_batch(opened: Opened) -> None:
    memory = opened(secrets="refuse")
    with raises(InvalidInput, "likely_secret") as refused:
        memory.remember_many(["Oscar is a cat", TEXT])
    assert KEY[:8] not in str(refused.value)
    assert memory.count() == 0
    record = memory.remember("Oscar is a cat")
    with raises(InvalidInput, "likely_secret"):
        memory.update(record.id, text=TEXT)
    with raises(InvalidInput, "likely_secret"):
        memory.remember("x", id=KEY)
    assert memory.get(record.id).text == "Oscar is a cat"


@pytest.mark.parametrize(
    "text", ["Oscar is a grey cat", "the password policy wants 12 letters", "#1234 fixed in v2.3.1"]
)
@pytest.mark.parametrize("policy", ["warn", "redact", "refuse"])
def test_ordinary_text_passes(opened: Opened, policy: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened(secrets=policy).remember(text, tags=["a"], metadata={"n": 1}).text == text


def test_the_setting_decides_and_a_call_wins(tmp_path: Path) -> None:
    settings = Settings(secrets="refuse", embedder="none", reranker="none")
    with thinkback.open(":memory:", settings=settings) as memory, raises(InvalidInput, "likely_secret"):
        memory.remember(TEXT)
    with thinkback.open(":memory:", settings=settings, secrets="redact") as memory:
        assert KEY not in memory.remember(TEXT).text
    with raises(InvalidInput, "unknown_value"):
        thinkback.open(":memory:", settings=settings, secrets="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["warn", "redact", "refuse"])
def test_nothing_of_it_is_logged(opened: Opened, policy: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    memory = opened(secrets=policy)
    try:
        memory.remember(TEXT)
        memory.recall(TEXT)
    except InvalidInput as error:
        logging.getLogger("test").exception("refused: %s", error)
    assert KEY[:8] not in caplog.text.replace(TEXT, "")


@pytest.fixture
def exported(tmp_path: Path) -> list[str]:
    """A file with a secret in the present and in an earlier version of one memory, with its vector, and another memory."""
    with (
        thinkback.open(":memory:", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-07")) as memory,
        gathered_warnings(),
    ):
        memory.remember(f"at first {KEY}", id="a", metadata={"password": "hunter2hunter2"})
        memory.update("a", text=TEXT)
        memory.remember("Oscar is a cat", id="b")
        return list(jsonl.export_lines(memory, vectors=True))


def test_an_import_warns_of_secrets(opened: Opened, exported: list[str]) -> None:
    report = jsonl.import_lines(opened(), exported)
    assert [notice.code for notice in report.warnings] == ["likely_secret"]
    assert "in 1 memory" in report.warnings[0].message
    assert (report.memories, report.versions) == (2, 1)


def test_an_import_redacts_every_version_and_the_second_one_changes_nothing(
    opened: Opened, exported: list[str], tmp_path: Path
) -> None:
    memory = opened(secrets="redact")
    report = jsonl.import_lines(memory, exported)
    assert [notice.code for notice in report.warnings] == ["likely_secret"]
    assert [version.text[:8] for version in memory.history("a")] == ["at first", "The depl"]
    assert not memory.get("a").embedded  # the vector was made of the secret
    assert memory.get("b").embedded
    again = jsonl.import_lines(memory, exported)
    assert (again.memories, again.versions, again.updated, again.differing, again.known) == (0, 0, 0, 0, 3)
    memory.close()
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_an_import_refuses_them_or_leaves_them_out(opened: Opened, exported: list[str]) -> None:
    memory = opened(secrets="refuse")
    with raises(InvalidInput, "bad_line") as refused:
        jsonl.import_lines(memory, exported)
    assert KEY[:8] not in str(refused.value)
    assert memory.count() == 0
    report = jsonl.import_lines(memory, exported, skip_bad=True)
    assert (report.memories, len(report.bad)) == (1, 2)
    assert [record.id for record in memory.list()] == ["b"]


def test_a_file_that_was_redacted_is_unchanged_when_it_is_read_again(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(f"# Deploy\n\n{TEXT}\n")
    memory = opened(secrets="redact")
    with gathered_warnings():
        assert len(memory.remember(file=tmp_path / "notes.md").added) == 1
        assert memory.remember(file=tmp_path / "notes.md").unchanged == 1
