"""The campaigns in small; `make torture` runs them in large. A failure names the seed that repeats it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import thinkback

sys.path.insert(0, str(Path(__file__).parent))  # the campaigns also run without pytest

import campaigns
import fuzz
import shared_index

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")]
# A fork while other threads run is what the campaigns do on purpose, and text that looks like a secret is no accident here.
quiet = pytest.mark.filterwarnings("ignore")


@quiet
@pytest.mark.parametrize(
    ("campaign", "count"),
    [
        (campaigns.kills, 20),
        (campaigns.killed_migrations, 10),
        (campaigns.power_cuts, 100),
        (campaigns.failing_calls, 40),
        (campaigns.damaged_files, 40),
        (shared_index.shared_index, 6),
        (fuzz.fuzzed_calls, 10_000),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_small_campaign_finds_nothing(campaign, count, tmp_path: Path) -> None:
    assert campaign(count, 2026, tmp_path) == []


RECALLS = """
import json, sys, thinkback
from thinkback.testing import FixedClock, ToyEmbedder
with thinkback.open(":memory:", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")) as memory:
    for n in range(60):
        subject = "cats dogs birds".split()[n % 3]
        memory.remember(f"note {n} about {subject} and the garden", id=f"m{n}", tags=[f"t{n % 4}"], thread=f"c{n % 5}")
    for query in ("cats in the garden", "birds", "dogs note 7"):
        print(json.dumps([(hit.id, hit.score) for hit in memory.recall(query, limit=0)]))
"""


def test_rankings_do_not_depend_on_the_hash_seed() -> None:
    def ranked(seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", RECALLS], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout

    assert ranked("1") == ranked("2") == ranked("1234567")


def test_a_cancelled_write_leaves_a_store_that_works(tmp_path: Path) -> None:
    """The thread finishes what it began: the memory is there whole or not at all, and the next write goes through."""

    async def cancel() -> None:
        async with thinkback.AsyncMemory(thinkback.open(tmp_path / "memory.db", embedder=None)) as memory:
            for number in range(20):
                task = asyncio.create_task(memory.remember(f"memory {number}", id=f"m{number}"))
                for _ in range(number % 5):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await memory.remember("the last one", id="last")

    asyncio.run(cancel())
    with thinkback.open(tmp_path / "memory.db", embedder=None) as memory:
        assert memory.get("last").text == "the last one"
        assert not memory.check()
