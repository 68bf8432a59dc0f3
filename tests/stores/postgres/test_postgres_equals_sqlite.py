"""The same memories and the same questions give the same rankings, scores and explanations on PostgreSQL as on SQLite."""

from collections.abc import Iterator
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
)


def _pair(spaces: PostgresSpaces, folder: Path, name: str) -> tuple[Memory, Memory]:
    opener = Opener(Settings(reranker="none"), embedder=ToyEmbedder(64), clock=lambda: NOW)
    return opener.over(SqliteStore(folder / f"{name}.db")), opener.over(spaces.open(name))


def _told(found: Recall) -> list[Any]:
    return [(hit.id, hit.score, hit.placings, hit.contributions, hit.stored) for hit in found] + [
        (run.leg, run.hits, run.filled, run.skipped) for run in found.trace.runs
    ]


@pytest.fixture
def pair(shared_spaces: PostgresSpaces, tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    memories = _pair(shared_spaces, tmp_path, "pair")
    yield memories
    for memory in memories:
        memory.close()
    shared_spaces.drop("pair")


def test_a_life_of_small_things_ranks_equally(pair: tuple[Memory, Memory]) -> None:
    for memory in pair:
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
        memory.update("m003", text="the grey cat is called Oscar, and runs", tags=["pets"])
        memory.forget("m004", "m011")
        memory.link("m001", "m009", weight=0.7)
        memory.link("m009", "kyoto", kind="other", weight=0.2)
        memory.reflect()
    here, there = pair
    for query in QUERIES:
        for recipe in ("default", "keyword", "vector", "memini", "engrava"):
            asked: dict[str, Any] = {"recipe": recipe, "counted": False}
            assert _told(here.recall(query, **asked)) == _told(there.recall(query, **asked)), (query, recipe)
        for where in ({"tags": ["grey"]}, {"metadata": {"n": 2}}, {"known_at": NOW}, {"since": NOW - 9 * DAY}):
            assert _told(here.recall(query, counted=False, **where)) == _told(
                there.recall(query, counted=False, **where)
            )


@pytest.mark.skipif(not LOCOMO.exists(), reason="the LoCoMo data is not here")
def test_every_question_of_locomo_ranks_equally(shared_spaces: PostgresSpaces, tmp_path: Path) -> None:
    dataset = read_locomo(LOCOMO, adversarial=True)
    for number, corpus in enumerate(dataset.corpora):
        here, there = _pair(shared_spaces, tmp_path, f"locomo-{number}")
        with here, there:
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
                    asked: dict[str, Any] = {"counted": False, "now": question.now_us}
                    assert _told(here.recall(question.text, **asked)) == _told(there.recall(question.text, **asked))
        shared_spaces.drop(f"locomo-{number}")
