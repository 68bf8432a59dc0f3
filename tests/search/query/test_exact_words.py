"""Words as they are spelt: prefixes find every word that begins so, and a phrase only itself."""

import random

import pytest
from engine_fixtures import memory
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing.contract.words import NOW, by_keyword, ids, put

STEMS = (
    *(
        "organiz",
        "generat",
        "authenticat",
        "neur",
        "relat",
        "hop",
        "appli",
        "flow",
        "accept",
        "agre",
        "argu",
        "calculat",
    ),
    *("car", "communicat", "connect", "creat", "decid", "develop", "differ", "direct", "educat", "electr", "establish"),
    *("exist", "express", "govern", "identif", "indicat", "inform", "institut", "invest", "investigat", "manag"),
)
ENDINGS = ("e", "ed", "es", "ing", "ation", "ational", "al", "ive", "ness", "fulness", "ies", "y", "")
LETTERS = "abcdeiourstn"
word = st.one_of(
    st.builds(str.__add__, st.sampled_from(STEMS), st.sampled_from(ENDINGS)),
    st.text(LETTERS, min_size=2, max_size=9),
    st.builds("{}-{}".format, st.text(LETTERS, min_size=1, max_size=4), st.text(LETTERS, min_size=1, max_size=4)),
    st.builds("{}_{}".format, st.text(LETTERS, min_size=1, max_size=4), st.text(LETTERS, min_size=1, max_size=4)),
    st.text("東京都猫犬日本語", min_size=2, max_size=4),
)


def prefixes(words: list[str]) -> list[tuple[str, str]]:
    """Every beginning of two letters or more that is not the whole word, and the word."""
    return [(spelt[:end], spelt) for spelt in words for end in range(2, len(spelt)) if spelt[end - 1].isalnum()]


@pytest.fixture(scope="module")
def vocabulary() -> list[str]:
    """188 words, with endings that a stemmer takes off."""
    every = sorted({stem + ending for stem in STEMS for ending in ENDINGS if len(stem + ending) > 4})
    return random.Random(7).sample(every, 188)


@pytest.mark.parametrize(
    "form", ["{}*", "{}* AND said", "essence:{}* OR content:{}*"], ids=["bare", "expert", "columns"]
)
def test_a_prefix_finds_its_word(vocabulary: list[str], form: str) -> None:
    asked = prefixes(vocabulary)
    assert len(asked) > 900
    with SqliteStore(":memory:") as store:
        owners = {spelt: put(store, f"she said {spelt} today")[0].id for spelt in vocabulary}
        for beginning, spelt in asked:
            found = set(ids(by_keyword(store, form.format(beginning, beginning), limit=1000)))
            assert found == {id for other, id in owners.items() if other.startswith(beginning)}, (beginning, spelt)


@settings(max_examples=40, deadline=None)
@given(st.lists(word, min_size=1, max_size=12, unique=True), st.booleans())
def test_a_prefix_finds_every_word_that_begins_so(words: list[str], expert: bool) -> None:
    with SqliteStore(":memory:") as store:
        owners = {spelt: put(store, f"said {spelt}")[0].id for spelt in words}
        for beginning, spelt in prefixes(words):
            query = f"{beginning}* AND said" if expert else f"{beginning}*"
            found = ids(store.search_keywords(parse_keywords(query), Filter(now=NOW), 100))
            assert owners[spelt] in found, (query, spelt)
            if spelt.isascii():
                assert set(found) == {id for other, id in owners.items() if other.startswith(beginning)}


def test_a_phrase_finds_only_itself() -> None:
    with memory() as m:
        for text in ("machines learned", "machine learning", "learning machine"):
            m.remember(text)
        assert [hit.text for hit in m.recall('"machine learning"')] == ["machine learning"]
        assert [hit.text for hit in m.search_keywords('"machine learning"')] == ["machine learning"]
        assert len(m.search_keywords("machine learning")) == 3


def test_and_not_is_not() -> None:
    with memory() as m:
        for text in ("python snake", "python code", "a snake"):
            m.remember(text)
        for query in ("python AND NOT snake", "python NOT snake", "python AND  NOT snakes"):
            found = m.recall(query)
            assert ([hit.text for hit in found], found.warnings) == (["python code"], ())
        assert [hit.text for hit in m.search_keywords('"and not" OR "AND NOT" OR code')] == ["python code"]


def test_a_refused_expression_is_searched_without_what_it_excludes(caplog: pytest.LogCaptureFixture) -> None:
    with memory() as m, caplog.at_level("INFO"):
        for text in ("python snake", "python code", "a snake"):
            m.remember(text)
        found = m.recall("NOT snake python AND (")
        assert {hit.text for hit in found} == {"python snake", "python code"}
        assert [warning.code for warning in found.warnings] == ["bad_expression"]
        assert "refused" in caplog.text
        for query in ("NOT snake", 'python AND "cat'):
            typed = m.search_keywords(query)
            assert (len(typed), [warning.code for warning in typed.warnings]) == (0, ["bad_expression"])


def test_a_keyword_search_keeps_every_word() -> None:
    with memory() as m:
        m.remember("to be or not to be")
        m.remember("a question")
        found = m.search_keywords("to be a question")
        assert [term.text for term in found.trace.query.keywords.terms] == ["to", "be", "a", "question"]
        assert len(found) == 2
