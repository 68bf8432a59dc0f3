"""Consolidation: observe, promote, link, cluster, write. Every step is idempotent and may be interrupted."""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from thinkback.errors import Action, Notice, Remedy, StoreConflict
from thinkback.lifecycle import journal
from thinkback.lifecycle.reflect import promote as promotion
from thinkback.lifecycle.reflect import themes
from thinkback.lifecycle.reflect.link_nearest import Linker, Overtaken, Progress
from thinkback.lifecycle.reflect.model import PUBLISHED, Consolidation, Reflected, Theme
from thinkback.lifecycle.reflect.observations import Observations, observe
from thinkback.lifecycle.reflect.plan import Plan, plan, words_digest
from thinkback.lifecycle.reflect.sentences import LIMITS, Limits, describe, kept
from thinkback.model import CONSOLIDATED, StoredEdge, StoredRecord
from thinkback.models.chat import Chat
from thinkback.reflections import members
from thinkback.stores.base import Store
from thinkback.values import dataclass

DESCRIBED = "reflect.described"  # setting: the digest of the words that key phrases were computed from


log = logging.getLogger("thinkback")
MOST_TRIES = 200


def reflect(
    store: Store,
    now: int,
    settings: Consolidation = PUBLISHED,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    chat: Chat | None = None,
    limits: Limits = LIMITS,
) -> Reflected:
    """Consolidate a store, or in a dry run only plan it; a `chat` adds sentences once all is written."""
    run = _Run(store, now, settings, dry_run, journal.new_batch("reflect", now))
    seen = observe(store, now)
    promoted = tuple(run.promote(seen))
    for _ in range(MOST_TRIES):
        try:
            done = run.consolidate(seen, progress or (lambda done, total: None))
            break
        except Overtaken:  # another process has done part of the work
            seen = observe(store, now)
    else:
        raise StoreConflict("the store changes faster than it can be read, or reads otherwise than it was written")
    if chat is not None and not dry_run:
        described = describe(store, done.themes, seen.records, chat, limits)
        refreshed = dict.fromkeys((*done.refreshed, *(id for id in described.ids if id not in done.created)))
        done = replace(done, refreshed=tuple(refreshed), warnings=(*done.warnings, *described.warnings))
    bare = len(seen.everyone) - len(seen.records)
    if bare:
        message = f"memories without a vector are in no theme: {bare}"
        warning = Notice("memories_without_vector", message, Remedy(Action.EMBED_MISSING))
        done = replace(done, warnings=(*done.warnings, warning))
    if not dry_run:
        counts = (len(done.created), len(done.refreshed), len(done.removed), len(promoted), done.linked)
        log.info("reflected: %d new themes, %d refreshed, %d gone; %d promoted, %d linked", *counts)
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
        """Raise the best memories to P1; concurrent promotions count toward the cap."""
        chosen = promotion.promotions(seen.everyone.values(), seen.corroborations, self.now, self.settings)
        if self.dry or not chosen:
            return chosen
        with self.store.transaction():
            promoted = promotion.raised(self.store)
            room = len(chosen) - len(promoted.keys() - seen.raised)
            fresh = [r for r in self.store.get(chosen).values() if r.priority != promotion.TOP][: max(room, 0)]
            raised = {"priority": promotion.TOP}
            actions = [journal.Action("promote", r.id, {"priority": r.priority}, raised) for r in fresh]
            journal.amend(self.store, actions, self.now, self.batch)
            promoted |= {record.id: record.priority for record in fresh}
            self.store.set_setting(promotion.RAISED, json.dumps(promoted, sort_keys=True))
        return [record.id for record in fresh]

    def consolidate(self, seen: Observations, progress: Progress) -> Reflected:
        """Link, cluster and write; raises Overtaken if another process wrote first."""
        links = Linker(self.store, seen, self.settings, self.now, self.dry).run(progress)
        words = words_digest(seen, self.settings)
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
        """Write the plan, except parts that another process wrote or removed in the meantime."""
        there = self.store.get([id for theme in (*planned.new, *planned.stale) for id in (theme.id, *theme.members)])
        if any(id not in there for theme in (*planned.new, *planned.stale) for id in theme.members):
            raise Overtaken  # a member was forgotten; the others may form another theme
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
        created = [journal.Action("reflect", theme.id, {}, {"members": list(theme.members)}) for theme in new]
        removed = [journal.Action("unreflect", r.id, {"members": list(members(r))}, {}) for r in gone]
        journal.log(self.store, [*created, *removed], self.now, self.batch)
        return _Changed(new, stale, gone)

    def _edges(self, written: Iterable[Theme]) -> Iterator[StoredEdge]:
        for theme in written:
            for member in theme.members:
                yield StoredEdge(from_id=theme.id, to_id=member, kind=CONSOLIDATED, weight=1.0, created_at=self.now)


@dataclass(frozen=True, slots=True)
class _Changed:
    new: Sequence[Theme]
    stale: Sequence[Theme]
    gone: Sequence[StoredRecord]
