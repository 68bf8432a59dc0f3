"""Browser sessions: a code that works once becomes a cookie that says nothing about the token."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from thinkback.apps.http.tokens import Grant, Tokens, digest_of
from thinkback.clock import HOUR, SECOND, Clock

CODE_LASTS = 600 * SECOND
SESSION_LASTS = 12 * HOUR
MOST_SESSIONS = 1000


@dataclass(frozen=True, slots=True)
class Pass:
    """A secret's owner and when it ends."""

    token: str
    until: int


class Logins:
    """Codes and sessions, in memory only: a restart ends them, and so does revoking the token behind them."""

    def __init__(
        self, tokens: Tokens, clock: Clock, draw: Callable[[], str] = lambda: secrets.token_urlsafe(32)
    ) -> None:
        self._tokens = tokens
        self._clock = clock
        self._draw = draw
        self._codes: OrderedDict[str, Pass] = OrderedDict()
        self._sessions: OrderedDict[str, Pass] = OrderedDict()

    def code(self, grant: Grant) -> str:
        """A code for the address bar, good once and for ten minutes."""
        return self._keep(self._codes, grant.name, CODE_LASTS)

    def redeem(self, code: str) -> str | None:
        """A session for a code; the code is gone."""
        found = self._codes.pop(digest_of(code), None)
        if found is None or found.until <= self._clock() or self._tokens.named(found.token) is None:
            return None
        return self._keep(self._sessions, found.token, SESSION_LASTS)

    def begin(self, grant: Grant) -> str:
        """A session for somebody who showed a token."""
        return self._keep(self._sessions, grant.name, SESSION_LASTS)

    def grant(self, session: str) -> Grant | None:
        """Who a session belongs to; using it makes it last."""
        key = digest_of(session)
        found = self._sessions.pop(key, None)
        if found is None or found.until <= self._clock():
            return None
        self._sessions[key] = Pass(found.token, self._clock() + SESSION_LASTS)
        return self._tokens.named(found.token)

    def end(self, session: str) -> None:
        """Logs out."""
        self._sessions.pop(digest_of(session), None)

    def _keep(self, passes: OrderedDict[str, Pass], token: str, lasts: int) -> str:
        secret = self._draw()
        passes[digest_of(secret)] = Pass(token, self._clock() + lasts)
        while len(passes) > MOST_SESSIONS:
            passes.popitem(last=False)
        return secret
