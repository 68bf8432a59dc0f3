"""From the text of a query to a Query: words, the time it names, tags, and the caller's filter."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo

from thinkback.model import Filter, KeywordQuery, Vector
from thinkback.search.bounds import one_of
from thinkback.search.query.keywords import parse_keywords
from thinkback.search.query.tags import InferredTag, Vocabulary, infer_tags
from thinkback.search.query.time import Anchor, Rules, TemplatedExtractor
from thinkback.search.query.time_languages import foreign_time
from thinkback.search.query.time_to_come import QuestionExtractor
from thinkback.values import dataclass, replace

EXTRACTORS: dict[str, Rules | None] = {
    "english": QuestionExtractor(),
    "templated": TemplatedExtractor(),
    "none": None,
}

LONGEST_FOCUSED = 2000  # characters; a longer text is a document, not a query
FEWEST_MEMORIES = 20  # in a smaller store most words occur in more than half


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsing:
    """How a recipe reads a query; `time` is a row of EXTRACTORS.

    With `exact`, words are searched as they are spelt, and one that is typed twice counts twice. With `retry`, a keyword query
    that full text cannot read is searched as plain words. `focus` embeds the query twice, as it is and without the words that
    occur in more than half of all memories, and searches
    with the mean: words that most memories share do not tell them apart.
    """

    drop_function_words: bool = True
    exact: bool = False
    retry: bool = True
    focus: bool = False
    time: str = "english"
    tags: bool = True

    def __post_init__(self) -> None:
        one_of(EXTRACTORS, self.time, "time extractor")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query:
    """A parsed query; `vector` is set once the text is embedded, else `no_vector` is the reason.

    `focused` is the text without the words that most memories contain, if there are such words and others remain.
    """

    text: str
    filter: Filter
    keywords: KeywordQuery
    anchor: Anchor | None = None
    tags: tuple[InferredTag, ...] = ()
    vector: Vector | None = None
    focused: str | None = None
    counts: tuple[int, Mapping[str, int]] | None = None  # of all memories, and of those with each term
    no_vector: str = "there is no embedder and no query vector"
    cycle: int | None = None

    @property
    def now(self) -> int:
        return self.filter.now

    def counted(self, frequencies: Callable[[Sequence[str]], tuple[int, Mapping[str, int]]]) -> "Query":
        """The same query with the number of memories that contain each of its terms, read once."""
        if self.counts is not None or not self.keywords.terms:
            return self
        return replace(self, counts=frequencies([term.text for term in self.keywords.terms]))

    def with_vector(self, vector: Vector) -> "Query":
        """The same query with its embedding."""
        return replace(self, vector=vector)


def focus(query: Query, frequencies: Callable[[Sequence[str]], tuple[int, Mapping[str, int]]]) -> Query:
    """The query with its `focused` text, without words that occur in more than half of the memories."""
    words = [term.text for term in query.keywords.terms if not term.prefix and not term.phrase]
    if query.keywords.mode != "bare" or not words or len(query.text) > LONGEST_FOCUSED:
        return query
    query = query.counted(frequencies)
    total, counts = query.counts or (0, {})
    everywhere = [word for word in words if counts[word] * 2 > total]
    if not everywhere or len(everywhere) == len(words) or total < FEWEST_MEMORIES:
        return query
    pattern = rf"\b(?:{'|'.join(map(re.escape, everywhere))})\b(?:['’]s\b)?"
    return replace(query, focused=" ".join(re.sub(pattern, " ", query.text, flags=re.IGNORECASE).split()))


def _time(text: str, now: int, zone: tzinfo, parsing: Parsing) -> Anchor | None:
    """The time that the query names; beside English, also in the languages that have a table."""
    extract = EXTRACTORS[parsing.time]
    found = extract(text, now, zone) if extract else None
    return foreign_time(text, now, zone) if found is None and parsing.time == "english" else found


def parse(
    text: str,
    filter: Filter,
    parsing: Parsing,
    vocabulary: Vocabulary | None = None,
    zone: tzinfo = UTC,
) -> Query:
    """Pure: the same text, filter and vocabulary always give the same query."""
    words = parse_keywords(
        text, drop_function_words=parsing.drop_function_words, exact=parsing.exact, repeats=parsing.exact
    )
    return Query(
        text=text,
        filter=filter,
        keywords=words if parsing.retry else replace(words, fallback=None),
        anchor=_time(text, filter.now, zone, parsing),
        tags=infer_tags(text, vocabulary) if parsing.tags and vocabulary is not None else (),
    )
