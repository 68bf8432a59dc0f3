"""Searches for people: hits, the bars of an explanation, why a memory is absent, how a question was parsed."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from thinkback.apps.cli.output import facts, moment, styled
from thinkback.apps.words import first_words, hit_in_words
from thinkback.clock import iso
from thinkback.model import Hit, Record
from thinkback.search.query.parse import Query
from thinkback.search.trace import Recall, WhyNot

BAR = 20
MOST_MEMBERS = 3  # of a theme
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def hits(found: Recall, explained: bool, named: Mapping[str, Record] | None = None) -> RenderableType:
    """The hits, one below the other; with `explained`, each with its bars, and the timings at the end.

    A theme is shown with its first members, and those in `named` with their first words.
    """
    if not found:
        left_out = sum(drop.code == "relevance" for drop in found.trace.drops)
        return styled(f"nothing relevant found ({left_out} left out)" if left_out else "nothing found", "yellow")
    parts: list[RenderableType] = [_hit(hit, named or {}, explained) for hit in found]
    return Group(*parts, *_doubt(found), *([_trace(found)] if explained else []))


def _doubt(found: Recall) -> Iterator[Text]:
    """One line where no hit is likely to answer the question."""
    if any(hit.evidence for hit in found) and not found.answered:
        yield styled("probably none of these answers the question; --min-relevance leaves such hits out", "yellow")


def first_members(found: Recall) -> list[str]:
    """The members of themes that are shown."""
    return list(dict.fromkeys(id for hit in found for id in hit.members[:MOST_MEMBERS]))


def _hit(hit: Hit, named: Mapping[str, Record], explained: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="bold cyan", width=3)
    grid.add_column(style="green", min_width=7, no_wrap=True)
    grid.add_column(overflow="fold")
    record = hit.record
    # The newest memories, which answer an empty question, have no score.
    grid.add_row(str(hit.rank), f"{hit.score:.4f}" if hit.contributions else "", _content(hit, named))
    grid.add_row(
        "",
        f"{hit.relevance:.0%}" if hit.evidence else "",
        styled(moment(record.date), "blue") + styled("  ") + _part(hit) + details(record),
    )
    for older in hit.supersedes:
        words = f"supersedes? {older}; if so: thinkback contest {hit.id} {older}"
        grid.add_row("", "", styled(words, "yellow"))
    return Group(grid, Padding(explanation(hit), (0, 0, 1, 5))) if explained else grid


def _content(hit: Hit, named: Mapping[str, Record]) -> Text:
    return styled(hit_in_words(hit).strip(), "bold") + members_shown(hit.members, named)


def members_shown(ids: Sequence[str], named: Mapping[str, Record]) -> Text:
    """The first members of a theme, each on a line with its first words, and how many more there are."""
    lines = styled("")
    for id in ids[:MOST_MEMBERS]:
        lines += styled(f"\n  {id}", "dim") + styled(f"  {first_words(named[id])}" if id in named else "")
    more = len(ids) - MOST_MEMBERS
    return lines + styled(f"\n  and {more} more", "dim") if more > 0 else lines


def _part(hit: Hit) -> Text:
    """Where in a long memory the passage shown stands."""
    if hit.passage is None:
        return styled("")
    return styled(f"characters {hit.passage.start}–{hit.passage.end} of {len(hit.text)}  ", "dim")


def details(record: Record) -> Text:
    """Tags, thread, kind and id of a memory, on one line."""
    words = [styled(f"#{tag}", "magenta") for tag in record.tags]
    if record.thread is not None:
        words.append(styled(record.thread, "cyan"))
    if record.kind != "observation":
        words.append(styled(record.kind, "yellow"))
    return styled("  ").join([*words, styled(record.id, "dim")])


def explanation(hit: Hit) -> RenderableType:
    """A bar for each contribution, beginning where the one before ended, so that the last one ends at the score."""
    moved = [contribution for contribution in hit.contributions if contribution.delta != 0]
    ends = list(accumulate((contribution.delta for contribution in moved), initial=0.0))
    scale = BAR / max(max(ends), 1e-12)
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=BAR + 1, no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim")
    for contribution, begin, end in zip(moved, ends, ends[1:], strict=False):
        style = "green" if contribution.delta > 0 else "red"
        bar = styled(_bar(min(begin, end) * scale, max(begin, end) * scale), style)
        name = f"{contribution.step}:{contribution.name}"
        grid.add_row(bar, styled(f"{contribution.delta:+.6f}", style), name, contribution.formula)
    if not hit.contributions:
        return _places(hit)
    grid.add_row(styled(_bar(0, hit.score * scale), "bold cyan"), styled(f"={hit.score:.6f}", "bold cyan"), "score", "")
    return Group(_places(hit), grid, *([_evidence(hit)] if hit.evidence else []))


def _evidence(hit: Hit) -> Text:
    """What the relevance was computed from: what each input adds to the log-odds, and its value."""
    line = styled("relevance ", "dim") + styled(f"{hit.relevance:.0%}", "green") + styled(", log-odds", "dim")
    for one in hit.evidence:
        line += styled(f" {one.weight * one.value:+.2f}") + styled(f" {one.name} ({one.value:.3g})", "dim")
    return line


def _bar(begin: float, end: float) -> str:
    """Blocks from one column to another, to an eighth of a character at their end."""
    begin, end = max(begin, 0.0), max(end, 0.0)
    first = int(begin)
    whole, part = divmod(round((end - first) * 8), 8)
    return " " * first + "█" * whole + (_EIGHTHS[part] if part else "")


def _places(hit: Hit) -> Text:
    if not hit.placings:
        return styled("found by no leg", "dim")
    if not hit.contributions:
        return styled("one of the newest: the question has no words to search by", "dim")
    line = styled("found by ", "dim")
    for number, placing in enumerate(hit.placings):
        line += styled(f"{', ' if number else ''}{placing.leg} ", "dim") + styled(f"#{placing.rank}")
        line += styled(f" ({placing.score:.4g})", "dim")
    return line


def _trace(found: Recall) -> RenderableType:
    trace = found.trace
    steps = ", ".join(f"{timing.step} {timing.us / 1000:.1f}" for timing in trace.timings)
    rows: dict[str, Any] = {
        "recipe": f"{trace.recipe.name} ({trace.recipe.fingerprint})",
        "milliseconds": f"{sum(timing.us for timing in trace.timings) / 1000:.1f} ({steps})",
        "candidates": f"{len(trace.order)}, {len(trace.drops)} of them dropped",
        "fingerprint": trace.fingerprint,
    }
    return facts({**rows, **{f"without {name}": reason for name, reason in trace.skipped}})


def absence(reason: WhyNot) -> RenderableType:
    """Why a memory is not among the hits."""
    title = styled("why not ", "bold yellow") + styled(reason.id, "bold")
    return Group(title, styled(f"  {reason.verdict}"), *(styled(f"  {leg}", "dim") for leg in reason.legs))


def query_object(query: Query) -> dict[str, Any]:
    """How a question was parsed, as JSON."""
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


def parsed(query: Query) -> RenderableType:
    """How a question was parsed, for people."""
    return facts(dict(_parsed(query_object(query))))


def _parsed(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
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
