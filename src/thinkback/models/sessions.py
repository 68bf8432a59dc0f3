"""Running ONNX models so that a text's result depends on the text alone.

Dynamically quantised models take the scale of their activations from the whole tensor: padding and batch mates change
a text's vector (cosine down to .992 for e5-small-v2). So every text runs alone and unpadded, several at once on as
many threads, one core each. That costs the same processor time as padded batches, and is exact to the last bit
whatever the order, the batch or the number of threads.

Processors without VNNI saturate int8 products: cosine .997 against those that have it, .39 in a cross-encoder's
logit, and 2.6 points of hit@5 on LoCoMo turns (.637 instead of .663 with e5-small-v2). `session.x64quantprecision` makes
the sums exact for about a tenth more time, so vectors are as good everywhere and a store can move between machines.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput, ModelDamaged, ModelError, ModelUnavailable
from thinkback.models import prepared

DEVICES = ("auto", "cpu", "cuda")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Session:
    """An ONNX model that takes token ids, one sequence at a time."""

    def __init__(self, path: Path, device: str = "auto", threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads must be at least 1, not {threads}", code="out_of_range")
        self.threads = threads or _cores()
        self._path = path
        self._session = _open(path, device)
        self._failures = _failures()
        self._inputs = frozenset(entry.name for entry in self._session.get_inputs())
        self._output = self._widest_output()

    def _widest_output(self) -> str:
        """Token vectors (rank 3) before anything pooled; a classifier has only its logits."""
        outputs = self._session.get_outputs()
        return str(max(outputs, key=lambda entry: len(entry.shape)).name)

    def run(self, ids: Sequence[int], types: Sequence[int] | None = None) -> NDArray[np.float32]:
        """The model's output for one sequence, without the batch axis."""
        row = np.array([ids], dtype=np.int64)
        given = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row) if types is None else np.array([types], dtype=np.int64),
        }
        feeds = {name: value for name, value in given.items() if name in self._inputs}
        try:
            output: NDArray[np.float32] = self._session.run([self._output], feeds)[0][0]
        except self._failures as error:
            raise ModelError(
                f"{self._path} failed on {len(ids)} tokens: {str(error)[:200]}", code="run_failed"
            ) from error
        return output

    def each(self, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
        """Run `work` on every item, one item per thread at a time; results are in the order of the items."""
        if self.threads == 1 or len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(min(self.threads, len(items)), "thinkback-onnx") as pool:
            return list(pool.map(work, items))


def _cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _open(path: Path, device: str) -> Any:
    import onnxruntime

    providers = _providers(device, onnxruntime.get_available_providers())
    try:
        return _prepared(path, providers) if len(providers) == 1 else _session(path, providers)
    except onnxruntime.capi.onnxruntime_pybind11_state.NoSuchFile:
        raise ModelUnavailable(f"there is no model at {path}") from None
    except (
        onnxruntime.capi.onnxruntime_pybind11_state.InvalidProtobuf,
        onnxruntime.capi.onnxruntime_pybind11_state.InvalidGraph,
        onnxruntime.capi.onnxruntime_pybind11_state.Fail,
    ) as error:
        raise ModelDamaged(f"{path} is not an ONNX model that can be run: {str(error)[:200]}") from None
    except _failures() as error:
        raise ModelError(f"onnxruntime cannot run {path} here: {str(error)[:200]}", code="cannot_run") from error


def _prepared(path: Path, providers: list[str]) -> Any:
    """The session of a model whose graph was optimised before, or is now and kept."""
    import onnxruntime

    known = prepared.find(path, onnxruntime.__version__)
    if known is not None:
        with suppress(*_failures()):
            return _session(known, providers, level="DISABLE_ALL")  # it is optimised already
    with prepared.making(path, onnxruntime.__version__) as target:
        if target is not None:
            with suppress(*_failures()):  # such as a full disk
                # What comes after this level fits one processor, and the kept file may be read by another.
                return _session(path, providers, target, level="ENABLE_EXTENDED")
    return _session(path, providers)


def _session(path: Path, providers: list[str], kept: Path | None = None, level: str = "ENABLE_ALL") -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_{level}")
    if kept is not None:
        options.optimized_model_filepath = str(kept)
    return onnxruntime.InferenceSession(str(path), options, providers=providers)


def _failures() -> tuple[type[Exception], ...]:
    """The exceptions of onnxruntime: its own classes, which have no common base, and RuntimeError."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [each for each in vars(state).values() if isinstance(each, type) and issubclass(each, Exception)]
    return (*own, RuntimeError)


def _providers(device: str, available: Sequence[str]) -> list[str]:
    if device not in DEVICES:
        raise InvalidInput(f"no device {device!r}; choose one of {', '.join(DEVICES)}", code="unknown_device")
    cuda = "CUDAExecutionProvider"
    if device == "cuda" and cuda not in available:
        raise ModelUnavailable(
            "this onnxruntime does not support CUDA; the package onnxruntime-gpu does", code="no_cuda"
        )
    return [cuda, "CPUExecutionProvider"] if device != "cpu" and cuda in available else ["CPUExecutionProvider"]
