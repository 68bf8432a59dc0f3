"""The prompt that briefs an agent at the start of a session, within a token budget."""

from collections.abc import Iterator

from thinkback.apps.mcp.envelope import NOTICE, Quoted, quote
from thinkback.fields import Kind
from thinkback.memory import Memory
from thinkback.model import Passage, Record
from thinkback.search.selection import tokens

OPENING = (
    "You have a long-term memory, available through the thinkback tools: recall before you answer what may have come up before, "
    "remember what will matter later."
)
MIN_TOKENS, DEFAULT_TOKENS, MAX_TOKENS = 100, 1000, 100_000
STANDING_KINDS: tuple[Kind, ...] = ("preference", "procedure")
MAX_LISTED = 200


def brief(memory: Memory, topic: str, max_tokens: int) -> str:
    """Memories about a topic, or the standing and the latest ones without a topic, within the budget."""
    quoted: list[Quoted] = []
    for record, passage in _candidates(memory, topic):
        longer = [*quoted, Quoted.of(record, passage)]
        if tokens(_written(topic, longer)) <= max_tokens:
            quoted = longer
    return _written(topic, quoted)


def _written(topic: str, quoted: list[Quoted]) -> str:
    about = f"What it holds about {topic!r}:" if topic else "What matters most in it:"
    return f"{OPENING} {NOTICE}\n\n{about}\n{quote(quoted)}"


def _candidates(memory: Memory, topic: str) -> Iterator[tuple[Record, Passage | None]]:
    """Each memory once, most useful first, with the passage of a long one."""
    if topic:
        yield from ((hit.record, hit.passage) for hit in memory.recall(topic, limit=50))
        return
    standing = (
        *memory.list(limit=MAX_LISTED, priorities=["P1"]),
        *memory.list(limit=MAX_LISTED, kinds=STANDING_KINDS),
        *memory.list(limit=MAX_LISTED, include_reflections=False),
    )
    yield from ((record, None) for record in {record.id: record for record in standing}.values())
