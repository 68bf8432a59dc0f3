"""Stems of German, Spanish and French words beside FTS5's English ones.

A text that is written in one of these languages (`languages.written_in`) is indexed by its stems in it, each ending in a mark of
the language, so that it never meets a word of another one; FTS5's own stemmer leaves such words as they are. Every other text is
indexed as it is. A question asks for each of its words as it is and, where an index holds marked stems at all, by its stem in each
language. A text has one language, so these forms of a word share one weight in BM25: that of all texts that hold one of them.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from threading import Lock

from thinkback.languages import written_in
from thinkback.model import KeywordQuery, KeywordTerm
from thinkback.stores.segmentation import segment

MARKS = {"de": "\ue0d0", "es": "\ue0d1", "fr": "\ue0d2"}  # for private use, and letters to FTS5
STEMMED = "\ue0df"  # a word of every text that is indexed by marked stems
_NAMES = {"de": "german", "es": "spanish", "fr": "french"}
WORD = re.compile("(?:[^\\W_]|[\u0300-\u036f])+")
_KEPT = 1 << 16  # stems in memory
_LAST = "\u024f"  # of the Latin letters
_ONE_AT_A_TIME = Lock()  # a stemmer keeps the word that it is at, and legs search side by side
Columns = tuple[str, str, str]


def stems(columns: Columns) -> Columns:
    """The columns of a text as they are indexed: as they are, or by their stems in the language of the text."""
    language = written_in(columns[0])
    if not language:
        return columns
    text, essence, tags = (_stemmed(column, language) for column in columns)
    return f"{text} {STEMMED}", essence, tags


def _stemmed(text: str, language: str) -> str:
    return WORD.sub(lambda word: _form(word.group(), language) or word.group(), unicodedata.normalize("NFC", text))


def forms(word: str) -> list[str]:
    """The marked stems of a word; none unless it is of Latin letters alone."""
    word = unicodedata.normalize("NFC", word)
    return [form for language in MARKS if (form := _form(word, language))]


def _form(word: str, language: str) -> str:
    return _stem(word.lower(), language) + MARKS[language] if word.isalpha() and max(word) <= _LAST else ""


@lru_cache(_KEPT)
def _stem(word: str, language: str) -> str:
    with _ONE_AT_A_TIME:
        return _stemmer(language)(word)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import importlib  # English alone never needs it

    # The pure Python ones: `snowballstemmer.stemmer` would take whatever version of PyStemmer there is.
    name = _NAMES[language]
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stem: Callable[[str], str] = getattr(module, f"{name.capitalize()}Stemmer")().stemWord
    return stem


# -- questions


def expression(term: KeywordTerm) -> str:
    """The term as FTS5 reads it, always quoted."""
    inner = " ".join(segment(term.text).split()) if term.phrase else term.text
    return f'"{inner}"*' if term.prefix else f'"{inner}"'


def by_forms(query: KeywordQuery) -> tuple[KeywordQuery, str]:
    """A query that asks for each word in all its forms, and how many phrases in turn are forms of one word; of expert
    syntax, nobody knows."""
    if query.mode != "bare":
        fallback = query.fallback and _widened(query.fallback)
        return replace(query, expression=_widened(query.expression), fallback=fallback), ""
    groups = [
        [expression(term), *([] if term.prefix or term.phrase else (f'"{form}"' for form in forms(term.text)))]
        for term in query.terms
    ]
    either = " OR ".join(phrase for group in groups for phrase in group)
    return replace(query, expression=either), ",".join(str(len(group)) for group in groups)


_BARE = re.compile(r'"[^"]*"?|[^\s"(){}^+,:*-]+')
_UNWIDENED = re.compile(r"\bNEAR\s*\(|[\^+{]")  # syntax around single words that a choice of words has no place in


def _widened(expression: str) -> str:
    """Expert syntax that asks for each bare word in all its forms."""
    if _UNWIDENED.search(_BARE.sub(lambda found: " " if found.group().startswith('"') else found.group(), expression)):
        return expression
    return _BARE.sub(lambda found: _choice(found.group(), expression[found.end() : found.end() + 1]), expression)


def _choice(piece: str, after: str) -> str:
    """A bare word or a quoted phrase, or the same in any language."""
    inner = piece.strip('"')
    if piece in ("AND", "OR", "NOT") or after in (":", "*") or not any(forms(word) for word in WORD.findall(inner)):
        return piece
    also = (" ".join(_form(word, language) or word for word in WORD.findall(inner)) for language in MARKS)
    return "(" + " OR ".join(f'"{one}"' for one in dict.fromkeys((inner, *also))) + ")"
