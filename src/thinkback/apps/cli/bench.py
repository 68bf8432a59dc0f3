"""The `bench` commands: how well recipes recall, on public benchmarks, on run files, or on one's own judged questions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from thinkback.apps.cli.command import command, epilog
from thinkback.apps.cli.options import Common, Models, Words
from thinkback.apps.cli.output import FetchProgress, note, progress, show, show_json
from thinkback.apps.cli.session import existing, recipe_of, settings_of
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.evaluate.bench import Contender, OpenCorpus
    from thinkback.evaluate.datasets import Dataset
    from thinkback.evaluate.systems import OwnStore, Recipes

app = typer.Typer(
    help="Measure recall: any@k, all@k, recall, MRR and nDCG with their intervals, and the time a question takes.",
    epilog=epilog("thinkback bench own --recipe default --recipe keyword"),
    no_args_is_help=True,
)

RecipeNames = Annotated[
    Words,
    typer.Option(
        "--recipe", metavar="NAME", help="A named recipe, or a TOML file; repeat it to see several side by side."
    ),
]
JsonFile = Annotated[Path, typer.Argument(metavar="FILE", help="The benchmark's JSON file.")]


class Level(StrEnum):
    """The unit that is stored as one memory of a conversation."""

    TURN = "turn"
    SESSION = "session"


class Systems(Protocol):
    """The benchmarks."""

    @property
    def open(self) -> "OpenCorpus": ...
    def contenders(self) -> "Sequence[Contender]": ...


@dataclass(frozen=True, slots=True)
class Measuring:
    """How a benchmark runs and which files it writes."""

    limit_questions: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of questions, spread over all corpora.")
    ] = None
    depth: Annotated[int, typer.Option(min=1, help="How many results of each question count.")] = 50
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the raw rankings, one line a question; a stopped run goes on there."),
    ] = None
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page with plots and the worst questions.")
    ] = None


@command(
    app,
    example="thinkback bench locomo locomo10.json\n"
    "thinkback bench locomo locomo10.json --recipe default --recipe keyword --save runs --report report.html",
)
def locomo(
    file: JsonFile,
    measuring: Measuring,
    models: Models,
    common: Common,
    recipe: RecipeNames = None,
    level: Annotated[Level, typer.Option(help="What a memory is.")] = Level.TURN,
    adversarial: Annotated[
        bool, typer.Option("--adversarial", help="Ask the adversarial questions (category 5) too.")
    ] = False,
) -> None:
    """LoCoMo: questions about very long conversations of two people."""
    from thinkback.evaluate.datasets import read_locomo

    dataset = read_locomo(file, level=level, adversarial=adversarial)
    _measure_recipes(dataset, recipe, measuring, models, common)


@command(app, example="thinkback bench answers locomo10.json --report reliability.html")
def answers(
    file: JsonFile,
    models: Models,
    common: Common,
    recipe: RecipeNames = None,
    limit_questions: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of questions, spread over all corpora.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page with a reliability plot.")
    ] = None,
) -> None:
    """Whether relevance tells questions with an answer from questions made unanswerable, over conversations like LoCoMo's."""
    from thinkback.apps.cli.render_bench import answers_table
    from thinkback.evaluate.answers import data, measure_answers, page
    from thinkback.evaluate.datasets import read_locomo

    dataset = read_locomo(file).first(limit_questions)
    with recipes_of(recipe, models, common) as recipes, progress(dataset.name) as step:
        found = measure_answers(dataset, recipes, lambda done, total, _: step(done, total))
    if report is not None:
        report.write_text(page(dataset.name, found), encoding="utf-8")
        note(f"report: {report}")
    if common.json:
        show_json(*map(data, found))
    else:
        show(answers_table(dataset.name, found))


@command(app, example="thinkback bench longmemeval longmemeval_s.json --level turn --limit-questions 100")
def longmemeval(
    file: JsonFile,
    measuring: Measuring,
    models: Models,
    common: Common,
    recipe: RecipeNames = None,
    level: Annotated[Level, typer.Option(help="What a memory is.")] = Level.SESSION,
    abstention: Annotated[bool, typer.Option("--abstention", help="Ask the questions without an answer too.")] = False,
) -> None:
    """LongMemEval: questions about a haystack of chat sessions (the _s, _m and _oracle files)."""
    from thinkback.evaluate.datasets import read_longmemeval

    dataset = read_longmemeval(file, level=level, abstention=abstention)
    _measure_recipes(dataset, recipe, measuring, models, common)


@command(app, example="thinkback bench beir scifact --split test")
def beir(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with corpus.jsonl, queries.jsonl and qrels/.")
    ],
    measuring: Measuring,
    models: Models,
    common: Common,
    recipe: RecipeNames = None,
    split: Annotated[str, typer.Option(help="Whose judgements: qrels/SPLIT.tsv.")] = "test",
) -> None:
    """BEIR: queries over a collection of documents."""
    from thinkback.evaluate.datasets import read_beir

    _measure_recipes(read_beir(folder, split=split), recipe, measuring, models, common)


