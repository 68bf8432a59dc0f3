"""Terms of texts, made by FTS5's own tokenizer."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from thinkback.model import StoredRecord
from thinkback.stores.segmentation import segment
from thinkback.stores.sqlite.fulltext import EXACT_TOKENIZER, MAX_TOKEN, TOKENIZER, indexed, spelt
from thinkback.stores.sqlite.impact import tokens
from thinkback.stores.stemming import Columns

PRESENT, THEMES = 0, 1  # the classes of postings: what was said, and what was derived from it
_LONGEST = 200  # bytes of a term that are kept as they are; index entries have a limit
_SURELY_KEPT = _LONGEST // 4  # letters, which take at most four bytes each
_local = threading.local()


def reader() -> apsw.Connection:
    """A database in memory, for its tokenizer; each thread has one."""
    if not hasattr(_local, "reader"):
        _local.reader = apsw.Connection(":memory:")
    found: apsw.Connection = _local.reader
    return found


def terms_of(text: str) -> list[str]:
    """The terms of a text as postings spell them."""
    return [kept(word) for word in tokens(reader(), text)]


def kept(word: bytes) -> str:
    """A term as postings spell it; of a very long one only the beginning is legible."""
    if len(word) <= _LONGEST:
        return word.decode(errors="replace")
    start = word[: _LONGEST // 2].decode(errors="ignore")
    return f"{start}\x01{hashlib.sha256(word).hexdigest()}"


def counted(record: StoredRecord) -> tuple[Counter[str], int]:
    """How often each term stands in a version's text, essence and tags, and how many terms there are."""
    return counts_of(indexed(record))


def counts_of(columns: Columns) -> tuple[Counter[str], int]:
    """How often each term stands in these columns, and how many terms there are."""
    terms = [
        word if len(word) <= _SURELY_KEPT else kept(word.encode()[:MAX_TOKEN])
        for column in columns
        if column
        for word in _split("stems", TOKENIZER, column)
    ]
    return Counter(terms), len(terms)


def exact_length(record: StoredRecord) -> int:
    """How many words a version has when they are taken as they are spelt."""
    return sum(map(exact_count, spelt(record)))


def exact_count(text: str) -> int:
    """How many words a text has when they are taken as they are spelt."""
    return len(_split("exact", EXACT_TOKENIZER, text)) if text else 0


def _split(kept_as: str, tokenizer: Sequence[str], text: str) -> list[str]:
    """The words of a text, by a tokenizer that each thread keeps; texts of memories are not remembered, unlike words of queries."""
    found: Any = getattr(_local, kept_as, None)
    if found is None:
        found = reader().fts5_tokenizer(tokenizer[0], list(tokenizer[1:]))
        setattr(_local, kept_as, found)
    words: Any = found(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    return list(words)


def plain(words: Iterable[str]) -> dict[str, list[str]]:
    """The terms of each word."""
    return {word: terms_of(segment(word)) for word in words}


def distinct(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(terms))
