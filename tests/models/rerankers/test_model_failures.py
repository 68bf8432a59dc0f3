"""What onnxruntime raises becomes one of our errors, at the place where it is raised."""

from pathlib import Path
from typing import Any

import pytest
from codes import raises

from thinkback.errors import ModelDamaged, ModelError, ModelUnavailable
from thinkback.models import sessions
from thinkback.models.sessions import Session

onnxruntime = pytest.importorskip("onnxruntime")


def own(name: str) -> type[Exception]:
    kind: type[Exception] = getattr(onnxruntime.capi.onnxruntime_pybind11_state, name)
    return kind


class Failing:
    """An onnxruntime session that cannot run."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_inputs(self) -> list[Any]:
        return []

    def get_outputs(self) -> list[Any]:
        return [type("Output", (), {"name": "logits", "shape": [1, 1]})]

    def run(self, *_: object) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        own("Fail")("out of memory"),
        own("InvalidArgument")("out of memory"),
        own("RuntimeException")("out of memory"),
        RuntimeError("out of memory"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_run_that_fails_is_a_model_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_open", lambda path, device: Failing(error))
    with raises(ModelError, "run_failed"):
        Session(Path("model.onnx")).run([1, 2, 3])


def test_a_bug_of_ours_is_not_taken_for_a_failing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_open", lambda path, device: Failing(KeyError("input_ids")))
    with pytest.raises(KeyError):
        Session(Path("model.onnx")).run([1, 2, 3])


def test_files_that_are_no_models_are_told(tmp_path: Path) -> None:
    with raises(ModelUnavailable):
        Session(tmp_path / "nowhere.onnx")
    (tmp_path / "model.onnx").write_bytes(b"no protobuf at all")
    with raises(ModelDamaged):
        Session(tmp_path / "model.onnx")


def test_a_model_that_cannot_be_run_here_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise own("NotImplemented")("no kernel for this operator")

    monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)
    with raises(ModelError, "cannot_run"):
        Session(tmp_path / "model.onnx")
