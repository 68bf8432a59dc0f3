"""CrewAI's memory in a Thinkback file: pip install 'thinkback[crewai]'. The embedder here is a toy; a crew brings its own."""

from crewai.memory.unified_memory import Memory

import thinkback
from thinkback.integrations.crewai import ThinkbackStorage
from thinkback.testing import ToyEmbedder

toy = ToyEmbedder(64)

with thinkback.open(":memory:", embedder=None) as store:
    memory = Memory(
        storage=ThinkbackStorage(store),
        embedder=lambda texts: [[float(number) for number in toy.embed_query(text)] for text in texts],
    )
    memory.remember("Melanie painted a lake", scope="/art", categories=["art"], importance=0.5)
    for match in memory.recall("the lake Melanie painted", scope="/art", depth="shallow", limit=3):
        print(f"{match.score:.2f}", match.record.content)
