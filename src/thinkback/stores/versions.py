"""How a draft becomes a version and a version its successor; the same in every store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.inputs import check_interval
from thinkback.model import Draft, Passages, StoredRecord
from thinkback.values import copier

LastPositions = Callable[[Sequence[str]], Mapping[str, int]]  # the last position in each of these threads


_SET = ("id", "position", "created_at", "updated_at", "recorded_at", "retired_at", "embedded", "claim", "claimed_at")
_copied = copier(StoredRecord, _SET)  # the other fields are taken from the draft as they are


def first_version(draft: Draft, id: str, position: int | None, now: int) -> StoredRecord:
    """The first version of a memory; open fields of the draft are filled in."""
    created = now if draft.created_at is None else draft.created_at
    recorded = now if draft.recorded_at is None else draft.recorded_at
    updated = created if draft.updated_at is None else draft.updated_at
    claim = draft.confidence if draft.claim is None else draft.claim
    claimed = recorded if draft.claimed_at is None else draft.claimed_at
    embedded = draft.vector is not None
    return _copied(draft, id, position, created, updated, recorded, None, embedded, claim, claimed)


def passages_checked(text: str, passages: Passages) -> Passages:
    """Passages that lie in the text one after another, each with a vector; else InvalidInput."""
    at = 0
    for span in passages.spans:
        if not at <= span.start < span.end <= len(text):
            raise InvalidInput(
                f"a passage from {span.start} to {span.end} of a text of {len(text)} characters, after one up to {at}; "
                "passages follow one another",
                code="bad_passages",
            )
        at = span.end
    if len(passages.spans) != len(passages.vectors):
        raise InvalidInput(
            f"{len(passages.spans)} passages with {len(passages.vectors)} vectors; each needs one", code="bad_passages"
        )
    return passages


def refuse_twins(ids: Sequence[str]) -> None:
    """Refuse a batch in which two drafts have the same id."""
    if len(set(ids)) < len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)
        raise InvalidInput(f"the id {twice!r} is given to two memories; ids are unique", code="id_taken")


def id_taken(id: str) -> InvalidInput:
    """There is a memory of that id."""
    return InvalidInput(
        f"there is a memory {id!r} already; update it, or leave out the id to get a new one", code="id_taken"
    )


def positions(drafts: Sequence[Draft], last_positions: LastPositions) -> list[int | None]:
    """Each draft's position in its thread: the given one, else after the last."""
    threads = sorted({draft.thread for draft in drafts if draft.thread is not None and draft.position is None})
    last = dict(last_positions(threads)) if threads else {}
    found: list[int | None] = []
    for draft in drafts:
        position = draft.position
        if draft.thread is not None:
            position = last.get(draft.thread, -1) + 1 if position is None else position
            last[draft.thread] = max(position, last.get(draft.thread, position))
        found.append(position)
    return found


def next_version(
    old: StoredRecord, changes: Mapping[str, Any], now: int, last_positions: LastPositions
) -> StoredRecord:
    """The version that replaces another; the store sets whether it has a vector."""
    # A clock that runs backwards must not make a version end before it began.
    recorded = max(now, old.recorded_at)
    new = replace(old, **changes, updated_at=now, recorded_at=recorded)
    check_interval(new.valid_from, new.valid_to)
    if new.thread is None:
        if changes.get("position") is not None:
            raise InvalidInput(f"position {new.position} without a thread; name the thread too")
        return replace(new, position=None)
    if new.position is None or (new.thread != old.thread and changes.get("position") is None):
        return replace(new, position=last_positions([new.thread]).get(new.thread, -1) + 1)
    return new
