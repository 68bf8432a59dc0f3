"""The one path of a search.

    text → parse → retrieve (legs) → fuse → rerank (signals, cross-encoder) → select (dedup, caps, budget) → hits + trace

Every step takes and returns immutable values, so the trace is not a mode: it is what happened.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from thinkback.errors import Action, Notice, Remedy, StoreConflict, StoreDamaged, StoreUnreachable, ThinkbackError
from thinkback.model import Filter, Run, Scored, StoredRecord, Timing
from thinkback.models.embedders.base import unit
from thinkback.search.cross_encode import cross_encode
from thinkback.search.engine import Engine, Notes
from thinkback.search.excerpts import Excerpts
from thinkback.search.executors import Inline
from thinkback.search.hits import hits_of, in_order, judge_of, relevant
from thinkback.search.legs import Leg, Recent, deep_enough
from thinkback.search.legs.base import without_reflections
from thinkback.search.query.languages import across, unread
from thinkback.search.query.parse import Query, focus, parse
from thinkback.search.query.tags import Vocabulary
from thinkback.search.query.time import extracted
from thinkback.search.ranking import NEWEST, Gathered, rank, reach
from thinkback.search.recipes.model import Recipe
from thinkback.search.relevance import Relevance
from thinkback.search.selection import Ranked, Selection, select
from thinkback.search.signals.updates import Updates
from thinkback.search.thread_order import Line
from thinkback.search.trace import Recall, Trace, WhyNot
from thinkback.stores.base import Store, StoreState
from thinkback.stores.together import held_passages, reads_together
from thinkback.values import replace

if TYPE_CHECKING:
    from thinkback.models.chat import Chat
    from thinkback.search.query.ask_model import Asked

FEWEST_NEWEST = 100  # as deep as other legs look, so that a token budget has a choice
VIEW_LOST = (StoreConflict, StoreUnreachable)  # errors after which a recall reads everything again
_VIEWS = 3  # attempts if the connection is lost
_CONFLICTS = 12  # attempts if others write meanwhile
_ROUNDS = 2  # of reads that follow from each other, like the members of a theme from the theme
BLANK = "the query has no words"
ACROSS = 0.1  # the factor of the keyword leg where question and memories are in different languages


def search(
    text: str, filter: Filter, recipe: Recipe, engine: Engine, given: Mapping[str, object] | None = None
) -> Recall:
    """Everything a recall does; `given` may hold the query's own `vector` and `cycle`."""
    notes, state, gathered = _read(text, filter, recipe, engine, given or {})
    ordered = rank(gathered, recipe)
    notes.lap("rank")
    verdicts: Mapping[str, float] = {}
    excerpts = Excerpts(gathered.query, ordered.ids(), gathered.runs, engine.store, gathered.passages)
    if gathered.searched:
        ordered, verdicts = cross_encode(ordered, gathered.query, recipe, engine, notes, excerpts)
    notes.lap("cross-encode")
    kept, drops = select(in_order(ordered), recipe.selection.under(filter), gathered.vectors, excerpts.text)
    notes.lap("select")
    judge = judge_of(ordered, gathered, engine, verdicts, excerpts)
    asked = text if any(isinstance(term.signal, Updates) and term.weight for term in recipe.signals) else ""
    hits = hits_of(kept, ordered, gathered.runs, judge, excerpts, asked)
    hits, irrelevant = relevant(hits, recipe.selection.min_relevance)
    notes.lap("relevance")
    trace = Trace(
        query=gathered.query,
        recipe=recipe,
        state=state,
        embedder=engine.embedder,
        runs=gathered.runs,
        ledger=ordered.ledger,
        order=ordered.ids(),
        drops=tuple(sorted((*drops, *irrelevant), key=lambda drop: drop.rank)),
        skipped=ordered.skipped,
        reranked=len(verdicts),
        timings=tuple(notes.timings),
        relevance=judge.whole if judge else Relevance(),
    )
    return Recall(hits, trace, tuple(notes.warnings), partial(_absence, trace, engine.store))


