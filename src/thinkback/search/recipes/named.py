"""The named recipes: our own, and one for each system Thinkback grew from, with that system's numbers."""

from collections.abc import Mapping
from dataclasses import replace

from thinkback.errors import InvalidInput
from thinkback.model import CONSOLIDATED, NEAREST
from thinkback.search.bounds import one_of
from thinkback.search.fusion import Convex, Merge, Rrf, Weighted
from thinkback.search.legs import Dates, GraphWalk, Instructions, Keyword, Members, Reflections, VectorLeg
from thinkback.search.query.parse import Parsing
from thinkback.search.recipes.model import Recipe, Rerank, Term
from thinkback.search.selection import Selection
from thinkback.search.signals.decay import Decay
from thinkback.search.signals.graph import Graph
from thinkback.search.signals.priority import Priority
from thinkback.search.signals.quality import Quality
from thinkback.search.signals.ranker import Ranker
from thinkback.search.signals.recency import Recency
from thinkback.search.signals.reflection import Reflection
from thinkback.search.signals.tags import Tags
from thinkback.search.signals.temporal import Temporal
from thinkback.search.signals.updates import Updates

# Learned on development sets of conversations, chats with an assistant, meetings and whole sessions: docs/benchmarks.md.
RANKER = Ranker(
    score=-0.375,
    instruction=0.0585,
    covered2=0.0976,
    covered_near=0.0993,
    document_vector=-0.0644,
    document_length=-0.2,
    document_covered=0.0865,
    document_passage=0.35,
    before=0.0751,
    after=0.0811,
    before2=0.104,
    beside=0.218,
    before_score=-0.317,
    after_score=-0.288,
    reply=0.126,
    before_long=-0.132,
    after_long=-0.157,
    wide=0.0374,
    thread=0.0265,
    voice=0.15,
    voice_near=0.0522,
    question=-0.072,
    short=-0.125,
    dated=0.167,
    counted=0.134,
    somebody=0.12,
    own_assistant=-0.125,
    user_before=-0.195,
    user_wide=-0.0318,
    assistant=-0.258,
    assistant_keyword=-0.189,
    assistant_vector=-0.121,
    assistant_after=0.147,
    preference=0.0318,
)

DEFAULT = Recipe(
    name="default",
    about="Keyword and vector scores fused, time and tags in the query, quality, then a linear ranker over threads and speakers",
    legs=(
        Keyword(weight=0.5, limit=50, reflections=False),
        VectorLeg(weight=0.5, limit=50, reflections=False),
        Dates(weight=0.1, limit=200),
        Reflections(weight=0.2, limit=5),
        Instructions(weight=0.2, limit=5),
        Members(weight=0.05, limit=10),
        GraphWalk(weight=0.05, limit=20, seeds=5, depth=1, without=(NEAREST, CONSOLIDATED)),
    ),
    fusion=Convex(),
    relevance=1.0,
    signals=(
        Term(signal=Quality(), how="multiply", base=0.9, weight=0.1),
        Term(signal=Temporal(), how="multiply", base=1.0, weight=0.8),
        Term(signal=Tags(), how="multiply"),
        Term(signal=Reflection(), how="multiply"),
        Term(signal=RANKER, how="add"),
        Term(signal=Updates(), how="add"),
    ),
    parsing=Parsing(focus=True),
)

PRECISE = replace(
    DEFAULT,
    name="precise",
    about="default, then a cross-encoder over those of the first 5 that are within 15 % of the best score, blended",
    reranker=Rerank(top=5, within=0.15, how="blend", weight=0.3, scale="tempered", max_chars=500),
)

KEYWORD = Recipe(name="keyword", about="The keyword leg alone", legs=(Keyword(),))

# What `search_keywords` does: every word that was typed, and nothing if there is none.
TYPED = Recipe(
    name="keyword",
    about="The keyword leg alone, over every word as typed",
    legs=(Keyword(),),
    newest=False,
    parsing=Parsing(drop_function_words=False, retry=False, time="none", tags=False),
)

VECTOR = Recipe(name="vector", about="The vector leg alone", legs=(VectorLeg(),))

