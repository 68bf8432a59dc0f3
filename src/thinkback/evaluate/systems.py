"""The systems that a benchmark measures: recipes over a memory of each corpus, over your own store, or over other systems' runs.

Every corpus gets a temporary store. A benchmark is strict: a part that fails raises instead of letting the others answer.
Recalls are not counted as accesses, because a question must not change the answer to the next one. One recall with each recipe
fills the caches before time is measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.evaluate.bench import Answer, Contender, Progress, Recall
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question
from thinkback.evaluate.datasets.trec import TrecRun
from thinkback.evaluate.replay import Case, check_replayable
from thinkback.memory import Memory
from thinkback.model import Run, Scored
from thinkback.models.embedders.base import Embedder
from thinkback.models.rerankers.base import Reranker
from thinkback.models.weights.options import OpenOptions
from thinkback.opening import Opener
from thinkback.search.fusion import Fusion
from thinkback.search.recipes.model import Recipe, to_dict
from thinkback.search.trace import Recall as Recalled

_AT_ONCE = 2000
# The date of documents without one, so that no ranking depends on when it was measured.
_UNDATED = 1_577_836_800_000_000


class Recipes:
    """Recipes with the models they use, measured on any corpus; without an embedder, by keywords alone."""

    def __init__(
        self,
        recipes: Sequence[Recipe],
        embedder: Embedder | None = None,
        reranker: str | Reranker | None = None,
        models: OpenOptions | None = None,
    ) -> None:
        if not recipes:
            raise InvalidInput("a benchmark needs at least one recipe", code="no_recipe")
        self.recipes = tuple(recipes)
        self.embedder = embedder if needs_vectors(recipes) else None
        self._open = Opener(embedder=self.embedder, reranker=reranker, models=models)

    def contenders(self) -> list[Contender]:
        """Each recipe with the identity of everything that makes its rankings."""
        return [Contender(r.name, r.fingerprint, self._models(r), weights_of(r)) for r in self.recipes]

    def _models(self, recipe: Recipe) -> str:
        parts = []
        if self.embedder is not None and needs_vectors([recipe]):
            parts.append(self.embedder.fingerprint)
        reranker = None if recipe.reranker is None else self._open.reranker(recipe.reranker.model)
        if reranker is not None:
            parts.append(reranker.fingerprint)
        return " + ".join(parts)

    @contextmanager
    def open(self, corpus: Corpus) -> Iterator[Mapping[str, Recall]]:
        """The corpus in a separate store, and a recall function for each recipe."""
        with self.memory_of(corpus) as memory:
            yield self.recalls(memory)

    @contextmanager
    def memory_of(self, corpus: Corpus) -> Iterator[Memory]:
        """A memory that holds the corpus, gone afterwards."""
        now = max((d.created_us for d in corpus.documents if d.created_us is not None), default=_UNDATED)
        with TemporaryDirectory(prefix="thinkback-bench-") as folder, self.memory(Path(folder) / "m.db", now) as memory:
            for start in range(0, len(corpus.documents), _AT_ONCE):
                self._fill(memory, corpus.documents[start : start + _AT_ONCE], now)
            yield memory

    def _fill(self, memory: Memory, documents: Sequence[Document], now: int) -> None:
        """Embed the passages here, because a memory would continue without vectors and a benchmark must stop."""
        items = [_item(document, now) for document in documents]
        if self.embedder is not None:
            vectors = self.embedder.embed_passages([document.text for document in documents])
            items = [{**item, "vector": vector} for item, vector in zip(items, vectors, strict=True)]
        memory.remember_many(items)

    def memory(self, path: Path, now: int, *, read_only: bool = False) -> Memory:
        """A strict memory over a file, with a fixed clock."""
        return self._open(path, read_only=read_only, strict=True, count_accesses=False, clock=lambda: now)

    def cases(self, dataset: Dataset, recipe: Recipe, progress: Progress | None = None) -> list[Case]:
        """The candidates of the recipe's legs and links for every question, to be ranked with other weights."""
        check_replayable(recipe)
        asked: dict[str, list[Question]] = {}
        for question in dataset.questions:
            asked.setdefault(question.corpus_id, []).append(question)
        found: list[Case] = []
        for corpus in dataset.corpora:
            with self.memory_of(corpus) as memory:
                for question in asked.get(corpus.id, ()):
                    found.append(gathered(memory, question, recipe))
                    if progress is not None:
                        progress(len(found), len(dataset.questions), f"gathering {corpus.id}")
        return found

    def recalls(self, memory: Memory) -> Mapping[str, Recall]:
        """A recall function for each recipe, after one recall that is not measured."""
        for recipe in self.recipes:
            memory.recall("warm up", recipe=recipe, limit=1)
        return {recipe.name: _recall(memory, recipe) for recipe in self.recipes}


def gathered(memory: Memory, question: Question, recipe: Recipe) -> Case:
    """The candidates of a recall, with the links that any signal may use."""
    return Case(question, memory.gather(question.text, recipe=with_all_links(recipe), now=question.now_us))


