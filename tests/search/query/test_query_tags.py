"""Tags a query suggests, and where each came from."""

import json
from contextlib import suppress

import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import RemoteError
from thinkback.search.query.ask_model import ask_for_tags
from thinkback.search.query.tags import MAX_TAGS, InferredTag, Vocabulary, infer_tags

PETS = Vocabulary.of({"pets": 9, "travel": 5, "deep-learning": 3, "machine learning": 2, "Work": 2, "東京": 1})


def found(query: str, vocabulary: Vocabulary = PETS) -> dict[str, str]:
    return {tag.tag: tag.origin for tag in infer_tags(query, vocabulary)}


class Scripted:
    """A chat that answers what it is told to, or raises it, and remembers what it was asked."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, int]] = []

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        self.asked.append((system, user, max_tokens))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class TestHashtags:
    @pytest.mark.parametrize(
        ("query", "tags"),
        [
            ("#cooking tips", ["cooking"]),
            ("tips on #Cooking, #BAKING!", ["cooking", "baking"]),
            ("#deep-learning-", ["deep-learning"]),
            ("#snake_case", ["snake_case"]),
            ("#日本料理 が好き", ["日本料理"]),
            ("＃料理", ["料理"]),
            ("#हिन्दी", ["हिन्दी"]),
            ("#a #b #a", ["a", "b"]),
            ("(#x)", ["x"]),
        ],
    )
    def test_a_word_after_a_hash_is_a_tag_in_lower_case(self, query, tags):
        assert infer_tags(query, Vocabulary.of({})) == tuple(InferredTag(tag, "hashtag") for tag in tags)

    @pytest.mark.parametrize(
        "query",
        ["C# code", "# heading", "## heading", "##heading", "http://x.y/#part", "page.html#part", "&#39;", "#1", "# x"],
    )
    def test_other_hashes_are_none(self, query):
        assert infer_tags(query, Vocabulary.of({})) == ()

    def test_a_number_is_a_tag_only_if_the_store_knows_it(self):
        assert found("see #42", Vocabulary.of({"42": 1})) == {"42": "hashtag"}

    def test_a_known_tag_keeps_the_spelling_of_the_store(self):
        assert found("#work") == found("#WORK") == {"Work": "hashtag"}
        assert found("#work", Vocabulary.of({"work": 2, "Work": 1})) == {"work": "hashtag", "Work": "hashtag"}


class TestVocabulary:
    @pytest.mark.parametrize(
        ("query", "tags"),
        [
            ("What are her pets called?", ["pets"]),
            ("PETS!", ["pets"]),
            ("travel with pets", ["travel", "pets"]),
            ("deep-learning models", ["deep-learning"]),
            ("Machine  Learning at work", ["machine learning", "Work"]),
            ("明日は東京へ行きます", ["東京"]),
        ],
    )
    def test_a_known_tag_that_stands_as_a_whole_word_is_found(self, query, tags):
        assert infer_tags(query, PETS) == tuple(InferredTag(tag, "vocabulary") for tag in tags)

    @pytest.mark.parametrize(
        "query",
        [
            "petshop",
            "carpets",
            "deep learning",
            "very-deep-learning",
            "machine. learning",
            "traveller",
            "homework",
            "京東",
            "",
        ],
    )
    def test_a_part_of_a_word_is_not(self, query):
        assert infer_tags(query, PETS) == ()

    def test_a_hyphenated_word_is_one_word(self):
        assert found("state-of-the-art", Vocabulary.of({"art": 1, "state": 1, "state-of-the-art": 1})) == {
            "state-of-the-art": "vocabulary"
        }

    def test_tags_within_tags_are_all_found(self):
        vocabulary = Vocabulary.of({"machine": 1, "machine learning": 1, "learning": 1, "machine learning course": 1})
        assert list(found("a machine learning course", vocabulary)) == [
            "machine",
            "machine learning",
            "machine learning course",
            "learning",
        ]

    def test_punctuation_may_be_part_of_a_tag(self):
        vocabulary = Vocabulary.of({"c++": 1, "node.js": 1, "q&a": 1, "!": 1})
        assert list(found("the Q&A on node.js and C++", vocabulary)) == ["q&a", "node.js", "c++"]

    def test_hashtags_and_known_tags_are_united(self):
        assert found("#cooking for pets") == {"cooking": "hashtag", "pets": "vocabulary"}
        assert found("#pets and pets") == {"pets": "hashtag"}

    def test_accents_may_be_composed_or_not(self):
        assert list(found("un cafe\u0301 ici", Vocabulary.of({"café": 1}))) == ["café"]

    def test_the_most_used_tags_come_first(self):
        assert Vocabulary.of({"b": 1, "a": 1, "c": 7}).tags == ("c", "a", "b")

    def test_vocabularies_of_the_same_tags_are_equal(self):
        assert Vocabulary.of({"a": 1, "b": 1}) == Vocabulary.of({"b": 1, "a": 1})
        assert hash(Vocabulary.of({"a": 1})) == hash(Vocabulary.of({"a": 2}))
        assert Vocabulary.of({"a": 1}) != Vocabulary.of({"b": 1})

    def test_there_is_a_limit_to_what_one_query_suggests(self):
        query = " ".join(f"#t{number}" for number in range(1000)) + " pets"
        assert len(infer_tags(query, PETS)) == MAX_TAGS
        many = Vocabulary.of({f"t{number}": 1 for number in range(1000)})
        assert len(infer_tags(" ".join(many.tags), many)) == MAX_TAGS

    @given(st.lists(st.text(min_size=1, max_size=12), max_size=6), st.text(max_size=60))
    def test_no_text_raises_and_only_known_tags_come_from_the_vocabulary(self, tags, query):
        vocabulary = Vocabulary.of(dict.fromkeys(tags, 1))
        for tag in infer_tags(query, vocabulary):
            assert tag.origin == "hashtag" or tag.tag in tags

    @given(st.lists(st.from_regex(r"[a-z]{1,6}(-[a-z]{1,6}){0,2}( [a-z]{1,6}){0,3}", fullmatch=True), max_size=5))
    def test_a_query_made_of_tags_suggests_them_all(self, tags):
        vocabulary = Vocabulary.of(dict.fromkeys(tags, 1))
        assert {tag.tag for tag in infer_tags("Tell me: " + "; ".join(tags).upper(), vocabulary)} >= set(tags)


class TestTheLanguageModel:
    @pytest.mark.parametrize(
        ("answer", "tags"),
        [
            ('["pets", "travel"]', ["pets", "travel"]),
            ('```json\n["pets"]\n```', ["pets"]),
            ('Sure! Here you are: ["Pets"]. Anything else?', ["pets"]),
            ('{"tags": ["work"]}', ["Work"]),
            ('["pets", "no-such-tag", 7, null, ["travel"]]', ["pets"]),
            ('["pets", "tra', ["pets"]),
            ('["pets", oops]', ["pets"]),
            ("pets, travel", ["pets", "travel"]),
            ("- pets\n- travel\n", ["pets", "travel"]),
            ("`#pets`", ["pets"]),
            ('["pets", "pets", "PETS"]', ["pets"]),
        ],
    )
    def test_known_tags_are_taken_from_whatever_it_answers(self, answer, tags):
        assert ask_for_tags("my animals", PETS, Scripted(answer)) == tuple(InferredTag(tag, "llm") for tag in tags)

    @pytest.mark.parametrize("answer", ["[]", "[ ]", "", "   "])
    def test_none_is_an_answer_too(self, answer):
        assert ask_for_tags("my animals", PETS, Scripted(answer)) == ()

    @pytest.mark.parametrize(
        "answer",
        ['["unknown"]', "I cannot help with that.", "<html>502</html>", "[[[[", "[" * 3000 + "]" * 900, "\x00\ud800"],
    )
    def test_nonsense_is_an_error(self, answer):
        with raises(RemoteError, "invalid_answer"):
            ask_for_tags("my animals", PETS, Scripted(answer))

    def test_it_is_offered_the_50_most_used_tags_and_300_characters(self):
        chat = Scripted('["t99", "t0"]')
        vocabulary = Vocabulary.of({f"t{number}": 100 - number for number in range(100)})
        tags = ask_for_tags("x" * 1000, vocabulary, chat)
        [(_, user, max_tokens)] = chat.asked
        assert json.loads(user) == {"tags": [f"t{number}" for number in range(50)], "question": "x" * 300}
        assert max_tokens == 100
        assert tags == (InferredTag("t0", "llm"),)

    @pytest.mark.parametrize(("query", "vocabulary"), [("anything", Vocabulary.of({})), ("  ", PETS)])
    def test_it_is_not_asked_in_vain(self, query, vocabulary):
        chat = Scripted("never")
        assert ask_for_tags(query, vocabulary, chat) == ()
        assert chat.asked == []

    @given(st.text())
    def test_every_answer_gives_known_tags_or_a_remote_error(self, answer):
        with suppress(RemoteError):
            assert {tag.tag for tag in ask_for_tags("x", PETS, Scripted(answer))} <= set(PETS.tags)
