"""A consolidation: links, themes, reflections; twice, in parts, after changes, it comes to what one run over the whole comes to."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codes import raises
from reflect_fixtures import NOW, SPACE, expected, fill, snapshot

import thinkback
from thinkback.clock import DAY
from thinkback.lifecycle.forget import forget
from thinkback.lifecycle.reflect import link_nearest as linking
from thinkback.lifecycle.reflect import run
from thinkback.lifecycle.reflect.model import Consolidation
from thinkback.lifecycle.reflect.observations import SEEN
from thinkback.lifecycle.reflect.run import reflect
from thinkback.lifecycle.undo import undo
from thinkback.model import Access, Draft, Filter, StoredEdge
from thinkback.stores.base import Store
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

LATER = NOW * 2


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "memory.db")


def test_links_are_nearest_neighbours_at_seven_tenths_with_half_the_cosine(store: SqliteStore) -> None:
    angles = {"a": 0, "b": 20, "c": 50, "d": 100, "e": 180}
    for id, angle in angles.items():
        vector = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))], dtype=np.float32)
        store.add([Draft(id=id, text=f"text {id}", vector=vector)], NOW, SPACE.__class__("flat", 2))
    made = reflect(store, LATER)
    edges = {(e.from_id, e.to_id): e.weight for e in store.export_edges() if e.kind == "nearest"}
    # a–b 20°, b–c 30°; d is 50° from c, cosine .643, and e 80° from d: too far
    assert edges == {
        ("a", "b"): pytest.approx(0.5 * np.cos(np.radians(20)), abs=1e-6),
        ("b", "a"): pytest.approx(0.5 * np.cos(np.radians(20)), abs=1e-6),
        ("c", "b"): pytest.approx(0.5 * np.cos(np.radians(30)), abs=1e-6),
    }
    assert made.linked == 3


def test_a_reflection_is_a_memory_with_members_keywords_and_edges(store: SqliteStore) -> None:
    fill(store)
    made = reflect(store, LATER)
    assert len(made.created) == len(made.themes) > 20
    theme = made.themes[0]
    record = store.get([theme.id])[theme.id]
    assert (record.kind, record.priority) == ("reflection", "P2")
    assert json.loads(record.text) == {"member_ids": list(theme.members), "keywords": list(theme.keywords)}
    assert record.essence == ", ".join(theme.keywords)
    vectors = store.vectors([*theme.members, theme.id])
    mean = np.stack([vectors[id] for id in theme.members]).mean(axis=0, dtype=np.float64)
    assert np.allclose(vectors[theme.id], mean / np.linalg.norm(mean), atol=1e-6)
    edges = store.edges([theme.id], Filter(now=LATER), 1000, sequence=False)[theme.id]
    assert {(e.from_id, e.to_id, e.kind, e.weight) for e in edges} == {
        (theme.id, member, "consolidated_from", 1.0) for member in theme.members
    }


def test_every_theme_is_of_3_to_200_coherent_and_named(store: SqliteStore) -> None:
    fill(store)
    made = reflect(store, LATER)
    for theme in made.themes:
        assert 3 <= len(theme.members) <= 200
        assert theme.coherence >= 0.40
        assert theme.keywords
    every = [member for theme in made.themes for member in theme.members]
    assert len(every) == len(set(every))
    assert made.refused.keys() <= {"too small", "too large", "holds duplicates", "not coherent", "no key phrase"}


def test_members_are_not_changed(store: SqliteStore) -> None:
    ids = fill(store)
    before = store.get(ids)
    reflect(store, LATER)
    assert store.get(ids) == before


def test_twice_adds_nothing(store: SqliteStore) -> None:
    fill(store)
    reflect(store, LATER)
    first, state = snapshot(store), store.state()
    again = reflect(store, LATER)
    assert (again.created, again.removed, again.refreshed, again.linked) == ((), (), (), 0)
    assert snapshot(store) == first
    assert store.state() == state  # not one write


def test_a_dry_run_shows_the_themes_and_writes_nothing(store: SqliteStore) -> None:
    fill(store)
    state = store.state()
    dry = reflect(store, LATER, dry_run=True)
    assert store.state() == state
    wet = reflect(store, LATER)
    assert (dry.themes, dry.created, dry.linked, dry.refused) == (wet.themes, wet.created, wet.linked, wet.refused)


def test_a_batch_is_named_where_the_journal_has_one(store: SqliteStore) -> None:
    fill(store)
    assert reflect(store, LATER, dry_run=True).batch is None
    assert reflect(store, LATER, Consolidation(smallest=1000, promote_most=0)).batch is None  # links alone
    made = reflect(store, LATER)
    assert len(store.journal(made.batch, 10_000)) == len(made.created)
    assert reflect(store, LATER).batch is None


def test_what_another_process_wrote_first_is_not_told_as_ones_own(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the same store, and is overtaken on the way from its plan to the transaction that writes it."""
    fill(store)
    reflect(store, LATER, Consolidation(smallest=1000))  # the links are there already
    planning = run.plan

    def overtaken(*args: Any) -> Any:
        planned = planning(*args)
        with monkeypatch.context() as patch, SqliteStore(tmp_path / "memory.db") as other:
            patch.setattr(run, "plan", planning)
            assert reflect(other, LATER).created
        return planned

    monkeypatch.setattr(run, "plan", overtaken)
    made = reflect(store, LATER)
    assert made.themes
    assert (made.created, made.batch) == ((), None)


