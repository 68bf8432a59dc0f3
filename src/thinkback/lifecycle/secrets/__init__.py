"""Finding likely secrets in stored text."""

from typing import Literal

from thinkback.errors import InvalidInput

Policy = Literal["warn", "redact", "refuse"]
POLICIES: tuple[Policy, ...] = ("warn", "redact", "refuse")


def check_policy(policy: Policy) -> Policy:
    """The policy for likely secrets in what callers store."""
    if policy not in POLICIES:
        raise InvalidInput(f"secrets is one of {', '.join(POLICIES)}; got {policy!r:.80}", code="unknown_value")
    return policy
