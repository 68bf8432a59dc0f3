"""Commands on a space of a server: `--store postgresql://… --space NAME`, or the same in the environment."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from thinkback.settings import described, load

from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    found = LocalServer()
    yield found
    found.stop()


def test_a_day_on_a_server(cli: Any, server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.database()
    on = ("--store", url, "--space", "alice")
    missing = cli("recall", "cat", *on)
    assert missing.code == 1
    assert "no store" in missing.err  # reading makes no tables
    kept = cli.ok("remember", "Oscar is a grey cat", "--tag", "pets", *on, "--json").json
    assert [hit["id"] for hit in cli.ok("recall", "grey cat", *on, "--json").lines] == [kept["id"]]
    monkeypatch.setenv("THINKBACK_STORE", url)
    monkeypatch.setenv("THINKBACK_SPACE", "alice")
    for command in (
        ("get", kept["id"]),
        ("list",),
        ("stats",),
        ("history", kept["id"]),
        ("audit",),
        ("parse", "#pets yesterday"),
    ):
        cli.ok(*command, "--json")
    assert "server" in cli("doctor").out
    assert cli.ok("forget", kept["id"], "--json").code == 0
    assert cli.ok("list", "--json").lines == []
    missing = cli("list", "--space", "bob")
    assert (missing.code, "bob" in missing.err) == (1, True)  # only a write makes a space
    assert cli.ok("pg", "index", url, "--json").lines == []
    assert cli("pg", "index", url, "--drop").code == 2
    assert cli("pg", "index", url, "--space", "alice").code == 1  # it has no vectors
    backup = cli("restore-backup", "copy.db")
    assert (backup.code, "thinkback move" in backup.err) == (2, True)


def test_what_is_wrong_with_a_server_is_told_in_one_line(cli: Any, server: LocalServer) -> None:
    foreign, newer = server.database(), server.database()
    with psycopg.connect(foreign, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA thinkback; CREATE TABLE thinkback.notes (a int)")
    with psycopg.connect(newer, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA thinkback; CREATE TABLE thinkback.schema_version (version int)")
        connection.execute("INSERT INTO thinkback.schema_version VALUES (999)")
    for url in (
        "postgresql://[host/x",
        "postgresql://postgres:very-secret@127.0.0.1:1/x",
        server.url("no_such_database"),
        foreign,
        newer,
    ):
        ran = cli("remember", "a cat", "--store", url)
        assert ran.code in (1, 2), ran
        assert len(ran.err.strip().splitlines()) <= 4, ran.err
        assert "Traceback" not in ran.err
        assert "very-secret" not in ran.out + ran.err


def test_a_login_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_STORE", "postgresql://app:very-secret@db.example/memories?sslmode=require")
    shown = {one.key: one.shown for one in described()}
    assert shown["store"] == "postgresql://db.example/memories"
    assert "very-secret" not in repr(load())
