"""Calls of every verb with whatever can be given: a result or an error of Thinkback's own, and the store sound at the end."""

import math
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import thinkback
from thinkback.errors import ThinkbackError
from thinkback.testing import FixedClock, ToyEmbedder

VERBS = (
    "remember",
    "remember",
    "remember_many",
    "update",
    "forget",
    "contest",
    "link",
    "unlink",
    "recall",
    "recall",
    "search_keywords",
    "search_reflections_only",
    "get",
    "get_many",
    "list",
    "count",
    "history",
    "neighbours",
    "links",
    "tags",
    "stats",
    "judge",
    "judgements",
    "unjudge",
    "undo",
    "journal",
    "archive",
    "restore",
)
RARE = ("tidy", "audit", "check", "redact", "forget_verified")
WHOLE = ("reflect", "embed_missing")  # they take a function of the caller's; what it does is the caller's
FIELDS = (
    "id",
    "tags",
    "kind",
    "tier",
    "priority",
    "importance",
    "confidence",
    "metadata",
    "thread",
    "position",
    "valid_from",
    "valid_to",
    "expires_at",
    "cycle",
    "source",
    "trust",
    "speaker",
    "essence",
    "created_at",
    "limit",
    "after",
    "since",
    "until",
    "as_of",
    "known_at",
    "kinds",
    "threads",
    "sources",
    "everything",
    "min_trust",
    "recipe",
    "max_tokens",
    "reflection_boost",
    "overrides",
    "weight",
    "grade",
    "vector",
    "nonsense",
)
WORDS = ("cat", "dog", "grey", "sleeps", "yesterday", "NOT", "AND", '"', "*", "(", "NEAR", "2024")
ODD = ("", " ", "\0", "\ud800", "a", "ß猫\u202e🐈", "'; DROP TABLE memories; --", "%s{}\n")
REFUSED = re.compile("unexpected keyword argument|positional argument|required .* argument|multiple values for")


class Chance:
    """Values by seed: mostly plausible, often extreme, sometimes absurd."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def text(self) -> str:
        rng = self.rng
        if rng.random() < 0.002:
            return "a" * rng.choice((1000, 300_000))
        return rng.choice(ODD) if rng.random() < 0.5 else " ".join(rng.choices(WORDS, k=rng.randrange(8)))

    def value(self, depth: int = 2) -> Any:
        rng = self.rng
        kind = rng.randrange(12)
        if kind < 4:
            return self.text()
        if kind == 4:
            return rng.choice((0, 1, -1, 5, 10, 2**31, 2**63, -(2**63), 2**64, 10**400))
        if kind == 5:
            return rng.choice((0.0, 0.5, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e308, 5e-324))
        if kind == 6:
            return rng.choice((None, True, False, object(), b"bytes", Path("x"), ...))
        if kind == 7:
            moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=rng.randrange(-(10**5), 10**5))
            return rng.choice((moment, moment.replace(tzinfo=None), moment.isoformat(), datetime.max, datetime.min))
        if kind == 8:
            return rng.choice(("note", "fact", "working", "P1", "core", "default", "engrava", "m1", "m2", "m3"))
        if depth <= 0:
            return None
        if kind == 9:
            return [self.value(depth - 1) for _ in range(rng.randrange(4))]
        if kind == 10:
            return {self.text(): self.value(depth - 1) for _ in range(rng.randrange(3))}
        return tuple(self.value(depth - 1) for _ in range(rng.randrange(3)))

    def call(self) -> tuple[str, list[Any], dict[str, Any]]:
        rng = self.rng
        if rng.random() < 0.0005:
            return rng.choice(WHOLE), [], {}
        verb = rng.choice(RARE) if rng.random() < 0.001 else rng.choice(VERBS)
        given: list[Any] = [self.argument() for _ in range(rng.randrange(4))]
        if verb == "remember_many":
            given = [[self.value() for _ in range(rng.randrange(3))]]
        return verb, given, {rng.choice(FIELDS): self.value() for _ in range(rng.choice((0, 0, 1, 2)))}

    def argument(self) -> Any:
        return self.value() if self.rng.random() < 0.5 else self.rng.choice(("m1", "m2", "m3", "the cat"))


def fuzzed_calls(count: int, seed: int, folder: Path) -> list[str]:
    """Each thousand calls have a store of their own, which must be sound at their end."""
    failures: list[str] = []
    for first in range(0, count, 1000):
        chance = Chance(seed * 65_537 + first)
        with thinkback.open(
            ":memory:", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")
        ) as memory:
            for id in ("m1", "m2", "m3"):
                memory.remember(f"the cat {id} sleeps", id=id)
            for number in range(first, min(first + 1000, count)):
                verb, given, named = chance.call()
                try:
                    getattr(memory, verb)(*given, **named)
                except ThinkbackError:
                    pass
                except TypeError as error:  # Python's own refusal of an argument that does not exist
                    if not REFUSED.search(str(error)):
                        failures.append(
                            f"call {number} of seed {seed}: {verb}{given!r:.200}{named!r:.200}: {error!r:.200}"
                        )
                except Exception as error:  # noqa: BLE001 - an error that is not ours is what is looked for
                    failures.append(f"call {number} of seed {seed}: {verb}{given!r:.200}{named!r:.200}: {error!r:.200}")
            wrong = [problem for problem in memory.check() if problem.area != "scrub"]
            if wrong:
                failures.append(f"after call {first} of seed {seed}: {wrong[0].message}")
    return failures
