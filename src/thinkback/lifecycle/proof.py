"""Proof of a forgetting: every leg and index is searched, and the live files are read byte by byte."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from thinkback.inputs import canonical_json
from thinkback.lifecycle.repetition import holding
from thinkback.model import REFLECTION, Filter, Passages, StoredRecord, Vector
from thinkback.reflections import members
from thinkback.stores.base import PENDING_SCRUB, SHORTEST_TRACE, Store
from thinkback.stores.segmentation import segment
from thinkback.stores.stemming import stems
from thinkback.values import dataclass

RUN = 24  # bytes of text per needle
_NUMBERS = 8  # of a vector per needle, from its beginning, middle and end
_DISTINCT = 4  # different bytes at the head of a needle; runs of zeros occur everywhere
_WORD = re.compile(r"[^\W_]+")
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Search:
    """The number of searches in one leg or index, and of forgotten memories that they found."""

    where: str
    asked: int
    found: int


@dataclass(frozen=True, slots=True)
class Scan:
    """A live file, the number of traces in it, and the ids among them."""

    file: str
    bytes: int
    traces: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The content to be forgotten; kept only until the proof is complete."""

    versions: Mapping[str, Sequence[StoredRecord]]
    vectors: Mapping[str, Vector]
    passages: Mapping[str, Passages]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.versions)

    def all_vectors(self) -> Iterator[Vector]:
        """The vectors of memories and of their passages."""
        yield from self.vectors.values()
        for its in self.passages.values():
            yield from its.vectors

    def records(self) -> Iterator[StoredRecord]:
        """Every version of every memory."""
        for versions in self.versions.values():
            yield from versions


def gather(store: Store, ids: Sequence[str]) -> Evidence:
    """Read all versions and vectors of these memories before they are removed."""
    there = list(store.get(ids))
    return Evidence({id: store.history(id) for id in there}, store.vectors(there), store.passages(there))


# -- the indexes


def search(store: Store, evidence: Evidence, now: int) -> Iterator[Search]:
    """Search every leg and index for the forgotten content."""
    ids, anything = evidence.ids, Filter(now=now, everything=True)
    texts = list(evidence.records())
    yield Search("memories", len(ids), len(store.get(sorted(ids))))
    yield Search("history", len(ids), sum(len(store.history(id)) for id in sorted(ids)))
    yield Search("keyword leg", len(texts), sum(_by_words(store, record, anything, ids) for record in texts))
    vectors = evidence.vectors.values()
    yield Search(
        "vector leg", len(vectors), sum(_among(store.search_vectors(v, anything, _PAGE), ids) for v in vectors)
    )
    probes = [its.vectors[0] for its in evidence.passages.values()]
    if probes:
        found = sum(_among(store.search_passages(v, anything, _PAGE), ids) for v in probes)
        yield Search("passages", len(probes), found)
    yield Search("dates leg", len(ids), len(store.dated(anything.now, anything.only(sorted(ids)), len(ids))))
    yield Search("graph leg", len(ids), len(store.edges(sorted(ids), anything, None)))
    yield Search("links", 1, sum(edge.from_id in ids or edge.to_id in ids for edge in store.export_edges()))
    reflections = store.list(replace(anything, kinds=(REFLECTION,)), None)
    yield Search("reflections", len(reflections), sum(bool(ids.intersection(members(r))) for r in reflections))
    yield Search("judgements", 1, sum(judgement.memory_id in ids for judgement in store.judgements()))
    entries = store.journal()
    yield Search("journal", 1, sum(entry.memory_id in ids or not ids.isdisjoint(entry.named) for entry in entries))
    yield Search("settings", 1, sum(_names(value, ids) for value in _settings(store).values()))
    # The receipt itself says whether a scrub is pending.
    yield Search("indexes against text", 1, sum(problem.area != PENDING_SCRUB for problem in store.check()))


def _settings(store: Store) -> Mapping[str, str]:
    with store.snapshot() as everything:
        return everything.settings


def _names(setting: str, ids: frozenset[str]) -> bool:
    """Whether a setting is an id, or an object or a list of them."""
    try:
        held = json.loads(setting)
    except json.JSONDecodeError:
        held = setting
    names = held if isinstance(held, dict | list) else [held]
    return any(isinstance(name, str) and name in ids for name in names)


def _by_words(store: Store, record: StoredRecord, anything: Filter, ids: frozenset[str]) -> int:
    query = holding(record.text)
    now = _among(store.search_keywords(query, anything, _PAGE), ids)
    then = replace(anything, known_at=record.recorded_at)
    return now + _among(store.search_keywords(query, then, _PAGE), ids)


def _among(hits: Sequence[object], ids: frozenset[str]) -> int:
    return sum(getattr(hit, "id", None) in ids for hit in hits)


# -- the files


def scan(store: Store, evidence: Evidence) -> tuple[list[Scan], int]:
    """Search the live files for traces; also returns the number of texts and ids that are too short to search for."""
    needles, too_short = _needles(evidence)
    files = store.traces(needles)
    traces = _not_shared(store, set().union(*(file.found for file in files)))
    scans = [
        Scan(file.file, file.size, len(file.found & traces), tuple(_ids_in(file.found & traces, evidence)))
        for file in files
    ]
    return scans, too_short


