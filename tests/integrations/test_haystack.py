"""The Haystack document store: the framework's own conformance tests, and a pipeline."""

from pathlib import Path

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.testing.document_store import DocumentStoreBaseTests

from thinkback.integrations.haystack import ThinkbackDocumentStore, ThinkbackRetriever


class TestConformance(DocumentStoreBaseTests):
    @pytest.fixture
    def document_store(self, tmp_path: Path) -> ThinkbackDocumentStore:
        return ThinkbackDocumentStore(str(tmp_path / "memory.db"), embedder=None)

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        """In any order, as the conformance tests ask for none."""
        assert sorted(received, key=lambda one: one.id) == sorted(expected, key=lambda one: one.id)

    def test_write_documents(self, document_store: ThinkbackDocumentStore) -> None:
        """The default policy is to refuse a document that exists."""
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(Exception, match="exists already"):
            document_store.write_documents([document])
        self.assert_documents_are_equal(document_store.filter_documents(), [document])


def test_a_pipeline_retrieves_and_is_saved(tmp_path: Path) -> None:
    store = ThinkbackDocumentStore(str(tmp_path / "memory.db"), embedder=None)
    store.memory.remember("a cat that is none of the framework's")
    store.write_documents(
        [
            Document(id="cat", content="Oscar is a grey cat", meta={"kind": "pet", "age": 7}),
            Document(id="dog", content="Rex is a dog, and no cat", meta={"kind": "pet", "age": 2}),
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("retriever", ThinkbackRetriever(store, top_k=5))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["thinkback.integrations.haystack"])
    old = {"field": "meta.age", "operator": ">", "value": 3}
    (found,) = again.run({"retriever": {"query": "grey cat", "filters": old}})["retriever"]["documents"]
    assert (found.id, found.meta["kind"], found.score > 0) == ("cat", "pet", True)
    assert len(pipeline.run({"retriever": {"query": "cat"}})["retriever"]["documents"]) == 2
    content = {"field": "content", "operator": "==", "value": "Oscar is a grey cat"}
    assert [one.id for one in store.filter_documents(content)] == ["cat"]
