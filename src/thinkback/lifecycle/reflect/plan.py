"""From links to themes: which reflections should exist, and which must be written, rewritten or removed; without side effects."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from thinkback.lifecycle.reflect import sentences, themes
from thinkback.lifecycle.reflect.cluster import link_all, propagate
from thinkback.lifecycle.reflect.link_nearest import Links
from thinkback.lifecycle.reflect.model import Consolidation, Theme
from thinkback.lifecycle.reflect.observations import Observations
from thinkback.lifecycle.reflect.phrases import Lexicon, key_phrases
from thinkback.model import StoredRecord, Vector
from thinkback.reflections import keywords
from thinkback.values import dataclass

NO_KEY_PHRASE = "no key phrase"
REWRITTEN = "rewritten by hand"  # the user changed its reflection, so it is left alone
SAME = 1e-6  # largest difference per component; the store rounds by less


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All themes that should exist; `new` ones are not written yet, `stale` ones must be rewritten."""

    themes: tuple[Theme, ...]
    new: tuple[Theme, ...]
    stale: tuple[Theme, ...]
    gone: tuple[StoredRecord, ...]  # reflections whose members are grouped differently now
    centres: Mapping[str, Vector]  # of what is to be written
    refused: Mapping[str, int]


def plan(
    seen: Observations, links: Links, written: Mapping[str, Vector], settings: Consolidation, described: bool = False
) -> Plan:
    """Find clusters, select themes and their key phrases; `written` holds the vectors of existing reflections.

    Key phrases compare a cluster with the whole store, so they are computed again when any text changed; `described` says that none
    did, and existing reflections keep theirs.
    """
    places = {id: row for row, id in enumerate(seen.ids)}
    refused: Counter[str] = Counter()
    known: list[Theme] = []
    undescribed: list[Theme] = []
    centres: dict[str, Vector] = {}
    for group in clusters(seen, links, settings):
        vectors = seen.matrix[[places[id] for id in group]]
        reason = themes.refusal([seen.records[id] for id in group], vectors, settings)
        if reason is not None:
            refused[reason] += 1
            continue
        theme = Theme(themes.identity(group), group, (), themes.coherence(vectors))
        if theme.id in seen.rewritten:
            refused[REWRITTEN] += 1
            continue
        centres[theme.id] = themes.centre(vectors)
        if described and theme.id in written and (before := keywords(seen.reflections[theme.id])):
            known.append(replace(theme, keywords=before))
        else:
            undescribed.append(theme)
    fresh = _describe(undescribed, seen, settings)
    refused.update({NO_KEY_PHRASE: len(undescribed) - len(fresh)} if len(fresh) < len(undescribed) else {})
    return _sorted([*known, *fresh], seen, centres, written, refused)


def words_digest(seen: Observations, settings: Consolidation) -> str:
    """A digest of everything that key phrases depend on."""
    digest = hashlib.blake2b(repr(settings.keywords).encode(), digest_size=16)
    for id, record in seen.records.items():
        digest.update(f"\0{id}\0{record.text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def clusters(seen: Observations, links: Links, settings: Consolidation) -> list[tuple[str, ...]]:
    """Groups of observations, each sorted by id; not all of them are themes."""
    if settings.clustering == "linkage":
        return [tuple(seen.ids[row] for row in group) for group in link_all(seen.matrix, settings.link_at)]
    return propagate(links.graph(seen.ids), settings.seed, settings.rounds)


def _describe(undescribed: Sequence[Theme], seen: Observations, settings: Consolidation) -> list[Theme]:
    """Themes with their keywords; a cluster without any is not a theme."""
    if not undescribed:
        return []
    lexicon = Lexicon.of((id, record.text) for id, record in seen.records.items())
    phrases = key_phrases(lexicon, [theme.members for theme in undescribed], settings.keywords)
    return [replace(theme, keywords=found) for theme, found in zip(undescribed, phrases, strict=True) if found]


def _sorted(
    found: Sequence[Theme],
    seen: Observations,
    centres: Mapping[str, Vector],
    written: Mapping[str, Vector],
    refused: Mapping[str, int],
) -> Plan:
    every = sorted(found, key=lambda theme: (-len(theme.members), theme.id))
    wanted = {theme.id for theme in every}
    present = {id: record for id, record in seen.reflections.items() if record.archived_at is None}
    return Plan(
        themes=tuple(every),
        new=tuple(theme for theme in every if theme.id not in seen.reflections),
        stale=tuple(
            theme
            for theme in every
            if theme.id in present
            and not _up_to_date(theme, present[theme.id], centres[theme.id], written.get(theme.id), seen)
        ),
        gone=tuple(present[id] for id in sorted(present.keys() - wanted)),
        centres=centres,
        refused=dict(sorted(refused.items())),
    )


def _up_to_date(theme: Theme, record: StoredRecord, centre: Vector, written: Vector | None, seen: Observations) -> bool:
    """Whether a reflection is stored as it should be."""
    if written is None or written.shape != centre.shape or np.abs(written - centre).max() > SAME:
        return False
    if sentences.outdated(record, [seen.records[id] for id in theme.members]):
        return False
    tags = themes.draft(theme, seen.records, centre).tags
    return keywords(record) == theme.keywords and sorted(record.tags) == sorted(tags)
