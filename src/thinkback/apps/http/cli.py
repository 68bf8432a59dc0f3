"""`thinkback serve` and `thinkback token`: the HTTP server, and the tokens of its users."""

import ipaddress
import json
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import command, with_options
from thinkback.errors import InvalidInput, MissingExtra
from thinkback.settings import Settings, is_server, load
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.apps.http.app import Server
    from thinkback.apps.http.server import Address
    from thinkback.apps.http.shared import Shared
    from thinkback.apps.http.tokens import Tokens

PORT = 7077


@dataclass(frozen=True, slots=True)
class AddressOptions:
    """Where the server listens."""

    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token first.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = PORT
    host_name: Annotated[list[str] | None, typer.Option(help="Another Host to answer for; may be repeated.")] = None
    origin: Annotated[list[str] | None, typer.Option(help="Another Origin that may call; may be repeated.")] = None
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate (PEM), to serve HTTPS.")] = None
    tls_key: Annotated[Path | None, typer.Option(help="Key of the certificate (PEM).")] = None

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
    def address(self) -> "Address":
        """The address for the server."""
        from thinkback.apps.http.server import Address

        return Address(self.host, self.port, self.tls_cert, self.tls_key)

    @property
    def url(self) -> str:
        """The address to type."""
        name = self.host if self.is_loopback else next(iter(self.host_name or []), self.host)
        shown = f"[{name}]" if ":" in name else name
        return f"{'https' if self.tls_cert else 'http'}://{shown}:{self.port}"


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Where memories and tokens are kept."""

    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="File of the space `default`, or postgresql://… for all spaces. Default: THINKBACK_STORE, else in your "
            "data folder.",
        ),
    ] = None
    spaces: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the other spaces. Default: `spaces` beside the store."),
    ] = None
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Token file. Default: tokens.toml beside the store.")
    ] = None
    embedder: Annotated[str | None, typer.Option(help="Embedder, or none for keywords only.")] = None


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """Bounds on the load, and telemetry."""

    rate: Annotated[float, typer.Option(min=0, help="Requests per second and token; 0 for no limit.")] = 300.0
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds a search may take.")] = 10.0
    threads: Annotated[int, typer.Option(min=0, help="Threads of each worker; 0 for two per core in all.")] = 0
    workers: Annotated[int, typer.Option(min=0, help="Processes that serve; 0 for one per core.")] = 1
    otel: Annotated[bool, typer.Option("--otel", help="Send OpenTelemetry spans; the OTEL_ variables say where.")] = (
        False
    )


def _serve(address: AddressOptions, files: FileOptions, limits: LimitOptions) -> None:
    """Serve memories over HTTP, with MCP at /mcp and the inspector at /: `thinkback serve --port 7077`."""
    settings = load(store=files.store, embedder=files.embedder)
    limits = replace(limits, workers=limits.workers or os.cpu_count() or 1)
    if limits.workers > 1:
        _serve_by_workers(settings, address, files, limits)
    else:
        _run(prepare(settings, address, files, limits), address, settings)


serve = with_options(_serve)


def serve_mcp(settings: Settings, port: int, read_only: bool) -> None:
    """Serve only /mcp and the health routes, on loopback."""
    address = AddressOptions(port=port)
    server = prepare(settings, address, FileOptions(), LimitOptions(), mcp_only=True, read_only=read_only)
    _run(server, address, settings, "/mcp")


def prepare(
    settings: Settings,
    address: AddressOptions,
    files: FileOptions,
    limits: LimitOptions,
    *,
    mcp_only: bool = False,
    read_only: bool = False,
    shared: "Shared | None" = None,
) -> "Server":
    """The server, ready to run; a first token is made if there is none."""
    with _needs_extra():
        from thinkback.apps.http.app import Limits, Served, build
        from thinkback.apps.http.routes import ROUTES
        from thinkback.opening import Opener
    if bool(address.tls_cert) != bool(address.tls_key):
        raise InvalidInput("--tls-cert and --tls-key must be given together", code="tls_files")
    database = files.store if is_server(files.store) else settings.database
    settings = replace(settings, database=None)
    opener = Opener(settings)
    if limits.otel:
        from thinkback.apps.http.spans import exporting

        opener.watch(exporting())
    served = Served(
        folder=files.spaces or settings.store_path.parent / "spaces",
        opener=opener,
        tokens=_tokens_for(address, _tokens(database, files.tokens, settings)),
        database=database,
        default_file=settings.store_path,
        host_names=(*(address.host_name or ()), address.host),
        origins=tuple(address.origin or ()),
        limits=Limits(
            per_second=limits.rate,
            burst=2 * limits.rate,
            threads=limits.threads or max(2, 2 * (os.cpu_count() or 2) // max(1, limits.workers)),
            search_seconds=limits.deadline,
        ),
        routes=tuple(route for route in ROUTES if route.path.startswith("/health")) if mcp_only else ROUTES,
        mcp_scopes=frozenset({"read"}) if read_only else None,
        read_only=read_only,
        shared=shared,
    )
    return build(served)


@contextmanager
def _needs_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("thinkback"):
            raise
        raise MissingExtra.of("The HTTP server", "serve") from None


def _tokens(database: str | None, path: Path | None, settings: Settings) -> "Tokens":
    """The tokens beside the store, or in its database; a token file that is named comes first."""
    from thinkback.apps.http.tokens import DatabaseTokens, Tokens
    from thinkback.opening import postgres

    usual = settings.store_path.parent / "tokens.toml"
    if database is not None and path is None:
        return DatabaseTokens(postgres().PostgresSpaces(database, pool_size=2), usual)
    return Tokens(path or usual)


def _tokens_for(address: AddressOptions, tokens: "Tokens") -> "Tokens":
    if tokens.exists():
        return tokens
    if not address.is_loopback:
        raise InvalidInput(
            f"{address.host} can be reached from other machines, and there is no token in {tokens.path}; "
            "make one first: thinkback token new NAME",
            code="no_tokens",
        )
    tokens.make_first()
    typer.echo(f"made a token; it is in {tokens.first_file}", err=True)
    return tokens


def _login_code(server: "Server") -> str:
    """A login code for the person who started the server, with the scopes of the most powerful token."""
    grants = server.tokens.all()
    if not grants:
        raise InvalidInput(
            f"there is no token in {server.tokens.path}; make one: thinkback token new NAME", code="no_tokens"
        )
    return server.sessions.code(max(grants, key=lambda grant: (len(grant.scopes), grant.reaches("default"))))


def _run(server: "Server", options: AddressOptions, settings: Settings, page: str | None = None) -> None:
    from thinkback.apps.http.server import listen, loaded, run

    page = page or f"/?login={_login_code(server)}"
    _log(settings.log_level.upper())
    config = loaded(server.app, options.address, settings.log_level)
    with listen(options.address) as listener:
        _announce(options, listener, page)
        run(config, listener)


def _serve_by_workers(settings: Settings, options: AddressOptions, files: FileOptions, limits: LimitOptions) -> None:
    """Serve by several processes; what they need is checked before the first one starts."""
    if os.name != "posix":
        raise InvalidInput("several workers need a POSIX system; serve with --workers 1", code="workers_unsupported")
    with _needs_extra():
        from thinkback.apps.http.processes import Processes, listen_all
        from thinkback.apps.http.server import loaded
        from thinkback.apps.http.shared import Shared
    with TemporaryDirectory(prefix="thinkback-serve-") as folder:
        shared = Shared(Path(folder))
        server = prepare(settings, options, files, limits, shared=shared)
        page = f"/?login={_login_code(server)}"
        _log(settings.log_level.upper())
        loaded(server.app, options.address)
        server.spaces.close()
        listeners = listen_all(options.address, limits.workers)
        _announce(options, listeners[0], page, limits.workers)
        stopped_by = Processes(listeners, work, settings, options, files, limits, folder).run(shared.forget_gauges)
    if stopped_by is not None:
        signal.raise_signal(stopped_by)


def work(
    listener: socket.socket,
    settings: Settings,
    options: AddressOptions,
    files: FileOptions,
    limits: LimitOptions,
    folder: str,
) -> None:
    """Serve as one of several workers."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(Path(folder) / "metrics")  # read when the metrics are imported
    from thinkback.apps.http.server import loaded, run
    from thinkback.apps.http.shared import Shared

    _log(settings.log_level.upper())
    server = prepare(settings, options, files, limits, shared=Shared(Path(folder)))
    run(loaded(server.app, options.address, settings.log_level), listener)


