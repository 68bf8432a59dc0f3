"""The hits of a search for people: a table for notebooks, and a data frame."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from thinkback.errors import MissingExtra
from thinkback.model import Hit

if TYPE_CHECKING:
    from pandas import DataFrame

_COLOURS = ("#2f6f9f", "#e08a2e", "#4c9a52", "#8a5fb0", "#b5484b", "#6b7280", "#c2a12d", "#3c8f8c")
_WIDTH = 160  # pixels of the longest bar


def html(query: str, hits: Sequence[Hit]) -> str:
    """A table of hits with their scores as bars; what is in the texts is escaped."""
    names = list(dict.fromkeys(part.name for hit in hits for part in hit.contributions))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    widest = max((_positive(hit) for hit in hits), default=0.0) or 1.0
    rows = "".join(
        f"<tr><td>{hit.rank}</td><td>{hit.score:.3f}</td><td>{_bar(hit, colours, widest)}</td>"
        f'<td style="text-align:left">{escape(hit.text)}</td></tr>'
        for hit in hits
    )
    key = " ".join(f'<span style="color:{colours[name]}">&#9632; {escape(name)}</span>' for name in names)
    head = "<tr><th>#</th><th>score</th><th>why</th><th>memory</th></tr>"
    return f"<p>{escape(query)}: {len(hits)} hits</p><table>{head}{rows}</table><p>{key}</p>"


def data_frame(hits: Sequence[Hit]) -> "DataFrame":
    """One row a hit: rank, score, the fields of the memory, and a column for what each leg and signal added."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingExtra.of("to_pandas()", "pandas") from None
    rows = []
    for hit in hits:
        added: dict[str, float] = {}
        for part in hit.contributions:
            name = f"{part.step}:{part.name}"
            added[name] = added.get(name, 0.0) + part.delta
        record = {name: getattr(hit.record, name) for name in hit.record.__slots__}
        rows.append({"rank": hit.rank, "score": hit.score, **record, **added})
    return pd.DataFrame(rows)


def _bar(hit: Hit, colours: dict[str, str], widest: float) -> str:
    parts = [part for part in hit.contributions if part.delta > 0]
    return "".join(
        f'<span title="{escape(f"{part.step}:{part.name} {part.delta:+.4f}")}" style="display:inline-block;height:10px;'
        f'width:{part.delta / widest * _WIDTH:.1f}px;background:{colours[part.name]}"></span>'
        for part in parts
    )


def _positive(hit: Hit) -> float:
    return sum(part.delta for part in hit.contributions if part.delta > 0)