@pytest.mark.parametrize("step", [64, 100_000])
def test_in_parts_it_comes_to_the_same(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(linking, "STEP", step)
    monkeypatch.setattr(linking, "BLOCK_ROWS", 64)
    for first in (0, 150, 151, 400):
        fill(store, {0: 150, 150: 1, 151: 249, 400: 200}[first], first)
        reflect(store, LATER)
    assert snapshot(store) == expected(tmp_path)


def test_only_what_is_new_is_compared(store: SqliteStore) -> None:
    fill(store, 500)
    steps: list[tuple[int, int]] = []
    reflect(store, LATER, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (500, 500)
    fill(store, 7, 500)
    steps.clear()
    reflect(store, LATER, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(7, 7)]


def without(ids: list[str]) -> object:
    def change(store: Store) -> None:
        store.forget(ids)

    return change


def test_after_forgetting_it_is_as_if_they_had_never_been(store: SqliteStore, tmp_path: Path) -> None:
    gone = fill(store)[::7]
    reflect(store, LATER)
    forget(store, gone, LATER)
    reflect(store, LATER)
    assert snapshot(store) == expected(tmp_path, change=without(gone))  # type: ignore[arg-type]


def test_words_are_weighed_anew_when_others_come_into_the_store(store: SqliteStore, tmp_path: Path) -> None:
    """Real sentences, where a word that set a theme apart may become everybody's."""
    chance = np.random.default_rng(2)
    words = [
        "python",
        "test",
        "code",
        "merge",
        "bug",
        "review",
        "deploy",
        "branch",
        "commit",
        "server",
        "cache",
        "query",
    ]
    middles = chance.standard_normal((5, SPACE.dimensions))
    drafts = []
    for n in range(120):
        vector = middles[n % 5] + 0.6 * chance.standard_normal(SPACE.dimensions)
        text = " ".join([*chance.choice(words[n % 5 : n % 5 + 8], 5), f"item{n}"])
        drafts.append(Draft(id=f"w{n:03d}", text=text, vector=(vector / np.linalg.norm(vector)).astype(np.float32)))
    store.add(drafts, NOW, SPACE)
    reflect(store, LATER)
    gone = [str(draft.id) for draft in drafts[::3]]
    forget(store, gone, LATER)
    reflect(store, LATER)
    with SqliteStore(tmp_path / "never.db") as never:
        never.add([draft for draft in drafts if draft.id not in gone], NOW, SPACE)
        reflect(never, LATER)
        assert never.count(Filter(now=LATER, kinds=("reflection",))) > 3
        assert snapshot(store) == snapshot(never)


def test_nothing_only_a_forgotten_memory_said_survives_in_a_rebuilt_theme(store: SqliteStore) -> None:
    """ "Lin" stands inside "linen" and "online", but nobody who is left said it."""
    texts = (
        "Oscar bought linen sheets",
        "met Lin about surgery",
        "Lin confirmed surgery",
        "online shop sells lamps",
        "Oscar repaired lamps",
    )
    axes = np.eye(SPACE.dimensions, dtype=np.float32)
    rows = [axes[0] + 0.3 * axes[n + 1] for n in range(5)]
    store.add(
        [Draft(id=f"l{n}", text=text, vector=rows[n] / np.linalg.norm(rows[n])) for n, text in enumerate(texts)],
        NOW,
        SPACE,
    )
    (theme,) = reflect(store, LATER).themes
    assert "Lin" in theme.keywords
    forget(store, ["l1", "l2"], LATER)
    (left,) = store.list(Filter(now=LATER, kinds=("reflection",)), 9)
    assert "Lin" not in left.text
    assert "Lin" not in str(left.essence)


def test_after_archiving_and_restoring_it_is_as_before(store: SqliteStore) -> None:
    ids = fill(store)
    reflect(store, LATER)
    before = snapshot(store)
    store.amend({id: {"archived_at": LATER} for id in ids[::5]}, LATER)
    reflect(store, LATER)
    assert snapshot(store) != before
    assert all(
        id not in record.text for record in store.list(Filter(now=LATER, kinds=("reflection",)), 999) for id in ids[::5]
    )
    store.amend({id: {"archived_at": None} for id in ids[::5]}, LATER)
    reflect(store, LATER)
    assert snapshot(store) == before


def test_a_changed_vector_is_seen_wherever_it_matters(store: SqliteStore, tmp_path: Path) -> None:
    ids = fill(store)
    moved = ids[3]
    target = store.vectors([ids[50]])[ids[50]]

    def change(where: Store) -> None:
        where.update(moved, {"text": "topic0word moved elsewhere"}, LATER, target, SPACE)

    reflect(store, LATER)
    change(store)
    reflect(store, LATER)
    fresh = expected(tmp_path, change=change)
    assert snapshot(store)["edges"] == fresh["edges"]


def test_a_reflection_whose_members_moved_is_refreshed_in_place(store: SqliteStore) -> None:
    axes = np.eye(4, dtype=np.float32)
    space = SPACE.__class__("axes", 4)
    near = [axes[0] + 0.2 * axes[n] for n in (1, 2, 3)]
    store.add(
        [Draft(id=f"m{n}", text=f"violin lesson {n}", vector=v / np.linalg.norm(v)) for n, v in enumerate(near)],
        NOW,
        space,
    )
    (theme,) = reflect(store, LATER).created
    moved = axes[0] + 0.3 * axes[3]
    store.update("m2", {"text": "violin lesson at last"}, LATER, moved / np.linalg.norm(moved), space)
    made = reflect(store, LATER)
    assert (made.created, made.refreshed, made.removed) == ((), (theme,), ())
    mean = np.stack(list(store.vectors(["m0", "m1", "m2"]).values())).mean(axis=0)
    assert np.allclose(store.vectors([theme])[theme], mean / np.linalg.norm(mean), atol=1e-6)
    assert reflect(store, LATER).refreshed == ()


def test_other_terms_link_anew(store: SqliteStore) -> None:
    fill(store)
    reflect(store, LATER)
    published = snapshot(store)
    reflect(store, LATER, Consolidation(link_at=0.9, link_weight=0.25))
    weights = [e.weight for e in store.export_edges() if e.kind == "nearest"]
    assert weights
    assert all(0.25 * 0.9 - 1e-9 <= weight <= 0.25 for weight in weights)
    reflect(store, LATER)
    assert snapshot(store) == published


def test_single_linkage_is_the_other_way_to_cluster(store: SqliteStore) -> None:
    fill(store)
    chained = reflect(store, LATER, Consolidation(clustering="linkage"), dry_run=True)
    assert chained.themes != reflect(store, LATER, dry_run=True).themes
    assert all(len(theme.members) >= 3 for theme in chained.themes)


def test_a_memory_reflects_with_the_settings_it_is_given(cats: thinkback.Memory) -> None:
    with cats as memory:
        assert len(memory.reflect(dry_run=True, settings=Consolidation(clustering="linkage")).themes) == 1
        assert memory.reflect(dry_run=True, settings=Consolidation(smallest=5)).refused == {"too small": 1}


def test_a_clustering_nobody_knows_is_refused() -> None:
    with raises(thinkback.InvalidInput, "unknown_clustering"):
        Consolidation(clustering="linkages")  # type: ignore[arg-type]


def test_a_hand_written_reflection_is_left_alone(store: SqliteStore) -> None:
    fill(store)
    store.add([Draft(id="mine", text="what I think of it all", kind="reflection")], NOW)
    reflect(store, LATER)
    reflect(store, LATER)
    assert store.get(["mine"])["mine"].text == "what I think of it all"


def test_an_archived_reflection_is_not_written_again(store: SqliteStore) -> None:
    fill(store)
    theme = reflect(store, LATER).created[0]
    store.amend({theme: {"archived_at": LATER}}, LATER)
    again = reflect(store, LATER)
    assert again.created == ()
    assert store.get([theme])[theme].archived_at == LATER


def test_a_repetition_speaks_through_what_it_repeats(store: SqliteStore) -> None:
    """A confirmed fact must not cost its theme the reflection, as a duplicate among the members would."""
    ids = fill(store)
    theme = reflect(store, LATER).themes[0]
    said = store.get([theme.members[0]])[theme.members[0]]
    again = Draft(id="again", text=said.text, vector=store.vectors([said.id])[said.id])
    store.add([again], NOW, SPACE)
    store.link([StoredEdge(from_id="again", to_id=said.id, kind="corroborates")], NOW)
    assert theme in reflect(store, LATER).themes
    assert len(ids) == 600


def test_duplicates_nobody_linked_cost_the_theme(store: SqliteStore) -> None:
    fill(store)
    theme = reflect(store, LATER).themes[0]
    said = store.get([theme.members[0]])[theme.members[0]]
    store.add([Draft(id="again", text=said.text, vector=store.vectors([said.id])[said.id])], NOW, SPACE)
    made = reflect(store, LATER)
    assert made.refused["holds duplicates"] >= 1
    assert theme.id in made.removed


def test_an_empty_store_and_one_without_vectors(store: SqliteStore) -> None:
    assert reflect(store, LATER).themes == ()
    store.add([Draft(text="no vector here"), Draft(text="nor here"), Draft(text="nor there")], NOW)
    assert reflect(store, LATER).themes == ()


@pytest.mark.parametrize("embedder", [ToyEmbedder(), None], ids=["with vectors", "without"])
def test_promotion_is_noted_journalled_and_undone(tmp_path: Path, embedder: ToyEmbedder | None) -> None:
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=embedder, reranker=None, clock=clock) as memory:
        ids = [record.id for record in memory.remember_many([f"note number {n} about thing{n}" for n in range(40)])]
        clock.advance(40 * DAY)
        for _ in range(10):
            memory.recall("number 7 thing7", limit=1)
        memory.flush()
        memory.update(ids[7], confidence=0.7)
        # recency 1 · .25 + span 1 · .20 + 0 + .70 · .15 + 10/10 · .20 = .755 > .7
        made = memory.reflect()
        assert made.promoted == (ids[7],)
        assert memory.get(ids[7]).priority == "P1"
        assert memory.reflect().promoted == ()
        assert memory.undo(made.batch).skipped == {}
        assert memory.get(ids[7]).priority == "P3"


@pytest.mark.parametrize("owned", [False, True])
def test_what_no_longer_earns_its_promotion_is_demoted_by_tidy(tmp_path: Path, owned: bool) -> None:
    """Unless the caller has said what its priority is since."""
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=None, reranker=None, clock=clock) as memory:
        chosen = memory.remember("the best of all", priority="P2").id
        owners = memory.remember("important to its owner", priority="P1").id
        memory.remember_many([f"note number {n}" for n in range(60)])
        memory.store.amend({chosen: {"confidence": 0.7}}, clock())
        clock.advance(40 * DAY)
        memory.store.touch({chosen: Access(10, clock())})
        apart = np.eye(62, dtype=np.float32)
        waiting = enumerate(memory.store.unembedded(99))
        memory.store.put_vectors({number: apart[n] for n, number in waiting}, SPACE.__class__("axes", 62))
        assert memory.reflect().promoted == (chosen,)
        if owned:
            memory.update(chosen, priority="P1")
        clock.advance(60 * DAY)
        # recency 2^(−60/7) · .25 ≈ 0, span .20, frequency .20, confidence (.70 less 13 weeks of decay) .05 · .15: .41
        actions = {action.id: action for action in memory.tidy(dry_run=False).actions if action.action == "demote"}
        assert {id: action.after for id, action in actions.items()} == ({} if owned else {chosen: {"priority": "P2"}})
        assert memory.get(owners).priority == "P1"


