"""Secrets at the door: what is about to be stored is searched for likely secrets, and warned of, redacted or refused.

A message names the kinds of secrets that were found and nothing of them, so it may be logged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from thinkback.errors import Action, InvalidInput, Notice, Remedy
from thinkback.lifecycle.secrets import Policy, check_policy
from thinkback.lifecycle.secrets.detect import (
    Secret,
    json_secrets,
    redacted,
    redacted_json,
    secrets,
    secrets_in_name,
)
from thinkback.model import Draft, StoredRecord
from thinkback.values import dataclass, reader

CODE = "likely_secret"
Storable = TypeVar("Storable", Draft, StoredRecord)
TEXTS = ("text", "essence", "source", "speaker")
_CHECKED = (*TEXTS, "thread", "id", "tags", "metadata")
_values = reader(_CHECKED)


def _kinds_in_name(name: str) -> set[str]:
    return {secret.what for secret in secrets_in_name(name)}


def _kinds_in_text(text: str) -> set[str]:
    return {secret.what for secret in secrets(text)}


@dataclass(frozen=True, slots=True)
class Door:
    """The policy for likely secrets in what callers store."""

    policy: Policy = "warn"

    def __post_init__(self) -> None:
        check_policy(self.policy)

    def admit(self, drafts: Sequence[Draft]) -> tuple[list[Draft], Notice | None]:
        """The drafts as they may be stored, and a warning if secrets were found."""
        in_thread, in_speaker = _Once(_kinds_in_name).__getitem__, _Once(_kinds_in_text).__getitem__
        redacts = self.policy == "redact"
        admitted, every = list[Draft](), list[set[str]]()
        for draft in drafts:
            if found := kinds(_values(draft), in_thread, in_speaker):
                every.append(found)
            admitted.append(_clean(draft) if found and redacts else draft)
        return admitted, self.notice(set().union(*every), len(every)) if every else None

    def checked(self, value: Storable) -> tuple[Storable, set[str]]:
        """One memory or version as it may be stored, and the kinds of likely secrets in it; `notice` refuses them or warns."""
        found = kinds(_values(value))
        return (_clean(value) if found and self.policy == "redact" else value), found

    def admit_changes(self, changes: Mapping[str, Any]) -> tuple[Mapping[str, Any], Notice | None]:
        """The changes of one memory, likewise."""
        found = kinds([changes.get(name) for name in _CHECKED])
        if not found:
            return changes, None
        return (cleaned(changes) if self.policy == "redact" else changes), self.notice(found, 1)

    def notice(self, kinds: set[str], memories: int) -> Notice:
        """What to tell about secrets of these kinds in so many memories; raises if they are refused."""
        what = f"{', '.join(sorted(kinds))} in {memories} {'memory' if memories == 1 else 'memories'}"
        if self.policy == "refuse":
            raise InvalidInput(f"nothing was stored: likely secrets were found ({what}); take them out", code=CODE)
        if self.policy == "redact":
            return Notice(CODE, f"likely secrets were replaced ({what})")
        return Notice(CODE, f"likely secrets were stored ({what})", Remedy(Action.AUDIT))


def secrets_by_field(given: Callable[[str], Any]) -> Iterator[tuple[str, Secret]]:
    """Every likely secret with its field; `given` gets the value of a field."""
    for name in TEXTS:
        if isinstance(text := given(name), str):
            for secret in secrets(text):
                yield name, secret
    for tag in given("tags") or ():
        if isinstance(tag, str):
            yield from (("tags", secret) for secret in secrets(tag))
    if isinstance(name := given("thread"), str):
        yield from (("thread", secret) for secret in secrets_in_name(name))
    if metadata := given("metadata"):
        yield from (("metadata", secret) for secret in json_secrets(metadata))


Kinds = Callable[[str], set[str]]


class _Once(dict[str, set[str]]):
    """The kinds of likely secrets in each name, looked for once; many memories have the same thread and the same speaker."""

    __slots__ = ("_find",)

    def __init__(self, find: Kinds) -> None:
        self._find = find

    def __missing__(self, name: str) -> set[str]:
        found = self[name] = self._find(name)
        return found


def kinds(values: Sequence[Any], in_thread: Kinds = _kinds_in_name, in_speaker: Kinds = _kinds_in_text) -> set[str]:
    """The kinds of likely secrets in the values of the fields that are checked."""
    text, essence, source, speaker, thread, id, tags, metadata = values
    found = secrets(text) if isinstance(text, str) else []
    for said in (essence, *tags) if tags else (essence,):
        if isinstance(said, str):
            found += secrets(said)
    if isinstance(id, str):
        found += secrets_in_name(id)
    if metadata:
        found += json_secrets(metadata)
    named = in_thread(thread) if isinstance(thread, str) else set()
    for name in (source, speaker):
        if isinstance(name, str) and (also := in_speaker(name)):
            named = named | also
    return named.union(secret.what for secret in found) if found else named


def cleaned(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with every likely secret replaced by its kind; an id stays, because others refer to it."""
    clean = dict(given)
    clean |= {name: redacted(clean[name]) for name in TEXTS if isinstance(clean.get(name), str)}
    if isinstance(clean.get("thread"), str):
        clean["thread"] = redacted(clean["thread"], secrets_in_name)
    if clean.get("tags"):
        clean["tags"] = tuple(dict.fromkeys(redacted(str(tag)) for tag in clean["tags"]))
    if clean.get("metadata"):
        clean["metadata"] = redacted_json(clean["metadata"])
    return clean


def _clean(value: Storable) -> Storable:
    clean = replace(value, **cleaned(_given(value)))
    if isinstance(clean, StoredRecord) or clean.text == value.text:
        return clean
    return replace(clean, vector=None, passages=None)  # vectors show what they were made of


def _given(value: Draft | StoredRecord) -> dict[str, Any]:
    return {name: getattr(value, name) for name in _CHECKED}
