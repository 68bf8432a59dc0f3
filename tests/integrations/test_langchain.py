"""The LangChain retriever and chat history, through the framework's own API."""

import asyncio

import pytest

pytest.importorskip("langchain_core")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from thinkback.integrations.langchain import ThinkbackChatHistory, ThinkbackRetriever
from thinkback.memory import Memory


def test_the_retriever_is_a_runnable(memory: Memory) -> None:
    memory.remember("Oscar is a grey cat", id="cat", tags=["pets"], user="ann")
    memory.remember("Rex is a dog", id="dog", user="bob")
    retriever = ThinkbackRetriever(memory=memory, limit=2, filters={"user": "ann"})
    (found,) = retriever.invoke("which cat is grey?")
    assert (found.id, found.page_content, found.metadata["tags"]) == ("cat", "Oscar is a grey cat", ["pets"])
    assert found.metadata["score"] > 0
    chain = retriever | (lambda documents: [one.id for one in documents])
    assert chain.invoke("cat") == asyncio.run(chain.ainvoke("cat")) == ["cat"]


def test_documents_hold_the_passage_of_a_long_memory_and_pass_the_gate(memory: Memory, long_text: str) -> None:
    memory.remember(long_text, id="long")
    retriever = ThinkbackRetriever(memory=memory, options={"min_relevance": 0.4})
    (found,) = retriever.invoke("when does the harbour of Bergen close?")
    assert "harbour" in found.page_content
    assert len(found.page_content) < len(long_text) / 2
    assert found.metadata["relevance"] >= 0.4
    assert retriever.invoke("asdfgh qwerty") == []


def test_the_history_keeps_messages_in_order(memory: Memory) -> None:
    history = ThinkbackChatHistory(memory, "s1", user="ann")
    history.add_user_message("My cat is Oscar")
    history.add_ai_message("Nice")
    calls = [{"name": "f", "args": {"x": 1}, "id": "c1", "type": "tool_call"}]
    history.add_messages([AIMessage(content="", tool_calls=calls), ToolMessage(content="7", tool_call_id="c1")])
    assert [(type(one), one.content) for one in history.messages] == [
        (HumanMessage, "My cat is Oscar"),
        (AIMessage, "Nice"),
        (AIMessage, ""),
        (ToolMessage, "7"),
    ]
    assert history.messages[2].tool_calls == calls
    assert memory.recall("Oscar", user="ann")[0].record.speaker == "user"
    other = ThinkbackChatHistory(memory, "s2")
    other.add_user_message("hello")
    history.clear()
    assert (history.messages, len(other.messages), memory.count()) == ([], 1, 2)


def test_a_chain_with_history(memory: Memory) -> None:
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda messages: AIMessage(content=f"{len(messages)} so far")),
        lambda session: ThinkbackChatHistory(memory, session),
    )
    config = {"configurable": {"session_id": "s"}}
    chain.invoke([HumanMessage(content="one")], config=config)
    assert chain.invoke([HumanMessage(content="two")], config=config).content == "3 so far"
    assert len(ThinkbackChatHistory(memory, "s").messages) == 4
