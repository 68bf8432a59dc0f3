"""One self-contained HTML page for a benchmark: no script, no font, no image from anywhere else.

Text from files and memories is escaped, and the page's Content-Security-Policy forbids scripts.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from thinkback.evaluate.bench import BenchResult, RecipeResult
from thinkback.evaluate.datasets.base import Corpus, Dataset
from thinkback.evaluate.metrics import Metric
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.scores import Interval, Summary
from thinkback.evaluate.svg import Bar, Curve, grouped_bars, horizontal_bars, legend, line_chart, round_up

WORST = 10
_SHOWN_TEXT = 600

Texts = Mapping[tuple[str, str], str]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1d21; --paper: #fff; --faint: #70747d; --rule: #d9dbe0; --well: #f5f6f8;
  --c0: #2f6fde; --c1: #d9622b; --c2: #2a9d63; --c3: #a54bc4; --c4: #b98a00; --c5: #c73861; --c6: #178a9c; --c7: #6b6f78; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e9ec; --paper: #16171a; --faint: #9a9ea8; --rule: #34363c;
  --well: #1f2125; --c0: #6d9ff5; --c1: #f0925f; --c2: #5fcb92; --c3: #cf8be6; --c4: #e0b83f; --c5: #f07a99; --c6: #53c3d4; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 1200px; padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p.note, small { color: var(--faint); } p.note { margin: .3rem 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }
td small { display: block; white-space: normal; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--faint); }
.grid { stroke: var(--rule); } .axis, .whisker { stroke: var(--ink); } .line { fill: none; stroke-width: 2; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; }
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
details { border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { background: var(--well); padding: .6rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
ol { padding-left: 1.6rem; } li { overflow-wrap: anywhere; }
li.gold { font-weight: 600; }
code { font-size: .9em; color: var(--faint); }
""" + "".join(
    f".line.c{i} {{ stroke: var(--c{i}); }} .bar.c{i} {{ fill: var(--c{i}); }} .swatch.c{i} {{ background: var(--c{i}); }}\n"
    for i in range(8)
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(path: Path, result: BenchResult, dataset: Dataset | None = None) -> None:
    """Write the page; with the dataset, the worst questions show texts and not only ids."""
    texts = shown_texts(result, dataset.corpora if dataset else ())
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text(page(result, texts), encoding="utf-8", errors="replace")
    os.replace(fresh, path)


def shown_texts(result: BenchResult, corpora: Iterable[Corpus]) -> Texts:
    """The texts of the documents that the page shows."""
    wanted = {
        (ranking.group, document_id)
        for recipe in result.recipes
        for ranking in worst(recipe.rankings)
        for document_id in (*ranking.gold, *ranking.ids[:WORST])
    }
    return {
        (corpus.id, document.id): document.text
        for corpus in corpora
        for document in corpus.documents
        if (corpus.id, document.id) in wanted
    }


def worst(rankings: Iterable[Ranking], n: int = WORST) -> list[Ranking]:
    """The questions whose first answer has the lowest rank; those without any come first."""

    def badness(ranking: Ranking) -> tuple[float, str]:
        return (-(ranking.first_rank or float("inf")), ranking.question_id)

    return [r for r in sorted(rankings, key=badness) if r.first_rank != 1][:n]


def page(result: BenchResult, texts: Texts) -> str:
    """The whole page as text."""
    title = f"Recall on {result.dataset}"
    names = [recipe.contender.name for recipe in result.recipes]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">{escape(result.counted)}. Dataset <code>{escape(result.fingerprint)}</code>.</p>',
        _section("Results", _overall(result)),
        _section("Differences", _differences(result)) if result.differences else "",
        legend(names),
        f'<div class="plots">{"".join(_plots(result))}</div>',
        _section("By category", *(_categories(recipe) for recipe in result.recipes)),
        _section("Weights", f'<div class="plots">{"".join(map(_weights, result.recipes))}</div>'),
        _section("Worst questions", *(_worst_of(recipe, texts) for recipe in result.recipes)),
    ]
    return document(title, "".join(body))


