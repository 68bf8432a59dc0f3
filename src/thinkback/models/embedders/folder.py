"""An embedder in a folder of the user's own, described by the files sentence-transformers keeps beside the weights."""

import json
from pathlib import Path
from typing import Any

from thinkback.errors import ModelUnavailable
from thinkback.models.embedders.base import Embedder
from thinkback.models.embedders.onnx import OnnxEmbedder, OnnxSettings
from thinkback.models.embedders.static import StaticEmbedder
from thinkback.models.weights.checksums import weights_of
from thinkback.models.weights.options import OpenOptions
from thinkback.models.weights.pinned import Pooling


def open_folder(folder: Path, options: OpenOptions) -> Embedder:
    """A static table if the folder has `model.safetensors` and no `model.onnx`, an ONNX model otherwise.

    Pooling comes from `1_Pooling/config.json` (else mean), prefixes from `config_sentence_transformers.json`, the
    limit from `sentence_bert_config.json` (else 512 tokens).
    """
    if (folder / "model.onnx").is_file():
        return OnnxEmbedder(folder, _settings(folder), options.device, options.threads)
    if (folder / "model.safetensors").is_file():
        return StaticEmbedder(folder, folder.name, weights_of(folder, "model.safetensors", "tokenizer.json"))
    raise ModelUnavailable(f"{folder} has neither model.onnx nor model.safetensors, so there is no embedder in it")


def _settings(folder: Path) -> OnnxSettings:
    pooling = _json(folder / "1_Pooling" / "config.json")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    dimensions = pooling.get("word_embedding_dimension") or _json(folder / "config.json").get("hidden_size")
    if not isinstance(dimensions, int):
        raise ModelUnavailable(f"{folder} does not say how long its vectors are; put the model's config.json there")
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
