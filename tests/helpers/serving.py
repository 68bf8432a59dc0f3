"""A server in the same process, and the clocks it lives by."""

from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.testclient import TestClient

from thinkback.apps.http.app import Limits, Server
from thinkback.apps.http.tokens import Tokens
from thinkback.testing import FixedClock

BASE = "http://127.0.0.1:7077"
UNHURRIED = Limits(per_second=0)


@dataclass
class Seconds:
    """A clock that counts seconds and stands still."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Site:
    """A running server and the clocks it lives by."""

    server: Server
    client: TestClient
    tokens: Tokens
    clock: FixedClock
    seconds: Seconds = field(default_factory=Seconds)

    def token(self, name: str, scopes: list[str], spaces: list[str]) -> dict[str, str]:
        """The header of a new token."""
        return {"Authorization": f"Bearer {self.tokens.add(name, scopes, spaces)}"}


Starter = Callable[..., Site]
