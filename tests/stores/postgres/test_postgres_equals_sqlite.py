"""The same memories and the same questions give the same rankings, scores and explanations on PostgreSQL as on SQLite.

Whether the server answers, or the copy of a space that is asked again and again.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from thinkback.clock import DAY
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.memory import Memory
from thinkback.opening import Opener
from thinkback.search.trace import Recall
from thinkback.settings import Settings
from thinkback.stores.postgres import PostgresSpaces
from thinkback.stores.postgres.store import PostgresStore
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import ToyEmbedder
from thinkback.testing.contract.words import NOW

pytestmark = pytest.mark.postgres
LOCOMO = Path(__file__).parents[4] / "shared" / "data" / "locomo-dev.json"
QUERIES = (
    "what is the grey cat called?",
    '"grey cat" OR dog*',
    "cat NOT dog",
    "essence:night",
    "京都で猫",
    "what happened yesterday?",
    "auto* #pets",
    "running cats and dogs in the night",
    "Wie viele Häuser hat die Katze?",
    "Katze NOT Hund",
    "gatos AND casa",
)


def _trio(spaces: PostgresSpaces, folder: Path, name: str) -> tuple[Memory, Memory, Memory]:
    """In a file, on the server, and on the server without copies."""
    opener = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW)
    here, there = SqliteStore(folder / f"{name}.db"), spaces.open(name)
    uncopied = PostgresStore(spaces.server, there._sessions.space, name)
    return opener.over(here), opener.over(there), opener.over(uncopied)


def _told(found: Recall) -> list[Any]:
    return [(hit.id, hit.score, hit.placings, hit.contributions, hit.stored) for hit in found] + [
        (run.leg, run.hits, run.filled, run.skipped) for run in found.trace.runs
    ]


def _alike(memories: Sequence[Memory], query: str, **asked: Any) -> bool:
    here, *there = [_told(memory.recall(query, counted=False, **asked)) for memory in memories]
    return there == [here, here]


@pytest.fixture
def trio(shared_spaces: PostgresSpaces, tmp_path: Path) -> Iterator[tuple[Memory, Memory, Memory]]:
    memories = _trio(shared_spaces, tmp_path, "trio")
    yield memories
    for memory in memories:
        memory.close()
    shared_spaces.drop("trio")


def test_a_life_of_small_things_ranks_equally(
    trio: tuple[Memory, Memory, Memory], shared_spaces: PostgresSpaces
) -> None:
    for memory in trio[:2]:
        memory.remember_many(
            {
                "text": f"{word} {other} and a {n % 7} cat in the night",
                "id": f"m{n:03}",
                "tags": [word],
                "thread": f"t{n % 5}",
                "created_at": NOW - n * DAY,
                "metadata": {"n": n % 4},
            }
            for n, (word, other) in enumerate(
                (w, o) for w in ("grey", "dogs", "pets", "automatic", "猫") for o in "abcdefgh"
            )
        )
        memory.remember("昨日は京都で猫を見た", id="kyoto", essence="a night in Kyoto")
        memory.remember("Die Katzen schlafen in den alten Häusern der Stadt", id="haus", tags=["katzen"])
        memory.remember("Katze im Haus", id="kurz")
        memory.remember("Los gatos que viven en las casas de la ciudad", id="gato")
        memory.update("haus", text="Die Katze und der Hund schlafen in dem Haus")
        memory.update("m003", text="the grey cat is called Oscar, and runs", tags=["pets"])
        memory.forget("m004", "m011")
        memory.link("m001", "m009", weight=0.7)
        memory.link("m009", "kyoto", kind="other", weight=0.2)
        memory.reflect()
    wheres: tuple[dict[str, Any], ...] = (
        {"tags": ["grey"]},
        {"metadata": {"n": 2}},
        {"known_at": NOW},
        {"as_of": NOW - DAY},
        {"since": NOW - 9 * DAY},
    )
    for query in QUERIES:
        for recipe in ("default", "keyword", "vector", "memini", "engrava"):
            assert _alike(trio, query, recipe=recipe), (query, recipe)
        for where in wheres:
            assert _alike(trio, query, **where), (query, where)
    assert shared_spaces.facts()["copies"]


def test_speakers_and_updates_rank_equally(trio: tuple[Memory, Memory, Memory]) -> None:
    said = (
        ("a", "Caroline: I use Jira for tickets"),
        ("b", "Caroline: I switched to Linear for tickets"),
        ("c", "assistant: Jira has tickets"),
        ("d", "Note: tickets"),
        ("e", "Melanie: the tickets cost $20"),
        ("f", "Melanie: the tickets cost $25 now"),
    )
    for memory in trio[:2]:
        memory.remember_many(
            {"id": id, "text": text, "created_at": NOW - (9 - n) * DAY} for n, (id, text) in enumerate(said)
        )
        memory.update("c", text="user: Jira has tickets")
        memory.store.update("e", {"speaker": "Somebody"}, NOW)
        memory.store.update("e", {"speaker": None}, NOW)  # emptied by its owner, so it stays
        assert memory.reindex() == 0
    here, there, _ = trio
    assert {one.id: one.speaker for one in here.list()} == {one.id: one.speaker for one in there.list()}
    assert {one.id: one.speaker for one in there.list()} == {
        "a": "Caroline",
        "b": "Caroline",
        "c": "user",
        "d": None,
        "e": None,
        "f": "Melanie",
    }
    for query in ("What does Caroline use for tickets?", "How much do the tickets cost?", "What did I say about Jira?"):
        assert _alike(trio, query), query
        assert _alike(trio, query, where={"speaker": "Caroline"}), query
    assert [hit.supersedes for hit in there.recall("How much do the tickets cost?")][:1] == [("e",)]


@pytest.mark.skipif(not LOCOMO.exists(), reason="the LoCoMo data is not here")
def test_every_question_of_locomo_ranks_equally(shared_spaces: PostgresSpaces, tmp_path: Path) -> None:
    dataset = read_locomo(LOCOMO, adversarial=True)
    for number, corpus in enumerate(dataset.corpora):
        here, there, uncopied = trio = _trio(shared_spaces, tmp_path, f"locomo-{number}")
        with here, there, uncopied:
            for memory in (here, there):
                memory.remember_many(
                    {
                        "text": document.text,
                        "id": document.id,
                        "thread": document.thread,
                        "position": document.position,
                        "created_at": document.created_us,
                        "speaker": document.speaker or None,
                    }
                    for document in corpus.documents
                )
            for question in dataset.questions:
                if question.corpus_id == corpus.id:
                    assert _alike(trio, question.text, now=question.now_us), question.text
            assert shared_spaces.facts()["copies"]
        shared_spaces.drop(f"locomo-{number}")