def with_all_links(recipe: Recipe) -> Recipe:
    """The recipe with no signal at weight 0, because links are only read for signals with a weight."""
    awake = tuple(replace(term, weight=term.weight or 1.0) for term in recipe.signals)
    return replace(recipe, signals=awake)


def needs_vectors(recipes: Sequence[Recipe]) -> bool:
    """Whether any of the recipes searches by vector."""
    return any(leg.stage == "vector" for recipe in recipes for leg in recipe.legs)


def _item(document: Document, now: int) -> dict[str, Any]:
    item = {
        "text": document.text,
        "id": document.id,
        "thread": document.thread,
        "position": document.position,
        "created_at": now if document.created_us is None else document.created_us,
        "speaker": document.speaker or None,
    }
    return {name: value for name, value in item.items() if value is not None}


def _recall(memory: Memory, recipe: Recipe) -> Recall:
    @cache
    def by_depth(depth: int) -> Recipe:
        return recipe.with_(selection={"limit": depth})

    def recall(question: Question, depth: int) -> Answer:
        found = memory.recall(question.text, recipe=by_depth(depth), now=question.now_us)
        return Answer(found.ids, [hit.score for hit in found], lambda: explanation(found, question))

    return recall


def explanation(found: Recalled, question: Question) -> str:
    """Why the first hit is first, and where each piece of gold went."""
    parts = [f"hit 1, {found[0].id}\n{found[0].why()}"] if len(found) else ["nothing was found"]
    places = {hit.id: hit for hit in found}
    for document_id in question.gold:
        if document_id in places:
            hit = places[document_id]
            parts.append(f"gold {document_id} at rank {hit.rank}\n{hit.why()}")
        else:
            parts.append(f"gold {document_id}: {found.why_not(document_id)}")
    return "\n\n".join(parts)


def weights_of(recipe: Recipe) -> dict[str, float]:
    """Every number that makes the recipe's formula, by its place in the TOML file."""
    data = to_dict(recipe)
    found: dict[str, float] = {} if recipe.relevance is None else {"relevance": recipe.relevance}
    for leg in recipe.legs:
        found[f"legs.{leg.name}.weight"] = leg.weight
    for name, value in data["fusion"].items():
        if isinstance(value, float):
            found[f"fusion.{recipe.fusion.name}.{name}"] = value
    for signal, parameters in data["signals"].items():
        numbers = {name: value for name, value in parameters.items() if isinstance(value, float)}
        found |= {f"signals.{signal}.{n}": v for n, v in numbers.items() if n != "base" or v != 0}
    if recipe.reranker is not None:
        found["reranker.weight"] = recipe.reranker.weight
    return found


# -- your own store ---------------------------------------------------------------------------------------------------


class OwnStore(Recipes):
    """The same recipes over a memory that exists; it answers for every corpus."""

    def __init__(self, recipes: Recipes, memory: Memory) -> None:
        self.recipes, self.embedder, self._open = recipes.recipes, recipes.embedder, recipes._open
        self._memory = memory

    @contextmanager
    def memory_of(self, corpus: Corpus) -> Iterator[Memory]:
        """The memory itself."""
        yield self._memory


# -- other systems' runs ---------------------------------------------------------------------------------------------


class FusedRuns:
    """Run files, each alone and fused by several fusions."""

    def __init__(self, runs: Sequence[TrecRun], fusions: Mapping[str, Fusion]) -> None:
        names = [run.name for run in runs]
        if not names or len(set(names) | set(fusions)) != len(names) + len(fusions):
            raise InvalidInput(
                f"runs and fusions need different names, not {[*names, *fusions]}", code="duplicate_name"
            )
        self._runs = tuple(runs)
        self._fusions = dict(fusions)

    def contenders(self) -> list[Contender]:
        """The runs, then their fusions; a run is identified by its rankings, not by its name."""
        alone = [Contender(run.name, run.fingerprint) for run in self._runs]
        together = sha256(repr([(one.name, one.recipe) for one in alone]).encode()).hexdigest()[:16]
        return [*alone, *(Contender(name, f"{fusion!r} of {together}") for name, fusion in self._fusions.items())]

    @contextmanager
    def open(self, corpus: Corpus) -> Iterator[Mapping[str, Recall]]:
        yield {
            **{run.name: _lookup(run) for run in self._runs},
            **{name: self._fuse(fusion) for name, fusion in self._fusions.items()},
        }

    def _fuse(self, fusion: Fusion) -> Recall:
        def recall(question: Question, depth: int) -> Answer:
            runs = [
                Run(run.name, tuple(Scored(i, score) for i, score in run.rankings.get(question.id, ())))
                for run in self._runs
            ]
            fused = fusion.fuse([run for run in runs if run.hits], {})
            order = fused.ledger.order() if fused.by_score else range(len(fused.ledger.ids))
            rows = [int(row) for row in order][:depth]
            return Answer([fused.ledger.ids[row] for row in rows], [float(fused.ledger.totals[row]) for row in rows])

        return recall


def _lookup(run: TrecRun) -> Recall:
    def recall(question: Question, depth: int) -> Answer:
        ranking = run.rankings.get(question.id, ())[:depth]
        return Answer([document_id for document_id, _ in ranking], [score for _, score in ranking])

    return recall
