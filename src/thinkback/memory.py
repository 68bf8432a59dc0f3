"""Memory: what people hold.

What only some verbs need is imported by them: a process that opens a store to ask one question does not wait for it. Their types
are written `thinkback.Name`, which loads them when somebody looks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

import thinkback
from thinkback.clock import DAY, Clock, Moment, system_clock, to_us, zone_of
from thinkback.errors import (
    EmbeddingSpaceMismatch,
    InvalidInput,
    Notice,
    SecretWarning,
    ThinkbackError,
    unknown_memory,
    warn,
)
from thinkback.fields import CHANGEABLE, STANDING, VERSIONED, names
from thinkback.ids import is_short, made_here
from thinkback.inputs import (
    Changes,
    Fields,
    Where,
    changes_of,
    check_fraction,
    check_limit,
    check_query,
    check_text,
    draft,
    ids_given,
    one_text,
    optional_name,
    text_and_fields,
    validate,
)
from thinkback.lifecycle.access_log import AccessLog
from thinkback.lifecycle.embed import Embedding
from thinkback.lifecycle.secrets import Policy, check_policy
from thinkback.model import (
    REFLECTION,
    Draft,
    Edge,
    Filter,
    JournalEntry,
    Judgement,
    Record,
    StoredEdge,
    StoredJudgement,
    StoredRecord,
    Vector,
)
from thinkback.models.embedders.base import is_unit, validate_vectors
from thinkback.search.engine import Engine, Notes
from thinkback.search.executors import Inline, Threads
from thinkback.search.pipeline import gather, search
from thinkback.search.query.parse import parse
from thinkback.search.query.tags import Vocabulary
from thinkback.search.query.time import AnchorExtractor
from thinkback.search.ranking import Gathered
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import TYPED, reflections_only
from thinkback.search.recipes.toml import resolve
from thinkback.search.signals.reflection import Reflection
from thinkback.search.trace import Recall
from thinkback.stores.base import (
    MAX_GRADE,
    Problem,
    Snapshot,
    Store,
    StoreState,
)
from thinkback.where import EVERY, condition_of, filter_of

if TYPE_CHECKING:
    from thinkback.lifecycle.secrets.door import Door

Progress = Callable[[int, int], None]
MOST_ALIKE = 5  # ids that an ambiguous short one names
WITHOUT_VECTORS = "stored without vectors, found by keyword"


class Memory:
    """A memory that can be searched; made by `thinkback.open`, closed by `with` or `close()`."""

    def __init__(
        self,
        store: Store,
        *,
        embedding: Embedding | None = None,
        reranker: "Callable[[str], thinkback.Reranker] | None" = None,
        chat: "thinkback.Chat | None" = None,
        extractor: AnchorExtractor | None = None,
        recipe: str | Path | Recipe = "default",
        clock: Clock = system_clock,
        strict: bool = False,
        count_accesses: bool = True,
        secrets: Policy = "warn",
        journal_days: int = 0,
        tombstones: bool = False,
        watchers: Sequence[Callable[[Recall], None]] = (),
    ) -> None:
        if isinstance(store, str | Path):
            raise InvalidInput(f"a memory is opened with thinkback.open({str(store)!r})", code="not_a_store")
        self.store = store
        self.clock = clock
        self.recipe = resolve(recipe)
        self.strict = strict
        self.count_accesses = count_accesses
        self._secrets = check_policy(secrets)
        self._journal_kept = max(0, journal_days) * DAY
        self._tombstones = tombstones
        self._watchers = tuple(watchers)  # called after every search
        self._embedding = embedding or Embedding(store, None)
        self._reranker = reranker
        self.chat = chat
        self.extractor = extractor
        self._pool: Executor = Threads(max_workers=4, thread_name_prefix="thinkback")
        self._recalls = AccessLog(store, clock)
        self._vocabulary: tuple[str, Vocabulary] | None = None
        self._dimensions: int | None = None  # of the store's vectors, when they were last looked at

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write pending access counts and close the store."""
        try:
            self._recalls.close()
        except ThinkbackError as error:
            self._warn(error.notice("the last recalls were not counted"))
        finally:
            self._pool.shutdown(wait=True)
            self.store.close()

    # -- writing -------------------------------------------------------------------------------------------------------------------

    @overload
    def remember(self, text: str, **fields: Unpack[Fields]) -> Record: ...
    @overload
    def remember(self, *, messages: Iterable[Mapping[str, Any]], **fields: Unpack[Fields]) -> list[Record]: ...
    @overload
    def remember(self, *, file: str | Path, **fields: Unpack[Fields]) -> "thinkback.Synced": ...
    def remember(self, text: str | None = None, *, messages: Any = None, file: Any = None, **fields: Any) -> Any:
        """Store one memory: `remember("Oscar is a grey cat", tags=["pets"], thread="chat-7")`.

        Or a conversation, `messages=[{"role": "user", "content": "…"}, …]`: one memory a message, in one thread; messages whose
        `id` is known are left alone. Or `file=`, Markdown or text, or a folder of such files: one memory a section; called again
        it updates what changed and forgets what is gone.
        """
        if messages is not None:
            from thinkback.messages import drafts_of

            return self._remember_new(drafts_of(messages, fields))
        if file is not None:
            return self._remember_files(file, fields)
        return self.remember_many([{"text": one_text(text), **fields}])[0]

    add = remember

    def upsert(self, text: str, *, key: str | None = None, **fields: Unpack[Fields]) -> Record:
        """Store a memory, or change the one that has this `id`, or the same value under `key` in its metadata.

        `upsert("Oscar is 7", key="url", metadata={"url": "https://…"})`. Only the fields given are changed, and an equal memory is
        left alone.
        """
        given = draft(one_text(text), fields)
        found = self._upserted(given, key)
        if found is None:
            return self.remember(text, **fields)
        wanted = validate(replace(given, id=found.id))
        asked = [name for name in names(CHANGEABLE) if name == "text" or fields.get(name) is not None]
        stored, _ = self._door.checked(wanted)  # as it would be stored, so that what was redacted does not differ
        changes = {name: getattr(wanted, name) for name in asked if getattr(stored, name) != getattr(found, name)}
        return self.update(found.id, **changes) if changes else Record.of(found)

    def remember_many(self, items: Iterable[str | Mapping[str, Any]]) -> list[Record]:
        """Store many memories in one transaction, all or none; each a text, or a mapping with `text` and `remember`'s fields."""
        from thinkback.lifecycle.write import remember

        drafts = [draft(*text_and_fields(item)) for item in items]
        if not drafts:
            return []
        drafts, secrets = self._door.admit(drafts)
        if secrets is not None:
            warn(secrets, SecretWarning, stacklevel=3)
        filled, space, failure = self._embedding.fill(drafts, checked_later=True)
        if failure is not None:
            self._warn(failure.notice(WITHOUT_VECTORS))
        try:
            records = remember(self.store, filled, space, self.clock())
        except EmbeddingSpaceMismatch as switched:  # the store was re-embedded while these were embedded
            self._embedding.doubt()
            self._warn(switched.notice(WITHOUT_VECTORS))
            records = remember(self.store, drafts, None, self.clock())
        self._flush_if_possible()
        return Record.of_many(records)

    def update(self, id: str, /, **changes: Unpack[Changes]) -> Record:
        """Change a memory; the older version stays for `known_at`. Standing (tier, priority, importance, …) changes in place."""
        from thinkback.lifecycle.write import change_standing, new_version

        given, secrets = self._door.admit_changes(changes_of(changes))
        if secrets is not None:
            warn(secrets, SecretWarning)
        standing = {name: value for name, value in given.items() if name in STANDING}
        versioned = {name: value for name, value in given.items() if name in VERSIONED}
        text = versioned.get("text")
        filled, space, failure = (
            self._embedding.passage(text) if isinstance(text, str) else (Draft(text=""), None, None)
        )
        if failure is not None:
            self._warn(failure.notice(WITHOUT_VECTORS))
        with self.store.transaction():
            record = self._stored(id)
            if standing:
                change_standing(self.store, record, standing, self.clock())
            if space is not None and self.store.embedding_space() not in (None, space):
                filled, space = Draft(text=""), None
                self._warn(Notice("embedded_anew_meanwhile", f"{WITHOUT_VECTORS}: the store's model changed meanwhile"))
            if versioned:
                new_version(self.store, record, versioned, self.clock(), filled, space)
        return self.get(id)

    def forget(
        self,
        *ids: str,
        where: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        scrub: bool = False,
        tombstone: bool | None = None,
    ) -> "thinkback.Forgotten":
        """Remove memories for good, with everything derived from them.

        `where` adds every memory that a condition holds for, hidden ones too: `forget(where={"thread": "chat-7"}, dry_run=True)`
        says which those would be. The result has the ids that existed and warns while the files may still hold something of them;
        `scrub` clears large files at once, which otherwise happens with a later write or on closing. `tombstone` keeps imports and
        captures from bringing them back (default: the setting `tombstones`).
        """
        from thinkback.lifecycle.forget import forget, would_forget

        chosen = [*ids_given("forget", ids), *([] if where is None else self._where(where))]
        if dry_run:
            return would_forget(self.store, chosen, self.clock())
        mark = self._tombstones if tombstone is None else tombstone
        return forget(self.store, chosen, self.clock(), scrub=scrub, tombstone=mark)

    def forget_verified(self, *ids: str, tombstone: bool | None = None) -> "thinkback.Receipt":
        """The same, then proves it: every leg and index is asked, the live files are read, and a receipt is returned."""
        from thinkback.lifecycle.forget import forget_verified

        mark = self._tombstones if tombstone is None else tombstone
        return forget_verified(self.store, ids_given("forget_verified", ids), self.clock(), tombstone=mark)

    def tombstones(self) -> "Sequence[thinkback.Tombstone]":
        """Keyed hashes of what must not come back by an import or a capture, oldest first."""
        from thinkback.lifecycle.tombstones import tombstones

        return tombstones(self.store)

    def revoke_tombstones(self, *hashes: str) -> Sequence[str]:
        """Take tombstones back; returns those that there were."""
        from thinkback.lifecycle.tombstones import revoke

        return revoke(self.store, ids_given("revoke_tombstones", hashes))

    def buried(self, memories: Iterable[tuple[str | None, str]]) -> Sequence[bool]:
        """For each id and text, whether a tombstone says that it shall not come back."""
        from thinkback.lifecycle.tombstones import buried

        return buried(self.store, memories)

    def unburied(self, items: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """The items for `remember_many` that no tombstone keeps out, with a warning if one does."""
        given = list(items)
        out = self.buried((one.get("id"), one["text"]) for one in given)
        if any(out):
            from thinkback.lifecycle.tombstones import left_out

            self._warn(left_out(sum(out)))
        return [one for one, gone in zip(given, out, strict=True) if not gone]

    def contest(self, new_id: str, old_id: str, close: bool = False) -> Edge:
        """Mark that a newer memory contradicts an older one; both stay visible, unless `close` ends the older one's validity."""
        from thinkback.lifecycle.corroboration import contest

        newer, older = ids_given("contest", (new_id, old_id))
        return Edge.of(contest(self.store, newer, older, self.clock(), close))

    def link(
        self,
        from_id: str,
        to_id: str,
        kind: str = "related",
        weight: float = 1.0,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
    ) -> Edge:
        """Link two memories; linking again with the same kind replaces the weight."""
        self._present(from_id, to_id)
        edge = StoredEdge(
            from_id=from_id,
            to_id=to_id,
            kind=kind,
            weight=weight,
            valid_from=None if valid_from is None else to_us(valid_from),
            valid_to=None if valid_to is None else to_us(valid_to),
            created_at=self.clock(),
        )
        self.store.link([edge], self.clock())
        return Edge.of(edge)

    def unlink(self, from_id: str, to_id: str, kind: str | None = None) -> int:
        """Remove the links from one memory to another; return how many there were."""
        ids_given("unlink", (from_id, to_id))
        return self.store.unlink(from_id, to_id, None if kind is None else check_text(kind, "kind"))

    # -- reading -------------------------------------------------------------------------------------------------------------------

    def recall(
        self,
        text: str,
        *,
        limit: int | None = None,
        recipe: str | Path | Recipe | None = None,
        max_tokens: int | None = None,
        min_relevance: float | None = None,
        reflection_boost: float | None = None,
        now: Moment | None = None,
        vector: Vector | None = None,
        cycle: int | None = None,
        overrides: Mapping[str, Any] | None = None,
        extractor: AnchorExtractor | None = None,
        counted: bool = True,
        **where: Unpack[Where],
    ) -> Recall:
        """Search: `recall("what is Caroline's pet called?", tags=["pets"], limit=5)`; `hit.why()` explains each score.

        Hits of a relevance below `min_relevance` are left out; `recall.answered` says whether there likely is an answer.
        `overrides` change the recipe for this call, by path: `{"signals.recency.weight": 0.3}`. `extractor` finds the time that
        the query names. `reflection_boost` is a factor for reflections. With `counted=False` it is only a look: the hits do not
        count as used, so looking changes no later ranking.
        """
        chosen = self._chosen(recipe, limit, max_tokens, min_relevance, reflection_boost)
        if overrides:
            chosen = chosen.with_paths(overrides)
        moment = self.clock() if now is None else to_us(now)
        given = {"vector": self._checked(vector), "cycle": cycle}
        given = {name: value for name, value in given.items() if value is not None}
        engine = self._engine(now, extractor)
        found = search(check_query(text), self._filter(moment, where), chosen, engine, given)
        if counted and self.count_accesses:
            self._recalls.count([hit.stored for hit in found.hits])
        for watch in self._watchers:
            watch(found)
        return found

    search = recall

    def recall_many(self, texts: Iterable[str], /, **options: Any) -> Sequence[Recall]:
        """One recall for each question, with the same options and filters."""
        if isinstance(texts, str):
            raise InvalidInput("recall_many takes several questions; to ask one: recall(…)", code="not_text")
        return [self.recall(text, **options) for text in texts]

    def gather(
        self, text: str, *, recipe: str | Path | Recipe | None = None, now: Moment | None = None, **where: Unpack[Where]
    ) -> Gathered:
        """Gather the candidates of a recall once, so that `ranking.rank` can try other weights."""
        chosen = self.recipe if recipe is None else resolve(recipe)
        filter = self._filter(self.clock() if now is None else to_us(now), where)
        engine = self._engine(now)
        query = parse(check_query(text), filter, chosen.parsing, engine.vocabulary(self.store), engine.zone)
        return gather(query, chosen, engine, Notes(engine.strict))

    def search_keywords(self, text: str, *, limit: int = 10, **where: Unpack[Where]) -> Recall:
        """The keyword leg alone, with its whole query syntax; every word counts, and without one nothing is found."""
        return self.recall(text, limit=limit, recipe=TYPED, **where)

    def search_reflections_only(
        self,
        text: str,
        *,
        vector: Vector | None = None,
        cycle: int | None = None,
        recency: float | None = None,
        limit: int = 10,
    ) -> Recall:
        """Only themes, by cosine; those without a vector score 0. `recency` is the weight of age: 0.1 with a cycle, else 0."""
        share = (0.1 if cycle is not None else 0.0) if recency is None else recency
        recipe = reflections_only(share)
        return self.recall(text, limit=limit, recipe=recipe, vector=vector, cycle=cycle, kinds=[REFLECTION])

    def get(self, id: str, known_at: Moment | None = None) -> Record:
        """One memory, in its present version or as the store knew it at `known_at`."""
        return Record.of(self._stored(id, known_at))

    def get_many(self, ids: Iterable[str], known_at: Moment | None = None) -> dict[str, Record]:
        """Memories by id; an unknown id is absent."""
        found = self.store.get(ids_given("get_many", ids), None if known_at is None else to_us(known_at))
        return {id: Record.of(record) for id, record in found.items()}

    def whole_ids(self, ids: Iterable[str]) -> Sequence[str]:
        """The ids, those that are the last letters of one that Thinkback made completed; others stay as they are."""
        given = ids_given("whole_ids", ids)
        known = self.store.get([id for id in given if is_short(id)])
        return [self._whole(id) if is_short(id) and id not in known else id for id in given]

    def list(self, *, limit: int = 100, after: str | None = None, **where: Unpack[Where]) -> list[Record]:
        """Memories newest first; `after` continues behind the last id of the page before."""
        found = self.store.list(self._filter(self.clock(), where), _most(limit), optional_name(after, "after"))
        return [Record.of(record) for record in found]

    def count(self, **where: Unpack[Where]) -> int:
        """How many memories pass a filter."""
        return self.store.count(self._filter(self.clock(), where))

    def history(self, id: str) -> Sequence[Record]:
        """Every version of a memory, oldest first."""
        self._present(id)
        return [Record.of(version) for version in self.store.history(id)]

    def neighbours(self, id: str, limit: int = 10) -> Sequence[Edge]:
        """A memory's strongest links in both directions, its neighbours in the thread among them."""
        self._present(id)
        return self.links([id], limit).get(id, [])

    def links(self, ids: Iterable[str], limit_each: int = 10) -> dict[str, Sequence[Edge]]:
        """The strongest links of several memories, in one query; memories without any are absent."""
        found = self.store.edges(ids_given("links", ids), self._filter(self.clock(), {}), _most(limit_each))
        return {id: [Edge.of(edge) for edge in edges] for id, edges in found.items()}

    def tags(self) -> Mapping[str, int]:
        """Every tag with the number of memories that carry it."""
        return self.store.tags()

    def state(self) -> StoreState:
        """Which store this is, and how often it was written."""
        return self.store.state()

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes."""
        return self.store.stats()

    # -- judging -------------------------------------------------------------------------------------------------------------------

    def judge(self, query: str, id: str, grade: int = 1) -> Judgement:
        """Record that a memory was (grade ≥ 1) or was not (0) an answer to a query; `thinkback tune` learns from it."""
        check_text(query, "a judged query")
        if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= MAX_GRADE:
            raise InvalidInput(f"a grade is 0 (no answer) to {MAX_GRADE} (perfect); got {grade!r}")
        self._present(id)
        judgement = StoredJudgement(query, id, grade, self.clock())
        self.store.judge([judgement])
        return Judgement.of(judgement)

    def judgements(self) -> Sequence[Judgement]:
        """Every judgement, oldest first."""
        return [Judgement.of(stored) for stored in self.store.judgements()]

    def unjudge(self, query: str, id: str) -> bool:
        """Take a judgement back; return whether there was one."""
        ids_given("unjudge", [id])
        return self.store.unjudge(optional_name(query, "a judged query") or "", id)

    # -- transfer ------------------------------------------------------------------------------------------------------------------

    def export(self, vectors: bool = False) -> AbstractContextManager[Snapshot]:
        """Everything in the store at one moment, as values; `thinkback.interop` writes them to files."""
        from thinkback.lifecycle.transfer import export

        return export(self.store, vectors)

    def import_values(
        self,
        lines: "Iterable[tuple[int, thinkback.Header | Draft | StoredRecord | StoredEdge | StoredJudgement | ThinkbackError]]",
        skip_bad: bool = False,
    ) -> "thinkback.ImportReport":
        """Merge what `thinkback.interop` read from a file, in one transaction; a bad line fails it all unless `skip_bad`."""
        from thinkback.lifecycle.transfer import import_values

        return import_values(self.store, lines, self.clock(), skip_bad, self._door)

    # -- upkeep --------------------------------------------------------------------------------------------------------------------

    def embed_missing(self, progress: Progress | None = None) -> int:
        """Embed memories that were stored without a vector; return how many."""
        done = self._embedding.embed_missing(progress)
        if done:
            self._renew_reflections()
        return done

    def reembed(self, progress: Progress | None = None) -> int:
        """Re-embed everything with the embedder in use, then switch to it atomically."""
        done = self._embedding.reembed(progress)
        self._renew_reflections()
        return done

    def reindex(self) -> int:
        """Read again what is derived from texts, their times and their speakers; return how many memories changed."""
        from thinkback.lifecycle import about, speakers

        now = self.clock()
        with self.store.transaction():
            return len(about.reread(self.store, now) | speakers.reread(self.store, now))

    def reflect(
        self,
        dry_run: bool = False,
        progress: Progress | None = None,
        *,
        settings: "thinkback.Consolidation | None" = None,
    ) -> "thinkback.Reflected":
        """Consolidate: promote proven memories, link nearest neighbours, and write a reflection on every theme."""
        from thinkback.lifecycle.reflect.model import PUBLISHED
        from thinkback.lifecycle.reflect.run import reflect

        self._flush_if_possible()
        chosen = settings or PUBLISHED
        return reflect(self.store, self.clock(), chosen, dry_run=dry_run, progress=progress, chat=self.chat)

    def tidy(self, dry_run: bool = True) -> "thinkback.Tidied":
        """Archive expired memories, corroborate repeated ones, apply decay, and adjust tiers and priorities."""
        from thinkback.lifecycle.tidy import tidy

        self._flush_if_possible()
        now = self.clock()
        return tidy(self.store, now, dry_run, forget_before=now - self._journal_kept if self._journal_kept else None)

    def undo(self, batch: str | None = None) -> "thinkback.Undone":
        """Take back a batch of the journal; if none is named, the last one of which anything can be undone."""
        from thinkback.lifecycle.undo import undo

        return undo(self.store, optional_name(batch, "a batch"), self.clock())

    def journal(self, batch: str | None = None, limit: int | None = None) -> Sequence[JournalEntry]:
        """What tidying, reflecting and auditing did, newest first; of one batch if it is named."""
        return [JournalEntry.of(stored) for stored in self.store.journal(optional_name(batch, "a batch"), _most(limit))]

    def archive(self, *ids: str) -> Sequence[str]:
        """Hide memories from every search; `everything=True` still finds them."""
        from thinkback.lifecycle.write import archive

        return archive(self.store, ids_given("archive", ids), self.clock())

    def restore(self, *ids: str) -> Sequence[str]:
        """Bring archived and expired memories back."""
        from thinkback.lifecycle.write import restore

        return restore(self.store, ids_given("restore", ids), self.clock())

    def audit(self) -> "thinkback.AuditReport":
        """Look for duplicates, stale facts, memories never recalled, likely secrets and orphans."""
        from thinkback.lifecycle.audit import audit

        self._flush_if_possible()
        return audit(self.store, self.clock())

    def redact(self, *ids: str) -> "thinkback.Redacted":
        """Take likely secrets out of these memories, or of all, in every version and index."""
        from thinkback.lifecycle.redact import redact

        return redact(self.store, ids_given("redact", ids) or None, self.clock(), self._embedding.fill)

    def check(self) -> Sequence[Problem]:
        """Compare every index with the text."""
        return self.store.check()

    def repair(self) -> Sequence[Problem]:
        """Repair what `check` found; return the problems that remain."""
        return self.store.repair()

    def backup(self, path: str | Path, replace: bool = False) -> "thinkback.BackedUp":
        """Copy the store to a file while others may write, open the copy and check it."""
        from thinkback.lifecycle.backup import back_up

        return back_up(self.store, Path(path), self.clock(), replace)

    def flush(self) -> None:
        """Write the access counts that recalls have left behind; a recall itself never writes."""
        self._recalls.flush()

    # -- inside --------------------------------------------------------------------------------------------------------------------

    @cached_property
    def _door(self) -> "Door":
        from thinkback.lifecycle.secrets.door import Door

        return Door(self._secrets)

    def _renew_reflections(self) -> None:
        from thinkback.lifecycle.reflect.rebuild import renew

        renew(self.store, self.clock())

    def _remember_new(self, drafts: Sequence[Mapping[str, Any]]) -> Sequence[Record]:
        """Store those whose id is not known yet; return all of them, except what tombstones keep out."""
        drafts = self.unburied(drafts)
        given = [str(one["id"]) for one in drafts if "id" in one]
        known = self.get_many(given) if given else {}
        added = iter(self.remember_many([one for one in drafts if one.get("id") not in known]))
        return [known[one["id"]] if one.get("id") in known else next(added) for one in drafts]

    def _remember_files(self, path: str | Path, fields: Mapping[str, Any]) -> "thinkback.Synced":
        """Store what files say; memories read from the same place before are updated, left alone or forgotten."""
        from thinkback.lifecycle.documents import Synced, read

        read_now = read(path)
        found = ({**one, **fields} for one in read_now.memories.values())
        wanted = {str(one["id"]): dict(one) for one in self.unburied(found)}
        known = set(self._where(read_now.place)) if read_now.place else set()
        before = self.get_many(known & wanted.keys())
        self.remember_many([one for id, one in wanted.items() if id not in known])
        changed = [id for id in before if self.upsert(**wanted[id]).updated_at != before[id].updated_at]
        # A section may come back, so what is gone from a file gets no tombstone.
        gone = [] if read_now.warnings else sorted(known - wanted.keys())
        forgotten = self.forget(*gone, tombstone=False)
        return Synced(
            added=tuple(id for id in wanted if id not in known),
            updated=tuple(changed),
            forgotten=forgotten.ids,
            unchanged=len(before) - len(changed),
            warnings=(*read_now.warnings, *forgotten.warnings),
        )

    def _upserted(self, given: Draft, key: str | None) -> StoredRecord | None:
        """The memory that `upsert` is about; the oldest, if several have the same value under `key`."""
        if given.id is not None:
            return self.store.get([given.id]).get(given.id)
        if key is None:
            raise InvalidInput("upsert needs an id, or a key with its value in metadata", code="no_key")
        if key not in given.metadata:
            raise InvalidInput(f"upsert goes by {key!r}; write its value in metadata", code="no_key")
        same = condition_of({"metadata": {key: {"eq": given.metadata[key]}}})
        found = self.store.list(Filter(now=self.clock(), everything=True, where=same), None)
        return min(found, key=lambda record: (record.created_at, record.id), default=None)

    def _where(self, condition: Mapping[str, Any]) -> Sequence[str]:
        """The ids of all memories, hidden ones too, that a condition holds for."""
        where = condition_of(condition)
        if where == EVERY:
            raise InvalidInput("the condition is empty, so it would be everything", code="no_condition")
        found = self.store.list(Filter(now=self.clock(), everything=True, where=where), None)
        return [record.id for record in found]

    def _engine(self, now: Moment | None = None, extractor: AnchorExtractor | None = None) -> Engine:
        """The environment of a search; days are in the time zone of `now`, else in UTC."""
        configured = self._embedding.configured
        return Engine(
            store=self.store,
            pool=Inline() if self.store.in_transaction else self._pool,
            vocabulary=self._tags,
            embed=self._embedding.query if configured else None,
            fingerprint=lambda: self._embedding.fingerprint,
            reranker=self._reranker,
            chat=self.chat,
            extractor=extractor or self.extractor,
            zone=zone_of(now),
            strict=self.strict,
        )

    def _tags(self, store: Store) -> Vocabulary:
        at = store.state().contents
        if store.in_transaction:  # what it sees may yet be rolled back
            return Vocabulary.of(store.tags())
        if self._vocabulary is None or self._vocabulary[0] != at:
            self._vocabulary = (at, Vocabulary.of(store.tags()))
        return self._vocabulary[1]

    def _chosen(
        self,
        recipe: str | Path | Recipe | None,
        limit: int | None,
        max_tokens: int | None,
        min_relevance: float | None,
        boost: float | None,
    ) -> Recipe:
        chosen = self.recipe if recipe is None else resolve(recipe)
        if min_relevance is not None:
            check_fraction(min_relevance, "min_relevance")
        asked = (limit, max_tokens, min_relevance, boost)
        if asked == (None,) * len(asked):
            return chosen
        as_usual = all(type(value) in (int, float, type(None)) for value in asked)  # what is wrong may not be hashable
        return (_changed if as_usual else _changed.__wrapped__)(chosen, *asked)

    def _checked(self, vector: Vector | None) -> Vector | None:
        """The vector of a question as a unit vector; one that is such a vector of the store's size stays as it is."""
        if vector is None or is_unit(vector, self._dimensions):
            return vector
        space = self.store.embedding_space()
        self._dimensions = space.dimensions if space else None
        if is_unit(vector, self._dimensions):
            return vector
        checked: Vector = validate_vectors([vector], 1, self._dimensions, "the caller")[0]
        return checked

    def _filter(self, now: int, where: Where) -> Filter:
        """The caller's filter; a memory recalled in time is not expired, even if the recall is not written yet."""
        self._recalls.settle(now)
        return filter_of(now, where)

    def _flush_if_possible(self) -> None:
        """Write pending access counts; on failure they are kept for later, and the caller's operation succeeds."""
        with suppress(ThinkbackError):
            self.flush()

    def _whole(self, short: str) -> str:
        found = [id for id in self.store.ids_ending(short, 2 * MOST_ALIKE) if made_here(id)][:MOST_ALIKE]
        if len(found) > 1:
            raise InvalidInput(f"several memories end with {short!r}: {', '.join(found)}", code="ambiguous_id")
        return found[0] if found else short

    def _present(self, *ids: str) -> None:
        found = self.store.get(ids_given("this", ids))
        for id in ids:
            if id not in found:
                raise unknown_memory(id)

    def _stored(self, id: str, known_at: Moment | None = None) -> StoredRecord:
        found = self.store.get(ids_given("get", [id]), None if known_at is None else to_us(known_at))
        if id not in found:
            raise unknown_memory(id)
        return found[id]

    def _warn(self, notice: Notice) -> None:
        warn(notice, stacklevel=3)


def _most(limit: int | None) -> int | None:
    return None if limit is None else check_limit(limit)


@lru_cache(maxsize=128, typed=True)
def _changed(
    recipe: Recipe, limit: int | None, max_tokens: int | None, min_relevance: float | None, boost: float | None
) -> Recipe:
    """Cached: building a recipe takes longer than half the steps of a search, and the same few changes recur."""
    given = {"limit": limit, "max_tokens": max_tokens, "min_relevance": min_relevance}
    selection = {name: value for name, value in given.items() if value is not None}
    signals = {} if boost is None else {Reflection.name: {"boost": boost}}
    return recipe.with_(selection=selection, signals=signals)
