"""The multilingual embedder: pieces by hand, and, with its weights, one meaning in several languages."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from codes import raises

from thinkback.errors import ModelDamaged
from thinkback.models.embedders import Embedder, open_embedder
from thinkback.models.embedders.multilingual import Encoder, Pieces
from thinkback.models.weights import FetchOptions
from thinkback.models.weights.pinned import MODELS


def pieces(folder: Path) -> Pieces:
    (folder / "pieces.txt").write_text("▁ca\nt\n▁cat\ns\n", encoding="utf-8")
    np.save(folder / "vectors.npy", np.array([[9, 9], [9, 9], [3, 0], [0, 4]], dtype=np.float16))
    return Pieces(folder)


def test_a_text_is_the_mean_of_its_longest_pieces(tmp_path: Path) -> None:
    """cats = ▁cat + s: (3, 0) + (0, 4) = (3, 4), of length 5."""
    assert pieces(tmp_path).mean("Cats!").tolist() == [0.6, 0.8]
    assert pieces(tmp_path).mean("cat cat").tolist() == [1.0, 0.0]


def test_unknown_letters_count_as_nothing(tmp_path: Path) -> None:
    assert pieces(tmp_path).mean("xyz").tolist() == [0.0, 0.0]
    assert pieces(tmp_path).mean("").tolist() == [0.0, 0.0]


def test_broken_files_say_so(tmp_path: Path) -> None:
    with raises(ModelDamaged, "model_damaged"):
        Pieces(tmp_path)
    (tmp_path / "sp.model").write_bytes(b"\x0a\x05abc")
    with raises(ModelDamaged, "model_damaged"):
        Encoder(tmp_path)


def test_a_model_that_needs_another_names_a_pinned_one() -> None:
    assert all(needed in MODELS and MODELS[needed].pinned for model in MODELS.values() for needed in model.needs)


@pytest.fixture(scope="module")
def embedder(weights: Callable[[str], Path], fetch: FetchOptions) -> Embedder:
    weights("multilingual")
    return open_embedder("multilingual", fetch)


@pytest.mark.models
@pytest.mark.parametrize("text", ["Wo ist meine graue Katze?", "¿Dónde está mi gato gris?", "我的灰猫在哪里？"])
def test_one_meaning_in_two_languages_is_nearer_than_another_meaning(embedder: Embedder, text: str) -> None:
    near, far = embedder.embed_passages(["Where is my grey cat?", "The invoice is due in March."])
    asked = embedder.embed_query(text)
    assert asked @ near > 0.5 > asked @ far


@pytest.mark.models
def test_a_script_that_the_encoder_lacks_has_static_vectors(embedder: Embedder) -> None:
    cat, dog, asked = embedder.embed_passages(["मेरी बिल्ली सो रही है", "बाज़ार बंद है", "बिल्ली कहाँ है"])
    assert not asked[:512].any()
    assert asked @ cat > asked @ dog


@pytest.mark.models
def test_a_vector_is_a_function_of_its_text_alone(embedder: Embedder) -> None:
    texts = ["cat", "a long text " * 400, "", "?", "🐈"]
    together = embedder.embed_passages(texts)
    assert together.shape == (5, embedder.dimensions) == (5, 640)
    assert all(np.array_equal(row, embedder.embed_query(text)) for row, text in zip(together, texts, strict=True))
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
