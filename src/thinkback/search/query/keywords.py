"""Keyword query syntax: from what people type to an FTS5 expression that never fails.

A bare query is a bag of words joined with OR. Expert syntax (a quoted phrase, an upper-case AND, OR or NOT, a
column filter) reaches FTS5 as typed, but for `a AND NOT b`, which FTS5 writes `a NOT b`. A query with a quoted phrase or a prefix
asks for words as they are spelt; there, `-` and `_` are letters. Scripts written without spaces are indexed one character per token
(`stores.segmentation`) and searched as phrases of such tokens.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from thinkback.model import KeywordQuery, KeywordTerm
from thinkback.search.query.languages import CHINESE_QUESTIONS, function_words
from thinkback.search.query.stopwords import CONTRACTED_ENDINGS, NAMES_WHEN_CAPITALISED, NEGATED_STEMS
from thinkback.stores.segmentation import EAST_ASIAN, PICTURES, SOUTH_EAST_ASIAN, needs_spaces, segment
from thinkback.stores.stemming import expression
from thinkback.values import dataclass

COLUMNS = ("essence", "content", "tags")
MAX_TERMS = 256
MAX_EXPERT_LENGTH = 10_000

# Longest run searched as one phrase, and the overlapping pieces a longer one is cut into: a whole sentence would
# match nothing. Two East Asian characters are about a word, and so are four letters of an alphabetic script.
_PHRASE_LIMIT = {"east": (4, 2), "south": (8, 4), "pictures": (1, 1)}


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(
        f"(?P<east>[{EAST_ASIAN}]+)|(?P<south>[{SOUTH_EAST_ASIAN}]+)|(?P<pictures>[{PICTURES}]+)"
        f"|[^{EAST_ASIAN}{SOUTH_EAST_ASIAN}{PICTURES}]+"
    )


@cache
def _picture() -> re.Pattern[str]:
    return re.compile(f"[{PICTURES}]")


# FTS5 reads C strings, and lone surrogates have no UTF-8.
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")

_NAMES = "|".join(COLUMNS)
_EXPERT = re.compile(
    r'"[^"]+"'
    r"|(?<!\S)(?:AND|OR|NOT)(?!\S)"
    rf'|(?<![^\s(\-+])(?:{_NAMES}):(?=[\w"(^])'
    rf"|(?<![^\s(\-+])\{{\s*(?:(?:{_NAMES})\s*)+\}}\s*:"
)
_EXCLUDED = re.compile(r'(?<!\S)NOT\s+(?:"[^"]*"?|\([^()]*\)?|\S+)')
_AND_NOT = re.compile(r"(?<!\S)AND\s+NOT(?!\S)")
_QUOTED = re.compile(r'("[^"]*"?)')
_SPELT = re.compile(r'"[^"]+"|[^\W_]["*]*\*(?!\S*\w)')
_OPERATORS = re.compile(rf"(?<!\S)(?:AND|OR|NOT)(?!\S)|(?<![^\s(\-+])(?:{_NAMES}):|\{{[^{{}}]*\}}\s*:")
_BAREWORD = r"[^\x00-\x19\x1b-/:-@\[-^`{-\x7f]+"  # letters, digits, _, \x1a and all beyond ASCII; compiles faster
_EXPERT_PIECES = re.compile(rf'"[^"]*"?|{_BAREWORD}(?:-{_BAREWORD})*')
_SPACES = re.compile(r"\s")
_APOSTROPHES = "'’＇"


@dataclass(frozen=True, slots=True)
class _Bag:
    terms: tuple[KeywordTerm, ...]
    dropped: tuple[str, ...]
    truncated: bool

    @property
    def expression(self) -> str:
        return " OR ".join(map(expression, self.terms))


@dataclass(frozen=True, slots=True)
class Reading:
    """How the words of a query are read: without function words if others remain, and as they are spelt.

    `repeats` keeps a word that is typed twice, which then counts twice.
    """

    drop_function_words: bool = False
    exact: bool = False
    repeats: bool = False


def parse_keywords(
    text: str, *, drop_function_words: bool = False, exact: bool = False, repeats: bool = False
) -> KeywordQuery:
    """Read a query; any text is a valid one.

    Text of more than 256 distinct words or 10,000 characters is a document someone pasted, not expert syntax,
    whatever quotes it holds.
    """
    text = _UNSENDABLE.sub(" ", text)
    reading = Reading(drop_function_words, exact or bool(_SPELT.search(text[:MAX_EXPERT_LENGTH])), repeats)
    bag = _bag(text, reading)
    if not bag.terms:
        return KeywordQuery("empty", (), (), "")
    if bag.truncated or len(text) > MAX_EXPERT_LENGTH or not _EXPERT.search(text):
        if reading.exact and not exact and not any(term.prefix for term in bag.terms):
            reading = replace(reading, exact=False)
            bag = _bag(text, reading)
        return KeywordQuery(
            "bare", bag.terms, bag.dropped, bag.expression, truncated=bag.truncated, exact=reading.exact
        )
    wanted = _EXCLUDED.sub(" ", text)
    plain = _bag(_OPERATORS.sub(" ", wanted), reading)
    if not plain.terms and wanted == text:
        plain = bag
    return KeywordQuery(
        "expert", plain.terms, plain.dropped, _expert(text), fallback=plain.expression, exact=reading.exact
    )


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    prefix: bool = False
    idle: bool = False


def _bag(text: str, reading: Reading) -> _Bag:
    bag = _gather(_words(text, reading), reading)
    return bag if bag.terms or not bag.dropped else _bag(text, replace(reading, drop_function_words=False))


def _gather(words: Iterator[_Word], reading: Reading) -> _Bag:
    """Terms in order of first appearance, compared without case; each once, unless repeats count."""
    terms: dict[tuple[str, bool, int], KeywordTerm] = {}
    dropped: dict[str, None] = {}
    for word in words:
        if reading.drop_function_words and word.idle:
            dropped.setdefault(word.text.lower())
            continue
        for term in _terms(word):
            key = (term.text.lower(), term.prefix, len(terms) if reading.repeats else 0)
            if key not in terms and len(terms) == MAX_TERMS:
                return _Bag(tuple(terms.values()), tuple(dropped), True)
            terms.setdefault(key, term)
    return _Bag(tuple(terms.values()), tuple(dropped), False)


def _words(text: str, reading: Reading) -> Iterator[_Word]:
    """Split at everything that is not a letter, digit or mark, as FTS5 does, and flag the function words."""
    shouted = text.isupper()
    first = True
    idle_words = function_words(text) if reading.drop_function_words else frozenset()
    if reading.drop_function_words and not text.isascii():
        text = CHINESE_QUESTIONS.sub(" ", text)
    chunks = text.translate(_separators(text, "*-_" if reading.exact else "*")).split()
    for chunk in chunks if reading.repeats else dict.fromkeys(chunks):
        chunk = chunk.strip("-'")
        split = chunk.split("'")
        pieces = [piece for piece in (split if reading.repeats else dict.fromkeys(split)) if piece.strip("*-")]
        for index, piece in enumerate(pieces):
            idle = _is_contracted(pieces, index) or _is_function_word(piece, first, shouted, idle_words)
            yield from _starred(piece, idle)
            first = False


def _separators(text: str, kept: str) -> dict[int, str]:
    """A translation that leaves words, plain apostrophes and the characters to be kept, and turns all else into spaces."""
    return _ascii_separators(kept) if text.isascii() else _table(text, kept)


@cache
def _ascii_separators(kept: str) -> dict[int, str]:
    return _table("".join(map(chr, range(128))), kept)


def _table(text: str, kept: str) -> dict[int, str]:
    table = {ord(char): " " for char in set(text) if not _is_word_character(char) and char not in kept}
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


def _is_function_word(word: str, first: bool, shouted: bool, idle_words: frozenset[str]) -> bool:
    lowered = word.lower()
    if lowered not in idle_words:
        return False
    if len(word) > 1 and word.isupper() and not shouted:
        return False  # an acronym: IT, US, WHO
    return first or not (lowered in NAMES_WHEN_CAPITALISED and word[0].isupper())


def _terms(word: _Word) -> Iterator[KeywordTerm]:
    """The word itself, or its runs of unspaced script as phrases beside what stands between them."""
    if not needs_spaces(word.text):
        yield KeywordTerm(word.text, prefix=word.prefix)
        return
    for run in _runs().finditer(word.text):
        if run.lastgroup is None:
            yield KeywordTerm(run.group(), prefix=word.prefix and run.end() == len(word.text))
        else:
            yield from _phrases(run.group(), *_PHRASE_LIMIT[run.lastgroup])


def _phrases(run: str, longest: int, size: int) -> Iterator[KeywordTerm]:
    if len(run) <= longest:
        yield KeywordTerm(run, phrase=True)
        return
    neighbours = zip(*(run[offset:] for offset in range(size)), strict=False)
    yield from (KeywordTerm(piece, phrase=True) for piece in dict.fromkeys(map("".join, neighbours)))


def _expert(text: str) -> str:
    """The expression as typed, with unspaced script made searchable and every kind of white space a plain one."""
    parts = _QUOTED.split(text)
    parts[::2] = [_AND_NOT.sub("NOT", part) for part in parts[::2]]
    return _EXPERT_PIECES.sub(lambda piece: _expert_piece(piece.group()), "".join(parts))


def _expert_piece(piece: str) -> str:
    if piece.startswith('"'):
        return segment(piece)
    if "-" in piece:  # a letter to the exact index, but FTS5 reads it as an operator
        return f'"{" ".join(segment(piece).split())}"'
    # FTS5 takes everything beyond ASCII for a letter, even the ideographic space.
    return " ".join(
        f'"{" ".join(segment(word).split())}"' if segment(word) is not word else word for word in _SPACES.split(piece)
    )
