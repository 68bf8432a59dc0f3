"""Tidy: expiry, corroboration, decay, tiers and priorities, as a list of actions that can be previewed, applied and undone."""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from thinkback.clock import iso
from thinkback.lifecycle import journal
from thinkback.lifecycle.corroboration import DECAYED_UNTIL, decayed_until, updated_confidence
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.promote import RAISED, TOP, raised, standing
from thinkback.lifecycle.repetition import Statement, by_age, repetitions
from thinkback.lifecycle.result import Result
from thinkback.lifecycle.tiers import risen
from thinkback.model import CORROBORATES, REFLECTION, Filter, StoredEdge, StoredRecord
from thinkback.stores.base import Store
from thinkback.values import dataclass

CORROBORATE = "corroborate"  # the one action that adds a link instead of changing fields
DEMOTE_BELOW = 0.5  # well below the .7 for a promotion, so that memories do not oscillate


@dataclass(frozen=True, slots=True, repr=False)
class Tidied(Result):
    """The actions that were applied, or in a dry run would be; `batch` undoes them."""

    actions: tuple[Action, ...]
    batch: str | None
    dry_run: bool


log = logging.getLogger("thinkback")


def tidy(store: Store, now: int, dry_run: bool = True, forget_before: int | None = None) -> Tidied:
    """Archive expired memories, link repetitions, update confidence, raise tiers and lower priorities.

    Entries of the journal older than `forget_before` are removed: they can no longer be undone.
    """
    parse = cache(Statement.of)
    seen = store.state().changes
    plan = _Plan(store, now, parse)
    if dry_run:
        return Tidied(plan.shown, None, True)
    batch = journal.new_batch("tidy", now)
    with store.transaction():
        # Actions depend on each other and on what was read. If another process wrote in the meantime, plan again inside the
        # transaction; that is quick, because parsed texts are cached.
        if store.state().changes != seen:
            plan = _Plan(store, now, parse)
        _link(store, plan.actions, now, batch)
        journal.amend(store, [a for a in plan.actions if a.action != CORROBORATE], now, batch)
        _save_settings(store, plan, now, batch)
        if forget_before is not None:
            store.trim_journal(forget_before)
    log.info("tidied: %d changes", len(plan.actions))
    return Tidied(plan.shown, batch if plan.actions else None, False)


class _Plan:
    """Reads a store once; later steps see the changes of earlier ones."""

    def __init__(self, store: Store, now: int, parse: Callable[[str, str | None], Statement | None]) -> None:
        self.now = now
        self._parse = parse
        self.decayed_until = decayed_until(store)
        self._raised = raised(store)
        self._vectors = store.vectors
        everyone = store.list(Filter(now=now, without_kinds=(REFLECTION,), everything=True), None)
        self._records = {record.id: record for record in everyone}
        self._corroborated_at: dict[str, list[int]] = defaultdict(list)
        self._repeating: dict[str, str] = {}
        for edge in store.export_edges():
            if edge.kind == CORROBORATES:
                self._corroborated_at[edge.to_id].append(edge.created_at)
                self._repeating[edge.from_id] = edge.to_id
        self.actions = self._all()
        self.shown = tuple(action.with_datetimes() for action in self.actions)

    def _all(self) -> list[Action]:
        """All actions, in order."""
        found: list[Action] = []
        for step in (self._expired, self._corroborated, self._confidences, self._risen, self._demoted):
            for action in step():
                found.append(action)
                self._apply(action)
        return found

    def _apply(self, action: Action) -> None:
        if action.action != CORROBORATE:
            self._records[action.id] = replace(self._records[action.id], **action.after)

    def _alive(self) -> list[StoredRecord]:
        """Records that are not archived, in order of id."""
        return [r for _, r in sorted(self._records.items()) if r.archived_at is None]

    def _expired(self) -> Iterator[Action]:
        for record in self._alive():
            if record.expires_at is not None and record.expires_at <= self.now:
                why = f"expired at {iso(record.expires_at)}"
                yield Action("expire", record.id, {"archived_at": None}, {"archived_at": self.now}, why)

    def _corroborated(self) -> Iterator[Action]:
        """Repetitions that were not linked when they were written, as in an import."""
        present = Filter(now=self.now)
        visible = sorted((record for record in self._alive() if present.rejects(record) is None), key=by_age)
        again: dict[str, list[StoredRecord]] = defaultdict(list)
        texts = ((record.id, record.text, record.source) for record in visible)
        for id, older in repetitions(texts, self._vectors, self._parse).items():
            if id not in self._repeating:
                again[older].append(self._records[id])
        for older, fresh in sorted(again.items()):
            for record in sorted(fresh, key=lambda record: record.id):
                yield Action(CORROBORATE, record.id, {}, {CORROBORATES: older}, f"repeats {older}")
                self._corroborated_at[older].append(record.recorded_at)

    def _confidences(self) -> Iterator[Action]:
        """Growth and decay; archived memories decay too."""
        for id, record in sorted(self._records.items()):
            action = updated_confidence(record, self._corroborated_at.get(id, ()), self.now)
            if action is not None:
                yield action

    def _risen(self) -> Iterator[Action]:
        for record in self._alive():
            after = risen(record, self.now)
            if after is not None:
                before = {name: getattr(record, name) for name in after}
                yield Action("rise", record.id, before, after, f"recalled {record.access_count} times")

    def _demoted(self) -> Iterator[Action]:
        for id, former in sorted(self._raised.items()):
            record = self._records.get(id)
            if record is None or record.archived_at is not None or record.priority != TOP:
                continue
            score = standing(record, len(self._corroborated_at.get(id, ())), self.now).score
            if score <= DEMOTE_BELOW:
                yield Action("demote", id, {"priority": TOP}, {"priority": former}, f"its score fell to {score:.2f}")


def _link(store: Store, actions: list[Action], now: int, batch: str) -> None:
    """Write the corroborations, dated when the repetition was recorded."""
    repeated = [action for action in actions if action.action == CORROBORATE]
    there = store.get([action.id for action in repeated])
    edges = [
        StoredEdge(from_id=a.id, to_id=a.after[CORROBORATES], kind=CORROBORATES, created_at=there[a.id].recorded_at)
        for a in repeated
    ]
    if edges:
        store.link(edges, now)
        journal.log(store, repeated, now, batch)


def _save_settings(store: Store, plan: _Plan, now: int, batch: str) -> None:
    """Save the time up to which confidence is updated, and the remaining promotions."""
    store.set_setting(DECAYED_UNTIL, str(now))
    if plan.actions:
        journal.log(store, [Action("decayed-until", "", {"until": plan.decayed_until}, {"until": now})], now, batch)
    lowered = {action.id for action in plan.actions if action.action == "demote"}
    if lowered:
        kept = {id: former for id, former in raised(store).items() if id not in lowered}
        store.set_setting(RAISED, json.dumps(kept, sort_keys=True))
