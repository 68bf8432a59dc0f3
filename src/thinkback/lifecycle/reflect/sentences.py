"""One sentence per theme from a language model, added after everything else is written.

Themes are described one at a time, the largest first, and every answer is written before the next request, so an interrupted run
loses nothing and the next one continues. The metadata `sentence_of` holds a digest of the members' texts: the sentence is kept as
long as they do not change.
"""

import hashlib
import json
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from thinkback.errors import Notice, RemoteError, ThinkbackError
from thinkback.lifecycle.reflect import themes
from thinkback.lifecycle.reflect.model import Theme
from thinkback.model import StoredRecord
from thinkback.models.chat import Chat, Guarded
from thinkback.stores.base import Store
from thinkback.values import dataclass

SENTENCE_OF = "sentence_of"  # the metadata field of the digest
_INSTRUCTION = (
    "You are given notes that belong together. Say in one short sentence what they are about, in their own language, "
    "with nothing that is not in them. Write only the sentence."
)
_MAX_MEMBERS, _MAX_CHARACTERS, _MAX_TOKENS = 12, 400, 60
_MAX_LENGTH = 300
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*""")
_ABBREVIATION = re.compile(r"(?:\b[^\W\d_]|\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|approx|ca|bzw|Nr))\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When one run stops asking the language model: limits on themes, consecutive failures and seconds."""

    themes: int = 100
    failures: int = 2
    seconds: float = 120.0


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Described:
    """The reflections that got a sentence, and why others did not."""

    ids: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()


def describe(
    store: Store,
    found: Sequence[Theme],
    records: Mapping[str, StoredRecord],
    chat: Chat,
    limits: Limits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> Described:
    """Add a sentence to the first themes that have none; stops with one warning when the model keeps failing."""
    written = store.get([theme.id for theme in found])
    missing = [theme for theme in found if theme.id in written and _has_none(written[theme.id], theme)]
    missing = missing[: limits.themes]
    deadline = clock() + limits.seconds
    described: list[str] = []
    why, failures = "", 0
    for theme in missing:
        if clock() >= deadline:
            why = f"the time limit of {limits.seconds:g} s for the language model was reached"
            break
        members = [records[id] for id in theme.members]
        try:
            text = sentence(chat, members)
        except ThinkbackError as error:
            why, failures = error.message, failures + 1
            if failures >= limits.failures:
                why = f"the language model failed {failures} times in a row: {error.message}"
                break
            continue
        failures = 0
        if _add(store, theme, text, digest_of(members)):
            described.append(theme.id)
    left = len(missing) - len(described)
    warning = Notice("themes_without_sentence", f"{left} themes have no sentence until a later run: {why}")
    return Described(tuple(described), (warning,) if why else ())


def sentence(chat: Chat, records: Sequence[StoredRecord]) -> str:
    """One sentence about these memories; raises a ThinkbackError if the model gives none."""
    notes = [record.text[:_MAX_CHARACTERS] for record in records[:_MAX_MEMBERS]]
    answer = Guarded(chat).complete(_INSTRUCTION, json.dumps(notes, ensure_ascii=False), _MAX_TOKENS)
    text = first_sentence(answer)
    if not text:
        raise RemoteError("the language model gave an empty answer", code="empty_answer")
    return text


def first_sentence(answer: str) -> str:
    """The first sentence of an answer on one line, without a chain of thought or an announcement ending in a colon."""
    plain = "".join(c for c in _THOUGHT.sub("", answer) if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    paragraphs = [" ".join(paragraph.split()) for paragraph in _PARAGRAPHS.split(plain) if paragraph.strip()]
    if len(paragraphs) > 1 and paragraphs[0].endswith(":"):
        del paragraphs[0]
    whole = paragraphs[0] if paragraphs else ""
    ends = (end.end() for end in _END.finditer(whole) if _is_end(whole, end.end()))
    first = whole[: next(ends, len(whole))]
    if len(first) <= _MAX_LENGTH:
        return first
    words, _, rest = first[:_MAX_LENGTH].rpartition(" ")
    return f"{(words or rest[: _MAX_LENGTH - 1]).rstrip(' ,;:–-')}…"


def _is_end(text: str, place: int) -> bool:
    """Whether a sentence ends there: not after an initial or an abbreviation, nor before a lower-case word."""
    after = text[place:].lstrip()[:1]
    return not after.islower() and _ABBREVIATION.search(text[:place]) is None


def digest_of(members: Iterable[StoredRecord]) -> str:
    """A digest of the texts of these memories."""
    digest = hashlib.blake2b(digest_size=16)
    for record in sorted(members, key=lambda record: record.id):
        digest.update(f"\0{record.id}\0{record.text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def outdated(reflection: StoredRecord, members: Iterable[StoredRecord]) -> bool:
    """Whether its sentence was written for other texts than its members have now."""
    return SENTENCE_OF in reflection.metadata and reflection.metadata[SENTENCE_OF] != digest_of(members)


def kept(reflection: StoredRecord, members: Iterable[StoredRecord]) -> dict[str, object]:
    """Fields to keep when a reflection is rewritten: its sentence if still valid, else its metadata without the digest."""
    if SENTENCE_OF in reflection.metadata and not outdated(reflection, members):
        return {"essence": reflection.essence}
    return {"metadata": {name: value for name, value in reflection.metadata.items() if name != SENTENCE_OF}}


def _has_none(reflection: StoredRecord, theme: Theme) -> bool:
    """Whether a reflection is as a consolidation wrote it, without a sentence."""
    return (
        reflection.archived_at is None
        and reflection.text == themes.content(theme)
        and reflection.essence in (None, "", themes.essence(theme))
        and SENTENCE_OF not in reflection.metadata
    )


def _add(store: Store, theme: Theme, text: str, digest: str) -> bool:
    """Write a sentence, unless the theme or a member changed in the meantime."""
    with store.transaction():
        there = store.get([theme.id, *theme.members])
        reflection = there.pop(theme.id, None)
        if reflection is None or not _has_none(reflection, theme) or digest_of(there.values()) != digest:
            return False
        changes = {"essence": text, "metadata": {**reflection.metadata, SENTENCE_OF: digest}}
        store.update(theme.id, changes, reflection.updated_at)  # a sentence does not make a theme newer
    return True
