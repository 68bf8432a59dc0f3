"""Tidying: what time and use make of memories, as a list of actions that can be looked at, done, and undone."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from thinkback.clock import iso
from thinkback.lifecycle import journal
from thinkback.lifecycle.corroboration import DECAYED_UNTIL, decayed_until, settled
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.observations import pages
from thinkback.lifecycle.reflect.promote import RAISED, TOP, raised, standing
from thinkback.lifecycle.repetition import Saying, by_age, repetitions
from thinkback.lifecycle.tiers import risen
from thinkback.model import CORROBORATES, REFLECTION, Filter, StoredEdge, StoredRecord
from thinkback.stores.base import Store

DEMOTE_BELOW = 0.5  # well under the .7 that promotes, so that nothing swings to and fro


@dataclass(frozen=True, slots=True)
class Tidied:
    """What was done, or would be in a dry run; `batch` undoes it."""

    actions: tuple[Action, ...]
    batch: str | None
    dry_run: bool


def tidy(store: Store, now: int, dry_run: bool = True) -> Tidied:
    """Archives what has expired, links and confirms what was said again, lets confidence decay, and moves tiers and priorities."""
    says = cache(Saying.of)
    seen = store.state().changes
    plan = _Plan(store, now, says)
    if dry_run:
        return Tidied(tuple(plan.actions), None, True)
    batch = journal.new_batch("tidy", now)
    with store.transaction():
        # One action rests on another, and all on what was seen. If somebody wrote meanwhile, a second look is taken while nobody
        # can; it is a short one, for what the texts say is known by then.
        if store.state().changes != seen:
            plan = _Plan(store, now, says)
        _link(store, plan.actions, now, batch)
        journal.amend(store, [a for a in plan.actions if a.action not in _NOT_STANDING], now, batch)
        _note(store, plan, now, batch)
    return Tidied(tuple(plan.actions), batch if plan.actions else None, False)


_NOT_STANDING = ("corroborate",)


class _Plan:
    """Looks through a store once; later steps see what earlier ones would change."""

    def __init__(self, store: Store, now: int, says: Callable[[str, str | None], Saying | None]) -> None:
        self.now = now
        self._says = says
        self.decayed_until = decayed_until(store)
        self._raised = raised(store)
        self._vectors = store.vectors
        everyone = pages(store, Filter(now=now, without_kinds=(REFLECTION,), everything=True))
        self._records = {record.id: record for record in everyone}
        self._heard: dict[str, list[int]] = defaultdict(list)
        self._repeating: dict[str, str] = {}
        for edge in store.export_edges():
            if edge.kind == CORROBORATES:
                self._heard[edge.to_id].append(edge.created_at)
                self._repeating[edge.from_id] = edge.to_id
        self.actions = self._all()

    def _all(self) -> list[Action]:
        """Everything there is to do, in order."""
        found: list[Action] = []
        for step in (self._expired, self._corroborated, self._settled, self._risen, self._demoted):
            for action in step():
                found.append(action)
                self._see(action)
        return found

    def _see(self, action: Action) -> None:
        if action.action not in _NOT_STANDING:
            self._records[action.id] = replace(self._records[action.id], **action.after)

    def _alive(self) -> list[StoredRecord]:
        """Records in order of id, without those that are archived."""
        return [r for _, r in sorted(self._records.items()) if r.archived_at is None]

    def _expired(self) -> Iterator[Action]:
        for record in self._alive():
            if record.expires_at is not None and record.expires_at <= self.now:
                why = f"expired at {iso(record.expires_at)}"
                yield Action("expire", record.id, {"archived_at": None}, {"archived_at": self.now}, why)

    def _corroborated(self) -> Iterator[Action]:
        """Repetitions that nobody linked when they were written, as in an import."""
        present = Filter(now=self.now)
        said = sorted((record for record in self._alive() if present.rejects(record) is None), key=by_age)
        again: dict[str, list[StoredRecord]] = defaultdict(list)
        spoken = ((record.id, record.text, record.source) for record in said)
        for id, older in repetitions(spoken, self._vectors, self._says).items():
            if id not in self._repeating:
                again[older].append(self._records[id])
        for older, fresh in sorted(again.items()):
            for record in sorted(fresh, key=lambda record: record.id):
                yield Action("corroborate", record.id, {}, {CORROBORATES: older}, f"says the same as {older}")
                self._heard[older].append(record.recorded_at)

    def _settled(self) -> Iterator[Action]:
        """What was said again, and time, change how sure the store is; time passes for archived memories too."""
        for id, record in sorted(self._records.items()):
            action = settled(record, self._heard.get(id, ()), self.now)
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
            score = standing(record, len(self._heard.get(id, ())), self.now).score
            if score <= DEMOTE_BELOW:
                yield Action("demote", id, {"priority": TOP}, {"priority": former}, f"its score fell to {score:.2f}")


def _link(store: Store, actions: list[Action], now: int, batch: str) -> None:
    """Writes the corroborations, dated when they were said."""
    said = [action for action in actions if action.action == "corroborate"]
    there = store.get([action.id for action in said])
    edges = [
        StoredEdge(from_id=a.id, to_id=a.after[CORROBORATES], kind=CORROBORATES, created_at=there[a.id].recorded_at)
        for a in said
    ]
    if edges:
        store.link(edges, now)
        journal.log(store, said, now, batch)


def _note(store: Store, plan: _Plan, now: int, batch: str) -> None:
    """Keeps until when confidence is counted, and who is no longer raised."""
    store.set_setting(DECAYED_UNTIL, str(now))
    if plan.actions:
        journal.log(store, [Action("decayed-until", "", {"until": plan.decayed_until}, {"until": now})], now, batch)
    lowered = {action.id for action in plan.actions if action.action == "demote"}
    if lowered:
        kept = {id: former for id, former in raised(store).items() if id not in lowered}
        store.set_setting(RAISED, json.dumps(kept, sort_keys=True))
