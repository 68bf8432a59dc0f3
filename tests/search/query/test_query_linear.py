"""Reading a query costs time in proportion to its length, whatever stands in it."""

import time
from datetime import UTC

import pytest

from thinkback.clock import to_us
from thinkback.search.query.keywords import parse_keywords
from thinkback.search.query.tags import Vocabulary, infer_tags
from thinkback.search.query.time import EnglishExtractor, TemplatedExtractor
from thinkback.search.query.time_patterns import PHRASES
from thinkback.stores.segmentation import segment

NOW = to_us("2024-05-15T15:00:00Z")
VOCABULARY = Vocabulary.of(
    {"a": 9, " ".join("a" * 12): 5, "a-a": 3, "京": 2, "#": 1} | {f"t{n}": 1 for n in range(5000)}
)

HOSTILE = {
    "spaces": " ",
    "articles": "a ",
    "prepositions": "in the ",
    "numbers": "1 ",
    "broken dates": "Feb 31 ",
    "months": "may ",
    "years": "2023 ",
    "almost ago": "twenty-two and a half years and a half ag ",
    "almost sums": "2 1/2 years, 3 months and ",
    "almost of last year": "May 3 of last yea ",
    "almost next year": "two years ago in the first week of Ma ",
    "almost the 5th": "on the 5th of last mont ",
    "last": "last    ",
    "ranges": "1-1 ",
    "one long word": "x",
    "quotes": '" ',
    "apostrophes": "'",
    "contractions": "a'",
    "stars": "*a",
    "braces": "{content ",
    "operators": "AND ",
    "columns": "content:",
    "hashes": "#",
    "hashtags": "#a-",
    "hyphens": "a-",
    "unspaced script": "京都",
    "marks": "\u0301",
    "controls": "\x00\ud800",
}
READERS = {
    "english": lambda text: EnglishExtractor()(text, NOW, UTC),
    "templated": lambda text: TemplatedExtractor()(text, NOW, UTC),
    "keywords": lambda text: parse_keywords(text, drop_function_words=True),
    "segment": segment,
    "tags": lambda text: infer_tags(text, VOCABULARY),
}


def cost(read, text: str) -> float:
    """Processor time of the best of three readings."""
    costs = []
    for _ in range(3):
        begun = time.process_time()
        read(text)
        costs.append(time.process_time() - begun)
    return min(costs)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_eight_times_the_text_costs_far_less_than_the_square(read, hostile):
    """Linear growth is 8-fold and quadratic growth 64-fold; a few milliseconds are forgiven for the clock's grain."""
    short = (hostile * 50_000)[:50_000]
    assert cost(read, short * 8) < 24 * (cost(read, short) + 0.004)


def test_rows_stand_in_the_order_of_their_rank():
    """The search for a better phrase ends at the first row of a higher rank."""
    assert [row.rank for row in PHRASES] == sorted(row.rank for row in PHRASES)


def test_every_time_pattern_is_bounded():
    """No star and no plus: a row looks at a limited stretch of text wherever it is tried."""
    for row in PHRASES:
        assert "*" not in row.pattern.pattern
        assert "+" not in row.pattern.pattern
        assert ",}" not in row.pattern.pattern
