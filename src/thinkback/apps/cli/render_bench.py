"""A benchmark's result as tables for a terminal, and as plain data for `--json`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from thinkback.evaluate.answers import Answers
from thinkback.evaluate.bench import BenchResult, RecipeResult
from thinkback.evaluate.regress import Move, Regression
from thinkback.evaluate.scores import Interval, Summary
from thinkback.evaluate.tune import Tuned

_CAPTION = "mean, and below it the 95 % interval"
_TIMES = ("p50 ms", "p95 ms", "cpu ms")


def bench_tables(result: BenchResult) -> Group:
    """All tables of a result: overall, by category, differences, and what n leaves out."""
    parts: list[Table | Text] = [_overall(result), _categories(result), _identities(result)]
    if result.differences:
        parts.append(_differences(result))
    parts.append(Text(result.counted))
    return Group(*parts)


def _table(title: str, *columns: str, caption: str | None = None) -> Table:
    """An empty table, narrow enough that eight metrics with their intervals fit a page; the first column is text."""
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    table.box, table.pad_edge, table.padding, table.title_style = box.SIMPLE_HEAD, False, (0, 1, 0, 0), "bold"
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=place > 0, min_width=0 if place else 8)
    return table


def answers_table(dataset: str, found: Sequence[Answers]) -> Table:
    """How well relevance tells whether there is an answer, one row a recipe."""
    of_hits = ("AUROC of hits", "calibration error of hits")
    columns = (
        "AUROC",
        "without nonsense",
        "calibration error",
        "gate for 90 %",
        "refused there",
        *of_hits,
        "questions",
    )
    table = _table(f"{dataset}, answered or not", "recipe", *columns)
    for one in found:
        hits = (one.hit_auroc, one.hit_calibration_error)
        numbers = (one.auroc, one.auroc_hard, one.calibration_error, one.gate, one.refused, *hits)
        counts = ", ".join(f"{count} {kind}" for kind, count in one.counts.items())
        table.add_row(Text(one.recipe), *(f"{number:.3f}" for number in numbers), counts)
    return table


def _overall(result: BenchResult) -> Table:
    metrics = result.recipes[0].overall.means
    table = _table(f"{result.dataset}, n = {result.n}", "recipe", *metrics, *_TIMES, caption=_CAPTION)
    for recipe in result.recipes:
        cells = [_interval(interval) for interval in recipe.overall.means.values()]
        times = (f"{ms:.1f}" for ms in (recipe.p50_ms, recipe.p95_ms, recipe.cpu_ms))
        table.add_row(Text(recipe.contender.name), *cells, *times)
    return table


def _identities(result: BenchResult) -> Table:
    """Which formula and which models the numbers belong to."""
    table = _table("measured", "recipe", "recipe fingerprint", "models")
    for column in table.columns:
        column.justify = "left"
    for recipe in result.recipes:
        contender = recipe.contender
        table.add_row(Text(contender.name), Text(contender.recipe or "–"), Text(contender.embedder or "none"))
    return table


def _categories(result: BenchResult) -> Table:
    """Every category, its recipes one below the other; the intervals only where one recipe leaves room for them."""
    alone = len(result.recipes) == 1
    table = _table("by category", "category", "n", *([] if alone else ["recipe"]), *result.recipes[0].overall.means)
    shown = _interval if alone else lambda interval: _short(interval.mean)
    for category in dict.fromkeys(name for recipe in result.recipes for name in recipe.categories):
        for number, recipe in enumerate(result.recipes):
            summary = recipe.categories[category]
            heads = [category or "all", str(summary.n)] if number == 0 else ["", ""]
            names = [] if alone else [recipe.contender.name]
            cells = [shown(interval) for interval in summary.means.values()]
            table.add_row(*map(Text, (*heads, *names)), *cells)
    return table


def _differences(result: BenchResult) -> Table:
    caption = "the second recipe minus the first, question by question; * = the interval leaves out zero"
    table = _table("paired differences", "recipes", *result.differences[0].means, caption=caption)
    for difference in result.differences:
        cells = [_difference(interval) for interval in difference.means.values()]
        table.add_row(Text(f"{difference.after} − {difference.before}"), *cells)
    return table


def _interval(interval: Interval) -> str:
    return f"{_short(interval.mean)}\n[dim]{_short(interval.low)}–{_short(interval.high)}[/dim]"


def _difference(interval: Interval) -> str:
    sure = "*" if interval.above_zero or interval.below_zero else ""
    return f"{_signed(interval.mean)}{sure}\n[dim]{_signed(interval.low)} {_signed(interval.high)}[/dim]"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _short(value: float) -> str:
    """Four characters, whatever the value."""
    return "1.00" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")


def regression_tables(found: Regression, threshold: float, most: int = 20) -> Group:
    """What rose and fell, the largest moves first, and the verdict."""
    parts: list[Table | Text] = []
    for title, moves in (("fallen", found.fallen), ("risen", found.risen)):
        if moves:
            parts.append(_moves(f"{title}: {len(moves)}", moves[:most]))
    parts.append(Text(verdict(found, threshold)))
    return Group(*parts)


def verdict(found: Regression, threshold: float) -> str:
    """One line with the verdict on the threshold."""
    change = f"{found.metric.name} {found.before:.4f} → {found.after:.4f} on {found.n} questions"
    span = f"difference {found.difference.mean:+.4f} [{found.difference.low:+.4f}, {found.difference.high:+.4f}]"
    rest = f"{len(found.risen)} rose, {len(found.fallen)} fell"
    if found.missing:
        rest += f", {len(found.missing)} no longer answered"
    if found.new:
        rest += f", {len(found.new)} new and not judged"
    judged = f"fell by more than {threshold:g}" if found.fails(threshold) else f"within {threshold:g}"
    return f"{change}; {span}; {rest}: {judged}"


def _moves(title: str, moves: tuple[Move, ...]) -> Table:
    table = _table(title, "question", "category", "rank before", "rank after")
    for move in moves:
        table.add_row(Text(move.text or move.question_id), Text(move.category), _rank(move.before), _rank(move.after))
    return table


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def tune_tables(tuned: Tuned) -> Group:
    """The learned weights, the result on each held-out fold, the value of each weight, and the verdict."""
    parts: list[Table | Text] = [_changes(tuned), _folds(tuned), _worth(tuned), Text(tuned.verdict)]
    return Group(*parts)


def _changes(tuned: Tuned) -> Table:
    table = _table("learned from all questions", "setting", tuned.base.name, "learned")
    for name, (old, new) in tuned.changes.items():
        table.add_row(Text(name), Text(_setting(old)), Text(_setting(new)))
    return table


def _setting(value: object) -> str:
    if isinstance(value, Mapping):
        rest = ", ".join(f"{key} {_setting(one)}" for key, one in value.items() if key not in ("name", "cut"))
        return f"{value.get('name')} ({rest})" if rest else str(value.get("name"))
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _folds(tuned: Tuned) -> Table:
    table = _table(f"{tuned.metric.name} on questions held out", "fold", "n", "before", "after", "gain")
    for number, fold in enumerate(tuned.folds, start=1):
        name = ", ".join(fold.corpora[:3]) + (", …" if len(fold.corpora) > 3 else "")
        cells = (_short(fold.before), _short(fold.after), f"{fold.after - fold.before:+.3f}")
        table.add_row(Text(f"{number}: {name}"), str(fold.n), *cells)
    return table


def _worth(tuned: Tuned) -> Table:
    table = _table(f"what each weight is worth in {tuned.metric.name}", "part", "without it", "worth")
    for worth in sorted(tuned.worth, key=lambda one: -one.difference.mean):
        table.add_row(Text(worth.part), _short(worth.without), _difference(worth.difference))
    return table


# -- plain data ------------------------------------------------------------------------------------------------------


def bench_data(result: BenchResult) -> dict[str, object]:
    """The result as plain data; rankings are not in it, `--save` keeps those."""
    return {
        "dataset": result.dataset,
        "dataset_fingerprint": result.fingerprint,
        "n": result.n,
        "depth": result.depth,
        "left_out": dict(result.left_out),
        "notes": dict(result.notes),
        "recipes": [_recipe_data(recipe) for recipe in result.recipes],
        "differences": [
            {"before": d.before, "after": d.after, "metrics": _intervals_data(d.means)} for d in result.differences
        ],
    }


def _recipe_data(recipe: RecipeResult) -> dict[str, object]:
    return {
        "recipe": recipe.contender.name,
        "recipe_fingerprint": recipe.contender.recipe,
        "embedder_fingerprint": recipe.contender.embedder,
        "weights": dict(recipe.contender.weights),
        **_summary_data(recipe.overall),
        "missing": recipe.missing,
        "p50_ms": round(recipe.p50_ms, 3),
        "p95_ms": round(recipe.p95_ms, 3),
        "cpu_ms": round(recipe.cpu_ms, 3),
        "categories": {name: _summary_data(summary) for name, summary in recipe.categories.items()},
    }


def _summary_data(summary: Summary) -> dict[str, object]:
    return {"n": summary.n, "metrics": _intervals_data(summary.means)}


def _intervals_data(means: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: asdict(interval) for name, interval in means.items()}


def tune_data(tuned: Tuned) -> dict[str, object]:
    """The learned recipe as plain data."""
    return {
        "accepted": tuned.accepted,
        "verdict": tuned.verdict,
        "metric": tuned.metric.name,
        "n": tuned.n,
        "left_out": tuned.left_out,
        "before": tuned.before,
        "after": tuned.after,
        "gain": asdict(tuned.gain),
        "fitted": tuned.fitted,
        "folds": [{**asdict(fold), "corpora": list(fold.corpora)} for fold in tuned.folds],
        "changes": {name: {"old": old, "new": new} for name, (old, new) in tuned.changes.items()},
        "worth": [{"part": w.part, "without": w.without, **asdict(w.difference)} for w in tuned.worth],
    }


def regression_data(found: Regression, threshold: float) -> dict[str, object]:
    """The comparison as plain data."""
    return {
        "metric": found.metric.name,
        "n": found.n,
        "before": found.before,
        "after": found.after,
        "difference": asdict(found.difference),
        "risen": [_move_data(move) for move in found.risen],
        "fallen": [_move_data(move) for move in found.fallen],
        "missing": list(found.missing),
        "new": list(found.new),
        "threshold": threshold,
        "fails": found.fails(threshold),
    }


def _move_data(move: Move) -> dict[str, object]:
    data = asdict(move)
    return {"question": data.pop("question_id"), **data}
