"""Passages: the parts of a long text that are embedded, searched and shown one by one.

A text of up to `WHOLE` bytes is one passage, itself, and is not split. A longer one is cut where its structure allows: before
headings, around code blocks, between paragraphs, then lines, then sentences, then words. Parts are joined again up to `SIZE` bytes,
a few hundred tokens, so that an embedder reads all of a passage. A span depends on the text alone, never on where it is stored.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from thinkback.values import dataclass

SIZE = 1200  # bytes in UTF-8, about 300 tokens in English and 400 in Chinese
WHOLE = SIZE + SIZE // 4  # a short rest is joined to the passage before it
SHORT = WHOLE // 4  # characters; up to here a text has at most WHOLE bytes in any script
_REST = SIZE // 4

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}\s")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]")
_SPACE = re.compile(r"\s+")
_CONTINUED = bytes(range(0x80, 0xC0))  # bytes of a character after its first


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, from the character `start` to before `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text of the passage."""
        return text[self.start : self.end]


def size(text: str) -> int:
    """The length that decides about splitting: bytes in UTF-8, because scripts of many bytes need more tokens a character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def split(text: str) -> tuple[Span, ...]:
    """The passages of a long text in order, without the white space around them; none of a short text."""
    if len(text) <= SHORT or size(text) <= WHOLE:
        return ()
    joined: list[_Part] = []
    for part in _parts(text):
        last = joined[-1] if joined else None
        if last is not None and last.bytes + part.bytes <= SIZE and not (part.opens and last.bytes > _REST):
            joined[-1] = _Part(last.start, part.end, last.bytes + part.bytes, last.opens)
        else:
            joined.append(part)
    if len(joined) > 1 and joined[-1].bytes <= _REST and joined[-2].bytes <= SIZE:
        rest = joined.pop()
        joined[-1] = _Part(joined[-1].start, rest.end, joined[-1].bytes + rest.bytes, joined[-1].opens)
    return tuple(_trimmed(text, part) for part in joined)


class _Part(NamedTuple):
    start: int
    end: int
    bytes: int
    opens: bool = False  # whether a section begins here


def _parts(text: str) -> Iterator[_Part]:
    """Parts of at most `SIZE` bytes, each as large as the structure allows; blank ones are left out."""
    for start, end, opens in _blocks(text):
        for part in _cut(text, start, end):
            if not text[part.start : part.end].isspace():
                yield part._replace(opens=True) if opens else part
                opens = False


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs and code blocks, with the headings before them; whether each begins a section."""
    start, at, fence, opens, blank = 0, 0, "", False, False
    for line in text.splitlines(keepends=True):
        if (fence not in line) if fence else (not blank and line[0].isalnum()):  # a line inside of a block
            at += len(line)
            continue
        mark = _FENCE.match(line)
        heading = not fence and _HEADING.match(line) is not None
        begins = heading or (not fence and (mark is not None or (blank and not line.isspace())))
        if begins and at > start and not text[start:at].isspace():
            yield start, at, opens
            start, opens = at, False
        opens = opens or heading
        at += len(line)
        if mark and not fence:
            fence = mark[1][0] * 3
        elif mark and mark[1].startswith(fence):
            fence, blank = "", True
            continue
        blank = not fence and line.isspace()
    yield start, at, opens


# The last place up to `limit` where the text from `at` on may be cut; if there is none, the first one after it, or `end`.
Cut = Callable[[str, int, int, int], int]


def _line(text: str, at: int, limit: int, end: int) -> int:
    return text.rfind("\n", at, limit) + 1 or text.find("\n", limit, end) + 1 or end


def _sentence(text: str, at: int, limit: int, end: int) -> int:
    last = at
    for found in _SENTENCE.finditer(text, at, end):
        if found.end() > limit:
            return last if last > at else found.end()
        last = found.end()
    return last if last > at else end


def _word(text: str, at: int, limit: int, end: int) -> int:
    if text[limit - 1].isspace() and not text[limit].isspace():
        return limit
    before = text[at:limit].rstrip()
    last = at + len(before) - len(before.rsplit(None, 1)[-1]) if before else at
    if last > at:
        return last
    found = _SPACE.search(text, limit - 1, end)
    return end if found is None else found.end()


def _anywhere(text: str, at: int, limit: int, end: int) -> int:
    return at + (limit - at) // _REST * _REST  # a character has at most four bytes


_CUTS: tuple[Cut, ...] = (_line, _sentence, _word, _anywhere)


def _cut(text: str, start: int, end: int, cuts: Sequence[Cut] = _CUTS) -> Iterator[_Part]:
    """The text between two places in parts of at most `SIZE` bytes, cut at the first kind of place that gives such parts."""
    while start < end:
        limit = start + _fitting(text[start : min(end, start + SIZE)])
        place = end if limit == end else cuts[0](text, start, limit, end)
        if place > limit:
            yield from _cut(text, start, place, cuts[1:])
        else:
            yield _Part(start, place, size(text[start:place]))
        start = place


def _fitting(text: str) -> int:
    """How many characters of a text `SIZE` bytes have room for."""
    if text.isascii():
        return min(len(text), SIZE)
    encoded = text.encode("utf-8", "surrogatepass")
    cut_off = len(encoded) > SIZE and encoded[SIZE] in _CONTINUED
    return len(encoded[:SIZE].translate(None, _CONTINUED)) - cut_off


def _trimmed(text: str, part: _Part) -> Span:
    inside = text[part.start : part.end]
    start = part.start + len(inside) - len(inside.lstrip())
    return Span(start, start + len(inside.strip()))
