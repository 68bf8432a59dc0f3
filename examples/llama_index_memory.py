"""A LlamaIndex memory block over a memory: pip install 'thinkback[llama-index]'."""

import asyncio

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

import thinkback
from thinkback.integrations.llama_index import ThinkbackMemoryBlock, ThinkbackRetriever


async def main() -> None:
    with thinkback.open(":memory:", embedder=None) as memory:
        block = ThinkbackMemoryBlock(name="long_term", memory=memory, scope={"user": "ann"})
        chat = Memory.from_defaults(
            session_id="s1", token_limit=40, token_flush_size=10, memory_blocks=[block], tokenizer_fn=str.split
        )
        for text in ("My cat is called Oscar", *(f"Small talk number {n} about the weather" for n in range(8))):
            await chat.aput(ChatMessage(role="user", content=text))
        await chat.aput(ChatMessage(role="user", content="What is my cat called?"))
        print("\n".join(str(message.content) for message in await chat.aget()))
        print(ThinkbackRetriever(memory, limit=1).retrieve("cat")[0].node.get_content())


asyncio.run(main())