def _announce(options: AddressOptions, listener: socket.socket, page: str, workers: int = 1) -> None:
    url = replace(options, port=listener.getsockname()[1]).url
    by = f" by {workers} workers" if workers > 1 else ""
    typer.echo(f"serving on {url}{by}; open {url}{page}", err=True)
    if not options.is_loopback and not options.tls_cert:
        typer.echo("warning: tokens travel unencrypted; use --tls-cert and --tls-key, or a TLS proxy", err=True)


def _log(level: str) -> None:
    """Log our own messages from `level` on, with times, by the handler that the command line has set up."""
    logging.basicConfig()
    logging.getLogger("thinkback").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))


# -- tokens ------------------------------------------------------------------------------------------------------------------------

token_app = typer.Typer(help="Make, list and revoke the tokens of the HTTP server.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class TokenFileOptions:
    """Which token file."""

    store: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="The store beside the token file, or postgresql://….")
    ] = None
    tokens: Annotated[Path | None, typer.Option(metavar="FILE", help="The token file.")] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one object a line.")] = False

    def file(self) -> "Tokens":
        settings = load(store=self.store)
        return _tokens(settings.database, self.tokens, replace(settings, database=None))


@command(token_app, "new", example="thinkback token new alice --space alice --scope read --scope write")
def new(
    name: Annotated[str, typer.Argument(help="Name of the token.")],
    where: TokenFileOptions,
    scope: Annotated[list[str] | None, typer.Option(help="read, write, delete or admin; may be repeated.")] = None,
    space: Annotated[list[str] | None, typer.Option(help="A space it reaches, * for all; may be repeated.")] = None,
) -> None:
    """Make a token; it is printed once and kept only as a hash."""
    secret = where.file().add(name, scope or ["read"], space or ["default"])
    typer.echo(json.dumps({"name": name, "token": secret}) if where.json else secret)


@command(token_app, "list", example="thinkback token list")
def list_tokens(where: TokenFileOptions) -> None:
    """List tokens by name, with their scopes and spaces."""
    for grant in where.file().all():
        row = {"name": grant.name, "scopes": sorted(grant.scopes), "spaces": sorted(grant.spaces)}
        line = f"{grant.name}: {', '.join(row['scopes'])} in {', '.join(row['spaces'])}"
        typer.echo(json.dumps(row) if where.json else line)


@command(token_app, "revoke", example="thinkback token revoke alice")
def revoke(name: Annotated[str, typer.Argument(help="Name of the token.")], where: TokenFileOptions) -> None:
    """Revoke a token; a running server notices at once."""
    where.file().revoke(name)
    typer.echo(json.dumps({"revoked": name}) if where.json else f"revoked {name}")