def _ids_in(traces: frozenset[bytes], evidence: Evidence) -> Iterator[str]:
    for id in sorted(evidence.ids):
        if traces.intersection(_spelled(id)):
            yield id


def _spelled(id: str) -> set[bytes]:
    """An id as it is stored in a column and in JSON, with and without escapes."""
    return {id.encode(), *(json.dumps(id, ensure_ascii=escaped)[1:-1].encode() for escaped in (True, False))}


def _needles(evidence: Evidence) -> tuple[set[bytes], int]:
    needles: set[bytes] = set()
    too_short = 0
    for text in dict.fromkeys(text for record in evidence.records() for text in written_of(record)):
        runs = runs_of(text)
        needles.update(runs)
        needles.update(word.encode()[:SHORTEST_TRACE] for word in words(text) if len(word.encode()) >= SHORTEST_TRACE)
        too_short += not runs
    needles.update(run for vector in evidence.all_vectors() for run in _parts(vector))
    needles = {needle for needle in needles if len(set(needle[:SHORTEST_TRACE])) >= _DISTINCT}
    for id in evidence.ids:
        spelled = {spelling for spelling in _spelled(id) if len(spelling) >= SHORTEST_TRACE}
        needles |= spelled
        too_short += not spelled
    return needles, too_short


def _parts(vector: Vector) -> Iterator[bytes]:
    """A few numbers from the beginning, middle and end of a vector, each part starting at a non-zero one."""
    filled = np.flatnonzero(vector)
    for start in dict.fromkeys((filled[0], filled[len(filled) // 2], filled[max(0, len(filled) - _NUMBERS)])):
        part = vector[start : start + _NUMBERS].astype("<f4").tobytes()
        if len(part) >= SHORTEST_TRACE:
            yield part


def texts_of(record: StoredRecord) -> Iterator[str]:
    """Every text of a version, as stored and as indexed."""
    for text in (record.text, record.essence or "", " ".join(record.tags)):
        if text:
            yield text
            if not text.isascii() and (segmented := segment(text)) != text:
                yield segmented
    if record.metadata:
        yield canonical_json(record.metadata)


def written_of(record: StoredRecord) -> Iterator[str]:
    """Every text of a version, and the stems that a text of another language than English is indexed by."""
    yield from texts_of(record)
    said = (segment(record.text), segment(record.essence or ""), segment(" ".join(record.tags)))
    if (stemmed := stems(said)) is not said:
        yield from filter(None, stemmed)


def runs_of(text: str) -> list[bytes]:
    """A text in runs of 24 bytes, the last one overlapping; none if it has less than 8 bytes."""
    data = text.encode()
    if len(data) < SHORTEST_TRACE:
        return []
    starts = [*range(0, len(data) - RUN, RUN), max(0, len(data) - RUN)]
    return [data[start : start + RUN] for start in starts]


def words(text: str) -> set[str]:
    """The words of a text as an index holds them, before stemming."""
    return set(_WORD.findall(text.lower()))


def judged(store: Store, evidence: Evidence) -> list[str]:
    """Memories with a judged query that has a forgotten word which no memory has any more."""
    forgotten = {word for record in evidence.records() for text in texts_of(record) for word in words(text)}
    asked = {word for judgement in store.judgements() for word in words(judgement.query)} & forgotten
    for record in store.export_records() if asked else ():
        asked -= {word for text in texts_of(record) for word in words(text)}
        if not asked:
            break
    return sorted({one.memory_id for one in store.judgements() if asked & words(one.query)}) if asked else []


def _not_shared(store: Store, found: set[bytes]) -> set[bytes]:
    """The runs that do not occur in anything left in the store."""
    left = set(found)
    for whole in _left_in(store) if left else ():
        left = {run for run in left if run not in whole}
        if not left:
            break
    return left


def _left_in(store: Store) -> Iterator[bytes]:
    ids: list[str] = []
    exported = store.export_records()
    while page := list(islice(exported, _PAGE)):
        ids += [record.id for record in page]
        for record in page:
            names = (
                record.id,
                record.thread or "",
                record.speaker or "",
                record.source or "",
                record.kind,
                record.tier,
            )
            texts = "\0".join((*written_of(record), *names))
            yield f"{texts}\0{texts.lower()}".encode()
    yield "\0".join(text for j in store.judgements() for text in (j.query, j.query.lower())).encode()
    yield "\0".join(_names_of_upkeep(store)).encode()
    for start in range(0, len(ids), _PAGE):
        some = ids[start : start + _PAGE]
        yield from (vector.astype("<f4").tobytes() for vector in store.vectors(some).values())
        yield from (its.vectors.astype("<f4").tobytes() for its in store.passages(some).values())


def _names_of_upkeep(store: Store) -> set[str]:
    """The names of link kinds, journal fields and settings; not the ids that they refer to."""
    entries = store.journal()
    fields = {name for entry in entries for name in (*entry.before, *entry.after)}
    kinds = {edge.kind for edge in store.export_edges()}
    return {*kinds, *fields, *_settings(store), *(entry.action for entry in entries), *(e.batch for e in entries)}