def test_seen_holds_no_text(store: SqliteStore) -> None:
    fill(store)
    reflect(store, LATER)
    assert "topic" not in str(store.setting(SEEN))


# -- in search


@pytest.fixture
def cats(tmp_path: Path) -> thinkback.Memory:
    memory = thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08"))
    for thing in ("sofa", "fish", "birds", "garden"):
        memory.remember(f"the small grey cat Oscar likes his {thing}")
    memory.remember("taxes are due in April")
    memory.reflect()
    return memory


def test_a_reflections_hit_shows_its_members(cats: thinkback.Memory) -> None:
    with cats as memory:
        (hit,) = [hit for hit in memory.recall("small grey cat Oscar") if hit.record.kind == "reflection"]
        assert set(hit.members) == {r.id for r in memory.list(include_reflections=False) if "Oscar" in r.text}


def test_reflections_can_be_left_out_boosted_and_capped(cats: thinkback.Memory) -> None:
    with cats as memory:
        asked = "small grey cat Oscar"
        kinds = [hit.record.kind for hit in memory.recall(asked, include_reflections=False)]
        assert "reflection" not in kinds
        assert memory.recall(asked, reflection_boost=100.0)[0].record.kind == "reflection"
        assert memory.recall(asked, recipe="engrava", reflection_boost=100.0)[0].record.kind == "reflection"
        # at most 30 % of three results is none
        assert all(hit.record.kind != "reflection" for hit in memory.recall(asked, reflection_boost=100.0, limit=3))
        # unless nothing else is asked for
        assert [hit.record.kind for hit in memory.recall(asked, kinds=["reflection"], limit=3)] == ["reflection"]


