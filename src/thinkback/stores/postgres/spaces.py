"""The spaces of one database: thousands of them share its tables and one pool of connections."""

import secrets
from collections.abc import Sequence
from typing import Any

from thinkback.stores.base import Ids, check_space, unknown_space
from thinkback.stores.postgres.copies import COPIES_MB, Copies
from thinkback.stores.postgres.schema import BY_SPACE
from thinkback.stores.postgres.server import POOL_SIZE, WAIT_S, Connection, Server
from thinkback.stores.postgres.store import PostgresStore


class PostgresSpaces:
    """Opens, lists, makes and drops the spaces of a database."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = POOL_SIZE,
        wait_s: float = WAIT_S,
        read_only: bool = False,
        create: bool = True,
        copies_mb: int = COPIES_MB,
    ) -> None:
        self.server = Server(url, pool_size=pool_size, wait_s=wait_s, read_only=read_only, create=create)
        self.copies = Copies(copies_mb << 20)

    def open(self, name: str) -> PostgresStore:
        return PostgresStore(self.server, self._number(name), name, copies=self.copies)

    def names(self) -> Ids:
        with self.server.connection() as connection:
            return [name for (name,) in connection.execute("SELECT d.name FROM thinkback.directory d ORDER BY d.name")]

    def exists(self, name: str) -> bool:
        return self._found(check_space(name)) is not None

    def create(self, name: str) -> None:
        self._number(name)

    def drop(self, name: str) -> None:
        with self.server.connection() as connection:
            connection.execute("BEGIN")
            try:
                number = _one(
                    connection,
                    "DELETE FROM thinkback.directory d WHERE d.name = %s RETURNING d.space",
                    (check_space(name),),
                )
                if number is None:
                    raise unknown_space(name)
                connection.execute(f"SET LOCAL thinkback.space = '{int(number)}'")
                for table in BY_SPACE:
                    connection.execute(f"DELETE FROM thinkback.{table} x WHERE x.space = %s", (number,))
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        self.copies.drop(int(number))

    def tokens(self) -> list[tuple[str, str, list[str], list[str]]]:
        """Name, hash, scopes and spaces of every token that servers over this database accept."""
        sql = "SELECT t.name, t.sha256, t.scopes, t.spaces FROM thinkback.tokens t ORDER BY t.name"
        with self.server.connection() as connection:
            return list(connection.execute(sql))

    def add_token(self, name: str, sha256: str, scopes: Sequence[str], spaces: Sequence[str]) -> bool:
        """Keeps a token; False if there is one of that name."""
        sql = (
            "INSERT INTO thinkback.tokens (name, sha256, scopes, spaces) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
        )
        with self.server.connection() as connection:
            return connection.execute(sql, (name, sha256, list(scopes), list(spaces))).rowcount == 1

    def drop_token(self, name: str) -> bool:
        """Removes a token; whether there was one."""
        with self.server.connection() as connection:
            return connection.execute("DELETE FROM thinkback.tokens t WHERE t.name = %s", (name,)).rowcount == 1

    def facts(self) -> dict[str, Any]:
        """The server, its pool and the copies of its spaces."""
        return {**self.server.facts(), **self.copies.facts()}

    def close(self) -> None:
        self.copies.clear()
        self.server.close()

    def _found(self, name: str) -> int | None:
        with self.server.connection() as connection:
            found = _one(connection, "SELECT d.space FROM thinkback.directory d WHERE d.name = %s", (name,))
        return None if found is None else int(found)

    def _number(self, name: str) -> int:
        """The number of a space, made if absent."""
        number = self._found(check_space(name))
        if number is not None:
            return number
        if self.server.read_only or self.server.standby:
            raise unknown_space(name)
        with self.server.connection() as connection:
            connection.execute("BEGIN")
            try:
                sql = "INSERT INTO thinkback.directory (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING space"
                number = _one(connection, sql, (name,))
                if number is not None:
                    connection.execute(f"SET LOCAL thinkback.space = '{int(number)}'")
                    sql = "INSERT INTO thinkback.spaces (space, store_id) VALUES (%s, %s)"
                    connection.execute(sql, (number, secrets.token_hex(8)))
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        if number is None:  # another process was faster
            number = self._found(name)
        if number is None:
            raise unknown_space(name)
        return int(number)


def open_store(
    url: str,
    space: str,
    *,
    read_only: bool = False,
    create: bool = True,
    pool_size: int = POOL_SIZE,
    copies_mb: int = COPIES_MB,
) -> PostgresStore:
    """One space of a database, with a pool of its own that closes with the store."""
    check_space(space)  # before the database is made one of ours
    spaces = PostgresSpaces(url, pool_size=pool_size, read_only=read_only, create=create, copies_mb=copies_mb)
    try:
        if not create and not spaces.exists(space):
            raise unknown_space(space)
        store = spaces.open(space)
    except BaseException:
        spaces.close()
        raise
    return PostgresStore(spaces.server, store._sessions.space, space, release=spaces.close, copies=spaces.copies)


def _one(connection: Connection, sql: str, values: tuple[Any, ...]) -> Any:
    row = connection.execute(sql, values).fetchone()
    return None if row is None else row[0]
