"""Languages: what tells them, their function words and time phrases, and whether an embedder reads them."""

import pytest

from thinkback.clock import to_us
from thinkback.languages import written_in
from thinkback.model import Filter
from thinkback.search.query.languages import across, language, script, unread
from thinkback.search.query.parse import Parsing, parse

NOW = to_us("2026-05-08T12:00Z")
E5 = "e5-small-v2@f16b1f57a0bd30d0"


def asked(text: str) -> list[str]:
    return [term.text for term in parse(text, Filter(now=NOW), Parsing()).keywords.terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wie viele Sacks erzielte Jared Allen in seiner Karriere?", "de"),
        ("¿Cuántos balones interceptó Josh Norman?", "es"),
        ("Qui a gagné le match hier ?", "fr"),
        ("What is the war in Die Hard about?", ""),
        ("What did Will plan for May?", ""),
        ("la", ""),
        ("", ""),
    ],
)
def test_function_words_tell_the_language(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Hund ist im Garten und schläft", "de"),
        ("El perro está en la casa", "es"),
        ("Le chat est dans la maison", "fr"),
        ("¿Vamos?", ""),
        ("Los Angeles Rams, Los Angeles Lakers (LA Galaxy) and the Chargers of San Diego in the league", ""),
        ("Um right, um so any thoughts?", ""),
        ("Y Yeah, y y y you said it was totally unusable", ""),
        ("Professor B: de - ba - de. de - ba - de", ""),
        ("My friend François and Jürgen Müller went to see Die Hard", ""),
        ("Ich mag Kaffee", ""),
        ("", ""),
    ],
)
def test_a_text_is_stemmed_in_a_language_that_two_of_its_words_tell(text: str, expected: str) -> None:
    assert written_in(text) == expected


def test_function_words_are_left_out_in_their_language() -> None:
    assert asked("Wann hat die Katze den Hund gesehen?") == ["Katze", "Hund", "gesehen"]
    assert asked("¿Cuándo fue la reunión con Ana?") == ["reunión", "Ana"]
    assert asked("Où est la clé de la maison ?") == ["clé", "maison"]
    assert asked("猫叫什么名字？") == ["猫叫", "名字"]


def test_english_keeps_its_own_table() -> None:
    assert asked("What did Die Hard cost in the war?") == ["Die", "Hard", "cost", "war"]


@pytest.mark.parametrize(
    ("text", "phrase", "days", "tolerance"),
    [
        ("Was hat Anna vor drei Wochen gekauft?", "vor drei Wochen", 21, 5),
        ("Was geschah gestern?", "gestern", 1, 1),
        ("Was passierte letzte Woche?", "letzte Woche", 7, 3),
        ("¿Qué compró Ana hace 2 días?", "hace 2 días", 2, 2),
        ("¿Qué pasó el mes pasado?", "el mes pasado", 30, 7),
        ("Qu'a-t-elle fait la semaine dernière ?", "la semaine dernière", 7, 3),
        ("Qu'a-t-elle fait il y a deux jours ?", "il y a deux jours", 2, 2),
        ("我上周去了哪里？", "上周", 7, 3),
        ("我三天前去了哪里？", "三天前", 3, 2),
        ("Am 8. Mai 2023", "8. Mai 2023", 1096, 2),
        ("el 8 de mayo de 2023", "8 de mayo de 2023", 1096, 2),
        ("le 8 mai 2023", "8 mai 2023", 1096, 2),
        ("2023年5月8日发生了什么？", "2023年5月8日", 1096, 2),
        ("Qu'est-ce que j'ai mangé hier ?", "hier", 1, 1),
    ],
)
def test_time_phrases(text: str, phrase: str, days: float, tolerance: float) -> None:
    anchor = parse(text, Filter(now=NOW), Parsing()).anchor
    assert anchor is not None
    assert (anchor.phrase, anchor.days_before, anchor.tolerance_days) == (phrase, days, tolerance)
    assert text[anchor.start : anchor.end] == phrase


@pytest.mark.parametrize("text", ["Wer war das hier?", "Life in mars colonies", "Guten Morgen, was gibt es?"])
def test_words_of_other_languages_that_name_no_time(text: str) -> None:
    assert parse(text, Filter(now=NOW), Parsing()).anchor is None


def test_recipes_that_read_templates_only_read_no_other_language() -> None:
    assert parse("gestern", Filter(now=NOW), Parsing(time="templated")).anchor is None
    assert parse("gestern", Filter(now=NOW), Parsing(time="none")).anchor is None


@pytest.mark.parametrize(
    ("text", "expected"), [("मेरी बिल्ली", "DEVANAGARI"), ("我的猫 cat", "CJK"), ("cat", "LATIN"), ("42!", "")]
)
def test_the_script_of_most_letters(text: str, expected: str) -> None:
    assert script(text) == expected


def test_what_an_embedder_does_not_read() -> None:
    assert unread("मेरी बिल्ली कहाँ है", E5) == ("Devanagari script", True)
    assert unread("我的猫叫什么", E5) == ("Chinese", True)
    assert unread("Wo ist die Katze von Anna?", E5) == ("German", False)
    assert unread("Where is Anna's cat?", E5) == ("", False)
    for reads_all in ("multilingual@1", "my-own-model", None):
        assert unread("मेरी बिल्ली", reads_all) == ("", False)


def test_keywords_count_less_where_question_and_memories_differ_in_language() -> None:
    english = ["The cat is on the roof.", "The dog is in the house.", "42"]
    assert across("Wo ist die Katze von Anna?", english, "multilingual@1")
    assert not across("Where is the cat?", english, "multilingual@1")
    assert not across("Katze", english, "multilingual@1")
    assert not across("Wo ist die Katze von Anna?", english, E5)
    assert not across("Wo ist die Katze von Anna?", [], "multilingual@1")
