"""A Haystack pipeline that retrieves from a memory: pip install 'thinkback[haystack]'."""

from haystack import Document, Pipeline

from thinkback.integrations.haystack import ThinkbackDocumentStore, ThinkbackRetriever

store = ThinkbackDocumentStore(":memory:", embedder=None)
store.write_documents(
    [
        Document(content="Oscar is a grey cat", meta={"year": 2024}),
        Document(content="Rex is a dog", meta={"year": 2019}),
    ]
)
pipeline = Pipeline()
pipeline.add_component("retriever", ThinkbackRetriever(store, top_k=3))
recent = {"field": "meta.year", "operator": ">", "value": 2020}
found = pipeline.run({"retriever": {"query": "which pets are there? a cat?", "filters": recent}})
for document in found["retriever"]["documents"]:
    print(f"{document.score:.2f}", document.content)
