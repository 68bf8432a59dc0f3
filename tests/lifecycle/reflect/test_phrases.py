"""Key phrases: class-based TF-IDF, weight = tf · ln(1 + A / f), over the words of the whole store."""

import math

from thinkback.lifecycle.reflect.phrases import Lexicon, key_phrases, weight


def lexicon(*texts: str) -> Lexicon:
    return Lexicon.of((f"m{n}", text) for n, text in enumerate(texts))


def phrases(texts: list[str], members: list[int], most: int = 5) -> tuple[str, ...]:
    return key_phrases(lexicon(*texts), [[f"m{n}" for n in members]], most)[0]


def test_the_weight_is_tf_times_the_log_of_rarity() -> None:
    texts = ["violin, and violin, and pasta", "violin or pasta", "pasta, then violin", "pasta", "soup and soup"]
    # 5 texts of 15 words, so 3 texts have A = 9 on average; violin: tf 4, f 4; pasta: tf 3, f 4
    assert lexicon(*texts).total == 5 + 3 + 3 + 1 + 3
    assert weight(4, 4, 9.0) == 4 * math.log(1 + 9 / 4)
    assert weight(3, 4, 9.0) == 3 * math.log(1 + 9 / 4)
    assert phrases(texts, [0, 1, 2]) == ("violin", "pasta")
    # said twelve times elsewhere, the commoner word falls behind: 4 · ln(1 + A/16) < 3 · ln(1 + A/4)
    texts = [*texts, "violin, so violin, so violin, so violin, so violin, so violin", "violin so " * 6]
    assert phrases(texts, [0, 1, 2]) == ("pasta", "violin")


def test_a_phrase_must_stand_in_two_members_and_in_a_fifth_of_them() -> None:
    assert phrases(["violin lesson", "garden path", "pasta recipe"], [0, 1, 2]) == ()
    many = [f"topic{n} thing{n}" for n in range(9)]
    assert phrases([*many, "violin", "violin"], list(range(11))) == ()  # 2 of 11 is less than a fifth
    assert phrases([*many[:8], "violin", "violin"], list(range(10))) == ("violin",)


def test_function_words_talk_numbers_and_single_letters_are_no_phrases() -> None:
    assert phrases(["I really like it, 2023 ok", "I really like it, 2023 ok", "so what 2023"], [0, 1, 2]) == ()


def test_a_word_said_everywhere_says_nothing() -> None:
    texts = ["Caroline: the violin", "Caroline: a violin", "Caroline: my violin"] + [
        f"Caroline: thing{n}" for n in range(30)
    ]
    assert phrases(texts, [0, 1, 2]) == ("violin",)


def test_two_words_in_a_row_beat_their_halves() -> None:
    texts = ["the adoption agency called", "our adoption agency wrote", "an adoption agency again", *["other"] * 5]
    assert phrases(texts, [0, 1, 2]) == ("adoption agency",)


def test_plurals_count_as_one_and_the_commonest_spelling_is_shown() -> None:
    assert phrases(["two Cats", "my Cats", "one cat"], [0, 1, 2]) == ("Cats",)
    assert phrases(["two cats", "my cats", "one cat"], [0, 1, 2]) == ("cats",)


def test_scripts_without_spaces_give_phrases_too() -> None:
    assert phrases(["我喜欢爬山", "他们爬山去了", "爬山很好"], [0, 1, 2]) == ("爬山",)


def test_clusters_do_not_influence_each_other() -> None:
    texts = [
        "violin lesson one",
        "violin lesson two",
        "violin lesson three",
        "garden path four",
        "garden path five",
        "garden path six",
    ]
    words = lexicon(*texts)
    first, second = ["m0", "m1", "m2"], ["m3", "m4", "m5"]
    assert key_phrases(words, [first, second]) == [*key_phrases(words, [first]), *key_phrases(words, [second])]


def test_at_most_as_many_as_asked() -> None:
    texts = ["red blue green teal pink", "blue teal red pink green", "pink green red teal blue"]
    assert len(phrases(texts, [0, 1, 2], most=3)) == 3


def test_a_word_is_written_in_lower_case_if_the_store_ever_writes_it_so() -> None:
    texts = ["Winning is fun", "Winning again", "Winning!", "I was winning", *["other"] * 20]
    assert phrases(texts, [0, 1, 2]) == ("winning",)
    assert phrases(["Oscar sleeps", "Oscar eats", "Oscar hides", *["other"] * 20], [0, 1, 2]) == ("Oscar",)


def test_words_that_a_sign_parts_are_no_phrase() -> None:
    texts = ["Tim: Ouch, that hurts", "Tim: Ouch! again", "Tim: Ouch. My knee", *["other"] * 20]
    assert phrases(texts, [0, 1, 2]) == ("Ouch", "Tim")


def test_a_label_of_one_word_is_followed_by_what_single_members_tell() -> None:
    texts = ["veterans need support", "support; the marathon", "support zzyzx"]
    others = ["the veterans march", "a marathon in rain", *["other"] * 20]
    # zzyzx stands nowhere else, so it says nothing to a reader
    assert phrases([*texts, *others], [0, 1, 2]) == ("support", "marathon", "veterans")
    texts = ["our opening", "grand opening tonight", "the opening", "a grand opening", *["other"] * 20]
    assert phrases(texts, [0, 1, 2]) == ("grand opening",)


OTHERS = ["other"] * 20


def test_of_the_forms_of_a_word_the_shortest_is_shown_once() -> None:
    texts = ["mentoring, pupils, a mentor", "mentoring and mentor, pupils", "mentoring, mentor; pupils", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("mentor", "pupils")
    texts = ["a garden path; gardening; rain", "the garden path, gardening; rain", "my garden path, rain", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("garden path", "rain")


def test_phrases_come_before_single_words() -> None:
    texts = ["rain, rain, rain; garden path", "rain, rain; garden path", "rain, rain, rain; her", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("garden path", "rain")


def test_two_words_without_a_phrase_become_what_a_member_says() -> None:
    texts = ["he served, in the military", "military: who served?", "my uncle served in the military", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("served in the military",)
    texts = ["trip, camera", "camera; trip", "a camera. one road trip", "a long road", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("road trip", "camera")


def test_words_between_two_signs_are_no_phrase_of_a_member() -> None:
    texts = ["trip, camera", "camera; trip", "a camera. one trip, of", *OTHERS]
    assert phrases(texts, [0, 1, 2]) == ("camera", "trip")
