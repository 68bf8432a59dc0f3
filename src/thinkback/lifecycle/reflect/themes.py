"""Themes: which clusters qualify, and how a theme is stored as a reflection."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from thinkback.lifecycle.reflect.model import Consolidation, Theme
from thinkback.model import REFLECTION, Draft, StoredRecord, Vector
from thinkback.search.selection import canonical

THEME = f"{REFLECTION}-"  # the prefix of the ids of reflections


def identity(members: Sequence[str]) -> str:
    """The id of the reflection on these members, independent of their order."""
    digest = hashlib.sha256("\n".join(sorted(members)).encode()).hexdigest()
    return f"{THEME}{digest[:32]}"


def coherence(vectors: Vector) -> float:
    """The mean cosine of all pairs: (|Σv|² − n) / (n · (n − 1)) for n unit vectors."""
    count = len(vectors)
    total = np.square(vectors.sum(axis=0, dtype=np.float64)).sum()
    return round(float((total - count) / (count * (count - 1))), 9)


def centre(vectors: Vector) -> Vector:
    """The normalised mean."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    middle: Vector = (mean / length if length > 0 else vectors[0]).astype(np.float32)
    return middle


def refusal(records: Sequence[StoredRecord], vectors: Vector, settings: Consolidation) -> str | None:
    """Why a cluster is not a theme, or None; its key phrases are checked later."""
    if len(records) < settings.smallest:
        return "too small"
    if len(records) > settings.largest:
        return "too large"
    if len({canonical(record.text) for record in records}) < len(records):
        return "holds duplicates"
    if coherence(vectors) < settings.coherence:
        return "not coherent"
    return None


def content(theme: Theme) -> str:
    """The text of a reflection: member ids and keywords."""
    return json.dumps({"member_ids": list(theme.members), "keywords": list(theme.keywords)}, ensure_ascii=False)


def essence(theme: Theme) -> str:
    """The keywords as one line."""
    return ", ".join(theme.keywords)


def draft(theme: Theme, records: Mapping[str, StoredRecord], vector: Vector) -> Draft:
    """A theme as a memory: with the date of its newest member, the lowest trust of all, and the tags that all share."""
    members = [records[id] for id in theme.members]
    return Draft(
        id=theme.id,
        text=content(theme),
        essence=essence(theme),
        kind=REFLECTION,
        priority="P2",
        tags=tuple(tag for tag in members[0].tags if all(tag in other.tags for other in members)),
        valid_from=max(record.date for record in members),
        updated_at=max(record.updated_at for record in members),
        trust=min(record.trust for record in members),
        vector=vector,
    )


def as_written(id: str, members: Sequence[str]) -> StoredRecord:
    """A reflection on these members without keywords, as input for `rebuild`."""
    return StoredRecord(id=id, text=content(Theme(id, tuple(members), (), 0.0)), kind=REFLECTION)
