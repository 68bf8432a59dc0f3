"""What an owner of a database does once: migrate it, distribute it over a cluster, fence spaces off from each other."""

from collections.abc import Mapping

from psycopg import sql

from thinkback.errors import InvalidInput, StoreError
from thinkback.stores.base import check_space, unknown_space
from thinkback.stores.postgres import errors, schema
from thinkback.stores.postgres.server import Connection, administered, check_server, connect, need_pgvector

_OF_SETTING = "space = nullif(current_setting('thinkback.space', true), '')::integer"


def migrate(url: str) -> int:
    """Creates or updates the schema; returns how many steps were taken."""
    with connect(url) as connection, errors.translated():
        return _migrated(connection)


def _migrated(connection: Connection) -> int:
    check_server(connection)
    need_pgvector(connection)
    return schema.migrate(connection)


def distribute(url: str) -> list[str]:
    """Distributes every table of spaces by `space`, colocated, over the nodes of a Citus cluster; returns the tables."""
    with connect(url) as connection, errors.translated():
        if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
            raise StoreError("the database has no extension citus; run: CREATE EXTENSION citus", code="citus_missing")
        _migrated(connection)
        with connection.transaction():
            for statement in distribution():
                connection.execute(statement)
    return list(schema.BY_SPACE)


def distribution() -> list[str]:
    """The statements that `distribute` runs: small tables go to every node, all others by `space`."""
    everywhere = [f"SELECT create_reference_table('thinkback.{table}')" for table in schema.EVERYWHERE]
    first, *others = schema.BY_SPACE
    return [
        *everywhere,
        f"SELECT create_distributed_table('thinkback.{first}', 'space')",
        *(
            f"SELECT create_distributed_table('thinkback.{table}', 'space', colocate_with => 'thinkback.{first}')"
            for table in others
        ),
    ]


def secure(url: str, role: str, tenants: Mapping[str, str] | None = None) -> None:
    """Turns row-level security on: `role`, which Thinkback connects as, sees the one space of each transaction.

    `tenants` gives roles that see one space whatever they set: role by name of the space. They may read only.
    """
    with administered(url) as connection, connection.transaction():
        for table in schema.BY_SPACE:
            _fence(connection, table, role)
        _grant(connection, role)
        for space, tenant in (tenants or {}).items():
            _admit(connection, tenant, check_space(space))


def _fence(connection: Connection, table: str, role: str) -> None:
    name = sql.Identifier("thinkback", table)
    for statement in (
        "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        "DROP POLICY IF EXISTS thinkback_space ON {table}",
        f"CREATE POLICY thinkback_space ON {{table}} TO {{role}} USING ({_OF_SETTING}) WITH CHECK ({_OF_SETTING})",
    ):
        connection.execute(sql.SQL(statement).format(table=name, role=sql.Identifier(role)))


def _grant(connection: Connection, role: str) -> None:
    who = sql.Identifier(role)
    for statement in (
        "GRANT USAGE ON SCHEMA thinkback TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA thinkback TO {role}",
        "REVOKE INSERT, UPDATE, DELETE ON thinkback.schema_version FROM {role}",
    ):
        connection.execute(sql.SQL(statement).format(role=who))


def _admit(connection: Connection, tenant: str, space: str) -> None:
    found = connection.execute("SELECT d.space FROM thinkback.directory d WHERE d.name = %s", (space,)).fetchone()
    if found is None:
        raise unknown_space(space)
    if not tenant.strip():
        raise InvalidInput("a tenant needs a role of its own", code="empty")
    policy, who = sql.Identifier(f"thinkback_tenant_{found[0]}"), sql.Identifier(tenant)
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA thinkback TO {role}").format(role=who))
    for table in schema.BY_SPACE:
        name = sql.Identifier("thinkback", table)
        for statement in (
            "DROP POLICY IF EXISTS {policy} ON {table}",
            "CREATE POLICY {policy} ON {table} FOR SELECT TO {role} USING (space = {space})",
            "GRANT SELECT ON {table} TO {role}",
        ):
            parts = {"policy": policy, "table": name, "role": who, "space": sql.Literal(int(found[0]))}
            connection.execute(sql.SQL(statement).format(**parts))
