"""Keyword queries, checked against the real FTS5."""

import os
import random
import re
import string

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thinkback.model import KeywordTerm
from thinkback.search.query.keywords import _BAREWORD, MAX_EXPERT_LENGTH, MAX_TERMS, parse_keywords
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.stores.segmentation import segment

FUZZED = int(os.environ.get("THINKBACK_FUZZED_QUERIES", "20000"))
any_text = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates and NUL too


class Index:
    """A table as the store makes it."""

    def __init__(self, *contents: str, essence: str = "", tags: str = "") -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            'CREATE VIRTUAL TABLE t USING fts5(content, essence, tags, tokenize = "porter unicode61 remove_diacritics 2")'
        )
        for content in contents:
            self._db.execute("INSERT INTO t VALUES (?, ?, ?)", (segment(content), segment(essence), segment(tags)))

    def match(self, expression: str) -> list[int]:
        return [row for (row,) in self._db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (expression,))]

    def find(self, query: str) -> list[int]:
        return self.match(parse_keywords(query).expression)


@pytest.fixture(scope="module")
def empty() -> Index:
    return Index()


def words(query: str, *, drop: bool = False) -> list[str]:
    return [term.text for term in parse_keywords(query, drop_function_words=drop).terms]


class TestBareQueries:
    def test_a_bag_of_words_joined_with_or(self):
        query = parse_keywords("grey cat Oscar")
        assert query.mode == "bare"
        assert query.terms == (KeywordTerm("grey"), KeywordTerm("cat"), KeywordTerm("Oscar"))
        assert query.expression == '"grey" OR "cat" OR "Oscar"'
        assert (query.dropped, query.fallback, query.truncated) == ((), None, False)

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("sister's", ["sister", "s"]),
            ("http://x.y", ["http", "x", "y"]),
            ("at 12:30", ["at", "12", "30"]),
            ("snake_case and kebab-case", ["snake", "case", "and", "kebab"]),
            ("a/b\\c|d&e", ["a", "b", "c", "d", "e"]),
            ("C++, C# or .NET?", ["C", "or", "NET"]),
            ("(unbalanced [brackets}", ["unbalanced", "brackets"]),
            ("and or not", ["and", "or", "not"]),
            ("NEAR(a b, 5)", ["NEAR", "a", "b", "5"]),
            ("cat CAT Cat", ["cat"]),
            ("naïve café", ["naïve", "café"]),
            ("nai\u0308ve", ["nai\u0308ve"]),
            ("हिन्दी", ["हिन्दी"]),
            ("x\x00y", ["x", "y"]),
            ("a\ud800b", ["a", "b"]),
            ("I ♥ NY 🗽", ["I", "NY", "🗽"]),
            ("good job🤖🎉!", ["good", "job", "🤖", "🎉"]),
            ("₿100", ["₿", "100"]),
            ('one " quote', ["one", "quote"]),
            ("content://media", ["content", "media"]),
            ("the content: apples", ["the", "content", "apples"]),
            ("discontent:apples", ["discontent", "apples"]),
            ("Content:apples", ["Content", "apples"]),
        ],
    )
    def test_everything_but_letters_digits_and_marks_separates(self, query, expected):
        assert parse_keywords(query).mode == "bare"
        assert words(query) == expected

    @pytest.mark.parametrize("query", ["", "   ", "?!", '"', '""', '" "', "'", "***", "\x00", "\ud800", "♥", "-:()"])
    def test_a_query_without_words_is_empty(self, query):
        assert parse_keywords(query) == parse_keywords("")
        assert parse_keywords(query).mode == "empty"
        assert parse_keywords(query).expression == ""

    @pytest.mark.parametrize(
        ("query", "terms"),
        [
            ("auto*", (KeywordTerm("auto", prefix=True),)),
            ("auto*, bike", (KeywordTerm("auto", prefix=True), KeywordTerm("bike"))),
            ("(auto*)", (KeywordTerm("auto", prefix=True),)),
            ("auto auto*", (KeywordTerm("auto"), KeywordTerm("auto", prefix=True))),
            ("2*3", (KeywordTerm("2"), KeywordTerm("3"))),
            ("**bold**", (KeywordTerm("bold"),)),
            ("*slanted*", (KeywordTerm("slanted"),)),
            ("* star", (KeywordTerm("star"),)),
        ],
    )
    def test_one_trailing_star_is_a_prefix(self, query, terms):
        assert parse_keywords(query).terms == terms

    def test_a_prefix_finds_what_begins_with_it(self):
        index = Index("automobile", "autumn", "the automatic door")
        assert parse_keywords("auto*").expression == '"auto"*'
        assert index.find("auto*") == [1, 3]
        assert index.find("auto") == []

    def test_words_match_as_the_index_stems_and_folds_them(self):
        index = Index("Caroline adopted two grey cats", "a café in Lyon", "nothing")
        assert index.find("adopt cat") == [1]
        assert index.find("CAFE") == index.find("cafe\u0301") == [2]
        assert index.find("हिन्दी nothing") == [3]


