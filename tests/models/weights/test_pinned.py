"""The pinned list is complete and honest."""

import re

import pytest

from thinkback.errors import ModelUnavailable
from thinkback.models import weights


def test_the_promised_models_are_listed() -> None:
    assert list(weights.MODELS) == [
        "e5-small-v2",
        "bge-small-en-v1.5",
        "all-MiniLM-L6-v2",
        "potion-base-8M",
        "multilingual",
        "multilingual-scripts",
        "ms-marco-MiniLM-L-12-v2",
        "Qwen3-Reranker-0.6B",
    ]
    assert weights.find(weights.DEFAULT_EMBEDDER).kind is weights.Kind.EMBEDDER
    assert weights.find(weights.DEFAULT_RERANKER).kind is weights.Kind.CROSS_ENCODER


@pytest.mark.parametrize("model", weights.MODELS.values(), ids=list(weights.MODELS))
def test_a_row_says_everything(model: weights.Model) -> None:
    assert model.licence in {"MIT", "Apache-2.0"}
    assert model.files
    assert model.sources
    if model.kind in {weights.Kind.EMBEDDER, weights.Kind.STATIC}:
        assert model.dimensions > 0
        assert model.pooling is not weights.Pooling.NONE


@pytest.mark.parametrize("model", weights.MODELS.values(), ids=list(weights.MODELS))
def test_every_file_is_pinned_but_those_of_the_one_row_that_says_so(model: weights.Model) -> None:
    if model.name == "Qwen3-Reranker-0.6B":
        assert not model.pinned
        assert "recorded at the first fetch" in model.about
        assert [re.fullmatch("[0-9a-f]{40}", source.revision) is not None for source in model.sources] == [True]
    else:
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) and file.size > 0 for file in model.files)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(ModelUnavailable, match=r"no model named 'e5-smal-v2'\. Did you mean 'e5-small-v2'\?"):
        weights.find("e5-smal-v2")
