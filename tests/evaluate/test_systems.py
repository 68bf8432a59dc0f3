"""Recipes over real memories: the store holds the corpus, a failing part raises, and no question changes the next."""

import json
from dataclasses import replace

import pytest
from codes import raises
from evaluate_toys import DATASET, TALK, TRIP

from thinkback.clock import DAY, from_us, to_us
from thinkback.errors import DatasetError, InvalidInput, ModelUnavailable, ThinkbackError
from thinkback.evaluate.bench import BenchSettings, bench
from thinkback.evaluate.datasets import Corpus, Dataset, Document, Question, TrecRun
from thinkback.evaluate.datasets.own import read_own
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.replay import Replay
from thinkback.evaluate.systems import FusedRuns, OwnStore, Recipes, weights_of, with_all_links
from thinkback.search.fusion import Convex, Rrf
from thinkback.search.recipes.named import named
from thinkback.testing import ToyEmbedder

MAY = to_us("2024-05-08")


class Failing(ToyEmbedder):
    """Fails for questions, or already for passages."""

    def __init__(self, at="query"):
        super().__init__()
        self._at = at

    def embed_passages(self, texts):
        if self._at == "passages":
            raise ModelUnavailable("the model is gone", code="model_gone")
        return ToyEmbedder().embed_passages(texts)

    def embed_query(self, text):
        raise ModelUnavailable("the model is gone", code="model_gone")


class Yes:
    """A cross-encoder that likes long texts."""

    fingerprint = "yes@1"

    def scores(self, query, texts):
        return [min(1.0, len(text) / 100) for text in texts]


def test_recipes_answer_from_a_memory_of_the_corpus():
    systems = Recipes([named("keyword"), named("default")], ToyEmbedder())
    result = bench(DATASET, systems.contenders(), systems.open)
    keyword, default = result.recipes
    assert keyword.rankings[0].ids[0] == "t1"
    assert default.rankings[1].ids[0] == "t2"
    assert {i for r in default.rankings for i in r.ids} <= {d.id for c in (TALK, TRIP) for d in c.documents}


def test_identities_name_the_recipe_and_every_model_it_uses():
    systems = Recipes([named("keyword"), named("default"), named("precise")], ToyEmbedder(), Yes())
    keyword, default, precise = systems.contenders()
    assert keyword.embedder == ""
    assert default.embedder == "toy-words-256"
    assert precise.embedder == "toy-words-256 + yes@1"
    assert default.recipe == named("default").fingerprint


def test_keywords_alone_need_no_embedder():
    systems = Recipes([named("keyword")], Failing())
    assert systems.embedder is None
    assert bench(DATASET, systems.contenders(), systems.open).n == 3


def test_without_an_embedder_a_recipe_is_measured_by_its_other_legs_and_says_so():
    systems = Recipes([named("default")])
    result = bench(DATASET, systems.contenders(), systems.open)
    assert result.recipes[0].contender.embedder == ""
    assert result.recipes[0].rankings[0].ids[0] == "t1"


def test_no_recipe_is_refused():
    with raises(InvalidInput, "no_recipe"):
        Recipes([])


@pytest.mark.parametrize("at", ["query", "passages"])
def test_a_benchmark_raises_where_a_memory_would_warn(at):
    systems = Recipes([named("default")], Failing(at))
    with raises(ThinkbackError, "model_gone"):
        bench(DATASET, systems.contenders(), systems.open)


def test_documents_keep_their_dates_threads_and_speakers():
    corpus = Corpus(
        "c",
        (
            Document("a", "Ada: figs", "S1", 0, MAY, "Ada"),
            Document("b", "Ben: boats", "S1", 1, MAY + DAY, "Ben"),
            Document("c", "no date"),
        ),
    )
    with Recipes([named("keyword")]).memory_of(corpus) as memory:
        a, b, c = (memory.get(i) for i in "abc")
        assert (a.created_at, a.thread, a.position, a.speaker) == (from_us(MAY), "S1", 0, "Ada")
        assert c.created_at == b.created_at == from_us(memory.clock()) == from_us(MAY + DAY)
        assert [edge.to_id for edge in memory.neighbours("a")] == ["b"]