class TestExpertQueries:
    @pytest.mark.parametrize(
        "query",
        [
            '"grey cat"',
            'say "hello world" twice',
            "cat AND dog",
            "cat OR dog",
            "cat NOT dog",
            "content:cat",
            "essence:cat dog",
            "tags:pets",
            "(tags:pets)",
            "-content:cat",
            "{content tags}:cat",
            'content:"grey cat"',
            "auto* AND tags:cars",
            "NOT",
        ],
    )
    def test_a_phrase_an_operator_or_a_column_passes_unchanged(self, query):
        parsed = parse_keywords(query, drop_function_words=True)
        assert (parsed.mode, parsed.expression) == ("expert", query)
        assert parsed.fallback

    def test_expert_syntax_means_what_fts5_says(self):
        index = Index("grey cat", "cat grey dog", "dog", essence="pets at home", tags="animals")
        assert index.find('"grey cat"') == [1]
        assert index.find("cat AND dog") == [2]
        assert index.find("cat NOT dog") == [1]
        assert index.find("content:animals OR content:cat") == [1, 2]
        assert index.find("tags:animals AND essence:pets") == [1, 2, 3]

    def test_the_fallback_is_the_bare_query_without_operators(self):
        query = parse_keywords('content:cats AND "dogs')
        assert query.fallback == '"cats" OR "dogs"'
        assert query.terms == (KeywordTerm("cats"), KeywordTerm("dogs"))

    def test_the_fallback_of_operators_alone_is_themselves(self):
        assert parse_keywords("NOT").fallback == '"NOT"'

    def test_function_words_are_dropped_from_the_fallback_only(self):
        query = parse_keywords('who is "the boss"', drop_function_words=True)
        assert query.expression == 'who is "the boss"'
        assert (query.fallback, query.dropped) == ('"boss"', ("who", "is", "the"))

    @pytest.mark.parametrize(
        ("query", "expression"),
        [
            ("東京 AND tower", '"東 京" AND tower'),
            ("content:東京*", 'content:"東 京"*'),
            ('"東京 tower" OR x', '" 東  京  tower" OR x'),
            ("東京\u3000AND\u3000大阪", '"東 京" AND "大 阪"'),
            ("Python編程 OR x", '"Python 編 程" OR x'),
            ('NEAR(東京 大阪, 5) OR "x"', 'NEAR("東 京" "大 阪", 5) OR "x"'),
        ],
    )
    def test_scripts_without_spaces_are_made_searchable(self, empty, query, expression):
        parsed = parse_keywords(query)
        assert (parsed.mode, parsed.expression) == ("expert", expression)
        assert empty.match(expression) == []

    def test_a_long_text_with_quotes_is_a_document_not_an_expression(self):
        long = 'He said "yes" AND left. ' * (MAX_EXPERT_LENGTH // 24 + 1)
        assert parse_keywords(long).mode == "bare"
        many = '"quoted" ' + " ".join(f"w{n}" for n in range(MAX_TERMS))
        assert (parse_keywords(many).mode, parse_keywords(many).truncated) == ("bare", True)


class TestFunctionWords:
    @pytest.mark.parametrize(
        ("query", "kept", "dropped"),
        [
            ("what is Caroline's pet called?", ["Caroline", "pet", "called"], ("what", "is", "s")),
            ("What’s the plan", ["plan"], ("what", "s", "the")),
            ("why didn't we'll they've you're I'd I'm sailing", ["sailing"], None),
            ("He won't say who won", ["say", "won"], ("he", "won", "t", "who")),
            ("Did Don call? I don't know", ["Don", "call", "know"], ("did", "i", "don", "t")),
            ("vitamin d and model s", ["vitamin", "d", "model", "s"], ("and",)),
            ("Who works in IT at the US office?", ["works", "IT", "US", "office"], ("who", "in", "at", "the")),
            ("WHO IS IT FOR IN PARIS", ["PARIS"], ("who", "is", "it", "for", "in")),
            ("What did Will plan for May?", ["Will", "plan", "May"], ("what", "did", "for")),
            ("Will it rain?", ["rain"], ("will", "it")),
            ("may it rain", ["rain"], ("may", "it")),
            ("the* cat", ["the", "cat"], ()),
            ("是 the 東京", ["是", "東京"], ("the",)),
        ],
    )
    def test_they_are_dropped_when_other_words_remain(self, query, kept, dropped):
        parsed = parse_keywords(query, drop_function_words=True)
        assert [term.text for term in parsed.terms] == kept
        assert dropped is None or parsed.dropped == dropped

    @pytest.mark.parametrize("query", ["what is it", "who are you?", "to be or not to be", "it's", "Will", "The Who"])
    def test_a_query_of_function_words_keeps_them_all(self, query):
        assert parse_keywords(query, drop_function_words=True) == parse_keywords(query)
        assert parse_keywords(query).terms

    def test_nothing_is_dropped_unless_asked(self):
        assert words("what is it for, Caroline's cat?") == ["what", "is", "it", "for", "Caroline", "s", "cat"]

    @given(st.lists(st.sampled_from([*sorted(FUNCTION_WORDS), "cat", "Oscar", "東京", "s", "won't"])).map(" ".join))
    def test_dropped_and_kept_words_together_are_all_words(self, query):
        bare, dropping = parse_keywords(query), parse_keywords(query, drop_function_words=True)
        kept = {term.text.lower() for term in dropping.terms}
        assert kept | set(dropping.dropped) == {term.text.lower() for term in bare.terms}
        assert bool(dropping.terms) == bool(bare.terms)


class TestScriptsWithoutSpaces:
    @pytest.mark.parametrize(
        ("query", "expression"),
        [
            ("京", '"京"'),
            ("東京", '"東 京"'),
            ("東京大学", '"東 京 大 学"'),
            ("東京大学生", '"東 京" OR "京 大" OR "大 学" OR "学 生"'),
            ("학교", '"학 교"'),
            ("タワー", '"タ ワ ー"'),
            ("Python編程3", '"Python" OR "編 程" OR "3"'),
            ("東京、大阪", '"東 京" OR "大 阪"'),
            ("東京*", '"東 京"'),
            ("編程py*", '"編 程" OR "py"*'),
            ("𠀋𠂢", '"𠀋 𠂢"'),
            ("ภาษาไทย", '"ภ า ษ า ไ ท ย"'),
        ],
    )
    def test_a_run_is_a_phrase_and_a_long_one_many(self, query, expression):
        assert parse_keywords(query).expression == expression

    def test_one_to_four_characters_are_found_inside_a_sentence(self):
        index = Index("明日は東京大学へ行きます", "京東で買い物", "나는 학교에서 공부한다", "ผมเรียนภาษาไทยทุกวัน")
        assert index.find("東京") == [1]
        assert index.find("京") == [1, 2]
        assert index.find("東京大学") == [1]
        assert index.find("학교") == [3]
        assert index.find("ภาษาไทย") == [4]
        assert index.find("東京大学へ明日行く") == [1]

    @pytest.mark.parametrize("text", ["", "plain", "Ünïcödé — ‘quotes’ ♥", "हिन्दी", "، ، العربية", "\x00\ud800 x"])
    def test_segment_returns_other_text_itself(self, text):
        assert segment(text) is text

    def test_segment_puts_spaces_around_each_character(self):
        assert segment("a東京b") == "a 東  京 b"
        assert segment("。！？・「」　") == "。！？・「」　"

    @given(any_text)
    def test_segment_only_adds_spaces(self, text):
        assert segment(text).replace(" ", "") == text.replace(" ", "")

    @given(any_text)
    def test_segment_twice_gives_the_same_words(self, text):
        assert segment(segment(text)).split() == segment(text).split()


class TestPictures:
    def test_words_beside_pictures_are_found_and_newer_pictures_too(self):
        """FTS5 indexes no picture of Unicode 6.1 or before, and takes later ones for letters."""
        index = Index("great job🤖", "🤖 at work", "₿100 well spent", "party 🎉")
        assert index.find("job") == [1]
        assert index.find("🤖") == [1, 2]
        assert index.find("100") == [3]
        assert index.find("🎉") == []
        assert index.find("party🎉") == [4]


class TestAnyText:
    @given(any_text, st.booleans())
    @example('"" AND ""', True)
    @example("\x1a", False)
    def test_nothing_raises_and_terms_are_distinct_and_few(self, text, drop):
        query = parse_keywords(text, drop_function_words=drop)
        assert len(query.terms) <= MAX_TERMS
        assert len({(term.text.lower(), term.prefix) for term in query.terms}) == len(query.terms)
        assert (query.mode == "empty") == (not query.expression)
        assert query.terms or query.mode == "empty" or "NOT" in text
        assert (query.fallback is not None) == (query.mode == "expert")

    @given(any_text, st.booleans())
    def test_fts5_accepts_every_bare_expression_and_every_fallback(self, text, drop):
        query = parse_keywords(text, drop_function_words=drop)
        expression = query.fallback or query.expression
        if expression:
            assert Index("x").match(expression) in ([], [1])

    @given(st.lists(any_text, min_size=2).map(" ".join))
    def test_a_bare_query_reads_the_same_without_its_punctuation(self, text):
        query = parse_keywords(text)
        if query.mode == "bare" and not any(term.prefix for term in query.terms):
            again = parse_keywords(" ".join(term.text for term in query.terms))
            assert {term.text for term in again.terms} == {term.text for term in query.terms}

    def test_of_a_megabyte_the_first_256_distinct_words_count(self):
        text = "same SAME " * 1000 + " ".join(f"w{n}" for n in range(150_000))
        query = parse_keywords(text)
        assert query.truncated
        assert [term.text for term in query.terms] == ["same", *(f"w{n}" for n in range(MAX_TERMS - 1))]
        assert not parse_keywords(" ".join(f"w{n}" for n in range(MAX_TERMS))).truncated

    def test_a_megabyte_of_one_word_and_of_one_run_is_accepted(self, empty):
        assert empty.match(parse_keywords("x" * 1_000_000).expression) == []
        assert empty.match(parse_keywords("".join(map(chr, range(0x4E00, 0x9FFF))) * 16).expression) == []

    @pytest.mark.slow
    def test_random_unicode_queries_are_all_accepted(self, empty):
        """As many as THINKBACK_FUZZED_QUERIES says, from every plane and with every piece of FTS5's own syntax."""
        pick = random.Random(20240515)
        pieces = [
            '"',
            "*",
            "(",
            ")",
            "{",
            "}",
            ":",
            "-",
            "+",
            "^",
            ",",
            "AND",
            "OR",
            "NOT",
            "NEAR",
            "content:",
            "'s",
            " ",
        ]
        planes = [(0, 0x7F), (0x80, 0x2FFF), (0x3000, 0xFFFF), (0x10000, 0x10FFFF)]
        for _ in range(FUZZED):
            characters = (
                pick.choice(pieces) if pick.random() < 0.3 else chr(pick.randint(*pick.choice(planes)))
                for _ in range(pick.randint(0, 24))
            )
            query = parse_keywords("".join(characters), drop_function_words=pick.random() < 0.5)
            if query.mode == "bare" or query.fallback:
                assert empty.match(query.fallback or query.expression) == []

    def test_no_word_is_split_that_fts5_keeps_whole(self):
        """Every character in use: cutting where the index does not would make the word unfindable."""
        tokenizer = apsw.Connection(":memory:").fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
        for code in (*range(1, 0xD800), *range(0xE000, 0x10000), *range(0x1F000, 0x1FC00)):
            query = f"ab{chr(code)}cd"
            if len(words(query)) > 1:
                tokens = tokenizer(segment(query).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
                assert len(tokens) > 1, hex(code)


def test_a_bareword_of_fts5_is_what_its_documentation_says():
    """ASCII letters and digits, the underscore, \\x1a, and everything beyond ASCII."""
    letters = re.compile(_BAREWORD)
    ours = {chr(code) for code in range(0x110000) if letters.fullmatch(chr(code))}
    ascii_ones = set("_\x1a" + string.ascii_letters + string.digits)
    assert ours == ascii_ones | {chr(code) for code in range(0x80, 0x110000)}
