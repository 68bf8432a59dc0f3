"""Commands for a database on PostgreSQL: migrate it, fence its spaces off, distribute it over a cluster."""

from typing import Annotated

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import facts, show_result
from thinkback.errors import InvalidInput

app = Typer(help="Look after a database on PostgreSQL.", no_args_is_help=True)
Url = Annotated[str, Argument(metavar="URL", help="The database: postgresql://owner@host/database.")]
Json = Annotated[bool, Option("--json", help="Print JSON.")]


@command(app, example="thinkback pg migrate postgresql://owner@db.example/memories")
def migrate(url: Url, json: Json = False) -> None:
    """Create or update the tables; opening a store does the same, if its role may."""
    from thinkback.opening import postgres

    steps = postgres().admin.migrate(url)
    show_result(Common(json=json), {"steps": steps}, facts({"steps taken": str(steps)}))


@command(app, example="thinkback pg distribute postgresql://owner@db.example/memories")
def distribute(url: Url, json: Json = False) -> None:
    """Distribute the tables by space over the nodes of a Citus cluster."""
    from thinkback.opening import postgres

    tables = postgres().admin.distribute(url)
    show_result(Common(json=json), {"tables": tables}, facts({"distributed": ", ".join(tables)}))


@command(app, example="thinkback pg secure postgresql://owner@db.example/memories --role app --tenant alice=alice_role")
def secure(
    url: Url,
    role: Annotated[str, Option(help="The role that Thinkback connects as.")],
    tenant: Annotated[
        list[str] | None, Option(metavar="SPACE=ROLE", help="A role that may read one space; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Turn on row-level security: a transaction sees one space, a tenant's role its own and no other."""
    from thinkback.opening import postgres

    tenants = dict(_pair(given) for given in tenant or [])
    postgres().admin.secure(url, role, tenants)
    show_result(
        Common(json=json), {"role": role, "tenants": tenants}, facts({"role": role, "tenants": str(len(tenants))})
    )


@command(app, example="thinkback pg index postgresql://owner@db.example/memories --space alice")
def index(
    url: Url,
    space: Annotated[str | None, Option(help="The space to index; without one, the indexes there are.")] = None,
    drop: Annotated[bool, Option("--drop", help="Drop the index of the space.")] = False,
    json: Json = False,
) -> None:
    """Build an approximate index (HNSW) over one large space, for recipes with `legs.vector.index = "hnsw"`; list or drop them."""
    from thinkback.opening import postgres

    hnsw, common = postgres().hnsw, Common(json=json)
    if drop:
        if space is None:
            raise InvalidInput("--drop needs --space", code="space_name")
        gone = hnsw.drop(url, space)
        show_result(common, {"space": space, "dropped": gone}, facts({"dropped": "yes" if gone else "there was none"}))
        return
    for one in hnsw.listed(url) if space is None else [hnsw.build(url, space)]:
        told = {"space": one.space, "index": one.name, "memories": one.memories, "recall": one.recall}
        show_result(common, told, facts({key: str(value) for key, value in told.items()}))


def _pair(given: str) -> tuple[str, str]:
    space, equals, role = given.partition("=")
    if not equals or not role:
        raise InvalidInput(f"--tenant takes SPACE=ROLE; got {given!r}", code="tenant")
    return space, role
