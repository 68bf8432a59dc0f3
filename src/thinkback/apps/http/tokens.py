"""Tokens: who may do what in which spaces.

The file holds hashes only. The first token, made on the first run, is also written in the clear beside it, for programs of the same
user; only the owner can read either file.
"""

import hashlib
import hmac
import os
import secrets
import stat
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from thinkback.errors import InvalidFile, InvalidInput, NotFound, did_you_mean
from thinkback.file_lock import locked
from thinkback.stores.base import DEFAULT_SPACE, check_space
from thinkback.values import dataclass

Scope = Literal["read", "write", "delete", "admin"]
SCOPES: tuple[str, ...] = get_args(Scope)
EVERY_SPACE = "*"
FIRST = "owner"
PREFIX = "tbk_"
FRESH_S = 1.0  # for how long tokens in a database are not read again
_SETTLED_NS = 2_000_000_000  # a file that changed more recently may change again without its times telling


@dataclass(frozen=True, slots=True)
class Grant:
    """What the bearer of a token may do."""

    name: str
    scopes: frozenset[str]
    spaces: frozenset[str]
    identity: str = field(default="", compare=False, repr=False)  # of the token itself: a name may be given again

    def reaches(self, space: str) -> bool:
        """Whether the token may use a space."""
        return EVERY_SPACE in self.spaces or space in self.spaces

    @property
    def default_space(self) -> str | None:
        """The space of a request that names none: `default`, or the only one the token reaches."""
        if self.reaches(DEFAULT_SPACE):
            return DEFAULT_SPACE
        return next(iter(self.spaces)) if len(self.spaces) == 1 else None


@dataclass(frozen=True, slots=True)
class Row:
    """A token as the file keeps it."""

    digest: str
    grant: Grant


class Tokens:
    """The tokens in a file, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None
        self._rows: tuple[Row, ...] = ()

    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    @property
    def first_file(self) -> Path:
        """The file with the first token in the clear."""
        return self.path.with_name("token")

    def make_first(self) -> str:
        """Make the token of the first run: every scope, every space."""
        secret = self.add(FIRST, SCOPES, [EVERY_SPACE])
        _write_private(self.first_file, secret + "\n")
        return secret

    def grant(self, secret: str) -> Grant | None:
        """The grant of a token; every row is compared, in constant time."""
        digest = digest_of(secret)
        found = None
        for row in self._current():
            if hmac.compare_digest(row.digest, digest):
                found = row.grant
        return found

    def identified(self, identity: str) -> Grant | None:
        """The grant of that very token, if it is not revoked."""
        return next((row.grant for row in self._current() if row.grant.identity == identity), None)

    def all(self) -> list[Grant]:
        """Every grant, in the order of the file."""
        return [row.grant for row in self._current()]

    def add(self, name: str, scopes: Iterable[str], spaces: Iterable[str]) -> str:
        """Make a token; it is returned once and kept only as a hash."""
        if not name.strip() or len(name) > 100:
            raise InvalidInput(f"a token's name has 1 to 100 characters; got {name!r}")
        grant = Grant(name, check_scopes(scopes), check_spaces(spaces))
        secret = PREFIX + secrets.token_urlsafe(32)
        if not self._insert(Row(digest_of(secret), grant)):
            raise InvalidInput(f"there is already a token named {name!r}; revoke it or choose another name")
        return secret

    def revoke(self, name: str) -> None:
        """Revoke a token."""
        if not self._remove(name):
            names = [grant.name for grant in self.all()] if self.exists() else []
            raise NotFound(
                f"there is no token named {name!r}; known: {', '.join(names) or 'none'}", code="unknown_token"
            )

    def _insert(self, row: Row) -> bool:
        """Keep a token; False if there is one of that name."""
        with self._editing() as rows:
            if any(other.grant.name == row.grant.name for other in rows):
                return False
            self._write([*rows, row])
            return True

    def _remove(self, name: str) -> bool:
        """Remove a token; whether there was one."""
        with self._editing() as rows:
            left = [row for row in rows if row.grant.name != name]
            if len(left) < len(rows):
                self._write(left)
            return len(left) < len(rows)

    @contextmanager
    def _editing(self) -> Iterator[tuple[Row, ...]]:
        """The rows of the file, which no other process changes meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.with_name(f".{self.path.name}.lock")):
            self._seen = None
            yield self._current() if self.exists() else ()
            self._seen = None

    def _current(self) -> tuple[Row, ...]:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise NotFound(
                f"there is no token file {self.path}; starting the server on loopback makes one", code="no_tokens"
            ) from None
        if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            message = f"{self.path} can be read by others; run: chmod 600 {self.path}"
            raise InvalidFile(message, code="tokens_readable")
        seen = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size)
        if self._seen != seen:
            self._rows = _read(self.path)
            self._seen = seen if time.time_ns() - status.st_mtime_ns > _SETTLED_NS else None
        return self._rows

    def _write(self, rows: Iterable[Row]) -> None:
        import tomli_w

        table = [
            {
                "name": row.grant.name,
                "sha256": row.digest,
                "scopes": sorted(row.grant.scopes, key=SCOPES.index),
                "spaces": sorted(row.grant.spaces),
            }
            for row in rows
        ]
        _write_private(self.path, tomli_w.dumps({"tokens": table}))


