"""Embedders, and the one table that names them.

To add one, write a file with a class that has the `Embedder` protocol, and add its row here.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidInput, ModelUnavailable, did_you_mean
from thinkback.models.embedders.adapters import CachedQueries, CallbackEmbedder
from thinkback.models.embedders.base import Embedder, validate_vectors
from thinkback.values import dataclass

if TYPE_CHECKING:  # weights are imported where a model is opened: a search with given vectors needs none
    from thinkback.models.embedders.onnx import OnnxSettings
    from thinkback.models.embedders.remote import Convention
    from thinkback.models.weights.options import FetchOptions, OpenOptions
    from thinkback.models.weights.pinned import Kind, Model

__all__ = ["EMBEDDERS", "CachedQueries", "CallbackEmbedder", "Embedder", "Row", "open_embedder", "validate_vectors"]


@dataclass(frozen=True, slots=True)
class Row:
    """One scheme of embedder names: its syntax, a description, and a function that opens it from the rest of the name."""

    written: str
    about: str
    open: "Callable[[str, OpenOptions], Embedder]"


def open_embedder(spec: str, options: "OpenOptions | FetchOptions | None" = None) -> Embedder:
    """The embedder of that name, its weights fetched if they are missing: `open_embedder("default")`.

    `default` or a model of the pinned list, a folder, `openai:MODEL@URL`, `ollama:MODEL@URL`, `st:MODEL`.
    """
    from thinkback.models.weights.options import OpenOptions

    chosen = OpenOptions.of(options)
    embedder = _open(spec, chosen)
    return CachedQueries(embedder, chosen.cached_queries) if chosen.cached_queries > 0 else embedder


def _open(spec: str, options: "OpenOptions") -> Embedder:
    from thinkback.models.weights.pinned import DEFAULT_EMBEDDER, MODELS

    name = DEFAULT_EMBEDDER if spec == "default" else spec
    scheme, colon, rest = name.partition(":")
    if colon and scheme in EMBEDDERS:
        return EMBEDDERS[scheme].open(rest, options)
    pinned, model = _pinned(), MODELS.get(name)
    if model is not None and model.kind in pinned:
        return pinned[model.kind](model, options)
    if Path(name).is_dir():
        return _open_folder(Path(name), options)
    known = [row.name for row in MODELS.values() if row.kind in pinned]
    ways = ", ".join(row.written for row in EMBEDDERS.values())
    raise InvalidInput(
        f"no embedder {spec!r}.{did_you_mean(spec, ['default', *known])} Choose default, {', '.join(known)}, "
        f"a folder, or one of {ways}",
        code="unknown_embedder",
    )


def _open_onnx(model: "Model", options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders.onnx import OnnxEmbedder, OnnxSettings
    from thinkback.models.weights.cache import ensure

    settings = OnnxSettings(
        name=model.name,
        weights=model.weights,
        dimensions=model.dimensions,
        pooling=model.pooling,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
        max_tokens=model.max_tokens,
    )
    folder = ensure(model.name, options.fetch, options.progress)
    return OnnxEmbedder(folder, settings, options.device, options.threads)


def _open_static(model: "Model", options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders.static import StaticEmbedder
    from thinkback.models.weights.cache import ensure

    return StaticEmbedder(ensure(model.name, options.fetch, options.progress), model.name, model.weights)


def _open_multilingual(model: "Model", options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders.multilingual import MultilingualEmbedder
    from thinkback.models.weights.cache import ensure
    from thinkback.models.weights.pinned import MODELS

    folders = [ensure(name, options.fetch, options.progress) for name in (model.name, *model.needs)]
    weights = "+".join([model.weights, *(MODELS[name].weights for name in model.needs)])
    return MultilingualEmbedder(folders[0], folders[1], model.name, weights)


def _open_openai(rest: str, options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders import remote

    return _open_remote(rest, options, remote.OPENAI_CONVENTION, remote.OPENAI)


def _open_ollama(rest: str, options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders import remote

    return _open_remote(rest, options, remote.OLLAMA_CONVENTION, remote.OLLAMA)


def _open_remote(rest: str, options: "OpenOptions", convention: "Convention", default_url: str) -> Embedder:
    from thinkback.models.embedders.remote import RemoteEmbedder, RemoteSettings
    from thinkback.models.endpoint import Endpoint

    model, _, url = rest.partition("@")
    if not model:
        message = f"name the model: {convention.name}:MODEL, or {convention.name}:MODEL@URL"
        raise InvalidInput(message, code="no_model")
    endpoint = Endpoint(url or default_url, options.api_key, options.timeout)
    return RemoteEmbedder(endpoint, convention, RemoteSettings(model))


def _open_sentence_transformer(rest: str, options: "OpenOptions") -> Embedder:
    from thinkback.models.embedders.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(rest, options.device, options.fetch.offline)


def _open_folder(folder: Path, options: "OpenOptions") -> Embedder:
    """An ONNX model if the folder has `model.onnx`, else a static table if it has `model.safetensors`.

    Pooling comes from `1_Pooling/config.json` (else mean), prefixes from `config_sentence_transformers.json`, the
    limit from `sentence_bert_config.json` (else 512 tokens).
    """
    from thinkback.models.embedders.onnx import OnnxEmbedder
    from thinkback.models.embedders.static import StaticEmbedder
    from thinkback.models.weights.checksums import weights_of

    if (folder / "model.onnx").is_file():
        return OnnxEmbedder(folder, _folder_settings(folder), options.device, options.threads)
    if (folder / "model.safetensors").is_file():
        return StaticEmbedder(folder, folder.name, weights_of(folder, "model.safetensors", "tokenizer.json"))
    raise ModelUnavailable(
        f"{folder} has neither model.onnx nor model.safetensors, so it holds no embedder", code="empty_folder"
    )


def _folder_settings(folder: Path) -> "OnnxSettings":
    from thinkback.models.embedders.onnx import OnnxSettings
    from thinkback.models.weights.checksums import weights_of
    from thinkback.models.weights.pinned import Pooling

    pooling = _json(folder / "1_Pooling" / "config.json")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    dimensions = pooling.get("word_embedding_dimension") or _json(folder / "config.json").get("hidden_size")
    if not isinstance(dimensions, int):
        raise ModelUnavailable(f"{folder} does not say the size of its vectors; add the model's config.json")
    return OnnxSettings(
        name=folder.name,
        weights=weights_of(folder, "model.onnx", "tokenizer.json"),
        dimensions=dimensions,
        pooling=Pooling.CLS if pooling.get("pooling_mode_cls_token") else Pooling.MEAN,
        query_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("passage", prompts.get("document", ""))),
        max_tokens=int(_json(folder / "sentence_bert_config.json").get("max_seq_length") or 512),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _pinned() -> "dict[Kind, Callable[[Model, OpenOptions], Embedder]]":
    """How the kinds of the pinned list are opened."""
    from thinkback.models.weights.pinned import Kind

    return {Kind.EMBEDDER: _open_onnx, Kind.STATIC: _open_static, Kind.MULTILINGUAL: _open_multilingual}


EMBEDDERS: dict[str, Row] = {
    "openai": Row("openai:MODEL@URL", "any server with OpenAI's /embeddings", _open_openai),
    "ollama": Row("ollama:MODEL@URL", "a local Ollama", _open_ollama),
    "st": Row("st:MODEL", "sentence-transformers (extra)", _open_sentence_transformer),
}
