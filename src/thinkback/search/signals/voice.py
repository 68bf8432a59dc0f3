"""Voice: 1 for a memory that was said by somebody the query names, else 0.

"What did Caroline paint?" is answered by Caroline. Who said a memory: see `thinkback.search.speakers`.
"""

from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.search.speakers import names, speaker
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice(Signal):
    """Skipped when the query names nobody who speaks among the candidates."""

    name: ClassVar[str] = "voice"

    def values(self, scene: Scene) -> Floats | Skip:
        asked = names(scene.query.text)
        said = [bool(asked & names(speaker(record))) for record in scene.records] if asked else []
        if not any(said):
            return Skip("the query names nobody who speaks here")
        return of_records(said)
