"""What an embedder is, and the check for every vector that comes from outside."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput, ThinkbackError
from thinkback.model import UNIT_TOLERANCE

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors; a text's vector is a function of the text and the fingerprint alone."""

    @property
    def fingerprint(self) -> str:
        """The identity of the embedding space: model, weights, and every setting that changes vectors."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit vector for each text, in order."""
        ...

    def embed_query(self, text: str) -> Vector: ...


_MOST = float(np.finfo(np.float32).max)


def fingerprint_of(name: str, **settings: object) -> str:
    """`name@digest`, the digest over all settings that change a vector."""
    encoded = json.dumps(settings, sort_keys=True, default=str)
    return f"{name}@{hashlib.sha256(encoded.encode()).hexdigest()[:16]}"


def unit(vectors: NDArray[Any]) -> Matrix:
    """Rows (or one vector) scaled to length 1; the division is done in double precision."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / lengths, dtype=np.float32)


def is_unit(vector: object, dimensions: int | None) -> bool:
    """Whether it is a vector of this size as a store keeps it: float32, of length 1 as far as that can tell."""
    if not isinstance(vector, np.ndarray) or vector.dtype != np.float32 or vector.shape != (dimensions,):
        return False
    wide = vector.astype(np.float64)
    return abs(float(wide @ wide) - 1) <= UNIT_TOLERANCE


def combine_windows(vectors: Sequence[NDArray[Any]], weights: Sequence[int]) -> Vector:
    """One vector for a text read in windows: the mean of its windows' unit vectors, weighted by length."""
    return unit(np.average(unit(np.stack(vectors)), axis=0, weights=weights))


def validate_vectors(
    vectors: object, count: int, dimensions: int | None, origin: str, error: type[ThinkbackError] = InvalidInput
) -> Matrix:
    """The vectors as unit rows, after checking number, size, and that every one is finite and not zero.

    For vectors from an HTTP server, a callback or a file; `origin` names the source in the error.
    """
    try:
        raw = np.asarray(vectors)
    except ValueError:
        raise error(f"{origin} gave vectors of different sizes", code="different_sizes") from None
    if count == 0 and raw.size == 0:
        return np.empty((0, dimensions or 0), dtype=np.float32)
    if raw.dtype.kind not in "fiu" or raw.ndim != 2:
        message = f"{origin} gave no list of number lists (shape {raw.shape}, type {raw.dtype})"
        raise error(message, code="not_numbers")
    if raw.shape[0] != count:
        raise error(f"{origin} gave {raw.shape[0]} vectors for {count} texts", code="wrong_count")
    if raw.shape[1] == 0 or (dimensions is not None and raw.shape[1] != dimensions):
        raise error(
            f"{origin} gave vectors of {raw.shape[1]} numbers instead of {dimensions or 'at least 1'}",
            code="wrong_dimensions",
        )
    wide = raw.astype(np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True)
    if not (largest.min() > 0 and largest.max() <= _MOST):  # nor if one is NaN
        raise _unusable(largest[:, 0], origin, error)
    return unit(wide / largest)


def _unusable(largest: NDArray[np.float64], origin: str, error: type[ThinkbackError]) -> ThinkbackError:
    """The error about the first vector that cannot be used."""
    for bad, what, code in (
        (~np.isfinite(largest), "a vector with NaN or infinity", "not_finite"),
        (largest > _MOST, "a vector with a number beyond 32 bits", "invalid_vectors"),
    ):
        if bad.any():
            return error(f"{origin} gave {what}, for text {_first_bad(bad)}", code=code)
    return error(f"{origin} gave a zero vector, for text {_first_bad(largest == 0)}", code="zero_vector")


def _first_bad(bad: NDArray[np.bool_]) -> str:
    return f"number {int(np.argmax(bad)) + 1} of {len(bad)}"
