"""Static embeddings in the model2vec format: a table of token vectors, looked up and averaged.

Vector of a text = mean over its known tokens of weight · row, scaled to length 1. The weights (zipf) are usually
multiplied into the table already; if the file has them separately, or a mapping from tokens to rows, they are applied.
There is no limit on length and no batch to depend on.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import ModelDamaged
from thinkback.models.embedders.base import Matrix, Vector, fingerprint_of, unit
from thinkback.models.tokenizer import open_tokenizer, well_formed

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
_MOST_HEADER = 100_000_000
_SLICE = 2048


class StaticEmbedder:
    """A table of token vectors; hundreds of times faster than a transformer, and less exact."""

    def __init__(self, folder: Path, name: str, weights: str) -> None:
        tensors = read_safetensors(folder / "model.safetensors")
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._table = _table(tensors, folder)
        self._unknown = self._unknown_id(folder / "tokenizer.json")
        self._centre = unit(self._table.mean(axis=0, dtype=np.float64))
        self._fingerprint = fingerprint_of(name, weights=weights, kind="static")

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return int(self._table.shape[1])

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [well_formed(text) for text in texts[start : start + _SLICE]]
            for index, encoding in enumerate(self._tokenizer.encode_batch_fast(part, add_special_tokens=False), start):
                rows[index] = self._mean(encoding.ids)
        return rows

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def _mean(self, ids: Sequence[int]) -> Vector:
        """The mean of the known tokens; without any, the mean of the vocabulary, which is near no text."""
        known = [token for token in ids if token != self._unknown]
        total = self._table[known].sum(axis=0, dtype=np.float64)
        return unit(total) if total.any() else self._centre

    def _unknown_id(self, path: Path) -> int | None:
        model = json.loads(path.read_text(encoding="utf-8"))["model"]
        token = model.get("unk_token")
        number: int | None = self._tokenizer.token_to_id(token) if token else model.get("unk_id")
        return number


def _table(tensors: dict[str, NDArray[Any]], folder: Path) -> Matrix:
    """One row a token id: `embeddings`, reordered by `mapping` and scaled by `weights` where those exist."""
    rows = tensors.get("embeddings", tensors.get("embedding.weight"))
    if rows is None or rows.ndim != 2:
        message = f"{folder / 'model.safetensors'} has no table of embeddings; it holds {sorted(tensors)}"
        raise ModelDamaged(message, code="no_embeddings")
    table = rows.astype(np.float32)
    if "mapping" in tensors:
        table = table[tensors["mapping"]]
    if "weights" in tensors:
        table = table * tensors["weights"].astype(np.float32)[:, np.newaxis]
    if not np.isfinite(table).all():
        raise ModelDamaged(f"{folder / 'model.safetensors'} has NaN or infinity in its embeddings")
    return np.asarray(table, dtype=np.float32)


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file: 8 bytes length, a JSON header, then the numbers, little endian."""
    try:
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        if not 2 <= length <= min(_MOST_HEADER, len(data) - 8):
            raise ModelDamaged(f"{path} is not a safetensors file")
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        return {name: _tensor(row, body) for name, row in header.items() if name != "__metadata__"}
    except OSError as error:
        raise ModelDamaged(f"{path} cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelDamaged(f"{path} is not a safetensors file: {error}") from None


def _tensor(row: dict[str, Any], body: memoryview) -> NDArray[Any]:
    start, end = row["data_offsets"]
    kind = np.dtype(_DTYPES[row["dtype"]])
    shape = tuple(row["shape"])
    if not 0 <= start <= end <= len(body) or end - start != kind.itemsize * math.prod(shape):
        raise ValueError(f"a tensor of shape {shape} lies at bytes {start} to {end} of {len(body)}")
    return np.frombuffer(body[start:end], dtype=kind).reshape(shape)
