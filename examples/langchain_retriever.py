"""A LangChain retriever and chat history over a memory: pip install 'thinkback[langchain]'."""

import thinkback
from thinkback.integrations.langchain import ThinkbackChatHistory, ThinkbackRetriever

with thinkback.open(":memory:", embedder=None) as memory:
    history = ThinkbackChatHistory(memory, "session-1", user="ann")
    history.add_user_message("My cat is called Oscar")
    history.add_ai_message("What a fine name!")
    print([message.content for message in history.messages])

    retriever = ThinkbackRetriever(memory=memory, limit=3, filters={"user": "ann"})
    for document in retriever.invoke("what is the cat called?"):
        print(f"{document.metadata['score']:.2f}", document.page_content)
