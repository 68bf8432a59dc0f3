"""Tuning finds weights that are there to be found, refuses those that are not, and is the same every time."""

from dataclasses import replace

import numpy as np
import pytest
from codes import raises
from gathered_toys import weighted_cases

from thinkback.errors import InvalidInput
from thinkback.evaluate.optimise import Effort, Knob, apply, knobs_of, search
from thinkback.evaluate.replay import Replay
from thinkback.evaluate.tune import Comparison, TuneSettings, folds_of, splits_by_corpus, tune, write_recipe
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import RECIPES
from thinkback.search.recipes.toml import load

BASE = Recipe(name="even", legs=tuple(RECIPES["memini"].with_(legs={"keyword": {"weight": 0.5}}).legs)).with_(
    legs={"keyword": {"weight": 0.5}, "vector": {"weight": 0.5}}
)
QUICK = TuneSettings(metric="mrr", effort=Effort(evaluations=60))


@pytest.fixture(scope="module")
def found():
    return tune(weighted_cases(150, 0.8), BASE, QUICK)


def test_known_weights_are_found(found):
    """Answers are the best of .8 · keyword + .2 · vector, so keyword's share must come out near .8."""
    keyword, vector = (leg.weight for leg in found.recipe.legs)
    assert keyword / (keyword + vector) == pytest.approx(0.8, abs=0.05)
    assert found.recipe.fusion.name == "convex"
    assert found.accepted
    assert found.after > 0.95 > found.before


@pytest.mark.parametrize("share", [0.05, 0.35, 0.95])
def test_any_known_share_is_found(share):
    learned = tune(weighted_cases(100, share, seed=3), BASE, TuneSettings(metric="mrr", folds=2)).recipe
    keyword, vector = (leg.weight for leg in learned.legs)
    assert keyword / (keyword + vector) == pytest.approx(share, abs=0.05)


def test_labels_of_pure_noise_teach_nothing_and_write_nothing(tmp_path):
    refused = tune(weighted_cases(150, 0.8, seed=1, noise=True), BASE, QUICK)
    assert not refused.accepted
    assert "stays as it is" in refused.verdict
    assert not write_recipe(tmp_path / "noise.toml", refused)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_noise_passes_no_more_often_than_its_interval_allows():
    """A 95 % interval lies wholly above zero by chance in 2.5 of 100 cases; of 20, one may."""
    verdicts = [tune(weighted_cases(100, 0.8, seed=seed, noise=True), BASE, QUICK).accepted for seed in range(20)]
    assert sum(verdicts) <= 1


def test_weights_that_are_already_best_are_left_alone(tmp_path):
    best = BASE.with_(legs={"keyword": {"weight": 0.8}, "vector": {"weight": 0.2}})
    kept = tune(weighted_cases(100, 0.8), best, QUICK)
    assert kept.changes == {}
    assert not kept.accepted
    assert kept.verdict.startswith("Nothing better was found")


def test_a_gain_that_holds_is_written_as_a_recipe_that_reads_back(found, tmp_path):
    assert write_recipe(tmp_path / "mine.toml", found)
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert text.startswith("# The gain holds: held out, mrr went from")
    read = load(tmp_path / "mine.toml")
    assert read == found.recipe
    assert read.name == "even-tuned"


def test_tuning_is_the_same_every_time(found):
    again = tune(weighted_cases(150, 0.8), BASE, QUICK)
    assert again == found


def test_what_changed_is_listed_with_its_old_value(found):
    """Only the ratio of the legs counts, so keyword stays at .5 and vector goes to about .125."""
    assert list(found.changes) == ["legs.vector.weight"]
    assert found.changes["legs.vector.weight"] == (0.5, pytest.approx(0.125, abs=0.05))


def test_each_weight_has_its_worth(found):
    worth = {w.part: w for w in found.worth}
    assert set(worth) == {"legs.keyword", "legs.vector"}
    assert worth["legs.keyword"].difference.mean > worth["legs.vector"].difference.mean > 0
    assert worth["legs.keyword"].without == pytest.approx(found.fitted - worth["legs.keyword"].difference.mean)


def test_a_gain_in_one_corpus_alone_does_not_hold_for_other_corpora():
    """Over its questions +.2 is sure; but four of five corpora gained nothing, and five others might all be like those."""
    corpora = [f"c{row % 5}" for row in range(100)]
    before = np.zeros(100)
    after = np.array([1.0 if corpus == "c0" else 0.0 for corpus in corpora])
    assert Comparison()(after, before).above_zero
    clustered = Comparison(corpora=corpora)(after, before)
    assert clustered.mean == 0.2
    assert clustered.low == 0.0


