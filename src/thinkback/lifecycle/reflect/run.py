"""The consolidation itself: observe, promote, link, cluster, write; every step can be repeated, and broken off, without harm."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from thinkback.errors import Action, Notice, Remedy
from thinkback.ids import IdSource
from thinkback.lifecycle.reflect import promote as promotion
from thinkback.lifecycle.reflect import themes
from thinkback.lifecycle.reflect.link_nearest import Linker, Overtaken, Progress
from thinkback.lifecycle.reflect.model import PUBLISHED, Consolidation, Reflected, Theme
from thinkback.lifecycle.reflect.observations import Observations, observe
from thinkback.lifecycle.reflect.plan import Plan, plan, said
from thinkback.lifecycle.reflect.sentences import PATIENT, Patience, kept, tell
from thinkback.model import CONSOLIDATED, StoredEdge, StoredRecord
from thinkback.models.chat import Chat
from thinkback.reflections import members
from thinkback.stores.base import JournalEntry, Store

EMBED = Remedy(Action.EMBED_MISSING)
DESCRIBED = "reflect.described"  # a digest of the words that all reflections were described from


def reflect(
    store: Store,
    now: int,
    settings: Consolidation = PUBLISHED,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    chat: Chat | None = None,
    patience: Patience = PATIENT,
) -> Reflected:
    """Consolidates a store; a dry run only says what would be done. A `chat` may put themes in words once all is written."""
    run = _Run(store, now, settings, dry_run, f"reflect-{IdSource().take(1, now)[0]}")
    seen = observe(store, now)
    promoted = tuple(run.promote(seen))
    while True:
        try:
            done = run.consolidate(seen, progress or (lambda done, total: None))
            break
        except Overtaken:  # another process has brought the work forward
            seen = observe(store, now)
    if chat is not None and not dry_run:
        told = tell(store, done.themes, seen.records, chat, patience)
        refreshed = dict.fromkeys((*done.refreshed, *(id for id in told.ids if id not in done.created)))
        done = replace(done, refreshed=tuple(refreshed), warnings=(*done.warnings, *told.warnings))
    bare = len(seen.speaking) - len(seen.records)
    if bare:
        left_out = Notice("memories_without_vector", f"memories without a vector, in no theme: {bare}", EMBED)
        done = replace(done, warnings=(*done.warnings, left_out))
    journalled = not dry_run and bool(promoted or done.created or done.removed)
    return replace(done, promoted=promoted, batch=run.batch if journalled else None)


@dataclass(frozen=True, slots=True)
class _Run:
    store: Store
    now: int
    settings: Consolidation
    dry: bool
    batch: str

    def promote(self, seen: Observations) -> list[str]:
        """Raises the best to P1; whom another process raised meanwhile takes a place."""
        chosen = promotion.promotions(seen.speaking.values(), seen.corroborations, self.now, self.settings)
        if self.dry or not chosen:
            return chosen
        with self.store.transaction():
            noted = promotion.raised(self.store)
            room = len(chosen) - len(noted.keys() - seen.raised)
            fresh = [r for r in self.store.get(chosen).values() if r.priority != promotion.TOP][: max(room, 0)]
            self.store.amend({record.id: {"priority": promotion.TOP} for record in fresh}, self.now)
            self.store.log([self._entry("promote", r.id, _priority(r.priority), _priority("P1")) for r in fresh])
            noted |= {record.id: record.priority for record in fresh}
            self.store.set_setting(promotion.RAISED, json.dumps(noted, sort_keys=True))
        return [record.id for record in fresh]

    def consolidate(self, seen: Observations, progress: Progress) -> Reflected:
        """Links, clusters and writes; raises Overtaken when another process was faster."""
        links = Linker(self.store, seen, self.settings, self.now, self.dry).run(progress)
        words = said(seen, self.settings)
        described = self.store.setting(DESCRIBED) == words
        planned = plan(seen, links, self.store.vectors(list(seen.reflections)), self.settings, described)
        changed = _Changed(planned.new, planned.stale, planned.gone)
        if not self.dry and (planned.new or planned.stale or planned.gone or not described):
            with self.store.transaction():
                if seen.overtaken(self.store, links.token):
                    raise Overtaken
                changed = self._write(planned, seen)
                self.store.set_setting(DESCRIBED, words)
        return Reflected(
            linked=links.made,
            themes=planned.themes,
            created=tuple(theme.id for theme in changed.new),
            refreshed=tuple(theme.id for theme in changed.stale),
            removed=tuple(record.id for record in changed.gone),
            refused=planned.refused,
            warnings=links.warnings,
            dry_run=self.dry,
        )

    def _write(self, planned: Plan, seen: Observations) -> "_Changed":
        """Writes what is planned, but for what another process has written or removed meanwhile."""
        there = self.store.get([id for theme in (*planned.new, *planned.stale) for id in (theme.id, *theme.members)])
        if any(id not in there for theme in (*planned.new, *planned.stale) for id in theme.members):
            raise Overtaken  # a member was forgotten; without it, the others may make another theme
        new = [theme for theme in planned.new if theme.id not in there]
        stale = [theme for theme in planned.stale if theme.id in there]
        drafts = {theme.id: themes.draft(theme, seen.records, planned.centres[theme.id]) for theme in (*new, *stale)}
        space = self.store.embedding_space()
        self.store.add([drafts[theme.id] for theme in new], self.now, space)
        for theme in stale:
            draft = drafts[theme.id]
            changes: dict[str, object] = {"text": draft.text, "essence": draft.essence, "tags": draft.tags}
            changes |= kept(there[theme.id], [there[id] for id in theme.members])
            self.store.update(theme.id, changes, self.now, draft.vector, space)
        if drafts:
            self.store.link(list(self._edges((*new, *stale))), self.now)
        went = set(self.store.forget([record.id for record in planned.gone]))
        gone = [record for record in planned.gone if record.id in went]
        self.store.log(
            [self._entry("reflect", theme.id, {}, {"members": list(theme.members)}) for theme in new]
            + [self._entry("unreflect", record.id, {"members": list(members(record))}, {}) for record in gone]
        )
        return _Changed(new, stale, gone)

    def _edges(self, written: Iterable[Theme]) -> Iterator[StoredEdge]:
        for theme in written:
            for member in theme.members:
                yield StoredEdge(from_id=theme.id, to_id=member, kind=CONSOLIDATED, weight=1.0, created_at=self.now)

    def _entry(self, action: str, id: str, before: Mapping[str, object], after: Mapping[str, object]) -> JournalEntry:
        return JournalEntry(0, action, id, before, after, self.now, self.batch)


@dataclass(frozen=True, slots=True)
class _Changed:
    new: Sequence[Theme]
    stale: Sequence[Theme]
    gone: Sequence[StoredRecord]


def _priority(value: str) -> dict[str, object]:
    return {"priority": value}
