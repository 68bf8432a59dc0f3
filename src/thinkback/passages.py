"""Passages: the parts of a long text that are embedded, searched and shown one by one.

A text of up to `WHOLE` bytes is one passage, itself, and is not split. A longer one is cut where its structure allows: before
headings, around code blocks, between paragraphs, then lines, then sentences, then words. Parts are joined again up to `SIZE` bytes,
a few hundred tokens, so that an embedder reads all of a passage. A span depends on the text alone, never on where it is stored.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from thinkback.values import dataclass

SIZE = 1200  # bytes in UTF-8, about 300 tokens in English and 400 in Chinese
WHOLE = SIZE + SIZE // 4  # a short rest is joined to the passage before it
_REST = SIZE // 4

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}\s")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_WORD = re.compile(r"\s+")
_LINE = re.compile(r"\n")


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
    if len(text) <= WHOLE // 4 or size(text) <= WHOLE:
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


@dataclass(frozen=True, slots=True)
class _Part:
    start: int
    end: int
    bytes: int
    opens: bool = False  # whether a section begins here


def _parts(text: str) -> Iterator[_Part]:
    """Parts of at most `SIZE` bytes, each as large as the structure allows; blank ones are left out."""
    for start, end, opens in _blocks(text):
        first = True
        for part in _cut(text, start, end, _CUTS):
            if text[part.start : part.end].strip():
                yield _Part(part.start, part.end, part.bytes, opens and first)
                first = False


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs and code blocks, with the headings before them; whether each begins a section."""
    start, at, fence, opens, blank = 0, 0, "", False, False
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        heading = not fence and _HEADING.match(line) is not None
        begins = heading or (not fence and (mark is not None or (blank and bool(line.strip()))))
        if begins and at > start and text[start:at].strip():
            yield start, at, opens
            start, opens = at, False
        opens = opens or heading
        at += len(line)
        if mark and not fence:
            fence = mark[1][0] * 3
        elif mark and mark[1].startswith(fence):
            fence, blank = "", True
            continue
        blank = not fence and not line.strip()
    yield start, at, opens


Cut = Callable[[str, int, int], Iterator[int]]


def _after(pattern: re.Pattern[str]) -> Cut:
    return lambda text, start, end: (found.end() for found in pattern.finditer(text, start, end))


def _anywhere(text: str, start: int, end: int) -> Iterator[int]:
    return iter(range(start + SIZE // 4, end, SIZE // 4))  # a character has at most four bytes


_CUTS: tuple[Cut, ...] = (_after(_LINE), _after(_SENTENCE), _after(_WORD), _anywhere)


def _cut(text: str, start: int, end: int, cuts: Sequence[Cut]) -> Iterator[_Part]:
    """The text between two places in parts of at most `SIZE` bytes, cut at the first kind of place that gives such parts."""
    bytes_ = size(text[start:end])
    if bytes_ <= SIZE:
        yield _Part(start, end, bytes_)
        return
    at, held = start, 0  # a run of small pieces from `at`, of `held` bytes
    last = start
    for place in (*cuts[0](text, start, end), end):
        piece = size(text[last:place])
        if held and held + piece > SIZE:
            yield _Part(at, last, held)
            at, held = last, 0
        if piece > SIZE:
            yield from _cut(text, last, place, cuts[1:])
            at = place
        else:
            held += piece
        last = place
    if held:
        yield _Part(at, end, held)


def _trimmed(text: str, part: _Part) -> Span:
    inside = text[part.start : part.end]
    start = part.start + len(inside) - len(inside.lstrip())
    return Span(start, start + len(inside.strip()))
