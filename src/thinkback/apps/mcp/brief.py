"""The prompt that briefs an agent at the start of a session, within a token budget."""

from collections.abc import Iterator

from thinkback.apps.mcp.envelope import NOTICE, Quoted, quote
from thinkback.apps.mcp.stores import Stores
from thinkback.fields import Kind
from thinkback.model import Passage, Record
from thinkback.search.selection import tokens

OPENING = (
    "You have a long-term memory, available through the thinkback tools: recall before you answer what may have come up before, "
    "remember what will matter later."
)
MIN_TOKENS, DEFAULT_TOKENS, MAX_TOKENS = 100, 1000, 100_000
STANDING_KINDS: tuple[Kind, ...] = ("preference", "procedure")
MAX_LISTED, MAX_RECALLED = 200, 50


def brief(stores: Stores, topic: str, max_tokens: int) -> str:
    """Memories about a topic, or the standing and the latest ones without a topic, within the budget."""
    quoted: list[Quoted] = []
    for store, record, passage in _candidates(stores, topic):
        longer = [*quoted, Quoted.of(record, passage, store)]
        if tokens(_written(topic, longer)) <= max_tokens:
            quoted = longer
    return _written(topic, quoted)


def _written(topic: str, quoted: list[Quoted]) -> str:
    about = f"What it holds about {topic!r}:" if topic else "What matters most in it:"
    return f"{OPENING} {NOTICE}\n\n{about}\n{quote(quoted)}"


def _candidates(stores: Stores, topic: str) -> Iterator[tuple[str, Record, Passage | None]]:
    """Each memory once, most useful first, with its store and the passage of a long one."""
    if topic:
        found = stores.search(lambda memory: memory.recall(topic, limit=MAX_RECALLED), MAX_RECALLED)
        yield from ((store, hit.record, hit.passage) for store, hit in found.hits)
        return
    seen: set[str] = set()
    for where in ({"priorities": ["P1"]}, {"kinds": STANDING_KINDS}, {"include_reflections": False}):
        for store, memory in stores.named.items():
            for record in memory.list(limit=MAX_LISTED, **where):
                if record.id not in seen:
                    seen.add(record.id)
                    yield store, record, None
