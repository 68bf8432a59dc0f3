"""The LlamaIndex memory block and retriever, through the framework's own API."""

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.schema import QueryBundle

from thinkback.integrations.llama_index import ThinkbackMemoryBlock, ThinkbackRetriever
from thinkback.memory import Memory


def test_the_block_keeps_what_leaves_the_short_term_memory(memory: Memory) -> None:
    block = ThinkbackMemoryBlock(name="long_term", memory=memory, scope={"user": "ann"})
    chat = ChatMemory.from_defaults(
        session_id="s1",
        token_limit=60,
        chat_history_token_ratio=0.5,
        token_flush_size=20,
        memory_blocks=[block],
        tokenizer_fn=str.split,
    )

    async def talk() -> str:
        said = ["My cat is called Oscar and he is grey", *(f"idle talk number {n} about nothing" for n in range(12))]
        for text in said:
            await chat.aput(ChatMessage(role="user", content=text))
            await chat.aput(ChatMessage(role="assistant", content="I see what you mean by that"))
        await chat.aput(ChatMessage(role="user", content="what is my cat called?"))
        return "\n".join(str(message.content) for message in await chat.aget())

    told = asyncio.run(talk())
    assert "- My cat is called Oscar and he is grey" in told
    stored = memory.list(user="ann", thread="s1")
    assert {one.speaker for one in stored} == {"user", "assistant"}


def test_the_block_truncates_from_the_end(memory: Memory) -> None:
    block = ThinkbackMemoryBlock(name="b", memory=memory)
    kept = asyncio.run(block.atruncate("- one two three\n- four five six", 2))
    assert kept == "- one two three"
    assert asyncio.run(block.atruncate("- one", 99)) is None
    assert asyncio.run(block.aget([])) == ""


def test_long_memories_are_shown_by_their_passage_and_the_gate_leaves_out(memory: Memory, long_text: str) -> None:
    memory.remember(long_text, id="long")
    block = ThinkbackMemoryBlock(name="b", memory=memory, min_relevance=0.4)
    told = asyncio.run(block.aget([ChatMessage(role="user", content="when does the harbour of Bergen close?")]))
    assert "harbour" in told
    assert len(told) < len(long_text) / 2
    assert asyncio.run(block.aget([ChatMessage(role="user", content="asdfgh qwerty")])) == ""
    (found,) = ThinkbackRetriever(memory, min_relevance=0.4).retrieve("when does the harbour of Bergen close?")
    assert len(found.node.get_content()) < len(long_text) / 2
    assert found.node.metadata["relevance"] >= 0.4


def test_the_retriever_returns_nodes(memory: Memory) -> None:
    memory.remember("Oscar is a grey cat", id="cat", tags=["pets"])
    memory.remember("Rex is a dog", id="dog")
    retriever = ThinkbackRetriever(memory, limit=1, tag="pets")
    (found,) = retriever.retrieve("which cat is grey?")
    assert (found.node.node_id, found.node.get_content(), found.node.metadata["tags"]) == (
        "cat",
        "Oscar is a grey cat",
        ["pets"],
    )
    assert found.score > 0
    assert [one.node.node_id for one in asyncio.run(retriever.aretrieve(QueryBundle("cat")))] == ["cat"]