def _read(
    text: str, filter: Filter, recipe: Recipe, engine: Engine, given: Mapping[str, object]
) -> tuple[Notes, StoreState, Gathered]:
    """Everything a recall reads of the store, as of one moment; read again if the view is lost, as nothing was written."""
    for attempt in range(1, _CONFLICTS + 1):
        notes = Notes(engine.strict)
        try:
            with engine.store.view() as store:
                state = store.state()
                query = parse(text, filter, recipe.parsing, _vocabulary(store, engine, notes), engine.zone)
                query = _dated(replace(query, **given) if given else query, engine, notes)
                notes.lap("parse")
                gathered = gather(query, recipe, replace(engine, store=store), notes)
                notes.lap("retrieve")
                return notes, state, gathered
        except VIEW_LOST as lost:
            if attempt >= (_CONFLICTS if isinstance(lost, StoreConflict) else _VIEWS):
                raise
    raise AssertionError("a view is read at least once")


def _vocabulary(store: Store, engine: Engine, notes: Notes) -> Vocabulary:
    """The tags of the store; without their index a search does without the tags that the query names."""
    try:
        return engine.vocabulary(store)
    except StoreDamaged as error:
        notes.warn("the tags could not be read", error)
        return Vocabulary.of({})


def _dated(query: Query, engine: Engine, notes: Notes) -> Query:
    """The query with the time that the caller's extractor finds, before the recipe's own finding."""
    if engine.extractor is None:
        return query
    try:
        anchor = extracted(engine.extractor, query.text, query.now, engine.zone)
    except ThinkbackError as error:
        notes.warn("the time extractor did not answer", error)
        return query
    return query if anchor is None else replace(query, anchor=anchor)


# -- retrieve ----------------------------------------------------------------------------------------------------------------------


def gather(query: Query, recipe: Recipe, engine: Engine, notes: Notes) -> Gathered:
    """Run the legs concurrently, then read the candidates' records, edges and vectors in one batch each."""
    query, runs = retrieve(query, recipe, engine, notes)
    query = _counted(query, engine, notes)
    runs = _heard(query, runs, engine, notes)
    for warning in (warning for run in runs for warning in run.warnings):
        notes.note(warning)
    if all(run.skipped is not None for run in runs):
        if query.text.strip() or not recipe.newest:
            notes.warnings.extend(Notice("no_leg_ran", f"the {run.leg} leg did not run: {run.skipped}") for run in runs)
        if not recipe.newest:
            return Gathered(query, tuple(runs), {})
        return _newest(query, runs, recipe, engine.store)
    ids = list(dict.fromkeys(hit.id for run in runs for hit in run.hits))
    if recipe.fill:
        runs = [_filled(leg, run, query, ids, engine, notes) for leg, run in zip(recipe.legs, runs, strict=True)]
    steps = reach(recipe)
    together = reads_together(engine.store)
    if together is not None and steps:
        together.gather(ids, query.filter, steps)
    records = engine.store.get(ids, query.filter.known_at)
    runs = _across_languages(query, runs, records, engine, notes)
    if len(records) < len(ids):  # forgotten by another process between the legs and here
        runs = [replace(run, hits=_still(run.hits, records), filled=_still(run.filled, records)) for run in runs]
        ids = list(records)
    linked = [term.signal for term in recipe.signals if term.weight and term.signal.needs_links]
    most, threads = max((one.needs_links for one in linked), default=0), any(one.follows_threads for one in linked)
    edges = engine.store.edges(ids, query.filter, most, threads) if most and ids else {}
    line = Line.of(tuple(map(records.__getitem__, ids))) if steps else None
    between = None if line is None else line.gaps(query.filter, engine.store, steps)
    vectors = engine.store.vectors(ids) if recipe.selection.diversity > 0 and ids else {}
    return Gathered(query, tuple(runs), records, edges, between, vectors, held_passages(engine.store), line)


def _heard(query: Query, runs: list[Run], engine: Engine, notes: Notes) -> list[Run]:
    """The runs without those by vector if the embedder does not know the question's script and keywords found something."""
    unknown, whole_script = unread(query.text, engine.embedder)
    by_words = any(run.leg == "keyword" and run.hits for run in runs)
    if not whole_script or not by_words:
        return runs
    reason = f"the embedder does not read {unknown}"
    return [replace(run, hits=(), skipped=reason) if run.leg == "vector" else run for run in runs]


