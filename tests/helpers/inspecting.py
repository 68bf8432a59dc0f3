"""The real server with a small story in it, and where Chromium is."""

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from thinkback.apps import demo
from thinkback.apps.http.app import Limits, Served, Server, build
from thinkback.apps.http.server import Address, config
from thinkback.apps.http.tokens import Tokens
from thinkback.memory import Memory
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.testing import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LINKS = (
    ("thirty degrees", "loaded the oven", "caused_by", 0.8),
    ("not survive another move", "We buy the used", "led_to", 1.0),
    ("nut tarts", "allergic to hazelnuts", "caused_by", 0.9),
    ("misses a filter", "filter is in", "led_to", 1.0),
    ("misses a filter", "second hand basin", "related", 0.6),
    ("sixth of June", "Invitations are out", "related", 0.7),
    ("rowing club", "rye sourdough", "related", 0.5),
    ("We take Pier Street", "costs 2,400", "decided_from", 0.9),
    ("We take Pier Street", "counted sixty", "decided_from", 0.7),
    ("opening of Pier Street", "We take Pier Street", "related", 0.8),
)


@dataclass
class Watched:
    """What went wrong on pages, and whether that was to be expected."""

    troubles: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    expected: bool = False


Opening = Callable[..., "Page"]


@dataclass
class Inspected:
    """A running server, who may enter it, and its own way in for checks."""

    url: str
    server: Server
    secret: str
    client: httpx.Client
    thread: Thread
    running: uvicorn.Server

    def login(self, token: str = "owner") -> str:
        """An address that opens the page once."""
        grant = next((grant for grant in self.server.tokens.all() if grant.name == token), None)
        assert grant is not None
        return f"{self.url}/?login={self.server.sessions.code(grant)}"

    def post(self, path: str, **body: Any) -> Any:
        answer = self.client.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def id_of(self, words: str) -> str:
        """The memory that says this."""
        return next(one["id"] for one in self.get("/v1/memories", everything=True)["memories"] if words in one["text"])

    def stop(self) -> None:
        self.running.should_exit = True
        self.thread.join(timeout=20)


def tell(memory: Memory) -> None:
    """The story of the bakery, a few more links, and what it makes of itself."""
    records = demo.remember(memory)

    def about(words: str) -> str:
        return next(record.id for record in records if words.lower() in record.text.lower())

    for from_words, to_words, kind, weight in LINKS:
        memory.link(about(from_words), about(to_words), kind, weight)
    for words, essence in (("oven", "the used oven from Odense"), ("flour", "who delivers the flour")):
        members = [record.id for record in records if words in record.tags]
        reflection = memory.remember(
            json.dumps({"members": members, "keywords": [words]}), kind="reflection", essence=essence, tags=[words]
        )
        for member in members:
            memory.link(reflection.id, member, "consolidated_into")


@contextmanager
def serving(folder: Path, fill: Callable[[Memory], None] = tell) -> Iterator[Inspected]:
    """The server on a free port, with what `fill` puts into the default space."""
    clock = FixedClock(demo.NOW)
    tokens = Tokens(folder / "tokens.toml")
    secret = tokens.make_first()
    opener = Opener(Settings(embedder="none", reranker="none"), embedder=ToyEmbedder(), clock=clock)
    with opener(folder / "memory.db") as memory:
        fill(memory)
    served = Served(
        folder=folder / "spaces",
        opener=opener,
        tokens=tokens,
        default_file=folder / "memory.db",
        limits=Limits(per_second=0, threads=2),
        clock=clock,
    )
    server = build(served)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    running = uvicorn.Server(config(server.app, Address("127.0.0.1", port)))
    thread = Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=url, headers=headers, transport=httpx.HTTPTransport(retries=5)) as client:
        inspected = Inspected(url, server, secret, client, thread, running)
        yield inspected
        inspected.stop()
