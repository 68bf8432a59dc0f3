"""The values of a consolidation: its settings, the themes it finds, and its result."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from thinkback.errors import InvalidInput, Notice, did_you_mean
from thinkback.lifecycle.result import Result
from thinkback.reflections import LARGEST_THEME
from thinkback.values import dataclass

CLUSTERINGS = ("labels", "linkage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Every number of a consolidation; the defaults are the published ones.

    `clustering` is label propagation over the nearest-neighbour links ("labels"), or single linkage over all pairs with a cosine of
    at least `link_at` ("linkage").
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


@dataclass(frozen=True, slots=True, repr=False)
class Reflected(Result):
    """The result of a consolidation, or its plan in a dry run.

    `themes` are all current themes. `created`, `refreshed` (in place, with new keywords or a first sentence) and `removed` (their
    members are grouped differently now) are ids of reflections. `refused` counts clusters by the reason they are not themes.
    `batch` undoes promotions, created and removed reflections; it is None if there are none, as in a dry run.
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
