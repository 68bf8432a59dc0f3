"""`thinkback serve` and `thinkback token`: the HTTP server, and who may use it."""

import ipaddress
import json
import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.flat import command, flattened
from thinkback.errors import InvalidInput, MissingExtra
from thinkback.settings import Settings, load

if TYPE_CHECKING:
    from thinkback.apps.http.app import Server
    from thinkback.apps.http.tokens import Tokens

PORT = 7077


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the server listens and for whom."""

    host: Annotated[str, typer.Option(help="The address to listen on; other than loopback needs a token first.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any free one.")] = PORT
    host_name: Annotated[list[str] | None, typer.Option(help="A further Host to answer for; may be repeated.")] = None
    origin: Annotated[list[str] | None, typer.Option(help="A further Origin that may call; may be repeated.")] = None
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate, to serve HTTPS.")] = None
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key.")] = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """The address to type."""
        name = self.host if self.is_loopback else next(iter(self.host_name or []), self.host)
        shown = f"[{name}]" if ":" in name else name
        return f"{'https' if self.tls_cert else 'http'}://{shown}:{self.port}"


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where memories and tokens are kept."""

    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The space `default`. Default: THINKBACK_STORE, else a file in your data folder."
        ),
    ] = None
    spaces: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where further spaces are. Default: `spaces` beside the store."),
    ] = None
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file of tokens. Default: tokens.toml beside the store.")
    ] = None
    embedder: Annotated[str | None, typer.Option(help="The embedder, or none for keywords alone.")] = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is taken on, and who is told."""

    rate: Annotated[float, typer.Option(min=0, help="Requests a second for each token; 0 for no limit.")] = 300.0
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds a search may take.")] = 10.0
    threads: Annotated[int, typer.Option(min=0, help="Threads that search and write; 0 for two a core.")] = 0
    otel: Annotated[bool, typer.Option("--otel", help="Send OpenTelemetry spans, as the OTEL_ variables say.")] = False


def _serve(listening: Listening, keeping: Keeping, bounds: Bounds) -> None:
    """Serve memories over HTTP, MCP at /mcp and a page to look into them at /: `thinkback serve --port 7077`."""
    settings = load(store=keeping.store, embedder=keeping.embedder)
    server = prepare(settings, listening, keeping, bounds)
    _run(server, listening, settings, f"/?login={_first_code(server)}")


serve = flattened(_serve)


def serve_mcp(settings: Settings, port: int, read_only: bool) -> None:
    """Only /mcp and the health of the server, on loopback."""
    listening = Listening(port=port)
    server = prepare(settings, listening, Keeping(store=settings.store), Bounds(), mcp_only=True, read_only=read_only)
    _run(server, listening, settings, "/mcp")


def prepare(
    settings: Settings,
    listening: Listening,
    keeping: Keeping,
    bounds: Bounds,
    *,
    mcp_only: bool = False,
    read_only: bool = False,
) -> "Server":
    """The server, ready to run; a token is made if there is none."""
    try:
        from thinkback.apps.http.app import Limits, Served, build
        from thinkback.apps.http.routes import ROUTES
        from thinkback.opening import Opener
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("thinkback"):
            raise
        raise MissingExtra.of("The HTTP server", "serve") from None
    if bool(listening.tls_cert) != bool(listening.tls_key):
        raise InvalidInput("--tls-cert and --tls-key go together; give both or neither")
    opener = Opener(settings)
    if bounds.otel:
        from thinkback.apps.http.spans import exporting

        opener.watch(exporting())
    served = Served(
        folder=keeping.spaces or settings.store_path.parent / "spaces",
        opener=opener,
        tokens=_tokens_for(listening, keeping.tokens, settings),
        default_file=settings.store_path,
        host_names=(*(listening.host_name or ()), listening.host),
        origins=tuple(listening.origin or ()),
        limits=Limits(
            per_second=bounds.rate,
            burst=2 * bounds.rate,
            threads=bounds.threads or 2 * (os.cpu_count() or 2),
            search_seconds=bounds.deadline,
        ),
        routes=tuple(route for route in ROUTES if route.path.startswith("/health")) if mcp_only else ROUTES,
        mcp_scopes=frozenset({"read"}) if read_only else None,
        read_only=read_only,
    )
    return build(served)


def _tokens_file(given: Path | None, settings: Settings) -> "Tokens":
    from thinkback.apps.http.tokens import Tokens

    return Tokens(given or settings.store_path.parent / "tokens.toml")


def _tokens_for(listening: Listening, given: Path | None, settings: Settings) -> "Tokens":
    tokens = _tokens_file(given, settings)
    if tokens.exists():
        return tokens
    if not listening.is_loopback:
        raise InvalidInput(
            f"{listening.host} can be reached by others, and there is no token in {tokens.path}; "
            "make one first: thinkback token new NAME"
        )
    tokens.make_first()
    typer.echo(f"made a token; it is in {tokens.first_file}", err=True)
    return tokens


def _first_code(server: "Server") -> str:
    """A login for the person who started the server, as the most powerful token."""
    grants = server.tokens.all()
    if not grants:
        raise InvalidInput(f"there is no token in {server.tokens.path}; make one: thinkback token new NAME")
    return server.logins.code(max(grants, key=lambda grant: (len(grant.scopes), grant.reaches("default"))))


def _run(server: "Server", listening: Listening, settings: Settings, page: str) -> None:
    from thinkback.apps.http.server import Address, listen, loaded, run

    _log(settings.log_level.upper())
    address = Address(listening.host, listening.port, listening.tls_cert, listening.tls_key)
    prepared = loaded(server.app, address, settings.log_level)
    with listen(address) as listener:
        url = replace(listening, port=listener.getsockname()[1]).url
        typer.echo(f"serving on {url}; open {url}{page}", err=True)
        if not listening.is_loopback and not listening.tls_cert:
            typer.echo(
                "warning: tokens travel unencrypted; put TLS in front or give --tls-cert and --tls-key", err=True
            )
        run(prepared, listener)


def _log(level: str) -> None:
    """Our own messages from `level` on, with their time; the handler is the one the command line has set up already."""
    logging.basicConfig()
    logging.getLogger("thinkback").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))


# -- tokens ------------------------------------------------------------------------------------------------------------------------

token_app = typer.Typer(help="Make, list and revoke the tokens of the HTTP server.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class Where:
    """Which file of tokens."""

    store: Annotated[Path | None, typer.Option(metavar="FILE", help="The store the tokens lie beside.")] = None
    tokens: Annotated[Path | None, typer.Option(metavar="FILE", help="The file of tokens.")] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one object a line.")] = False

    def file(self) -> "Tokens":
        return _tokens_file(self.tokens, load(store=self.store))


@command(token_app, "new", example="thinkback token new alice --space alice --scope read --scope write")
def new(
    name: Annotated[str, typer.Argument(help="What to call it.")],
    where: Where,
    scope: Annotated[list[str] | None, typer.Option(help="read, write, delete or admin; may be repeated.")] = None,
    space: Annotated[list[str] | None, typer.Option(help="A space it reaches, * for all; may be repeated.")] = None,
) -> None:
    """Make a token; it is printed once and kept only as a hash."""
    secret = where.file().add(name, scope or ["read"], space or ["default"])
    typer.echo(json.dumps({"name": name, "token": secret}) if where.json else secret)


@command(token_app, "list", example="thinkback token list")
def list_tokens(where: Where) -> None:
    """List tokens by name, with their scopes and spaces."""
    for grant in where.file().all():
        row = {"name": grant.name, "scopes": sorted(grant.scopes), "spaces": sorted(grant.spaces)}
        typer.echo(
            json.dumps(row) if where.json else f"{grant.name}: {', '.join(row['scopes'])} in {', '.join(row['spaces'])}"
        )


@command(token_app, "revoke", example="thinkback token revoke alice")
def revoke(name: Annotated[str, typer.Argument(help="The token's name.")], where: Where) -> None:
    """End a token; a running server notices at once."""
    where.file().revoke(name)
    typer.echo(json.dumps({"revoked": name}) if where.json else f"revoked {name}")
