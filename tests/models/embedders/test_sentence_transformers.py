"""The sentence-transformers adapter on a tiny random BERT built in the test."""

import json
from pathlib import Path

import numpy as np
import pytest
from codes import raises

pytest.importorskip("torch", reason="torch is not installed: pip install 'thinkback[sentence-transformers]'")
pytest.importorskip(
    "sentence_transformers",
    reason="sentence-transformers is not installed: pip install 'thinkback[sentence-transformers]'",
)

from thinkback.errors import ModelUnavailable
from thinkback.models.embedders import Embedder, open_embedder
from thinkback.models.embedders.base import combine_windows

pytestmark = pytest.mark.torch

WORDS = ["cat", "dog", "sun", "moon", "tree", "river", "query", "passage", ":"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers, 40 positions, prompts for queries and documents."""
    import torch
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
    kept = {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "sentence_bert_config.json": {"max_seq_length": 40, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "query : ", "document": "passage : "}},
        "1_Pooling/config.json": {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
    }
    (path / "1_Pooling").mkdir()
    for name, value in kept.items():
        (path / name).write_text(json.dumps(value))
    return path


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
    """40 tokens less 4 and a prompt of 2 are 34 words a window, 4 shared or more: 60 words make 0–34 and 26–60."""
    words = [WORDS[(index * index) % 6] for index in range(60)]
    pieces = embedder.embed_passages([" ".join(words[:34]), " ".join(words[26:])])
    lengths = [len(" ".join(words[:34])), len(" ".join(words[26:]))]
    whole = embedder.embed_passages([" ".join(words)])[0]
    assert np.allclose(whole, combine_windows(pieces, lengths), atol=1e-5)


def test_the_fingerprint_names_the_model(embedder: Embedder, folder: Path) -> None:
    assert embedder.fingerprint.startswith(f"st:{folder}@")


def test_a_model_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with raises(ModelUnavailable):
        open_embedder(f"st:{tmp_path}")