@command(
    app,
    example="thinkback bench trec --run bm25.run --run dense.run --qrels qrels.txt\n"
    "thinkback bench trec --run bm25.run --run dense.run --qrels qrels.txt --recipe memini --recipe gorag",
)
def trec(
    run: Annotated[list[Path], typer.Option("--run", metavar="FILE", help="A TREC run file; at least two to fuse.")],
    qrels: Annotated[Path, typer.Option("--qrels", metavar="FILE", help="The judgements.")],
    measuring: Measuring,
    common: Common,
    recipe: Annotated[
        Words,
        typer.Option(
            "--recipe", metavar="NAME", help="Fuse as this recipe does; without any, by every fusion there is."
        ),
    ] = None,
) -> None:
    """TREC: fuse run files that other systems made, beside each run alone."""
    from thinkback.evaluate.datasets import read_run, read_trec
    from thinkback.evaluate.systems import FusedRuns
    from thinkback.search.fusion import FUSIONS

    settings = settings_of(common)
    fusions = {one.name: one.fusion for one in (recipe_of(name, settings) for name in recipe or ())}
    systems = FusedRuns([read_run(path) for path in run], fusions or {name: kind() for name, kind in FUSIONS.items()})
    _measure(read_trec(qrels), systems, measuring, common)


@command(app, example="thinkback bench own memory.db --recipe default --recipe tuned.toml")
def own(
    measuring: Measuring,
    models: Models,
    common: Common,
    file: Annotated[Path | None, typer.Argument(metavar="STORE", help="The memory file; else that of --store.")] = None,
    recipe: RecipeNames = None,
) -> None:
    """Your own memories: the questions you judged, asked again."""
    with own_questions(file, recipe, models, common) as (dataset, systems):
        _measure(dataset, systems, measuring, common)


# -- shared with tuning ----------------------------------------------------------------------------------------------


@contextmanager
def recipes_of(
    names: Words, models: Models, common: Common, heard: Callable[[int, int], None] | None = None
) -> "Iterator[Recipes]":
    """The named recipes with their models; vectors of passages are kept in the user's cache folder."""
    from thinkback.evaluate.systems import Recipes, needs_vectors
    from thinkback.evaluate.vectors import CachedEmbedder
    from thinkback.opening import Opener, open_options
    from thinkback.stores.sqlite.vector_cache import VectorCache

    settings = settings_of(common, models)
    chosen = [recipe_of(name, settings) for name in names or (None,)]
    # Every recipe embeds its own queries, so that none is faster because of another's.
    options = replace(open_options(settings, FetchProgress()), cached_queries=0)

    opened = Opener(settings, models=options).embedder() if needs_vectors(chosen) else None
    with VectorCache(vector_cache()) as cache:
        embedder = None if opened is None else CachedEmbedder(opened, cache, heard)
        yield Recipes(chosen, embedder, settings.reranker, options)


def vector_cache() -> Path:
    """Where vectors of benchmark texts are kept across runs."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("thinkback", appauthor=False)) / "vectors.db"


@contextmanager
def own_questions(
    file: Path | None, names: Words, models: Models, common: Common
) -> "Iterator[tuple[Dataset, OwnStore]]":
    """The judged questions of a store, and the store itself as the system that answers them."""
    from thinkback.clock import system_clock
    from thinkback.evaluate.datasets.own import read_own
    from thinkback.evaluate.systems import OwnStore

    path = existing(file or settings_of(common).store_path)
    with recipes_of(names, models, common) as recipes, recipes.memory(path, system_clock(), read_only=True) as memory:
        yield read_own(memory, path.name), OwnStore(recipes, memory)


def _measure_recipes(dataset: "Dataset", names: Words, measuring: Measuring, models: Models, common: Common) -> None:
    with recipes_of(names, models, common) as recipes:
        _measure(dataset, recipes, measuring, common)


def _measure(dataset: "Dataset", systems: Systems, measuring: Measuring, common: Common) -> None:
    from thinkback.apps.cli.render_bench import bench_data, bench_tables
    from thinkback.evaluate.bench import BenchSettings, bench
    from thinkback.evaluate.report import write_report

    with progress(dataset.name) as report:
        settings = BenchSettings(
            depth=measuring.depth,
            save=measuring.save,
            explain=measuring.report is not None,
            progress=lambda done, total, _: report(done, total),
        )
        result = bench(dataset.first(measuring.limit_questions), systems.contenders(), systems.open, settings)
    if measuring.report is not None:
        write_report(measuring.report, result, dataset)
        note(f"report: {measuring.report}")
    if common.json:
        show_json(bench_data(result))
    else:
        show(bench_tables(result))
