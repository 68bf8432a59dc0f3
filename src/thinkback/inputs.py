"""What callers may write when they remember and recall, and its translation into values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from thinkback.clock import Moment, to_us
from thinkback.errors import InvalidInput, did_you_mean
from thinkback.input_checks import check_fraction, check_metadata, check_tags
from thinkback.model import KINDS, PRIORITIES, REFLECTION, TIERS, Draft, Filter, Vector

MOST_A_CALLER_MAY_TRUST = 0.70
ENUMERATED = {"kinds": KINDS, "tiers": TIERS, "priorities": PRIORITIES}
TIMES = ("created_at", "valid_from", "valid_to", "expires_at", "archived_at")


class Fields(TypedDict, total=False):
    """Everything `remember` takes besides the text."""

    id: str
    essence: str
    kind: str
    tier: str
    priority: str
    importance: float
    confidence: float
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    thread: str
    position: int
    created_at: Moment
    valid_from: Moment
    valid_to: Moment
    expires_at: Moment
    cycle: int
    source: str
    trust: float
    vector: Vector


class Where(TypedDict, total=False):
    """What `recall`, `list` and `search_keywords` may filter by."""

    tags: Iterable[str]
    kinds: Iterable[str]
    tiers: Iterable[str]
    priorities: Iterable[str]
    threads: Iterable[str]
    sources: Iterable[str]
    metadata: Mapping[str, Any]
    since: Moment
    until: Moment
    as_of: Moment
    known_at: Moment
    min_trust: float
    everything: bool
    include_reflections: bool


def draft(text: str, given: Mapping[str, Any]) -> Draft:
    """A draft from the words of a caller; the store checks the rest."""
    known_fields("remember", given, Fields.__annotations__)
    fields = {name: value for name, value in given.items() if value is not None}
    check_claim(fields.get("confidence"))
    for name in TIMES:
        if name in fields:
            fields[name] = to_us(fields[name])
    if "tags" in fields:
        fields["tags"] = words(fields["tags"], "tags")
    return Draft(text=text, **fields)


def check_claim(confidence: Any) -> None:
    """Refuses more confidence than a caller may claim; whether it is a number at all is for the store to say."""
    if isinstance(confidence, int | float) and confidence > MOST_A_CALLER_MAY_TRUST:
        raise InvalidInput(
            f"confidence {confidence} is more than a caller may claim; give at most {MOST_A_CALLER_MAY_TRUST}, "
            "it grows by corroboration"
        )


def filter_of(now: int, where: Mapping[str, Any]) -> Filter:
    """A filter from the words of a caller."""
    known_fields("filter", where, Where.__annotations__)
    given = {name: value for name, value in where.items() if value is not None}
    fields: dict[str, Any] = {"now": now}
    for name in ("tags", "kinds", "tiers", "priorities", "threads", "sources"):
        if name in given:
            fields[name] = _listed(words(given[name], name), name)
    if "tags" in fields:
        fields["tags"] = check_tags(fields["tags"])
    for name in ("since", "until", "as_of", "known_at"):
        if name in given:
            fields[name] = to_us(given[name])
    if "metadata" in given:
        fields["metadata"] = tuple(sorted(check_metadata(given["metadata"]).items()))
    if "min_trust" in given:
        fields["min_trust"] = check_fraction(given["min_trust"], "min_trust")
    if given.get("include_reflections") is False:
        fields["without_kinds"] = (REFLECTION,)
    return Filter(**fields, everything=given.get("everything", False))


def _listed(given: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Refuses what no memory can ever be, rather than find nothing."""
    valid = ENUMERATED.get(name, given)
    for word in given:
        if word not in valid:
            raise InvalidInput(
                f"no memory can be of {name} {word!r:.80}; one of {', '.join(valid)}.{did_you_mean(word, valid)}"
            )
    return given


def words(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Several words; a lone string would be taken apart letter by letter, so it counts as one word."""
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{name} must be words; got {given!r}")
    several = (given,) if isinstance(given, str) else tuple(given)
    for word in several:
        if not isinstance(word, str):
            raise InvalidInput(f"{name} must be words; got {word!r}")
    return several


def known_fields(what: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuses a misspelt field."""
    for name in given:
        if name not in known:
            raise InvalidInput(f"{what} has no field {name!r}; known: {', '.join(known)}.{did_you_mean(name, known)}")


def text_and_fields(item: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """One of many memories to remember, taken apart."""
    if isinstance(item, str):
        return item, {}
    if "text" not in item:
        raise InvalidInput(f"a memory needs a text; got only {', '.join(item) or 'nothing'}")
    return item["text"], {name: value for name, value in item.items() if name != "text"}


def ids_given(verb: str, ids: Sequence[Any]) -> Sequence[str]:
    """The ids, if that is what they are; a list in their place is a common slip."""
    for id in ids:
        if not isinstance(id, str):
            raise InvalidInput(f'{verb} takes ids one by one: {verb}("a", "b"), or {verb}(*ids) for a list; got {id!r}')
    return ids


def converted(name: str, value: Any) -> Any:
    """A field of an update as the store takes it."""
    if name in TIMES and value is not None:
        return to_us(value)
    return words(value, name) if name == "tags" else value