def test_few_corpora_that_agree_are_not_surer_than_their_questions():
    """Two corpora with the same mean leave nothing to resample; the questions within them do."""
    after = np.array([1.0, 0.0, -0.9, 0.1] * 2)
    clustered = Comparison(corpora=["a"] * 4 + ["b"] * 4)(after, np.zeros(8))
    assert clustered == Comparison()(after, np.zeros(8))
    assert clustered.low < 0 < clustered.high


@pytest.mark.parametrize(("split", "by_corpus"), [("auto", True), ("corpus", True), ("question", False)])
def test_the_interval_follows_the_split(split, by_corpus):
    cases = weighted_cases(60, 0.8)
    tuned = tune(cases, BASE, replace(QUICK, split=split))
    corpora = [case.question.corpus_id for case in cases]
    compare = Comparison(corpora=corpora if by_corpus else None)
    replay = Replay(cases)
    full, without = (
        replay.values(recipe, tuned.metric)
        for recipe in (tuned.recipe, tuned.recipe.with_(legs={"vector": {"weight": 0.0}}))
    )
    assert {w.part: w.difference for w in tuned.worth}["legs.vector"] == compare(full, without)
    assert splits_by_corpus(corpora, replace(QUICK, split=split)) is by_corpus


def test_every_question_is_held_out_once(found):
    assert sum(fold.n for fold in found.folds) == found.n == 150
    assert sorted(corpus for fold in found.folds for corpus in fold.corpora) == ["c0", "c1", "c2", "c3", "c4"]
    mean = sum(fold.n * fold.after for fold in found.folds) / found.n
    assert mean == pytest.approx(found.after)


def test_progress_never_goes_back_and_ends_within_its_total():
    heard = []
    settings = TuneSettings(
        metric="mrr",
        folds=2,
        effort=Effort(evaluations=20),
        progress=lambda done, total, what: heard.append((done, total, what)),
    )
    tune(weighted_cases(30, 0.8), BASE, settings)
    done = [one for one, _, _ in heard]
    assert done == sorted(done)
    assert {total for _, total, _ in heard} == {3 * 20}
    assert done[-1] <= 60
    assert heard[-1][2] == "all questions"


def test_few_questions_are_refused():
    with raises(InvalidInput, "too_few_questions"):
        tune(weighted_cases(19, 0.8), BASE, QUICK)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"folds": 1}, "too_few_folds"),
        ({"split": "corpora"}, "unknown_split"),
        ({"metric": "x"}, "unknown_metric"),
    ],
)
def test_wrong_settings_are_explained(wrong, code):
    with raises(InvalidInput, code):
        TuneSettings(**wrong)


class TestFolds:
    def test_a_corpus_is_never_torn_apart(self):
        corpora = ["a"] * 10 + ["b"] * 5 + ["c"] * 5
        folds = folds_of(corpora, TuneSettings(folds=2))
        assert sorted(map(len, folds)) == [10, 10]
        for fold in folds:
            held = {corpora[row] for row in fold}
            assert all((corpora[row] in held) == (row in fold) for row in range(20))

    def test_one_corpus_is_split_by_question(self):
        folds = folds_of(["a"] * 10, TuneSettings(folds=5))
        assert [len(fold) for fold in folds] == [2] * 5
        assert sorted(row for fold in folds for row in fold) == list(range(10))

    def test_one_corpus_cannot_be_split_by_corpus(self):
        with raises(InvalidInput, "one_corpus"):
            folds_of(["a"] * 10, TuneSettings(split="corpus"))

    def test_folds_follow_the_seed(self):
        one, two = (folds_of(["a"] * 40, TuneSettings(effort=Effort(seed=s))) for s in (1, 2))
        assert any(list(x) != list(y) for x, y in zip(one, two, strict=True))


