"""What a search does with a language that its embedder does not read."""

from engine_fixtures import memory

from thinkback.errors import Action
from thinkback.testing import ToyEmbedder


class English(ToyEmbedder):
    """A toy under the name of an embedder that reads English only."""

    @property
    def fingerprint(self) -> str:
        return "e5-small-v2@toy"


def test_keywords_alone_answer_in_a_script_that_the_embedder_does_not_read() -> None:
    with memory(embedder=English()) as m:
        m.remember("मेरी बिल्ली सो रही है")
        m.remember("बाज़ार बंद है")
        found = m.recall("बिल्ली कहाँ")
    assert ("vector", "the embedder does not read Devanagari script") in found.trace.skipped
    (warning,) = [w for w in found.warnings if w.code == "unread_language"]
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
