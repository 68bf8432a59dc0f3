"""Commands that learn from measurements and watch over them: tune, regress."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.bench import Level, own_questions, recipes_of
from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common, Models, Words
from thinkback.apps.cli.output import note, progress, show, show_json
from thinkback.apps.cli.session import file_errors
from thinkback.errors import InvalidInput
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.evaluate.datasets import Dataset
    from thinkback.evaluate.replay import Case
    from thinkback.evaluate.tune import TuneSettings
    from thinkback.search.recipes.model import Recipe

app = typer.Typer()
PANEL = "Measure"


@dataclass(frozen=True, slots=True)
class Source:
    """What to learn from; without any, the judged questions of the store."""

    locomo: Annotated[Path | None, typer.Option(metavar="FILE", help="Learn from a LoCoMo file.")] = None
    longmemeval: Annotated[Path | None, typer.Option(metavar="FILE", help="Learn from a LongMemEval file.")] = None
    beir: Annotated[Path | None, typer.Option(metavar="DIR", help="Learn from a BEIR folder.")] = None
    level: Annotated[Level | None, typer.Option(help="What a memory of LoCoMo or LongMemEval is.")] = None
    limit_questions: Annotated[int | None, typer.Option(min=1, help="Learn from at most this many questions.")] = None

    def dataset(self) -> "Dataset | None":
        """The benchmark that was named, if one was."""
        from thinkback.evaluate.datasets import read_beir, read_locomo, read_longmemeval

        named = [path for path in (self.locomo, self.longmemeval, self.beir) if path is not None]
        if len(named) > 1:
            message = "learn from one of --locomo, --longmemeval and --beir at a time"
            raise InvalidInput(message, code="several_sources")
        found = None
        if self.locomo is not None:
            found = read_locomo(self.locomo, level=self.level or Level.TURN)
        elif self.longmemeval is not None:
            found = read_longmemeval(self.longmemeval, level=self.level or Level.SESSION)
        elif self.beir is not None:
            found = read_beir(self.beir)
        return None if found is None else found.first(self.limit_questions)


class Split(StrEnum):
    """What stays together when questions are split."""

    AUTO = "auto"
    CORPUS = "corpus"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Learning:
    """What to raise, and how hard to try."""

    metric: Annotated[str, typer.Option(help="What to raise: ndcg@10, mrr, any@5, …")] = "ndcg@10"
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the questions are split.")] = 5
    split: Annotated[Split, typer.Option(help="By what the questions are split.")] = Split.AUTO
    evaluations: Annotated[int, typer.Option(min=10, help="How many settings to try for each fold.")] = 300
    seed: Annotated[int, typer.Option(help="The same seed learns the same.")] = 0


@command(
    app,
    panel=PANEL,
    example="thinkback tune --out mine.toml\nthinkback tune --locomo locomo10.json --recipe default --metric any@5",
)
def tune(
    source: Source,
    learning: Learning,
    models: Models,
    common: Common,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="NAME", help="The recipe to start from, named or a TOML file.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the learned recipe goes, if its gain holds out.")
    ] = Path("tuned.toml"),
) -> None:
    """Learn a recipe's weights from judged questions; written only if the gain holds on questions not learned from."""
    from thinkback.apps.cli.render_bench import tune_data, tune_tables
    from thinkback.evaluate.tune import tune as learn
    from thinkback.evaluate.tune import write_recipe

    settings = _settings(learning)
    cases, base = _gathered(source, None if recipe is None else [recipe], models, common)
    with file_errors(), progress("trying settings") as heard:
        tuned = learn(cases, base, replace(settings, progress=lambda done, total, _: heard(done, total)))
    written = write_recipe(out, tuned)
    if common.json:
        show_json({**tune_data(tuned), "written": str(out) if written else None})
        return
    show(tune_tables(tuned))
    if written:
        note(f"written to {out}; use it with: thinkback recall QUESTION --recipe {out}")


def _settings(learning: Learning) -> "TuneSettings":
    from thinkback.evaluate.optimise import Effort
    from thinkback.evaluate.tune import TuneSettings

    effort = Effort(evaluations=learning.evaluations, seed=learning.seed)
    return TuneSettings(metric=learning.metric, folds=learning.folds, split=learning.split, effort=effort)


def _gathered(source: Source, names: Words, models: Models, common: Common) -> "tuple[list[Case], Recipe]":
    """Everything the recipe's legs bring up for every question, and the recipe."""
    dataset = source.dataset()
    with progress("gathering") as heard:

        def report(done: int, total: int, what: str) -> None:
            heard(done, total)

        if dataset is not None:
            with recipes_of(names, models, common) as recipes:
                return recipes.cases(dataset, recipes.recipes[0], report), recipes.recipes[0]
        with own_questions(None, names, models, common) as (questions, store):
            part = questions.first(source.limit_questions)
            return store.cases(part, store.recipes[0], report), store.recipes[0]


@command(
    app,
    panel=PANEL,
    example="thinkback regress baseline.jsonl runs/locomo10-turn.default.jsonl --metric any@5 --threshold 0.01",
)
def regress(
    baseline: Annotated[Path, typer.Argument(help="Rankings that `bench --save` left behind.")],
    current: Annotated[Path, typer.Argument(help="Rankings of a later run.")],
    common: Common,
    metric: Annotated[str, typer.Option(help="What may not fall: any@5, ndcg@10, mrr, …")] = "any@5",
    threshold: Annotated[float, typer.Option(min=0.0, help="How far its mean may fall.")] = 0.0,
) -> None:
    """Say which questions rose and fell since a baseline; exit 1 if the mean fell by more than the threshold."""
    from thinkback.apps.cli.render_bench import regression_data, regression_tables
    from thinkback.evaluate.metrics import metric as measured
    from thinkback.evaluate.rankings import read_rankings
    from thinkback.evaluate.regress import regress as compare

    chosen = measured(metric).name
    with file_errors():
        found = compare(read_rankings(baseline), read_rankings(current), by=chosen)
    if common.json:
        show_json(regression_data(found, threshold))
    else:
        show(regression_tables(found, threshold))
    if found.fails(threshold):
        raise typer.Exit(1)
