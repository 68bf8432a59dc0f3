"""Sentence embedders as ONNX models: prefix, tokenise, run alone and unpadded, pool, normalise."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.models.embedders.base import Matrix, Vector, combine_windows, fingerprint_of, unit
from thinkback.models.sessions import Session
from thinkback.models.tokenizer import open_tokenizer, well_formed, windows
from thinkback.models.weights.pinned import Pooling
from thinkback.values import dataclass

PASSAGE_WINDOWS = 32  # about 14,000 tokens, or 25 pages
QUERY_WINDOWS = 4
_SLICE = 512  # texts held tokenised at once

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class OnnxSettings:
    """The settings of the model's training; `weights` identifies the files in the fingerprint."""

    name: str
    weights: str
    dimensions: int
    pooling: Pooling = Pooling.MEAN
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512
    overlap: int = 64


@dataclass(frozen=True, slots=True)
class _Frame:
    """The ids every window of a text begins and ends with: special tokens and the prefix."""

    head: tuple[int, ...]
    tail: tuple[int, ...]


class OnnxEmbedder:
    """An embedder run by onnxruntime.

    A text longer than the model's limit is read in overlapping windows, whose vectors are averaged by length. Of a passage
    at most 32 windows are read, evenly spread from its first word to its last; of a query the first 4. So the longest text
    costs no more than 32 usual ones; keyword search knows every word of it all the same.
    """

    def __init__(self, folder: Path, settings: OnnxSettings, device: str = "auto", threads: int | None = None) -> None:
        self._settings = settings
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._session = Session(folder / "model.onnx", device, threads)
        self._frames = {prefix: self._frame(prefix) for prefix in (settings.query_prefix, settings.passage_prefix)}
        # PASSAGE_WINDOWS and QUERY_WINDOWS are left out: a text with fewer windows has the same vector whatever they are, and
        # one with more a vector of the same space, comparable with all others. Named here, they would make every store be
        # re-embedded only because of texts longer than 25 pages.
        self._fingerprint = fingerprint_of(
            settings.name,
            weights=settings.weights,
            pooling=settings.pooling,
            prefixes=(settings.query_prefix, settings.passage_prefix),
            windows=(settings.max_tokens, settings.overlap),
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return self._settings.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _SLICE):
            self._fill(rows, texts, range(start, min(start + _SLICE, len(texts))))
        return rows

    def embed_query(self, text: str) -> Vector:
        return self._embed(self._windows(text, self._settings.query_prefix)[:QUERY_WINDOWS])

    def _fill(self, rows: Matrix, texts: Sequence[str], indexes: range) -> None:
        """Longest first, so that no thread is left alone with a long text at the end."""
        cut = {
            index: spread(self._windows(texts[index], self._settings.passage_prefix), PASSAGE_WINDOWS)
            for index in indexes
        }
        order = sorted(indexes, key=lambda index: -sum(map(len, cut[index])))
        for index, vector in zip(order, self._session.each(lambda i: self._embed(cut[i]), order), strict=True):
            rows[index] = vector

    def _frame(self, prefix: str) -> _Frame:
        encoding = self._tokenizer.encode(prefix)
        special = list(encoding.special_tokens_mask)
        tail = len(special) - 1 - max((i for i, mark in enumerate(special) if not mark), default=0)
        if all(special):  # no prefix: the last special token closes the text, the others open it
            tail = min(1, len(special) - 1)
        cut = len(special) - tail
        return _Frame(tuple(encoding.ids[:cut]), tuple(encoding.ids[cut:]))

    def _windows(self, text: str, prefix: str) -> list[list[int]]:
        if not isinstance(text, str):
            raise InvalidInput(f"a text to embed must be a string, not {type(text).__name__}", code="not_text")
        ids: list[int] = self._tokenizer.encode(prefix + well_formed(text)).ids
        if len(ids) <= self._settings.max_tokens:
            return [ids]
        frame = self._frames[prefix]
        body = ids[len(frame.head) : len(ids) - len(frame.tail)]
        size = self._settings.max_tokens - len(frame.head) - len(frame.tail)
        return [
            [*frame.head, *body[start:end], *frame.tail]
            for start, end in windows(len(body), size, self._settings.overlap)
        ]

    def _embed(self, cut: Sequence[Sequence[int]]) -> Vector:
        vectors = [self._pool(self._session.run(ids)) for ids in cut]
        return unit(vectors[0]) if len(vectors) == 1 else combine_windows(vectors, [len(ids) for ids in cut])

    def _pool(self, output: Matrix) -> Vector:
        if output.ndim == 1:
            return output
        pooled: Vector = output[0] if self._settings.pooling is Pooling.CLS else output.mean(axis=0)
        return pooled


def spread(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """All items, or `most` of them at even distances, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[index * (len(items) - 1) // (most - 1)] for index in range(most)]