def test_questions_leave_no_trace_in_the_memory():
    systems = Recipes([named("default")], ToyEmbedder())
    with systems.memory_of(TALK) as memory:
        recall = systems.recalls(memory)["default"]
        state = memory.state()
        first = recall(DATASET.questions[0], 5)
        assert recall(DATASET.questions[0], 5).ids == first.ids
        assert memory.state() == state
        assert memory.get("t1").access_count == 0


def test_a_question_is_asked_as_of_its_own_moment():
    corpus = Corpus(
        "c", (Document("old", "boat", created_us=MAY), Document("new", "boat!", created_us=MAY + 300 * DAY))
    )
    question = Question("q", "c", "boat", {"old": 1.0}, now_us=MAY + 400 * DAY)
    recipe = named("keyword").with_(signals={"recency": {"how": "add"}})
    with Recipes([recipe]).open(corpus) as recalls:
        later = dict(zip(*_answer(recalls, question), strict=True))
        sooner = dict(zip(*_answer(recalls, replace(question, now_us=MAY + 301 * DAY)), strict=True))
    assert sooner["new"] > later["new"]


def _answer(recalls, question):
    answer = recalls["keyword"](question, 10)
    return answer.ids, answer.scores


def test_a_failure_is_explained_by_the_engine():
    question = Question("q", "talk", "boat Gull", {"t3": 1.0, "t2": 1.0})
    with Recipes([named("keyword")]).open(TALK) as recalls:
        why = recalls["keyword"](question, 1).explain()
    assert "hit 1, t2" in why
    assert "gold t2 at rank 1" in why
    assert "gold t3: no leg retrieved it" in why


def test_the_weights_of_a_recipe_are_named_as_in_its_file():
    weights = weights_of(named("memini"))
    assert weights["relevance"] == 0.8
    assert weights["legs.keyword.weight"] == 1.0
    assert weights["fusion.rrf.k"] == 5.0
    assert weights["signals.quality.weight"] == 0.2
    assert "fusion.rrf.cut" not in weights


def test_gathering_once_ranks_like_searching():
    systems = Recipes([named("default")], ToyEmbedder())
    searched = bench(DATASET, systems.contenders(), systems.open).recipes[0].rankings
    replay = Replay(systems.cases(DATASET, named("default")))
    for name in ("any@1", "mrr", "ndcg@10"):
        expected = [metric(name)(ranking.gold, ranking.ids) for ranking in searched]
        assert replay.values(named("default"), metric(name)) == pytest.approx(expected, abs=1e-12)


def test_links_are_gathered_for_signals_that_do_not_count_yet():
    assert all(term.weight for term in with_all_links(named("engrava")).signals)
    recipe = named("engrava").with_(signals={"neighbours": {"how": "add", "weight": 0.0}, "graph": {"sequence": True}})
    systems = Recipes([recipe], ToyEmbedder())
    corpus = Corpus("talk", tuple(replace(d, thread="S1", position=i) for i, d in enumerate(TALK.documents)))
    dataset = replace(DATASET, corpora=(corpus,), questions=DATASET.questions[:1])
    assert systems.cases(dataset, recipe)[0].gathered.edges


class TestOwn:
    @pytest.fixture
    def memory(self, tmp_path):
        systems = Recipes([named("keyword")])
        with systems.memory(tmp_path / "own.db", MAY) as memory:
            memory.remember_many([{"text": d.text, "id": d.id} for d in TALK.documents])
            yield memory

    def test_judged_questions_are_asked_again(self, memory):
        memory.judge("what did Ada plant", "t1", 2)
        memory.judge("what  did Ada plant", "t3", 0)
        memory.judge("is there a gate", "t2", 0)
        dataset = read_own(memory, "own.db")
        assert dataset.questions == (
            Question("what did Ada plant", "own", "what did Ada plant", {"t1": 2.0}, now_us=MAY),
        )
        assert dataset.left_out == {"without a judged answer": 1}
        systems = OwnStore(Recipes([named("keyword")]), memory)
        result = bench(dataset, systems.contenders(), systems.open)
        assert result.recipes[0].rankings[0].ids[0] == "t1"
        assert len(systems.cases(dataset, named("keyword"))) == 1

    def test_nothing_judged_is_said_with_the_remedy(self, memory):
        with raises(DatasetError, "nothing_judged"):
            read_own(memory)

    def test_the_identity_follows_the_store(self, memory):
        memory.judge("boat", "t2")
        before = read_own(memory).fingerprint
        assert read_own(memory).fingerprint == before
        memory.remember("another boat")
        assert read_own(memory).fingerprint != before


