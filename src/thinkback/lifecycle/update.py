"""Changing a memory at a caller's word, with what follows from it for its life and for others."""

import json
from collections.abc import Mapping
from typing import Any

from thinkback.lifecycle.corroboration import reworded
from thinkback.lifecycle.reflect.promote import RAISED, raised
from thinkback.lifecycle.tiers import with_lifetime
from thinkback.model import StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace, Store


def stand(store: Store, record: StoredRecord, changes: Mapping[str, Any], now: int) -> None:
    """Changes standing: from now on confidence is counted from what the caller claims, and a priority is the caller's own."""
    after = dict(with_lifetime(record, changes, now))
    if "confidence" in changes:
        after |= {"claim": changes["confidence"], "claimed_at": now + 1}  # what was heard at this moment is in it
    store.amend({record.id: after}, now)
    noted = raised(store) if "priority" in changes else {}
    if noted.pop(record.id, None) is not None:
        store.set_setting(RAISED, json.dumps(noted, sort_keys=True))


def say(
    store: Store,
    record: StoredRecord,
    changes: Mapping[str, Any],
    now: int,
    vector: Vector | None = None,
    space: EmbeddingSpace | None = None,
) -> None:
    """Writes a new version; what repeated the old text, or was repeated by it, may not any more."""
    store.update(record.id, changes, now, vector, space)
    if changes.keys() & {"text", "source"}:
        reworded(store, record.id, now)
