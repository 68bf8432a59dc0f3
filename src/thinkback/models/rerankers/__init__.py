"""Rerankers, and the one table that names them.

To add one, write a file with a class that has the `Reranker` protocol, and add its row here.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput, ModelUnavailable, did_you_mean
from thinkback.models.rerankers.base import Reranker, TimedReranker, rerank
from thinkback.values import dataclass

if TYPE_CHECKING:  # weights are imported where a model is opened: most searches need none
    from thinkback.models.weights.options import FetchOptions, OpenOptions
    from thinkback.models.weights.pinned import Kind, Model

HUB_OWNER = "Qwen/"  # Qwen/Qwen3-Reranker-0.6B and the short name are the same

__all__ = ["RERANKERS", "Reranker", "Row", "TimedReranker", "open_reranker", "rerank"]


@dataclass(frozen=True, slots=True)
class Row:
    """One scheme of reranker names: its syntax, a description, and a function that opens it from the rest of the name."""

    written: str
    about: str
    open: "Callable[[str, OpenOptions], TimedReranker]"


def open_reranker(
    spec: str,
    options: "OpenOptions | FetchOptions | None" = None,
    *,
    instruction: str | None = None,
    offline: bool = False,
) -> TimedReranker:
    """The reranker of that name, its weights fetched if they are missing: `open_reranker("default")`.

    `default` or a model of the pinned list, a folder, `rerank:MODEL@URL`, `tei:URL`. `instruction` is what a Qwen3-Reranker
    judges by; `offline` forbids fetching.
    """
    from thinkback.models.weights.cache import ensure
    from thinkback.models.weights.options import OpenOptions
    from thinkback.models.weights.pinned import DEFAULT_RERANKER, MODELS

    chosen = OpenOptions.of(options)
    if offline:
        chosen = replace(chosen, fetch=replace(chosen.fetch, offline=True))
    name = DEFAULT_RERANKER if spec == "default" else spec
    if name.startswith(HUB_OWNER) and name.removeprefix(HUB_OWNER) in MODELS:
        name = name.removeprefix(HUB_OWNER)
    if instruction is not None:
        return _instructed(name, chosen, instruction)
    scheme, colon, rest = name.partition(":")
    if colon and scheme in RERANKERS:
        return RERANKERS[scheme].open(rest, chosen)
    pinned, model = _pinned(), MODELS.get(name)
    if model is not None and model.kind in pinned:
        return pinned[model.kind](model, ensure(name, chosen.fetch, chosen.progress), chosen)
    if Path(name).is_dir():
        return _open_folder(Path(name), chosen)
    known = [row.name for row in MODELS.values() if row.kind in pinned]
    ways = ", ".join(row.written for row in RERANKERS.values())
    raise InvalidInput(
        f"no reranker {spec!r}.{did_you_mean(spec, ['default', *known])} Choose default, {', '.join(known)}, "
        f"a folder, or one of {ways}",
        code="unknown_reranker",
    )


def _instructed(name: str, options: "OpenOptions", instruction: str) -> TimedReranker:
    from thinkback.models.weights.cache import ensure
    from thinkback.models.weights.pinned import MODELS, Kind

    model = MODELS.get(name)
    if model is None or model.kind is not Kind.CAUSAL_RERANKER:
        raise InvalidInput(f"the reranker {name!r} takes no instruction; Qwen3-Reranker does", code="no_instruction")
    return _open_qwen3(model, ensure(name, options.fetch, options.progress), options, instruction)


def _open_onnx(model: "Model", folder: Path, options: "OpenOptions") -> TimedReranker:
    from thinkback.models.rerankers.onnx import CrossEncoderSettings, OnnxCrossEncoder

    settings = CrossEncoderSettings(model.name, model.weights, model.max_tokens)
    return OnnxCrossEncoder(folder, settings, options.device, options.threads)


def _open_qwen3(model: "Model", folder: Path, options: "OpenOptions", instruction: str | None = None) -> TimedReranker:
    from thinkback.models.rerankers.qwen3 import INSTRUCTION, Qwen3Reranker, Qwen3Settings

    settings = Qwen3Settings(model.name, model.weights, instruction or INSTRUCTION, max_tokens=model.max_tokens)
    return Qwen3Reranker(folder, settings, options.device, options.threads)


def _open_folder(folder: Path, options: "OpenOptions") -> TimedReranker:
    """A cross-encoder if the folder has `model.onnx`, a Qwen3-Reranker if it has `model.safetensors`."""
    from thinkback.models.weights.checksums import weights_of

    if (folder / "model.onnx").is_file():
        from thinkback.models.rerankers.onnx import CrossEncoderSettings, OnnxCrossEncoder

        settings = CrossEncoderSettings(folder.name, weights_of(folder, "model.onnx", "tokenizer.json"))
        return OnnxCrossEncoder(folder, settings, options.device, options.threads)
    if (folder / "model.safetensors").is_file():
        from thinkback.models.rerankers.qwen3 import Qwen3Reranker, Qwen3Settings

        weights = weights_of(folder, "model.safetensors", "tokenizer.json")
        return Qwen3Reranker(folder, Qwen3Settings(folder.name, weights), options.device, options.threads)
    raise ModelUnavailable(
        f"{folder} has neither model.onnx nor model.safetensors, so it holds no reranker", code="empty_folder"
    )


def _open_rerank(rest: str, options: "OpenOptions") -> TimedReranker:
    from thinkback.models.endpoint import Endpoint
    from thinkback.models.rerankers.remote import DOCUMENTS, RemoteReranker

    model, _, url = rest.partition("@")
    if not model or not url:
        raise InvalidInput(f"a remote reranker is written rerank:MODEL@URL, not rerank:{model}", code="no_model")
    return RemoteReranker(Endpoint(url, options.api_key, options.timeout), model, DOCUMENTS)


def _open_tei(rest: str, options: "OpenOptions") -> TimedReranker:
    from thinkback.models.endpoint import Endpoint
    from thinkback.models.rerankers.remote import TEI, RemoteReranker

    return RemoteReranker(Endpoint(rest, options.api_key, options.timeout), "", TEI)


def _pinned() -> "dict[Kind, Callable[[Model, Path, OpenOptions], TimedReranker]]":
    """How the kinds of the pinned list are opened."""
    from thinkback.models.weights.pinned import Kind

    return {Kind.CROSS_ENCODER: _open_onnx, Kind.CAUSAL_RERANKER: _open_qwen3}


RERANKERS: dict[str, Row] = {
    "rerank": Row("rerank:MODEL@URL", "any server with /rerank: Cohere, Jina, vLLM, llama.cpp", _open_rerank),
    "tei": Row("tei:URL", "a text-embeddings-inference server", _open_tei),
}
