"""Writing memories with what their life begins with: an expiry by tier, and the older memories they confirm."""

from collections.abc import Sequence

from thinkback.lifecycle import journal
from thinkback.lifecycle.corroboration import MOST_AT_ONCE, confirm
from thinkback.lifecycle.repetition import repeated, repetitions
from thinkback.lifecycle.tiers import with_expiry
from thinkback.model import REFLECTION, Draft, StoredRecord
from thinkback.stores.base import EmbeddingSpace, Store


def remember(store: Store, drafts: Sequence[Draft], space: EmbeddingSpace | None, now: int) -> list[StoredRecord]:
    """Stores drafts in one transaction; in a batch of more than 32, repetitions wait for `tidy`, so that bulk stays fast."""
    dated = [with_expiry(draft, now) for draft in drafts]
    if len(dated) > MOST_AT_ONCE:
        return store.add(dated, now, space)
    with store.transaction():
        # Asked inside, so that what is confirmed still says it, and of two who say the same at once the second one finds the first.
        known = repeated(store, dated, now)
        records = store.add(dated, now, space)
        repeats = _within(records, dated) | {records[place].id: old for place, old in known.items()}
        actions = confirm(store, repeats, now) if repeats else []
        if actions:
            journal.log(store, actions, now, journal.new_batch("remember", now))
    return records


def _within(records: Sequence[StoredRecord], drafts: Sequence[Draft]) -> dict[str, str]:
    """Memories that repeat an earlier one of the same batch."""
    vectors = {r.id: draft.vector for r, draft in zip(records, drafts, strict=True) if draft.vector is not None}
    return repetitions(((r.id, r.text, r.source) for r in records if r.kind != REFLECTION), lambda ids: vectors)
