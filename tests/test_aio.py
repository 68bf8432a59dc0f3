"""What an AsyncMemory adds to the methods of a Memory."""

import asyncio
import threading
from typing import Any

import pytest

import thinkback
from thinkback.aio import AsyncMemory


def test_why_not_reads_the_store_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = thinkback.open(":memory:", embedder=None, reranker=None)
    readers: list[threading.Thread] = []
    read = type(memory.store).get

    def get(*args: Any, **kwargs: Any) -> Any:
        readers.append(threading.current_thread())
        return read(*args, **kwargs)

    async def ask() -> str:
        async with AsyncMemory(memory) as m:
            dog = await m.remember("a dog")
            await m.remember("a cat")
            found = await m.recall("cat", recipe="keyword")
            assert (len(found), found[0].text, found.ids, found.warnings) == (1, "a cat", (found[0].id,), ())
            monkeypatch.setattr(type(memory.store), "get", get)
            return (await found.why_not(dog.id)).verdict

    assert asyncio.run(ask()) == "no leg retrieved it"
    assert readers
    assert threading.main_thread() not in readers
