"""The speaker whom a text names at its head, after the memory was first written: in imports, new texts, and on demand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from thinkback.heads import suggested_speaker
from thinkback.model import REFLECTION, Draft, Filter, StoredRecord
from thinkback.stores.base import Store


def with_speaker(draft: Draft) -> Draft:
    """A draft with the speaker whom its text names, if it has none."""
    if draft.speaker is not None or draft.kind == REFLECTION:
        return draft
    found = suggested_speaker(draft.text)
    return draft if found is None else replace(draft, speaker=found)


def is_suggested(record: StoredRecord) -> bool:
    """Whether the speaker of a memory is the one its text suggests."""
    return record.speaker == suggested_speaker(record.text)


def respoken(record: StoredRecord, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The changes of a memory; a speaker who stood at the head of the old text is read from the new one."""
    text = changes.get("text")
    if text is None or "speaker" in changes or record.kind == REFLECTION or not is_suggested(record):
        return changes
    found = suggested_speaker(text)
    return changes if found == record.speaker else {**changes, "speaker": found}


def reread(store: Store, now: int) -> set[str]:
    """Give every memory without a speaker the one its text names, unless it had one before; return which changed."""
    with store.transaction():
        unsaid = [one for one in store.list(Filter(now=now, everything=True), None, None) if one.speaker is None]
        found = {one.id: name for one in unsaid if one.kind != REFLECTION and (name := suggested_speaker(one.text))}
        emptied = {id for id in found if any(version.speaker for version in store.history(id))}
        for id in found.keys() - emptied:
            store.update(id, {"speaker": found[id]}, now)
    return found.keys() - emptied