class TestKnobs:
    def test_every_number_of_the_formula_is_a_knob(self):
        names = {knob.name for knob in knobs_of(RECIPES["default"])}
        assert {"legs.vector.weight", "legs.dates.weight", "fusion", "signals.temporal.weight"} <= names
        assert not any("limit" in name or "steps" in name for name in names)

    def test_the_heaviest_leg_measures_the_others_where_only_ratios_count(self):
        assert "legs.keyword.weight" not in {knob.name for knob in knobs_of(RECIPES["default"])}
        added = Recipe(name="x", legs=RECIPES["memini"].legs).with_(signals={"recency": {"how": "add"}})
        assert "legs.keyword.weight" in {knob.name for knob in knobs_of(added)}
        assert [knob.name for knob in knobs_of(RECIPES["keyword"])] == ["fusion"]

    def test_a_factor_without_a_base_has_no_weight_to_tune(self):
        names = {knob.name for knob in knobs_of(RECIPES["second-brain"])}
        assert "signals.tags.step" in names
        assert "signals.tags.weight" not in names

    @pytest.mark.parametrize("name", [n for n in RECIPES if n != "gorag-merge"])
    def test_the_starts_are_the_recipe_itself(self, name):
        recipe = RECIPES[name]
        assert apply(recipe, {knob.path: knob.start for knob in knobs_of(recipe)}) == recipe

    def test_steps_stay_within_the_bounds(self):
        knob = Knob(("x",), 0.9, 0.0, 1.0)
        assert knob.near(0.9, 0.25) == [0.65, 1.0]
        assert knob.near(1.0, 0.25) == [0.75]

    def test_a_long_range_is_searched_by_factors(self):
        knob = Knob(("half_life",), 10.0, 1.0, 100.0, "log")
        assert knob.near(10.0, 0.5) == [1.0, 100.0]

    def test_what_cannot_be_zero_is_never_tried_at_zero(self):
        """A half-life of half a day is searched from a sixteenth of a day up, not from 0."""
        term = {"recency": {"how": "add", "half_life_days": 0.5}}
        knobs = {knob.name: knob for knob in knobs_of(RECIPES["memini"].with_(signals=term))}
        half_life = knobs["signals.recency.half_life_days"]
        assert (half_life.low, half_life.high, half_life.scale) == (0.5 / 8, 0.5 * 8, "log")
        assert knobs["signals.recency.half_life_cycles"].low == 50 / 8

    def test_a_weight_beside_another_is_searched_by_its_share(self):
        """Beside .5, a weight of .5 has the share 1/2; with 2 as its bound, shares go to 4/5: a tenth of that is .08."""
        low, high = Knob(("w",), 0.5, 0.0, 2.0, "share", 0.5).near(0.5, 0.1)
        assert low / (low + 0.5) == pytest.approx(0.5 - 0.08, abs=0.001)
        assert high / (high + 0.5) == pytest.approx(0.5 + 0.08, abs=0.001)

    def test_a_choice_offers_every_other(self):
        assert Knob(("fusion",), "a", choices=("a", "b", "c")).near("b", 0.1) == ["a", "c"]


class TestSearch:
    def test_the_top_of_a_hill_is_found(self):
        knobs = [Knob(("x",), 0.1), Knob(("y",), 0.9)]
        best = search(lambda s: -((s[("x",)] - 0.6) ** 2) - (s[("y",)] - 0.3) ** 2, knobs, Effort(200, worth_it=0.0))
        assert best[("x",)] == pytest.approx(0.6, abs=0.02)
        assert best[("y",)] == pytest.approx(0.3, abs=0.02)

    def test_a_knob_that_does_not_matter_keeps_its_start(self):
        knobs = [Knob(("x",), 0.1), Knob(("idle",), 0.5)]
        best = search(lambda s: s[("x",)], knobs, Effort(100))
        assert best == {("x",): 1.0, ("idle",): 0.5}

    def test_no_more_is_spent_than_was_allowed_but_for_the_simplifying(self):
        asked = []
        knobs = [Knob((name,), 0.5) for name in "abc"]
        search(lambda s: asked.append(s) or sum(s.values()), knobs, Effort(30))
        assert len(asked) <= 30 + len(knobs) ** 2

    def test_no_setting_is_computed_twice(self):
        asked = []
        search(lambda s: asked.append(tuple(s.items())) or sum(s.values()), [Knob(("a",), 0.5)], Effort(50))
        assert len(set(asked)) == len(asked)


def test_a_replay_of_thousands_of_settings_takes_seconds_not_hours():
    """Not a clock: settings share all work but the sums, so a fusion is asked once for each question, ever."""
    cases = weighted_cases(30, 0.8)
    calls = []
    real = type(BASE.fusion).fuse

    class Counted(type(BASE.fusion)):
        def fuse(self, runs, weights):
            calls.append(1)
            return real(self, runs, weights)

    counted = Counted()
    replay = Replay(cases)
    for i in range(200):
        changed = Recipe(name="x", legs=BASE.with_(legs={"keyword": {"weight": i / 200}}).legs, fusion=counted)
        replay.gold_ranks(changed)
    assert len(calls) == 30
