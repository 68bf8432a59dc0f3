"""Any model of the sentence-transformers library (extra `sentence-transformers`)."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from thinkback.errors import MissingExtra, ModelUnavailable
from thinkback.models.embedders.base import Matrix, Vector, combine_windows, fingerprint_of, validate_vectors
from thinkback.models.tokenizer import well_formed, windows
from thinkback.models.weights.checksums import weights_of

_MOST_TOKENS = 512
_SPECIAL_TOKENS = 4


class SentenceTransformerEmbedder:
    """Runs the model with its own pooling, normalisation and prompts; long texts are read in overlapping windows."""

    def __init__(self, model: str, device: str = "auto", offline: bool = False) -> None:
        self._name = model
        self._model = _load(model, device, offline)
        limit = min(self._model.get_max_seq_length() or _MOST_TOKENS, _MOST_TOKENS)
        longest_prompt = max((len(self._offsets(prompt)) for prompt in self._model.prompts.values()), default=0)
        self._room = max(1, limit - longest_prompt - _SPECIAL_TOKENS)

    @cached_property
    def fingerprint(self) -> str:
        """A local model is known by its weights, one of the hub by its commit."""
        weights = weights_of(Path(self._name), "model.safetensors", "pytorch_model.bin", "tokenizer.json")
        revision = getattr(self._model.model_card_data, "base_model_revision", None)
        identity = weights if Path(self._name).is_dir() else revision
        return fingerprint_of(f"st:{self._name}", model=identity, prompts=self._model.prompts, room=self._room)

    @cached_property
    def dimensions(self) -> int:
        return int(self._model.encode(["dimensions"], show_progress_bar=False).shape[1])

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts, self._model.encode_document)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([text], self._model.encode_query)[0]
        return vector

    def _embed(self, texts: Sequence[str], encode: Any) -> Matrix:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        cut = [self._windows(well_formed(text)) for text in texts]
        pieces = [piece for part in cut for piece in part]
        raw = encode(pieces, convert_to_numpy=True, show_progress_bar=False)
        vectors = iter(validate_vectors(raw, len(pieces), self.dimensions, f"the model {self._name}"))
        return np.stack([combine_windows([next(vectors) for _ in part], [len(p) or 1 for p in part]) for part in cut])

    def _windows(self, text: str) -> list[str]:
        """Pieces that leave the model room for its special tokens and prompts."""
        offsets = self._offsets(text)
        cut = windows(len(offsets), self._room, self._room // 8)
        return [text] if len(cut) == 1 else [text[offsets[start][0] : offsets[end - 1][1]] for start, end in cut]

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each token of a text begins and ends."""
        tokens = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets: list[tuple[int, int]] = tokens["offset_mapping"]
        return offsets


def _load(model: str, device: str, offline: bool) -> Any:
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError:
        raise MissingExtra.of(f"the embedder st:{model}", "sentence-transformers") from None
    chosen = None if device == "auto" else device
    try:
        return library.SentenceTransformer(model, device=chosen, local_files_only=offline)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelUnavailable(f"sentence-transformers cannot load {model!r}: {str(error)[:200]}") from None
