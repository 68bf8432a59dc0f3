"""A LangGraph graph whose long-term memory is a Thinkback file: pip install 'thinkback[langgraph]'."""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

import thinkback
from thinkback.integrations.langgraph import ThinkbackStore


class State(TypedDict):
    said: str
    known: list[str]


def note(state: State, runtime: Runtime) -> Any:
    """Store what was said, then look for what is known about it."""
    store = runtime.store
    store.put(("users", "ann"), str(hash(state["said"])), {"text": state["said"]})
    return {"known": [item.value["text"] for item in store.search(("users", "ann"), query=state["said"])]}


builder = StateGraph(State)
builder.add_node("note", note)
builder.add_edge(START, "note")
builder.add_edge("note", END)

with thinkback.open(":memory:", embedder=None) as memory:
    graph = builder.compile(store=ThinkbackStore(memory))
    graph.invoke({"said": "Oscar is a grey cat", "known": []})
    print(graph.invoke({"said": "What does the cat eat?", "known": []})["known"])
