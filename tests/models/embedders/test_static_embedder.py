"""Static embeddings: a table looked up and averaged, with the arithmetic written out."""

import json
from pathlib import Path

import numpy as np
import pytest
from codes import raises
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from thinkback.errors import ModelDamaged
from thinkback.models.embedders import open_embedder
from thinkback.models.embedders.static import StaticEmbedder, read_safetensors

VOCABULARY = {"[UNK]": 0, "cat": 1, "dog": 2, "sun": 3}
TABLE = np.array([[9, 9], [1, 0], [0, 1], [3, 4]], dtype="<f4")


def safetensors(path: Path, **tensors: np.ndarray) -> None:
    kinds = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64"}
    header, body = {"__metadata__": {"made": "by hand"}}, b""
    for name, tensor in tensors.items():
        data = tensor.tobytes()
        span = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kinds[tensor.dtype.name], "shape": list(tensor.shape), "data_offsets": span}  # type: ignore[assignment]
        body += data
    told = json.dumps(header).encode()
    path.write_bytes(len(told).to_bytes(8, "little") + told + body)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    safetensors(tmp_path / "model.safetensors", embeddings=TABLE)
    return tmp_path


def test_a_text_is_the_mean_of_its_known_words(folder: Path) -> None:
    embedder = StaticEmbedder(folder, "tiny", "test")
    assert embedder.dimensions == 2
    rows = embedder.embed_passages(["cat", "cat dog", "sun unheard-of", "sun cat"])
    assert rows[0].tolist() == [1, 0]
    assert np.allclose(rows[1], [1 / 2**0.5, 1 / 2**0.5])
    assert np.allclose(rows[2], [3 / 5, 4 / 5])  # the unknown words and their row count nothing
    assert np.allclose(rows[3], [4 / 32**0.5, 4 / 32**0.5])
    assert np.array_equal(embedder.embed_query("cat dog"), rows[1])


@pytest.mark.parametrize("text", ["", "   ", "never seen"])
def test_a_text_of_no_known_word_gets_the_middle_of_the_table(folder: Path, text: str) -> None:
    """Mean row (9+1+0+3, 9+0+1+4) / 4 = (13, 14) / 4, scaled to length 1."""
    vector = StaticEmbedder(folder, "tiny", "test").embed_query(text)
    assert np.allclose(vector, np.array([13, 14]) / (13**2 + 14**2) ** 0.5)


def test_weights_and_mapping_are_applied_where_the_file_has_them(folder: Path) -> None:
    """Tokens 1 and 2 share row 0; weights are per token."""
    safetensors(
        folder / "model.safetensors",
        embeddings=np.array([[1, 0], [0, 1]], dtype="<f2"),
        mapping=np.array([1, 0, 0, 1], dtype="<i8"),
        weights=np.array([1, 2, 1, 6], dtype="<f8"),
    )
    rows = StaticEmbedder(folder, "tiny", "test").embed_passages(["cat dog", "cat sun"])
    assert rows[0].tolist() == [1, 0]  # 2·(1,0) + 1·(1,0)
    assert np.allclose(rows[1], np.array([2, 6]) / 40**0.5)  # 2·(1,0) + 6·(0,1)


def test_company_does_not_matter(folder: Path) -> None:
    embedder = StaticEmbedder(folder, "tiny", "test")
    texts = ["cat", "dog sun sun", "", "cat cat dog"]
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    assert np.array_equal(embedder.embed_passages(texts), alone)


def test_a_folder_with_safetensors_opens_as_a_table(folder: Path) -> None:
    assert open_embedder(str(folder)).embed_query("cat").tolist() == [1, 0]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\xff" * 200,
        (2**40).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (5).to_bytes(8, "little") + b"{nope",
        (58).to_bytes(8, "little") + b'{"a": {"dtype":"F32","shape":[9],"data_offsets":[0,36]}}  ' + b"\0" * 8,
        (58).to_bytes(8, "little") + b'{"a": {"dtype":"X99","shape":[2],"data_offsets":[0,8]}}   ' + b"\0" * 8,
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(damage)
    with raises(ModelDamaged):
        read_safetensors(tmp_path / "model.safetensors")


def test_a_file_without_embeddings_says_what_it_holds(folder: Path) -> None:
    safetensors(folder / "model.safetensors", something=TABLE)
    with raises(ModelDamaged, "no_embeddings"):
        StaticEmbedder(folder, "tiny", "test")


def test_numbers_that_are_none_are_refused(folder: Path) -> None:
    safetensors(folder / "model.safetensors", embeddings=np.full((4, 2), np.nan, dtype="<f4"))
    with raises(ModelDamaged):
        StaticEmbedder(folder, "tiny", "test")
