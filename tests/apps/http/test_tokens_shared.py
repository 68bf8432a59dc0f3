"""Tokens are edited by several processes at once, and a session belongs to a token, not to its name."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from thinkback.apps.http.login import Sessions
from thinkback.apps.http.tokens import FRESH_S, DatabaseTokens, Tokens

ADD = """
import sys; from pathlib import Path; from thinkback.apps.http.tokens import Tokens
for n in range(8): Tokens(Path(sys.argv[1])).add(f"{sys.argv[2]}-{n}", ["read"], ["default"])
"""


def test_processes_that_add_at_once_lose_no_token(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    adding = [subprocess.Popen([sys.executable, "-c", ADD, str(path), str(n)]) for n in range(3)]
    assert [process.wait() for process in adding] == [0, 0, 0]
    assert len(Tokens(path).all()) == 24


def test_a_session_ends_with_its_token_although_the_name_is_given_again(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.toml")
    sessions = Sessions(tokens, lambda: 0)
    grant = tokens.grant(tokens.add("eve", ["read"], ["default"]))
    assert grant is not None
    session, code = sessions.begin(grant), sessions.code(grant)
    assert sessions.grant(session) == grant
    tokens.revoke("eve")
    tokens.add("eve", ["read", "admin"], ["*"])
    assert sessions.grant(session) is None
    assert sessions.redeem(code) is None


class Table:
    """A database's table of tokens, in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, str, list[str], list[str]]] = {}

    def tokens(self) -> list[tuple[str, str, list[str], list[str]]]:
        return list(self.rows.values())

    def add_token(self, name: str, sha256: str, scopes: Sequence[str], spaces: Sequence[str]) -> bool:
        return self.rows.setdefault(name, row := (name, sha256, list(scopes), list(spaces))) is row

    def drop_token(self, name: str) -> bool:
        return self.rows.pop(name, None) is not None


def test_a_session_ends_with_its_token_in_a_database_too(tmp_path: Path) -> None:
    table, now = Table(), [0.0]
    here, there = (DatabaseTokens(table, tmp_path / "tokens.toml", lambda: now[0]) for _ in range(2))
    sessions = Sessions(here, lambda: 0)
    grant = here.grant(there.add("eve", ["read"], ["default"]))
    assert grant is not None
    session = sessions.begin(grant)
    assert sessions.grant(session) == grant
    there.revoke("eve")
    there.add("eve", ["read", "admin"], ["*"])
    now[0] = FRESH_S  # each process reads the table again after a second
    assert sessions.grant(session) is None


@pytest.mark.slow
def test_a_revoked_token_stays_revoked_while_others_add(tmp_path: Path) -> None:
    """The last word of a race is the file's: no writer brings back what another took away."""
    path = tmp_path / "tokens.toml"
    tokens = Tokens(path)
    secrets = {name: tokens.add(name, ["read"], ["default"]) for name in (f"mallory-{n}" for n in range(20))}
    adding = [subprocess.Popen([sys.executable, "-c", ADD, str(path), str(n)]) for n in range(3)]
    for name in secrets:
        tokens.revoke(name)
    assert [process.wait() for process in adding] == [0, 0, 0]
    assert not [name for name, secret in secrets.items() if Tokens(path).grant(secret)]
    assert len(Tokens(path).all()) == 24


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    """A token of the same name and length, in a file with the same times: the reader must not trust the times yet."""
    tokens, other = Tokens(tmp_path / "tokens.toml"), Tokens(tmp_path / "tokens.toml")
    old = tokens.add("eve", ["read"], ["default"])
    times = tokens.path.stat()
    assert tokens.grant(old) is not None
    other.revoke("eve")
    other.add("eve", ["read"], ["default"])
    os.utime(tokens.path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert tokens.grant(old) is None
