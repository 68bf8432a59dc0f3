"""Searching reflections alone: cosine over all themes, with some recency if asked for."""

from thinkback.errors import InvalidInput
from thinkback.search.fusion import Weighted
from thinkback.search.legs import Reflections
from thinkback.search.query.parse import Parsing
from thinkback.search.recipes.model import Recipe, Term
from thinkback.search.selection import Selection
from thinkback.search.signals.recency import Recency

_EVERY = 100_000


def reflections_only(recency: float = 0.0) -> Recipe:
    """The recipe: (1 − recency) · cosine + recency · 2^(−age / 7 d), age counted from a theme's newest member."""
    if isinstance(recency, bool) or not isinstance(recency, int | float) or not 0 <= recency <= 1:
        raise InvalidInput(f"recency is a share from 0 to 1, like 0.1; got {recency!r}")
    return Recipe(
        name="reflections",
        about="Themes alone, by cosine",
        legs=(Reflections(limit=_EVERY),),
        fusion=Weighted(raw_legs=("reflections",)),
        signals=(Term(signal=Recency(), how="blend", weight=float(recency)),) if recency else (),
        selection=Selection(reflection_share=1.0),
        parsing=Parsing(time="none", tags=False),
    )
