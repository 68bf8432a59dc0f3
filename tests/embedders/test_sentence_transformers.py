"""The sentence-transformers adapter on a tiny random BERT built in the test."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'recollect[sentence-transformers]'")
pytest.importorskip(
    "sentence_transformers",
    reason="sentence-transformers is not installed: pip install 'recollect[sentence-transformers]'",
)

from recollect.embedders import Embedder, open_embedder
from recollect.embedders.base import combine_windows
from recollect.errors import ModelUnavailable

pytestmark = pytest.mark.torch

WORDS = ["cat", "dog", "sun", "moon", "tree", "river", "query", "passage", ":"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers, 40 positions, prompts for queries and documents."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("tiny-bert")
    (path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    BertTokenizerFast(vocab=str(path / "vocab.txt")).save_pretrained(path)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    BertModel(config).save_pretrained(path)
    transformer = parts.Transformer(str(path), max_seq_length=40)
    pooling = parts.Pooling(16)
    prompts = {"query": "query : ", "document": "passage : "}
    SentenceTransformer(modules=[transformer, pooling], prompts=prompts, device="cpu").save(str(path / "model"))
    return path / "model"


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Embedder:
    return open_embedder(f"st:{folder}")


def test_vectors_are_unit_and_prompts_are_used(embedder: Embedder) -> None:
    rows = embedder.embed_passages(["cat dog", "sun", ""])
    assert rows.shape == (3, embedder.dimensions) == (3, 16)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert not np.allclose(embedder.embed_query("cat dog"), rows[0], atol=1e-4)
    assert embedder.embed_passages([]).shape == (0, 16)


def test_long_texts_are_read_in_windows(embedder: Embedder) -> None:
    """40 tokens less an eighth is 35 words a window, at least 4 shared: 60 words make 0–35 and 25–60."""
    words = [WORDS[(index * index) % 6] for index in range(60)]
    pieces = embedder.embed_passages([" ".join(words[:35]), " ".join(words[25:])])
    lengths = [len(" ".join(words[:35])), len(" ".join(words[25:]))]
    whole = embedder.embed_passages([" ".join(words)])[0]
    assert np.allclose(whole, combine_windows(pieces, lengths), atol=1e-5)


def test_the_fingerprint_names_the_model(embedder: Embedder, folder: Path) -> None:
    assert embedder.fingerprint.startswith(f"st:{folder}@")


def test_a_model_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="cannot load"):
        open_embedder(f"st:{tmp_path}")