MEMINI = Recipe(
    name="memini",
    about="Reciprocal ranks (k 5, from 0), 0.80 relevance + 0.20 quality, time boost 0.40, dedup",
    legs=(Keyword(), VectorLeg()),
    fusion=Rrf(k=5.0, first_rank=0),
    relevance=0.80,
    signals=(
        Term(signal=Quality(), how="add", weight=0.20),
        Term(signal=Temporal(), how="add", weight=0.40),
    ),
    parsing=Parsing(drop_function_words=False, time="templated", tags=False),
)

ENGRAVA = Recipe(
    name="engrava",
    about="Five weighted signals: keyword .30, vector .55, recency .10, priority .05, graph 0; missing weights redistributed",
    legs=(Keyword(weight=0.30, limit=50), VectorLeg(weight=0.55, limit=50, floor=0.0)),
    fusion=Weighted(all_equal=0.5, ties_by_id=True),
    redistribute=True,
    signals=(
        Term(signal=Recency(clock=False), how="add", weight=0.10),
        Term(signal=Priority(), how="add", weight=0.05),
        Term(signal=Graph(sequence=False), how="add", weight=0.0),
        Term(signal=Reflection(), how="multiply"),
    ),
    selection=Selection(dedup=False, share_of_limit=True),
    parsing=Parsing(drop_function_words=False, exact=True, retry=False, time="none", tags=False),
)

GORAG = Recipe(
    name="gorag",
    about="Reciprocal ranks (k 60, from 1), nothing else",
    legs=(Keyword(), VectorLeg()),
    fusion=Rrf(k=60.0, first_rank=1),
    selection=Selection(dedup=False, reflection_share=1.0),
    parsing=Parsing(drop_function_words=False, time="none", tags=False),
)

GORAG_MERGE = Recipe(
    name="gorag-merge",
    about="One run after the other, first occurrence wins, scores as retrieved",
    legs=(VectorLeg(), Keyword()),
    fusion=Merge(),
    selection=Selection(dedup=False, reflection_share=1.0),
    parsing=Parsing(drop_function_words=False, time="none", tags=False),
)

SECOND_BRAIN = Recipe(
    name="second-brain",
    about="Cosine × time decay × importance × boost for tags inferred from the query",
    legs=(VectorLeg(),),
    fusion=Weighted(),
    signals=(Term(signal=Decay(), how="multiply"), Term(signal=Tags(), how="multiply")),
    selection=Selection(dedup=False, reflection_share=1.0),
    parsing=Parsing(time="none"),
)

PIGPIG = Recipe(
    name="pigpig",
    about="Cosine, then the scores of Qwen3-Reranker replace the order",
    legs=(VectorLeg(),),
    fusion=Weighted(),
    reranker=Rerank(model="opened:Qwen3-Reranker-0.6B", top=50, how="replace", scale="raw"),
    selection=Selection(dedup=False, reflection_share=1.0),
    parsing=Parsing(time="none", tags=False),
)

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (DEFAULT, PRECISE, KEYWORD, VECTOR, MEMINI, ENGRAVA, GORAG, GORAG_MERGE, SECOND_BRAIN, PIGPIG)
}


def named(name: str) -> Recipe:
    """The recipe of that name."""
    one_of(RECIPES, name, "recipe")
    return RECIPES[name]


def reflections_only(recency: float = 0.0) -> Recipe:
    """Themes alone: (1 − recency) · cosine + recency · 2^(−age / 7 d), age counted from a theme's newest member."""
    if isinstance(recency, bool) or not isinstance(recency, int | float) or not 0 <= recency <= 1:
        raise InvalidInput(f"recency is a share from 0 to 1, like 0.1; got {recency!r}", code="invalid_recency")
    return Recipe(
        name="reflections",
        about="Themes alone, by cosine",
        legs=(Reflections(limit=100_000, unembedded=True),),
        newest=False,
        fusion=Weighted(raw_legs=("reflections",), ties_by_id=True),
        signals=(Term(signal=Recency(beside_vector=True), how="blend", weight=float(recency)),) if recency else (),
        selection=Selection(dedup=False, reflection_share=1.0),
        parsing=Parsing(time="none", tags=False),
    )
