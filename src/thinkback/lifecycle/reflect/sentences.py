"""Themes in a language model's words: one sentence each, added after everything else is written.

Themes are asked about one by one, the largest first, and every answer is written before the next question, so that a run that is
broken off loses nothing and the next one goes on. Beside a sentence stands a digest of what the members said (`sentence_of`): it
is kept as long as they say the same, and no longer.
"""

import hashlib
import json
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from thinkback.errors import Notice, ThinkbackError
from thinkback.lifecycle.reflect import themes
from thinkback.lifecycle.reflect.model import Theme
from thinkback.model import StoredRecord
from thinkback.models.chat import Chat, Guarded
from thinkback.stores.base import Store

SENTENCE_OF = "sentence_of"  # the name of the digest in a reflection's metadata
_INSTRUCTION = (
    "You are given notes that belong together. Say in one short sentence what they are about, in their own language, "
    "with nothing that is not in them. Write only the sentence."
)
_MOST_SHOWN, _MOST_CHARACTERS, _MOST_TOKENS = 12, 400, 60
_LONGEST = 300
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*""")
_SHORTENED = re.compile(r"(?:\b[^\W\d_]|\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|approx|ca|bzw|Nr))\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long one run bears with a language model: so many themes, so many failures in a row, so many seconds in all."""

    most: int = 100
    failures: int = 2
    seconds: float = 120.0


PATIENT = Patience()


@dataclass(frozen=True, slots=True)
class Told:
    """The reflections that were given a sentence, and why others were not."""

    ids: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()


def tell(
    store: Store,
    found: Sequence[Theme],
    records: Mapping[str, StoredRecord],
    chat: Chat,
    patience: Patience = PATIENT,
    clock: Callable[[], float] = time.monotonic,
) -> Told:
    """Gives a sentence to the first themes that have none; a model that keeps failing is given up, and told once."""
    written = store.get([theme.id for theme in found])
    wanting = [theme for theme in found if theme.id in written and _wants(written[theme.id], theme)][: patience.most]
    over = clock() + patience.seconds
    told: list[str] = []
    why, failures = "", 0
    for theme in wanting:
        if clock() >= over:
            why = f"the time limit of {patience.seconds:g} s for the language model was reached"
            break
        its = [records[id] for id in theme.members]
        try:
            said = sentence(chat, its)
        except ThinkbackError as problem:
            why, failures = str(problem), failures + 1
            if failures >= patience.failures:
                why = f"the language model failed {failures} times in a row: {problem}"
                break
            continue
        failures = 0
        if _add(store, theme, said, said_of(its)):
            told.append(theme.id)
    left = len(wanting) - len(told)
    untold = Notice("themes_without_sentence", f"{left} themes have no sentence until a later run: {why}")
    return Told(tuple(told), (untold,) if why else ())


def sentence(chat: Chat, records: Sequence[StoredRecord]) -> str:
    """One sentence about these memories; a failure is a ThinkbackError."""
    notes = [record.text[:_MOST_CHARACTERS] for record in records[:_MOST_SHOWN]]
    answer = Guarded(chat).complete(_INSTRUCTION, json.dumps(notes, ensure_ascii=False), _MOST_TOKENS)
    said = first_sentence(answer)
    if not said:
        raise ThinkbackError("the language model gave an empty answer")
    return said


def first_sentence(answer: str) -> str:
    """The first sentence of an answer on one line, without what came before it: thoughts, or an announcement with a colon."""
    plain = "".join(c for c in _THOUGHT.sub("", answer) if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    paragraphs = [" ".join(paragraph.split()) for paragraph in _PARAGRAPHS.split(plain) if paragraph.strip()]
    if len(paragraphs) > 1 and paragraphs[0].endswith(":"):
        del paragraphs[0]
    whole = paragraphs[0] if paragraphs else ""
    ends = (end.end() for end in _END.finditer(whole) if _is_end(whole, end.end()))
    first = whole[: next(ends, len(whole))]
    if len(first) <= _LONGEST:
        return first
    words, _, rest = first[:_LONGEST].rpartition(" ")
    return f"{(words or rest[: _LONGEST - 1]).rstrip(' ,;:–-')}…"


def _is_end(text: str, place: int) -> bool:
    """Whether a sentence ends there; not with an initial or a shortened word, nor where the next word is small."""
    after = text[place:].lstrip()[:1]
    return not after.islower() and _SHORTENED.search(text[:place]) is None


def said_of(members: Iterable[StoredRecord]) -> str:
    """A digest of what these memories say."""
    digest = hashlib.blake2b(digest_size=16)
    for record in sorted(members, key=lambda record: record.id):
        digest.update(f"\0{record.id}\0{record.text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def outdated(reflection: StoredRecord, members: Iterable[StoredRecord]) -> bool:
    """Whether its sentence was said of other words than its members say now."""
    return SENTENCE_OF in reflection.metadata and reflection.metadata[SENTENCE_OF] != said_of(members)


def kept(reflection: StoredRecord, members: Iterable[StoredRecord]) -> dict[str, object]:
    """The fields of a reflection that is written anew: its sentence if that still holds, else only what is not about it."""
    if SENTENCE_OF in reflection.metadata and not outdated(reflection, members):
        return {"essence": reflection.essence}
    return {"metadata": {name: value for name, value in reflection.metadata.items() if name != SENTENCE_OF}}


def _wants(reflection: StoredRecord, theme: Theme) -> bool:
    """Whether it stands as a consolidation wrote it, and only the sentence is missing."""
    return (
        reflection.archived_at is None
        and reflection.text == themes.content(theme)
        and reflection.essence in (None, "", themes.essence(theme))
        and SENTENCE_OF not in reflection.metadata
    )


def _add(store: Store, theme: Theme, said: str, of: str) -> bool:
    """Writes a sentence, unless the theme or a member was changed since it was asked about."""
    with store.transaction():
        there = store.get([theme.id, *theme.members])
        reflection = there.pop(theme.id, None)
        if reflection is None or not _wants(reflection, theme) or said_of(there.values()) != of:
            return False
        changes = {"essence": said, "metadata": {**reflection.metadata, SENTENCE_OF: of}}
        store.update(theme.id, changes, reflection.updated_at)  # words make a theme no fresher than its members
    return True
