"""A model whose graph was optimised once is opened from the file that onnxruntime wrote of it, with the same results."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from thinkback.models import prepared
from thinkback.models.sessions import Session
from thinkback.models.weights.checksums import STAMP

pytestmark = pytest.mark.models
IDS = ([101, 2054, 2106, 6563, 2360, 102], list(range(1000, 1300)))


@pytest.fixture(params=["e5-small-v2", "ms-marco-MiniLM-L-12-v2"])
def model(request: pytest.FixtureRequest, weights, tmp_path: Path) -> Path:
    """The weights of a model in a folder of verified ones."""
    shutil.copy(weights(request.param) / "model.onnx", tmp_path / "model.onnx")
    (tmp_path / STAMP).write_text("{}")
    return tmp_path / "model.onnx"


def outputs(model: Path) -> list[np.ndarray]:
    session = Session(model, "cpu")
    return [session.run(ids) for ids in IDS]


def test_results_are_the_same_to_the_last_bit(model: Path) -> None:
    (model.parent / STAMP).unlink()
    plain = outputs(model)
    assert not model.with_name("prepared.onnx").exists()
    (model.parent / STAMP).write_text("{}")
    first, second = outputs(model), outputs(model)
    assert model.with_name("prepared.onnx").exists()
    for one, other, third in zip(plain, first, second, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, third)


def test_a_prepared_file_is_used_only_as_it_was_made(model: Path) -> None:
    import onnxruntime

    version = onnxruntime.__version__
    Session(model, "cpu")
    made = prepared.find(model, version)
    assert made is not None
    assert made.stat().st_mode & 0o077 == 0
    assert prepared.find(model, "0.1") is None
    made.write_bytes(made.read_bytes())
    assert prepared.find(model, version) is None
    Session(model, "cpu")
    assert prepared.find(model, version) == made
    os.utime(model)
    assert prepared.find(model, version) is None


def test_a_prepared_file_that_cannot_be_read_is_passed_over(model: Path) -> None:
    import onnxruntime

    expected = outputs(model)
    made = model.with_name("prepared.onnx")
    made.write_bytes(b"damaged")
    stamp = [onnxruntime.__version__, prepared._identity(model), prepared._identity(made)]
    model.with_name("prepared.json").write_text(json.dumps(stamp))
    assert np.array_equal(outputs(model)[0], expected[0])
    assert made.stat().st_size > 1000
    assert not list(model.parent.glob("*.part"))
