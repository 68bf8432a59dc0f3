"""Voice: 1 for a memory that was said by somebody the query names, else 0.

"What did Caroline paint?" is answered by Caroline. The voice of a memory is its `source`, else the name before a colon at
the head of its text ("Caroline: I painted a sunrise").
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from thinkback.model import Floats, StoredRecord
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.signals.base import Scene, Signal, Skip, of_records

_HEAD = re.compile(r"\s*([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}):\s")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice(Signal):
    """Skipped when the query names nobody who speaks among the candidates."""

    name: ClassVar[str] = "voice"

    def values(self, scene: Scene) -> Floats | Skip:
        asked = {word.lower() for word in _WORD.findall(scene.query.text[:2000])} - FUNCTION_WORDS
        said = [bool(asked & voice(record)) for record in scene.records] if asked else []
        if not any(said):
            return Skip("the query names nobody who speaks here")
        return of_records(said)


def voice(record: StoredRecord) -> set[str]:
    """The lower-cased words of the speaker's name."""
    if record.source:
        name = record.source
    else:
        head = _HEAD.match(record.text[:80])
        name = head[1] if head else ""
    return {word.lower() for word in _WORD.findall(name)}
