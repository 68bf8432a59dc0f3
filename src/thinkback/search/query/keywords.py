"""Keyword query syntax: from what people type to an FTS5 expression that never fails.

A bare query is a bag of words joined with OR. Expert syntax (a quoted phrase, an upper-case AND, OR or NOT, a
column filter) reaches FTS5 as typed. Scripts written without spaces are indexed one character per token, by
`segment`, and searched as phrases of such tokens.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from thinkback.search.query.stopwords import CONTRACTED_ENDINGS, FUNCTION_WORDS, NAMES_WHEN_CAPITALISED, NEGATED_STEMS

COLUMNS = ("essence", "content", "tags")
MAX_TERMS = 256
MAX_EXPERT_LENGTH = 10_000

# Han, kana, bopomofo and Hangul with their extensions; punctuation of those blocks stays out.
_EAST_ASIAN = (
    r"\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    r"\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\uff66-\uff9f\uffa0-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese and Khmer: letters and vowel signs, without their digits and punctuation.
_SOUTH_EAST_ASIAN = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    r"\u1780-\u17d3\u17dc-\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
# FTS5 knows the characters of Unicode 6.1; what came later it takes for letters, so "job🤖" and "₽500" would be one
# word each. Pictures become words of their own, and marks become separators.
_PICTURES = r"\u20ba-\u20cf\u218a\u218b\u23f4-\u23ff\u2427-\u2429\u2700\u2b4d-\u2bff\U0001f000-\U0001fbff"
_LATE_MARKS = (
    r"\u058d\u058e\u0605\u061c\u061d\u07fe\u07ff\u0888\u0890\u0891\u08e2\u09fd\u0a76\u0c77\u0c84\u0d4f\u1b4e\u1b4f\u1b7d-\u1b7f"
    r"\u2066-\u2069\u2e3c-\u2e5d\u2ffc-\u2fff\u31e4\u31e5\u31ef\u32ff\ua8fc\uab5b\uab6a\uab6b\ufbc2\ufd40-\ufd4f\ufdcf\ufdfe\ufdff"
)
# Longest run searched as one phrase, and the overlapping pieces a longer one is cut into: a whole sentence would
# match nothing. Two East Asian characters are about a word, and so are four letters of an alphabetic script.
_PHRASE_LIMIT = {"east": (4, 2), "south": (8, 4), "pictures": (1, 1)}

# The class of characters as `re` wants it costs milliseconds to compile, and most texts never need it.


@cache
def _spaced() -> re.Pattern[str]:
    return re.compile(f"([{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}{_PICTURES}{_LATE_MARKS}])")


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(
        f"(?P<east>[{_EAST_ASIAN}]+)|(?P<south>[{_SOUTH_EAST_ASIAN}]+)|(?P<pictures>[{_PICTURES}]+)"
        f"|[^{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}{_PICTURES}]+"
    )


@cache
def _picture() -> re.Pattern[str]:
    return re.compile(f"[{_PICTURES}]")


# FTS5 reads C strings, and lone surrogates have no UTF-8.
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")

_NAMES = "|".join(COLUMNS)
_EXPERT = re.compile(
    r'"[^"]+"'
    r"|(?<!\S)(?:AND|OR|NOT)(?!\S)"
    rf'|(?<![^\s(\-+])(?:{_NAMES}):(?=[\w"(^])'
    rf"|(?<![^\s(\-+])\{{\s*(?:(?:{_NAMES})\s*)+\}}\s*:"
)
_OPERATORS = re.compile(rf"(?<!\S)(?:AND|OR|NOT)(?!\S)|(?<![^\s(\-+])(?:{_NAMES}):|\{{[^{{}}]*\}}\s*:")
_EXPERT_PIECES = re.compile(r'"[^"]*"?|[0-9A-Za-z_\x1a\x80-\U0010ffff]+')
_SPACES = re.compile(r"\s")
_APOSTROPHES = "'’＇"


@dataclass(frozen=True, slots=True)
class Term:
    """One thing looked for: a word, the beginning of words (`auto*`), or a phrase of single characters."""

    text: str
    prefix: bool = False
    phrase: bool = False

    @property
    def expression(self) -> str:
        """The term as FTS5 reads it, always quoted."""
        inner = " ".join(segment(self.text).split()) if self.phrase else self.text
        return f'"{inner}"*' if self.prefix else f'"{inner}"'


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """What the keyword leg looks for.

    `expression` is ready for FTS5's MATCH and empty in mode "empty". In expert mode `fallback` is the bare
    expression to use once if FTS5 rejects the expert one, and `terms` and `dropped` describe that fallback.
    `truncated` says that terms after the first 256 distinct ones were ignored.
    """

    mode: Literal["bare", "expert", "empty"]
    terms: tuple[Term, ...]
    dropped: tuple[str, ...]
    expression: str
    fallback: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class _Bag:
    terms: tuple[Term, ...]
    dropped: tuple[str, ...]
    truncated: bool

    @property
    def expression(self) -> str:
        return " OR ".join(term.expression for term in self.terms)


def parse_keywords(text: str, *, drop_function_words: bool = False) -> KeywordQuery:
    """Read a query; any text is a valid one.

    Text of more than 256 distinct words or 10,000 characters is a document someone pasted, not expert syntax,
    whatever quotes it holds.
    """
    text = _UNSENDABLE.sub(" ", text)
    bag = _bag(text, drop_function_words)
    if not bag.terms:
        return KeywordQuery("empty", (), (), "")
    if bag.truncated or len(text) > MAX_EXPERT_LENGTH or not _EXPERT.search(text):
        return KeywordQuery("bare", bag.terms, bag.dropped, bag.expression, truncated=bag.truncated)
    plain = _bag(_OPERATORS.sub(" ", text), drop_function_words)
    if plain.terms:
        bag = plain
    return KeywordQuery("expert", bag.terms, bag.dropped, _expert(text), fallback=bag.expression)


def segment(text: str) -> str:
    """Put spaces around each character that is to be a word of its own in the index; all else stays as it is.

    These are the characters of scripts written without spaces, pictures, and marks that FTS5 would take for letters.
    """
    if text.isascii() or not _spaced().search(text):
        return text
    return " ".join(_spaced().split(text))


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    prefix: bool = False
    idle: bool = False


def _bag(text: str, drop_function_words: bool) -> _Bag:
    bag = _gather(_words(text), drop_function_words)
    return bag if bag.terms or not bag.dropped else _gather(_words(text), False)


def _gather(words: Iterator[_Word], drop_function_words: bool) -> _Bag:
    """Distinct terms in order of first appearance, compared without case."""
    terms: dict[tuple[str, bool], Term] = {}
    dropped: dict[str, None] = {}
    for word in words:
        if drop_function_words and word.idle:
            dropped.setdefault(word.text.lower())
            continue
        for term in _terms(word):
            key = (term.text.lower(), term.prefix)
            if key not in terms and len(terms) == MAX_TERMS:
                return _Bag(tuple(terms.values()), tuple(dropped), True)
            terms.setdefault(key, term)
    return _Bag(tuple(terms.values()), tuple(dropped), False)


def _words(text: str) -> Iterator[_Word]:
    """Split at everything that is not a letter, digit or mark, as FTS5 does, and flag the function words."""
    shouted = text.isupper()
    first = True
    for chunk in dict.fromkeys(text.translate(_separators(text)).split()):
        pieces = [piece for piece in dict.fromkeys(chunk.split("'")) if piece.strip("*")]
        for index, piece in enumerate(pieces):
            idle = _is_contracted(pieces, index) or _is_function_word(piece, first, shouted)
            yield from _starred(piece, idle)
            first = False


def _separators(text: str) -> dict[int, str]:
    """A translation that leaves words, stars and plain apostrophes, and turns all else into spaces."""
    table = {ord(char): " " for char in set(text) if not _is_word_character(char)}
    table.pop(ord("*"), None)
    for char in _APOSTROPHES:
        table[ord(char)] = "'"
    return table


def _is_word_character(char: str) -> bool:
    if char.isascii() or char.isalnum():
        return char.isalnum()
    category = unicodedata.category(char)
    return category[0] == "M" or category in ("Cn", "Co") or bool(_picture().match(char))


def _starred(piece: str, idle: bool) -> Iterator[_Word]:
    """`auto*` asks for a prefix; stars anywhere else (`2*3`, `**bold**`) only separate."""
    if "*" not in piece:
        yield _Word(piece, idle=idle)
    elif piece.find("*") == len(piece) - 1:
        yield _Word(piece[:-1], prefix=True)
    else:
        yield from (_Word(part) for part in dict.fromkeys(piece.split("*")) if part)


def _is_contracted(pieces: list[str], index: int) -> bool:
    if index > 0:
        return pieces[index].lower() in CONTRACTED_ENDINGS
    return len(pieces) == 2 and pieces[1].lower() == "t" and pieces[0].lower() in NEGATED_STEMS


def _is_function_word(word: str, first: bool, shouted: bool) -> bool:
    lowered = word.lower()
    if lowered not in FUNCTION_WORDS:
        return False
    if len(word) > 1 and word.isupper() and not shouted:
        return False  # an acronym: IT, US, WHO
    return first or not (lowered in NAMES_WHEN_CAPITALISED and word[0].isupper())


def _terms(word: _Word) -> Iterator[Term]:
    """The word itself, or its runs of unspaced script as phrases beside what stands between them."""
    if word.text.isascii() or not _spaced().search(word.text):
        yield Term(word.text, prefix=word.prefix)
        return
    for run in _runs().finditer(word.text):
        if run.lastgroup is None:
            yield Term(run.group(), prefix=word.prefix and run.end() == len(word.text))
        else:
            yield from _phrases(run.group(), *_PHRASE_LIMIT[run.lastgroup])


def _phrases(run: str, longest: int, size: int) -> Iterator[Term]:
    if len(run) <= longest:
        yield Term(run, phrase=True)
        return
    neighbours = zip(*(run[offset:] for offset in range(size)), strict=False)
    yield from (Term(piece, phrase=True) for piece in dict.fromkeys(map("".join, neighbours)))


def _expert(text: str) -> str:
    """The expression as typed, with unspaced script made searchable and every kind of white space a plain one."""
    return _EXPERT_PIECES.sub(lambda piece: _expert_piece(piece.group()), text)


def _expert_piece(piece: str) -> str:
    if piece.startswith('"'):
        return segment(piece)
    # FTS5 takes everything beyond ASCII for a letter, even the ideographic space.
    return " ".join(
        f'"{" ".join(segment(word).split())}"' if segment(word) is not word else word for word in _SPACES.split(piece)
    )
