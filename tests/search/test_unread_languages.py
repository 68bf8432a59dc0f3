"""What a search does with a language that its embedder does not read."""

import pytest
from engine_fixtures import memory

from thinkback.errors import Action
from thinkback.testing import ToyEmbedder


class English(ToyEmbedder):
    """A toy under the name of an embedder that reads English only."""

    @property
    def fingerprint(self) -> str:
        return "e5-small-v2@toy"


@pytest.mark.parametrize(
    ("language", "texts", "question"),
    [
        ("Devanagari script", ("मेरी बिल्ली सो रही है", "बाज़ार बंद है", "कुत्ता बाहर है"), "बिल्ली कहाँ"),
        ("Chinese", ("我的猫在屋顶上睡觉", "市场今天关门了", "狗在花园里"), "猫在哪里?"),
    ],
)
def test_keywords_alone_answer_in_a_script_that_the_embedder_does_not_read(
    language: str, texts: tuple[str, ...], question: str
) -> None:
    with memory(embedder=English()) as m:
        first = m.remember_many(list(texts))[0]
        found, by_words = m.recall(question), m.recall(question, recipe="keyword")
    assert ("vector", f"the embedder does not read {language}") in found.trace.skipped
    assert found.ids[: len(by_words)] == by_words.ids
    assert found[0].id == first.id
    (warning,) = [w for w in found.warnings if w.code == "unread_language"]
    assert language in str(warning)
    assert warning.remedy is not None
    assert (warning.remedy.action, warning.remedy.subject) == (Action.CHOOSE_EMBEDDER, "multilingual")


def test_without_a_keyword_hit_the_vectors_answer() -> None:
    with memory(embedder=English()) as m:
        m.remember("the cat sleeps")
        found = m.recall("我的猫在哪里")
    assert len(found) == 1
    assert "vector" in found.trace.backends_used or found.trace.order


def test_memories_in_another_language_are_told_too() -> None:
    with memory(embedder=English()) as m:
        for text in ("Die Katze ist auf dem Dach", "Der Hund ist in der Küche", "Das Auto ist in der Garage"):
            m.remember(text)
        assert [w.code for w in m.recall("cat roof").warnings] == ["unread_language"]


def test_english_is_read_and_so_is_all_by_an_unknown_embedder() -> None:
    with memory(embedder=English()) as m:
        m.remember("the cat sleeps on the roof")
        assert m.recall("where is the cat?").warnings == ()
    with memory(embedder=ToyEmbedder()) as m:
        m.remember("Die Katze ist auf dem Dach")
        assert m.recall("Wo ist die Katze?").warnings == ()