def document(title: str, body: str) -> str:
    """A page of ready HTML, with the style of all reports."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


# -- tables ----------------------------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of ready HTML cells under plain-text heads."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _overall(result: BenchResult) -> str:
    rows = [
        [escape(r.contender.name), *_cells(r.overall), f"{r.p50_ms:.1f}", f"{r.p95_ms:.1f}", f"{r.cpu_ms:.1f}"]
        for r in result.recipes
    ]
    numbers = table(["recipe", *result.recipes[0].overall.means, "p50 ms", "p95 ms", "cpu ms"], rows)
    return numbers + "".join(_identity(recipe) for recipe in result.recipes)


def _identity(recipe: RecipeResult) -> str:
    contender = recipe.contender
    prints = f"<code>{escape(contender.recipe)}</code> with <code>{escape(contender.embedder or 'no model')}</code>"
    return f'<p class="note">{escape(contender.name)}: recipe {prints}</p>'


def _cells(summary: Summary) -> list[str]:
    return [f"{i.mean:.3f}<small>{i.low:.3f}–{i.high:.3f}</small>" for i in summary.means.values()]


def _categories(recipe: RecipeResult) -> str:
    rows = [[escape(name or "all"), str(s.n), *_cells(s)] for name, s in recipe.categories.items()]
    return f"<h3>{escape(recipe.contender.name)}</h3>" + table(["category", "n", *recipe.overall.means], rows)


def _differences(result: BenchResult) -> str:
    rows = [
        [escape(f"{d.after} − {d.before}"), *(_difference(interval) for interval in d.means.values())]
        for d in result.differences
    ]
    return table(["recipes", *result.differences[0].means], rows)


def _difference(interval: Interval) -> str:
    sure = " *" if interval.above_zero or interval.below_zero else ""
    return f"{interval.mean:+.3f}{sure}<small>{interval.low:+.3f} … {interval.high:+.3f}</small>"


# -- plots -----------------------------------------------------------------------------------------------------------


def _plots(result: BenchResult) -> list[str]:
    metric = "any@5" if "any@5" in result.recipes[0].overall.means else next(iter(result.recipes[0].overall.means))
    depth = min(result.depth, 50)
    return [
        _figure("Any answer in the first k", _curves(result, "any", depth)),
        _figure("Share of all answers in the first k", _curves(result, "recall", depth)),
        _figure(f"{metric} by category", _category_bars(result, metric)),
        _figure("Share of questions answered within a time", _latency(result)),
    ]


def _figure(title: str, drawing: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawing}</figure>"


def _curves(result: BenchResult, measure: str, depth: int) -> str:
    curves = [Curve(r.contender.name, mean_curve(r.rankings, measure, depth)) for r in result.recipes]
    return line_chart(curves, x_label="k", y_label=f"{measure}@k", y_max=1.0)


def mean_curve(rankings: Sequence[Ranking], measure: str, depth: int) -> list[tuple[float, float]]:
    """The mean of a measure at every cut-off from 1 to depth."""
    if not rankings:
        return []
    cuts = range(1, depth + 1)
    return [(float(k), float(np.mean([Metric(measure, k)(r.gold, r.ids) for r in rankings]))) for k in cuts]


def _category_bars(result: BenchResult, metric: str) -> str:
    names = list(dict.fromkeys(name for recipe in result.recipes for name in recipe.categories))
    groups = []
    for name in names:
        bars = []
        for recipe in result.recipes:
            if name in recipe.categories:
                interval = recipe.categories[name].means[metric]
                bars.append(Bar(recipe.contender.name, interval.mean, interval.low, interval.high))
        groups.append((name or "all", bars))
    return grouped_bars(groups, y_label=metric)


def _latency(result: BenchResult) -> str:
    """The cumulative distribution, up to the slowest recipe's 99th percentile."""
    times = {r.contender.name: np.sort([ranking.ms for ranking in r.rankings]) for r in result.recipes if r.rankings}
    if not times:
        return line_chart([], x_label="ms", y_label="share of questions")
    end = round_up(max(float(np.quantile(values, 0.99)) for values in times.values()))
    steps = np.linspace(0, end, 101)
    curves = [
        Curve(name, [(float(x), float(np.searchsorted(values, x, side="right") / len(values))) for x in steps])
        for name, values in times.items()
    ]
    return line_chart(curves, x_label="ms", y_label="share of questions", y_max=1.0)


def _weights(recipe: RecipeResult) -> str:
    bars = [Bar(name, value) for name, value in recipe.contender.weights.items()]
    return _figure(recipe.contender.name, horizontal_bars(bars, label=f"weights of {recipe.contender.name}"))


# -- the worst questions ---------------------------------------------------------------------------------------------


def _worst_of(recipe: RecipeResult, texts: Texts) -> str:
    questions = "".join(_question(ranking, texts) for ranking in worst(recipe.rankings))
    return f"<h3>{escape(recipe.contender.name)}</h3>{questions or '<p>Every first hit was an answer.</p>'}"


def _question(ranking: Ranking, texts: Texts) -> str:
    place = "not found" if ranking.first_rank is None else f"first answer at rank {ranking.first_rank}"
    wanted = "".join(_document(ranking, document_id, texts) for document_id in ranking.gold)
    found = "".join(_document(ranking, document_id, texts) for document_id in ranking.ids[:5])
    why = f"<h4>Why</h4><pre>{escape(ranking.why)}</pre>" if ranking.why else ""
    return (
        f"<details><summary>{escape(ranking.text or ranking.question_id)} "
        f"<small>{escape(ranking.category)} · {place} · {escape(ranking.question_id)}</small></summary>"
        f"<h4>Wanted</h4><ul>{wanted}</ul><h4>Found</h4><ol>{found}</ol>{why}</details>"
    )


def _document(ranking: Ranking, document_id: str, texts: Texts) -> str:
    text = texts.get((ranking.group, document_id), "")
    short = text if len(text) <= _SHOWN_TEXT else text[:_SHOWN_TEXT] + "…"
    mark = ' class="gold"' if ranking.gold.get(document_id, 0) > 0 else ""
    return f"<li{mark}><code>{escape(document_id)}</code> {escape(short)}</li>"