def _across_languages(
    query: Query, runs: list[Run], records: Mapping[str, StoredRecord], engine: Engine, notes: Notes
) -> list[Run]:
    """Warn of a language that the embedder does not read; keywords count less where it reads both, and they differ.

    The language of the memories is that of most of the nearest ones.
    """
    nearest = [records[hit.id].text for run in runs if run.leg == "vector" for hit in run.hits[:5] if hit.id in records]
    if query.vector is not None:
        _tell_unread(query, nearest, engine, notes)
    if not across(query.text, nearest, engine.embedder):
        return runs
    return [replace(run, factor=ACROSS) if run.leg == "keyword" else run for run in runs]


def _tell_unread(query: Query, nearest: Sequence[str], engine: Engine, notes: Notes) -> None:
    of_memories = [unread(text, engine.embedder)[0] for text in nearest]
    foreign = [name for name in of_memories if name]
    name = unread(query.text, engine.embedder)[0] or (foreign[0] if 2 * len(foreign) > len(nearest) else "")
    if name:
        message = f"the embedder does not read {name}, so little is found by meaning"
        notes.note(Notice("unread_language", message, Remedy(Action.CHOOSE_EMBEDDER, "multilingual")))


def _counted(query: Query, engine: Engine, notes: Notes) -> Query:
    """The query with the frequencies of its terms; without them, all its words count alike."""
    try:
        return query.counted(engine.store.frequencies)
    except VIEW_LOST:
        raise
    except ThinkbackError as error:
        notes.warn("the frequencies of words could not be read", error)
        return query


def _absence(trace: Trace, store: Store, id: str) -> WhyNot:
    from thinkback.search.explain import absence

    return absence(id, trace, store)


def _asked(query: Query, recipe: Recipe, engine: Engine, chat: "Chat") -> "Asked":
    from thinkback.search.query.ask_model import ask

    return ask(query, recipe.parsing, chat, engine.vocabulary(engine.store), engine.pool, engine.zone)


def _still(hits: Sequence[Scored], records: Mapping[str, StoredRecord]) -> tuple[Scored, ...]:
    return tuple(hit for hit in hits if hit.id in records)


def retrieve(query: Query, recipe: Recipe, engine: Engine, notes: Notes) -> tuple[Query, list[Run]]:
    """Run the legs; those that need only the text, and the language model, work in the pool while the query is embedded here."""
    legs = [deep_enough(leg, recipe.selection.limit, query.filter) for leg in recipe.legs]
    asked = None if engine.chat is None else _asked(query, recipe, engine, engine.chat)
    embeds = query.vector is None and engine.embed is not None
    pool = engine.pool if embeds or asked else Inline()  # a thread pays only if something is waited for meanwhile
    together = reads_together(engine.store) is not None  # such a store reads for all legs once there is a vector
    begun = [leg for leg in legs if leg.stage == "text" and not together]
    waiting = {leg.name: pool.submit(_timed, leg, query, engine, notes) for leg in begun}
    if any(leg.stage == "vector" for leg in legs) and query.vector is None:
        query = _embedded(query, engine, notes, recipe.parsing.focus)
    _ahead([leg for leg in legs if leg.stage != "runs" and not (asked and leg.stage == "time")], query, engine, notes)
    runs = _run(legs, "text", query, engine, notes) if together else {}
    runs |= _run(legs, "vector", query, engine, notes)
    if asked:
        query = asked.answer(query, notes.warn)
    runs |= _run(legs, "time", query, engine, notes)
    runs |= {leg.name: _guarded(leg, waiting[leg.name].result, notes) for leg in begun}
    earlier = [runs[leg.name] for leg in legs if leg.name in runs]
    _ahead([leg for leg in legs if leg.stage == "runs"], query, engine, notes, earlier)
    runs |= _run(legs, "runs", query, engine, notes, earlier)
    return query, [runs[leg.name] for leg in legs]