class TokenTable(Protocol):
    """Tokens in a database: name, hash, scopes and spaces of each."""

    def tokens(self) -> list[tuple[str, str, list[str], list[str]]]: ...
    def add_token(self, name: str, sha256: str, scopes: Sequence[str], spaces: Sequence[str]) -> bool: ...
    def drop_token(self, name: str) -> bool: ...


class DatabaseTokens(Tokens):
    """The tokens in a database, shared by every server over it; read again after a second.

    `path` is where the first token is written in the clear, beside that name.
    """

    def __init__(self, table: TokenTable, path: Path, seconds: Callable[[], float] = time.monotonic) -> None:
        super().__init__(path)
        self._table = table
        self._seconds = seconds
        self._read_at = float("-inf")

    def exists(self) -> bool:
        return bool(self._current())

    def _current(self) -> tuple[Row, ...]:
        if self._seconds() - self._read_at >= FRESH_S:
            self._rows = tuple(
                Row(digest, Grant(name, frozenset(scopes), frozenset(spaces), digest))
                for name, digest, scopes, spaces in self._table.tokens()
            )
            self._read_at = self._seconds()
        return self._rows

    def _insert(self, row: Row) -> bool:
        grant = row.grant
        self._read_at = float("-inf")
        return self._table.add_token(
            grant.name, row.digest, sorted(grant.scopes, key=SCOPES.index), sorted(grant.spaces)
        )

    def _remove(self, name: str) -> bool:
        self._read_at = float("-inf")
        return self._table.drop_token(name)


def digest_of(secret: str) -> str:
    """A plain hash is enough: a token is 32 random bytes."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def check_spaces(names: Iterable[str]) -> frozenset[str]:
    """At least one space, or `*` for all."""
    spaces = frozenset(name if name == EVERY_SPACE else check_space(name) for name in names)
    if not spaces:
        raise InvalidInput("a token needs at least one space; * is all of them")
    return spaces


def check_scopes(names: Iterable[str]) -> frozenset[str]:
    """At least one of read, write, delete and admin."""
    scopes = frozenset(names)
    for name in scopes:
        if name not in SCOPES:
            raise InvalidInput(f"unknown scope {name!r}; known: {', '.join(SCOPES)}.{did_you_mean(name, SCOPES)}")
    if not scopes:
        raise InvalidInput(f"a token needs at least one scope: {', '.join(SCOPES)}")
    return scopes


def _read(path: Path) -> tuple[Row, ...]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return tuple(_row(item) for item in data["tokens"])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise InvalidFile(f"{path} is not a token file: {error}") from None


def _row(item: dict[str, Any]) -> Row:
    digest = str(item["sha256"])
    return Row(digest, Grant(str(item["name"]), check_scopes(item["scopes"]), check_spaces(item["spaces"]), digest))


def _write_private(path: Path, text: str) -> None:
    """Replace a file atomically with one that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)