def test_reflections_alone_by_cosine(cats: thinkback.Memory) -> None:
    with cats as memory:
        (hit,) = memory.search_reflections_only("small grey cat Oscar", limit=3)
        vector = memory.store.vectors([hit.id])[hit.id]
        assert hit.score == pytest.approx(float(vector @ ToyEmbedder().embed_query("small grey cat Oscar")), abs=1e-6)


def test_reflections_alone_with_recency_blended_in(cats: thinkback.Memory) -> None:
    with cats as memory:
        plain = memory.search_reflections_only("small grey cat Oscar")[0].score
        memory.clock.advance(14 * DAY)  # type: ignore[attr-defined]
        blended = memory.search_reflections_only("small grey cat Oscar", recency=0.10)[0].score
        assert blended == pytest.approx(0.90 * plain + 0.10 * 2 ** (-14 / 7))


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_reflections_alone_of_a_blank_query_are_unranked_and_it_is_said(cats: thinkback.Memory, query: str) -> None:
    with cats as memory:
        found = memory.search_reflections_only(query, recency=0.1)
        assert [(hit.record.kind, hit.score) for hit in found] == [("reflection", 0.0)]
        assert [warning.code for warning in found.warnings] == ["no_query_vector"]
        assert [hit.record.kind for hit in memory.recall(query, kinds=["reflection"])] == ["reflection"]


