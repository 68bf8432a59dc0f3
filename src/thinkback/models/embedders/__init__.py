"""Embedders, and the one table that names them.

To add one: write a file that offers the `Embedder` protocol, and add its row here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thinkback.errors import InvalidInput, did_you_mean
from thinkback.models.embedders.base import Embedder, validate_vectors
from thinkback.models.embedders.cached import CachedQueries
from thinkback.models.embedders.callback import CallbackEmbedder
from thinkback.models.weights.cache import ensure
from thinkback.models.weights.options import FetchOptions, OpenOptions
from thinkback.models.weights.pinned import DEFAULT_EMBEDDER, MODELS, Kind, Model

__all__ = ["EMBEDDERS", "CachedQueries", "CallbackEmbedder", "Embedder", "Row", "open_embedder", "validate_vectors"]


@dataclass(frozen=True, slots=True)
class Row:
    """One way to name an embedder: how it is written, what it is, how it is opened from what follows the scheme."""

    written: str
    about: str
    open: Callable[[str, OpenOptions], Embedder]


def open_embedder(spec: str, options: OpenOptions | FetchOptions | None = None) -> Embedder:
    """The embedder a specification names, its weights fetched if need be: `open_embedder("default")`.

    `default` or a model of the pinned list, a folder, `openai:MODEL@URL`, `ollama:MODEL@URL`, `st:MODEL`.
    """
    chosen = OpenOptions.of(options)
    embedder = _open(spec, chosen)
    return CachedQueries(embedder, chosen.cached_queries) if chosen.cached_queries > 0 else embedder


def _open(spec: str, options: OpenOptions) -> Embedder:
    name = DEFAULT_EMBEDDER if spec == "default" else spec
    scheme, colon, rest = name.partition(":")
    if colon and scheme in EMBEDDERS:
        return EMBEDDERS[scheme].open(rest, options)
    model = MODELS.get(name)
    if model is not None and model.kind in _PINNED:
        return _PINNED[model.kind](model, options)
    if Path(name).is_dir():
        return _open_folder(name, options)
    known = [row.name for row in MODELS.values() if row.kind in _PINNED]
    ways = ", ".join(row.written for row in EMBEDDERS.values())
    raise InvalidInput(
        f"no embedder {spec!r}.{did_you_mean(spec, ['default', *known])} Choose default, {', '.join(known)}, "
        f"a folder, or one of {ways}"
    )


def _open_onnx(model: Model, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders.onnx import OnnxEmbedder, OnnxSettings

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


def _open_static(model: Model, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders.static import StaticEmbedder

    return StaticEmbedder(ensure(model.name, options.fetch, options.progress), model.name, model.weights)


def _open_openai(rest: str, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders import remote

    return _open_remote(rest, options, remote.OPENAI_CONVENTION, remote.OPENAI)


def _open_ollama(rest: str, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders import remote

    return _open_remote(rest, options, remote.OLLAMA_CONVENTION, remote.OLLAMA)


def _open_remote(rest: str, options: OpenOptions, convention: object, default_url: str) -> Embedder:
    from thinkback.models.embedders.remote import Convention, RemoteEmbedder, RemoteSettings
    from thinkback.models.endpoint import Endpoint

    assert isinstance(convention, Convention)
    model, _, url = rest.partition("@")
    if not model:
        raise InvalidInput(f"name the model: {convention.name}:MODEL, or {convention.name}:MODEL@URL")
    endpoint = Endpoint(url or default_url, options.api_key, options.timeout)
    return RemoteEmbedder(endpoint, convention, RemoteSettings(model))


def _open_sentence_transformer(rest: str, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(rest, options.device, options.fetch.offline)


def _open_folder(name: str, options: OpenOptions) -> Embedder:
    from thinkback.models.embedders.folder import open_folder

    return open_folder(Path(name), options)


_PINNED: dict[Kind, Callable[[Model, OpenOptions], Embedder]] = {Kind.EMBEDDER: _open_onnx, Kind.STATIC: _open_static}

EMBEDDERS: dict[str, Row] = {
    "openai": Row("openai:MODEL@URL", "any server with OpenAI's /embeddings", _open_openai),
    "ollama": Row("ollama:MODEL@URL", "a local Ollama", _open_ollama),
    "st": Row("st:MODEL", "sentence-transformers (extra)", _open_sentence_transformer),
}
