"""Tags a query suggests: hashtags, and tags of the store that occur in it.

Inferred tags only raise scores; only tags that a caller passes filter.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal

from thinkback.stores.segmentation import segment
from thinkback.values import dataclass

MAX_TAGS = 64

# Vowel signs and accents belong to the word they stand in, and `\w` leaves them out.
_LETTER = (
    r"[\w\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0df3\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0fbc"
    r"\u102b-\u109d]"
)
_WORD = rf"{_LETTER}+(?:-{_LETTER}+)*"
_PIECE = re.compile(rf"{_WORD}|[^\w\s]")
_HASHTAG = re.compile(rf"(?<![\w/#＃&])[#＃]({_WORD})")

# Tags of more pieces than this are found only as hashtags; it keeps matching linear in the query.
_MOST_PIECES = 12


@dataclass(frozen=True, slots=True)
class InferredTag:
    """A tag and where it was found."""

    tag: str
    origin: Literal["hashtag", "vocabulary", "llm"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tags of a store, most used first, made ready once so that a query only pays for its own length."""

    tags: tuple[str, ...]
    _known: Mapping[str, tuple[str, ...]] = field(repr=False, compare=False)
    _spelled: Mapping[str, tuple[str, ...]] = field(repr=False, compare=False)
    _begun: frozenset[str] = field(repr=False, compare=False)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> "Vocabulary":
        """From every tag and how many memories carry it."""
        tags = sorted(counts, key=lambda tag: (-counts[tag], tag))
        known: dict[str, tuple[str, ...]] = {}
        spelled: dict[str, tuple[str, ...]] = {}
        begun: set[str] = set()
        for tag in tags:
            known[_fold(tag)] = (*known.get(_fold(tag), ()), tag)
            pieces = _pieces(tag)
            if 0 < len(pieces) <= _MOST_PIECES:
                spelled[" ".join(pieces)] = (*spelled.get(" ".join(pieces), ()), tag)
                begun.update(" ".join(pieces[:end]) for end in range(1, len(pieces)))
        return cls(tuple(tags), MappingProxyType(known), MappingProxyType(spelled), frozenset(begun))

    def spellings(self, tag: str) -> tuple[str, ...]:
        """The known tags that differ from this one in case at most."""
        return self._known.get(_fold(tag), ())

    def within(self, text: str) -> Iterator[str]:
        """The known tags that occur as whole words in a text, in its order."""
        pieces = _pieces(text) if self.tags else []
        for start in range(len(pieces)):
            spelled = pieces[start]
            for end in range(start + 1, start + 1 + _MOST_PIECES):
                yield from self._spelled.get(spelled, ())
                if spelled not in self._begun or end >= len(pieces):
                    break
                spelled = f"{spelled} {pieces[end]}"


def infer_tags(query: str, vocabulary: Vocabulary) -> tuple[InferredTag, ...]:
    """Hashtags, lower-cased unless the store knows another spelling, and then the known tags in the query."""
    found: dict[str, InferredTag] = {}
    for tag in _hashtags(query, vocabulary):
        found.setdefault(tag, InferredTag(tag, "hashtag"))
    for tag in vocabulary.within(query):
        found.setdefault(tag, InferredTag(tag, "vocabulary"))
        if len(found) >= MAX_TAGS:
            break
    return tuple(found.values())[:MAX_TAGS]


def _hashtags(query: str, vocabulary: Vocabulary) -> Iterator[str]:
    if "#" not in query and "＃" not in query:
        return
    for word in dict.fromkeys(found[1].lower() for found in _HASHTAG.finditer(query)):
        known = vocabulary.spellings(word)
        # "#1" and "#42" are numbers of things, not tags, unless the store says otherwise.
        yield from known or (() if word.isdigit() else (word,))


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def _pieces(text: str) -> list[str]:
    """Words, single punctuation marks, and single characters of scripts without spaces, all in lower case."""
    return _PIECE.findall(segment(_fold(text)))
