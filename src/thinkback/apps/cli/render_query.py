"""What is understood of a question, as JSON and as people read it."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType

from thinkback.apps.cli.output import facts, warn
from thinkback.clock import iso, to_us
from thinkback.model import Filter
from thinkback.opening import chat_of
from thinkback.search.query.ask_model import ask
from thinkback.search.query.parse import Parsing, Query, parse
from thinkback.search.query.tags import Vocabulary
from thinkback.settings import Settings


def understand(text: str, now: datetime, parsing: Parsing, tags: Mapping[str, int], settings: Settings) -> Query:
    """The question as a search reads it, with a language model's help if the settings name one."""
    vocabulary, zone = Vocabulary.of(tags), now.tzinfo or UTC
    query = parse(text, Filter(now=to_us(now)), parsing, vocabulary, zone)
    chat = chat_of(settings)
    if chat is None:
        return query
    with ThreadPoolExecutor(max_workers=2) as pool:
        asked = ask(query, parsing, chat, vocabulary, pool, zone)
        return asked.answer(query, lambda what, error: warn(f"{what}: {error}"))


def query_object(query: Query) -> dict[str, Any]:
    """What was understood, as JSON."""
    keywords, anchor = query.keywords, query.anchor
    time = None
    if anchor is not None:
        since, until = anchor.window
        named = {"phrase": anchor.phrase, "centre": iso(anchor.centre_us), "tolerance_days": anchor.tolerance_days}
        time = {**named, "since": iso(since), "until": iso(until)}
    return {
        "query": query.text,
        "now": iso(query.now),
        "mode": keywords.mode,
        "terms": [{"text": term.text, "prefix": term.prefix, "phrase": term.phrase} for term in keywords.terms],
        "dropped": list(keywords.dropped),
        "expression": keywords.expression,
        "tags": [{"tag": inferred.tag, "origin": inferred.origin} for inferred in query.tags],
        "time": time,
    }


def understood(query: Query) -> RenderableType:
    """What was understood, for people."""
    return facts(dict(_understood(query_object(query))))


def _understood(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "mode", data["mode"]
    yield "terms", [term["text"] + ("*" if term["prefix"] else "") for term in data["terms"]]
    yield "dropped", data["dropped"]
    yield "expression", data["expression"]
    yield "tags", [f"{tag['tag']} ({tag['origin']})" for tag in data["tags"]]
    time = data["time"]
    if time is None:
        yield "time", None
    else:
        yield "time", f"“{time['phrase']}”: {time['centre']} ± {time['tolerance_days']:g} days"
        yield "window", f"{time['since']} to {time['until']}"
