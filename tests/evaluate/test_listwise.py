"""The ranker learns from a user's own judgements: what the legs cannot tell apart, its features can, also on questions held out."""

import numpy as np

from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.listwise import learned
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.replay import Case, Replay
from thinkback.model import Filter, Run, Scored, StoredRecord
from thinkback.search.query.parse import Parsing, parse
from thinkback.search.ranking import Gathered
from thinkback.search.recipes.model import Recipe, Term
from thinkback.search.recipes.named import RECIPES
from thinkback.search.signals.ranker import Ranker

PLAIN = Recipe(
    name="plain",
    legs=RECIPES["memini"].legs,
    relevance=1.0,
    signals=(Term(signal=Ranker(), how="add"),),
)


def cases(count: int, seed: int) -> list[Case]:
    """Ten candidates each; this user judges the best one that does not ask, and wants the assistant's words last."""
    chance = np.random.default_rng(seed)
    return [_case(f"{seed}-{n}", chance) for n in range(count)]


def _case(name: str, chance: np.random.Generator) -> Case:
    ids = [f"{name}-{n}" for n in range(10)]
    asks, assistant, scores = chance.random(10) < 0.5, chance.random(10) < 0.3, chance.random(10)
    worth = scores - asks - 2 * assistant
    records = {
        id: StoredRecord(
            id=id,
            text=f"a text of some length, number {n}{'?' if asks[n] else '.'}",
            speaker="assistant" if assistant[n] else "user",
        )
        for n, id in enumerate(ids)
    }
    hits = tuple(Scored(ids[n], float(scores[n])) for n in np.argsort(-scores))
    query = parse("something", Filter(now=0), Parsing())
    question = Question(id=name, corpus_id="c", text="something", gold={ids[int(worth.argmax())]: 1.0})
    return Case(question, Gathered(query, (Run("keyword", hits), Run("vector", hits)), records))


def test_a_users_judgements_move_the_weights_of_the_ranker_and_hold_out():
    taught, held_out = Replay(cases(60, 1)), Replay(cases(60, 2))
    tuned = learned(taught, PLAIN, np.arange(60))
    before, after = (held_out.values(recipe, metric("mrr")).mean() for recipe in (PLAIN, tuned))
    assert after > before + 0.2
    signal = tuned.signals[0].signal
    assert isinstance(signal, Ranker)
    assert signal.question < -0.1
    assert signal.assistant < -0.1


def test_the_same_judgements_teach_the_same_and_none_teach_nothing():
    replay = Replay(cases(30, 3))
    assert learned(replay, PLAIN, np.arange(30)) == learned(replay, PLAIN, np.arange(30))
    assert learned(replay, PLAIN, np.arange(0)) == PLAIN


def test_a_recipe_without_a_ranker_is_returned_as_it_is():
    assert learned(Replay(cases(20, 4)), RECIPES["memini"], np.arange(20)) is RECIPES["memini"]
