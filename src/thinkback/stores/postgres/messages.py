"""The messages that open transactions: each sends several statements at once, and the last one reads the counters of the space.

On a connection of its own the last one is prepared when the connection is made, so that the server need not read and plan it again.
"""

from typing import Any

import psycopg

from thinkback.values import dataclass

COUNTERS = (
    "store_id, changes, touches, contents, last_seq, last_entry, last_generation, live, "
    "documents, tokens, themes, theme_tokens, exact_tokens, passages, mark"
)
# What is small is not worth compiling, or handing to other processes. Every index begins with the space and its rows lie together,
# so the planner shall not take a table for cheaper to read; and no row is looked up twice, so none need be remembered.
PLANS = (
    "SET jit = off; SET enable_seqscan = off; SET enable_memoize = off; SET random_page_cost = 1.1; "
    "SET max_parallel_workers_per_gather = 0"
)
VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
_TAGS = (
    "SELECT coalesce(json_object_agg(x.tag, x.holding), '{{}}') FROM (SELECT t.tag, count(*) AS holding "
    "FROM thinkback.memory_tags t JOIN thinkback.memories m ON m.space = {space} AND m.seq = t.seq "
    "WHERE t.space = {space} AND m.retired_at IS NULL GROUP BY t.tag ORDER BY t.tag) x"
)
_OPENED = (
    f"SELECT {COUNTERS}, EXISTS (SELECT 1 FROM thinkback.edges e WHERE e.space = {{space}}), "
    f"CASE WHEN s.contents <> {{tags_known}} THEN ({_TAGS}) END FROM thinkback.spaces s WHERE s.space = {{space}}"
)
_LOCKED = f"SELECT {COUNTERS} FROM thinkback.spaces s WHERE s.space = {{space}} FOR UPDATE"
_COUNTERS = f"SELECT {COUNTERS} FROM thinkback.spaces s WHERE s.space = {{space}}"
NO_TAGS = "NULL"  # known: none are asked for


def prepare(connection: psycopg.Connection[Any]) -> None:
    """Prepares what ends each message."""
    opened, locked = _OPENED.format(space="$1", tags_known="$2"), _LOCKED.format(space="$1")
    connection.execute(
        f"PREPARE thinkback_opened (integer, bigint) AS {opened}; PREPARE thinkback_locked (integer) AS {locked}; "
        f"PREPARE thinkback_counters (integer) AS {_COUNTERS.format(space='$1')}"
    )


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to begin with, for both kinds of connection."""

    plain: str
    prepared: str

    def on(self, connection: psycopg.Connection[Any]) -> str:
        return self.plain if connection.prepare_threshold is None else self.prepared


def viewing(space: int, tags_known: int | None) -> Message:
    """Opens a view; with `tags_known`, the count of contents at which the caller read the tags, changed ones are read too."""
    known = NO_TAGS if tags_known is None else str(tags_known)
    select = _OPENED.format(space=space, tags_known=known)
    return _message(VIEW, space, select, f"EXECUTE thinkback_opened ({space}, {known})")


def writing(space: int) -> Message:
    """Opens a transaction that holds the row of its space."""
    return _message(WRITE, space, _LOCKED.format(space=space), f"EXECUTE thinkback_locked ({space})")


def counting(space: int) -> Message:
    """Reads the counters; a transaction of its own."""
    told = f"SET LOCAL thinkback.space = '{space}'"
    return Message(
        f"{told}; {_COUNTERS.format(space=space)}",
        f"{told}; EXECUTE thinkback_counters ({space})",
    )


def _message(begin: str, space: int, select: str, execute: str) -> Message:
    begun = f"{begin}; SET LOCAL thinkback.space = '{space}'"
    local = PLANS.replace("SET ", "SET LOCAL ")
    return Message(f"{begun}; {local}; {select}", f"{begun}; {execute}")
