"""The values of a consolidation: its settings, the themes it finds, and what it did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from thinkback.errors import InvalidInput, Notice, did_you_mean
from thinkback.reflections import LARGEST_THEME

CLUSTERINGS = ("labels", "linkage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Every number of a consolidation; the defaults are the published ones.

    `clustering` is label propagation over the nearest-neighbour links ("labels"), or single linkage over all pairs at `link_at`.
    """

    promote_above: float = 0.7
    promote_most: int = 20
    promote_share: float = 0.05
    link_at: float = 0.7
    link_weight: float = 0.5
    clustering: Literal["labels", "linkage"] = "labels"
    seed: int = 0
    rounds: int = 20
    smallest: int = 3
    largest: int = LARGEST_THEME
    coherence: float = 0.40
    keywords: int = 5

    def __post_init__(self) -> None:
        if self.clustering not in CLUSTERINGS:
            near = did_you_mean(str(self.clustering), CLUSTERINGS)
            one_of = ", ".join(CLUSTERINGS)
            raise InvalidInput(
                f"clustering is one of {one_of}; got {self.clustering!r}.{near}", code="unknown_clustering"
            )


PUBLISHED = Consolidation()


@dataclass(frozen=True, slots=True)
class Theme:
    """Memories that belong together: `id` is a hash of the sorted members, `coherence` their mean cosine."""

    id: str
    members: tuple[str, ...]
    keywords: tuple[str, ...]
    coherence: float


@dataclass(frozen=True, slots=True)
class Reflected:
    """What a consolidation did, or in a dry run would do.

    `themes` are all that stand after it; `created`, `refreshed` (in place, with other words or a first sentence) and `removed`
    are reflections, the removed ones themes whose members are grouped differently now; `refused` counts clusters by the reason
    they are no theme. `batch` undoes promotions, created and removed reflections; where there are none of these, as in a dry run,
    the journal has no batch and it is None.
    """

    promoted: tuple[str, ...] = ()
    linked: int = 0
    themes: tuple[Theme, ...] = ()
    created: tuple[str, ...] = ()
    refreshed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    batch: str | None = None
    dry_run: bool = False
