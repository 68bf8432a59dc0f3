"""The pinned list is complete and honest."""

import re

import pytest

from recollect import models
from recollect.errors import ModelUnavailable


def test_the_promised_models_are_listed() -> None:
    assert list(models.MODELS) == [
        "e5-small-v2",
        "bge-small-en-v1.5",
        "all-MiniLM-L6-v2",
        "potion-base-8M",
        "ms-marco-MiniLM-L-12-v2",
        "Qwen3-Reranker-0.6B",
    ]
    assert models.find(models.DEFAULT_EMBEDDER).kind is models.Kind.EMBEDDER
    assert models.find(models.DEFAULT_RERANKER).kind is models.Kind.CROSS_ENCODER


@pytest.mark.parametrize("model", models.MODELS.values(), ids=list(models.MODELS))
def test_a_row_says_everything(model: models.Model) -> None:
    assert model.licence in {"MIT", "Apache-2.0"}
    assert model.files
    assert model.sources
    if model.kind in {models.Kind.EMBEDDER, models.Kind.STATIC}:
        assert model.dimensions > 0
        assert model.pooling is not models.Pooling.NONE


@pytest.mark.parametrize("model", models.MODELS.values(), ids=list(models.MODELS))
def test_every_file_is_pinned_but_those_of_the_one_row_that_says_so(model: models.Model) -> None:
    if model.name == "Qwen3-Reranker-0.6B":
        assert not model.pinned
        assert "recorded at the first fetch" in model.about
        assert [re.fullmatch("[0-9a-f]{40}", source.revision) is not None for source in model.sources] == [True]
    else:
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) and file.size > 0 for file in model.files)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(ModelUnavailable, match=r"no model named 'e5-smal-v2'\. Did you mean 'e5-small-v2'\?"):
        models.find("e5-smal-v2")