def test_nothing_is_gathered_for_a_recipe_that_cannot_be_replayed():
    systems = Recipes([named("precise")], Failing("passages"), Yes())
    with raises(InvalidInput, "reranker_not_replayable"):
        systems.cases(DATASET, named("precise"))


class TestFusedRuns:
    RUNS = (
        TrecRun("sparse", {"q1": (("a", 9.0), ("b", 5.0)), "q2": (("c", 1.0),)}),
        TrecRun("dense", {"q1": (("b", 0.9), ("c", 0.1))}),
    )

    def _ask(self, systems, question_id, depth=10):
        with systems.open(Corpus("trec", ())) as recalls:
            return {n: r(Question(question_id, "trec", "", {"x": 1.0}), depth) for n, r in recalls.items()}

    def test_runs_stand_beside_their_fusions(self):
        systems = FusedRuns(self.RUNS, {"rrf": Rrf(k=60.0, first_rank=1), "convex": Convex()})
        assert [c.name for c in systems.contenders()] == ["sparse", "dense", "rrf", "convex"]
        answers = self._ask(systems, "q1")
        assert list(answers["sparse"].ids) == ["a", "b"]
        assert list(answers["rrf"].ids) == ["b", "a", "c"]
        assert answers["rrf"].scores[0] == pytest.approx(1 / (60 + 2) + 1 / (60 + 1))
        assert list(answers["convex"].ids) == ["a", "b", "c"]

    def test_a_query_that_a_run_lacks_is_fused_from_the_others(self):
        answers = self._ask(FusedRuns(self.RUNS, {"rrf": Rrf()}), "q2")
        assert list(answers["dense"].ids) == []
        assert list(answers["rrf"].ids) == ["c"]

    def test_the_depth_is_kept(self):
        answers = self._ask(FusedRuns(self.RUNS, {"rrf": Rrf()}), "q1", depth=1)
        assert {len(answer.ids) for answer in answers.values()} == {1}

    def test_names_must_differ(self):
        with raises(InvalidInput, "duplicate_name"):
            FusedRuns([self.RUNS[0], self.RUNS[0]], {})

    def test_saved_rankings_are_of_the_runs_content_and_not_of_its_name(self, tmp_path):
        """A run file that was made anew under its old name is not answered from what was saved of the old one."""
        dataset = Dataset("judged", (Corpus("trec", ()),), (Question("q1", "trec", "", {"a": 1.0}),))
        anew = replace(self.RUNS[0], rankings={"q1": (("z", 9.0), ("b", 5.0))})

        def measure(*runs):
            systems = FusedRuns(runs, {"rrf": Rrf()})
            result = bench(dataset, systems.contenders(), systems.open, BenchSettings(save=tmp_path))
            return [recipe.rankings[0].ids for recipe in result.recipes]

        assert measure(*self.RUNS) == measure(*self.RUNS) == [("a", "b"), ("b", "c"), ("b", "a", "c")]
        with raises(DatasetError, "another_run"):
            measure(anew, self.RUNS[1])
        (tmp_path / "judged.sparse.jsonl").unlink()
        with raises(DatasetError, "another_run") as refused:
            measure(anew, self.RUNS[1])
        assert "judged.rrf.jsonl" in str(refused.value)

    def test_the_order_of_queries_in_a_run_file_does_not_matter(self):
        turned = TrecRun("other", dict(reversed(self.RUNS[0].rankings.items())))
        assert turned.fingerprint == self.RUNS[0].fingerprint != self.RUNS[1].fingerprint


def test_saved_rankings_of_a_memory_can_be_read_by_anybody(tmp_path):
    systems = Recipes([named("keyword")])
    bench(DATASET, systems.contenders(), systems.open, BenchSettings(save=tmp_path))
    (file,) = tmp_path.iterdir()
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["question"] for line in lines] == ["q1", "q2", "q3"]
    assert lines[0]["ids"][0] == "t1"
