"""Sequence-classification cross-encoders as ONNX models: one logit a pair, sigmoid.

Every pair runs alone and unpadded, for the reason given in `thinkback.models.sessions`: in a batch a dynamically
quantised model scores the same pair differently. A long text is read in overlapping windows, its best window counts,
and at most `max_windows` from its beginning are read: more of them cost more time than they improve the score.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from thinkback.errors import ModelDamaged
from thinkback.models.embedders.base import fingerprint_of
from thinkback.models.rerankers.base import Deadline, never, sigmoid
from thinkback.models.sessions import Session
from thinkback.models.tokenizer import open_tokenizer, well_formed, windows
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """The settings of the model's training, and the limits of a query and a text."""

    name: str
    weights: str
    max_tokens: int = 512
    max_query_tokens: int = 128
    overlap: int = 64
    max_windows: int = 4


@dataclass(frozen=True, slots=True)
class _Part:
    ids: tuple[int, ...]
    type: int


@dataclass(frozen=True, slots=True)
class _PairFrame:
    """The special tokens before, between and behind a pair, and the types of all five parts."""

    head: _Part
    middle: _Part
    tail: _Part
    query_type: int
    text_type: int

    @property
    def size(self) -> int:
        return len(self.head.ids) + len(self.middle.ids) + len(self.tail.ids)


class OnnxCrossEncoder:
    """A cross-encoder run by onnxruntime."""

    def __init__(
        self, folder: Path, settings: CrossEncoderSettings, device: str = "auto", threads: int | None = None
    ) -> None:
        self._settings = settings
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._session = Session(folder / "model.onnx", device, threads)
        self._frame = self._read_frame()
        self._fingerprint = fingerprint_of(
            settings.name,
            weights=settings.weights,
            lengths=(settings.max_tokens, settings.max_query_tokens, settings.overlap, settings.max_windows),
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Longest first, so that no thread is left alone with a long text at the end."""
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        found = dict(zip(order, self.scores_until(query, [texts[index] for index in order], never), strict=True))
        return [found[index] or 0.0 for index in range(len(texts))]

    def scores_until(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float | None]:
        asked = self._ids(query)[: self._settings.max_query_tokens]

        def score(text: str) -> float | None:
            if not text.strip():
                return 0.0
            return None if deadline() else self._score(asked, text)

        return self._session.each(score, texts)

    def _score(self, query: list[int], text: str) -> float:
        body = self._ids(text)
        size = self._settings.max_tokens - self._frame.size - len(query)
        cut = windows(len(body), size, self._settings.overlap)[: self._settings.max_windows]
        return max(self._probability(query, body[start:end]) for start, end in cut)

    def _probability(self, query: list[int], text: list[int]) -> float:
        frame = self._frame
        ids = [*frame.head.ids, *query, *frame.middle.ids, *text, *frame.tail.ids]
        types = (
            [frame.head.type] * len(frame.head.ids)
            + [frame.query_type] * len(query)
            + [frame.middle.type] * len(frame.middle.ids)
            + [frame.text_type] * len(text)
            + [frame.tail.type] * len(frame.tail.ids)
        )
        logits = np.atleast_1d(self._session.run(ids, types)).astype(np.float64)
        if logits.shape not in {(1,), (2,)}:
            raise ModelDamaged(f"{self._settings.name} gives {logits.shape} numbers a pair; a reranker gives 1 or 2")
        return sigmoid(float(logits[0] if len(logits) == 1 else logits[1] - logits[0]))

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(well_formed(text), add_special_tokens=False).ids
        return ids

    def _read_frame(self) -> _PairFrame:
        """How this tokenizer joins a pair, read off one example."""
        pair = self._tokenizer.encode("a", "b")
        rows = zip(pair.sequence_ids, pair.ids, pair.type_ids, strict=True)
        runs = [(key, list(group)) for key, group in groupby(rows, key=lambda row: row[0])]
        if [key for key, _ in runs] != [None, 0, None, 1, None]:
            raise ModelDamaged(f"the tokenizer of {self._settings.name} does not join pairs of texts")
        parts = [_Part(tuple(row[1] for row in group), group[0][2]) for _, group in runs]
        return _PairFrame(parts[0], parts[2], parts[4], parts[1].type, parts[3].type)