def test_reflections_alone_without_an_embedder_are_unranked_and_it_is_said(
    cats: thinkback.Memory, tmp_path: Path
) -> None:
    cats.close()
    with thinkback.open(tmp_path / "m.db", embedder=None, reranker=None) as memory:
        found = memory.search_reflections_only("Oscar cat", cycle=7)
        assert [(hit.record.kind, hit.score) for hit in found] == [("reflection", 0.0)]
        assert [warning.code for warning in found.warnings] == ["no_query_vector"]
        assert ("recency", "there is no embedder and no query vector") in found.trace.skipped


def test_reflections_alone_where_there_are_none(tmp_path: Path) -> None:
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None) as memory:
        memory.remember_many(["the small grey cat Oscar", "taxes are due in April"])
        found = memory.search_reflections_only("Oscar")
        assert (list(found), found.warnings) == ([], ())


def test_a_theme_reembedded_keeps_the_mean_of_its_members(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with thinkback.open(path, embedder=ToyEmbedder(128), reranker=None) as memory:
        for thing in ("sofa", "fish", "birds"):
            memory.remember(f"the small grey cat Oscar likes his {thing}")
        (theme,) = memory.reflect().created
    with thinkback.open(path, embedder=ToyEmbedder(64), reranker=None) as memory:
        memory.reembed()
        members = [record.id for record in memory.list(include_reflections=False)]
        mean = np.stack(list(memory.store.vectors(members).values())).mean(axis=0, dtype=np.float64)
        assert np.allclose(memory.store.vectors([theme])[theme], mean / np.linalg.norm(mean), atol=1e-6)
        made = memory.reflect()
        assert (made.created, made.refreshed, made.removed) == ((), (), ())


def test_undoing_a_run_brings_back_the_themes_there_were(store: SqliteStore) -> None:
    fill(store, 300)
    reflect(store, LATER)
    before = {record.id: record.text for record in store.export_records() if record.kind == "reflection"}
    fill(store, 300, 300)
    second = reflect(store, LATER)
    assert second.removed
    undone = undo(store, second.batch, LATER)
    after = {record.id for record in store.export_records() if record.kind == "reflection"}
    assert undone.skipped == {}
    assert after == set(before)


def test_by_default_reflections_leave_the_ranking_of_what_is_found_without_them(tmp_path: Path) -> None:
    """Bit for bit: neither statistics, nor legs, nor links carry anything of them into the score of what other legs found."""
    things = ("sofa", "fish", "birds", "garden", "window", "violin")
    names = ("grey cat Oscar", "brown dog Rex", "old horse Bella")
    texts = [f"the small {name} likes his {thing}" for name in names for thing in things]
    asked = [*(f"what does {name} like?" for name in names), *things, "who likes the garden best", "small"]
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None, clock=clock) as memory:
        memory.count_accesses = False
        memory.remember_many(
            [{"text": text, "thread": "t"} for text in texts + [f"note {n} of other things" for n in range(30)]]
        )
        before = [[(hit.id, hit.score) for hit in memory.recall(query, limit=50)] for query in asked]
        assert len(memory.reflect().themes) >= 3
        found = [memory.recall(query, limit=50) for query in asked]
        assert any(hit.record.kind == "reflection" for hits in found for hit in hits)
        after = [[(hit.id, hit.score) for hit in hits if hit.record.kind != "reflection"] for hits in found]
        assert after == [ranking[: len(rest)] for ranking, rest in zip(before, after, strict=True)]
        assert [len(rest) for rest in after] == [len(ranking) for ranking in before]