def _ahead(legs: Sequence[Leg], query: Query, engine: Engine, notes: Notes, earlier: Sequence[Run] = ()) -> None:
    """Let a store that can read for all these legs together; more than once, as some reads follow from others."""
    together = reads_together(engine.store)
    if together is None:
        return

    def legs_of(store: Store) -> None:
        for leg in legs:
            with suppress(ThinkbackError):  # the leg itself will tell
                leg.run(query, store, earlier)

    since = time.perf_counter_ns()
    rounds = 0
    while rounds < _ROUNDS and together.rehearse(legs_of):
        rounds += 1
    if rounds:
        notes.timings.append(Timing("leg:together", (time.perf_counter_ns() - since) // 1000))


def _run(
    legs: Sequence[Leg], stage: str, query: Query, engine: Engine, notes: Notes, earlier: Sequence[Run] = ()
) -> dict[str, Run]:
    return {
        leg.name: _guarded(leg, partial(_timed, leg, query, engine, notes, earlier), notes)
        for leg in legs
        if leg.stage == stage
    }


def _timed(leg: Leg, query: Query, engine: Engine, notes: Notes, earlier: Sequence[Run] = ()) -> Run:
    since = time.perf_counter_ns()
    run = leg.run(query, engine.store, earlier)
    notes.timings.append(Timing(f"leg:{leg.name}", (time.perf_counter_ns() - since) // 1000))
    return run


def _guarded(leg: Leg, run: Callable[[], Run], notes: Notes) -> Run:
    try:
        return run()
    except VIEW_LOST:
        raise
    except ThinkbackError as error:
        notes.warn(f"the {leg.name} leg failed", error)
        return Run(leg.name, skipped=str(error))


def _embedded(query: Query, engine: Engine, notes: Notes, focused: bool) -> Query:
    if engine.embed is None:
        return query
    if not query.text.strip():
        return replace(query, no_vector=BLANK)
    try:
        if focused:
            query = focus(query, engine.store.frequencies)
        second = engine.pool.submit(engine.embed, query.focused, engine.store) if query.focused else None
        vector = engine.embed(query.text, engine.store)
        return query.with_vector(vector if second is None else unit(vector + second.result()))
    except ThinkbackError as error:
        notes.warn("the query could not be embedded", error)
        return replace(query, no_vector=str(error))


def _filled(leg: Leg, run: Run, query: Query, ids: Sequence[str], engine: Engine, notes: Notes) -> Run:
    """The run with this leg's scores of candidates that only other legs found."""
    if run.skipped is not None or not leg.fills:
        return run
    found = {hit.id for hit in run.hits}
    missing = [id for id in ids if id not in found]
    if not missing:
        return run
    asked: Leg = replace(leg, limit=len(missing))
    narrowed = replace(query, filter=query.filter.only(missing))
    return replace(run, filled=_guarded(asked, partial(asked.run, narrowed, engine.store, ()), notes).hits)


def _newest(query: Query, skipped: Sequence[Run], recipe: Recipe, store: Store) -> Gathered:
    """The newest memories without themes, as many as fill the selection; the answer if there is nothing to search by."""
    query = replace(query, filter=without_reflections(query.filter))
    selection = recipe.selection.under(query.filter)
    depth = max(2 * selection.limit, FEWEST_NEWEST)
    while True:
        run = Recent(limit=depth).run(query, store, ())
        records = store.get([hit.id for hit in run.hits], query.filter.known_at)
        if len(run.hits) < depth or _enough(list(records.values()), selection):
            break
        depth *= 4
    return Gathered(query, (*skipped, Run(NEWEST, _still(run.hits, records))), records)


def _enough(records: Sequence[StoredRecord], selection: Selection) -> bool:
    """Whether these fill the selection; for a budget it is enough that one fits."""
    if selection.limit <= 0:
        return True
    ranked = [Ranked(record, 0.0, row + 1, row) for row, record in enumerate(records)]
    distinct, _ = select(ranked, replace(selection, max_tokens=0))
    return len(distinct) == selection.limit and bool(select(ranked, selection)[0])
