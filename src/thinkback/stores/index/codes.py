"""Vectors as whole numbers of eight bits, with a bound on the error, so that a search over them can stay exact.

Of the rows of a block, y = x − μ with μ about their mean is coded as c = round(y / s), s = max |y| / 127, and e = ‖y − s·c‖ is
kept, rounded up. For a unit query q, coded likewise as t·d with f = ‖q − t·d‖, the cosine is

    q·x = q·μ + q·y,    |q·y − s·t·(c·d)| ≤ e + f · ‖s·c‖ ≤ e + f · (‖y‖ + e)

c·d is a sum of whole numbers and exact. Subtracting the mean pays because the vectors of a model share a large part. μ is rounded
so coarsely that the vector of a forgotten row cannot be computed from it and the others: forgetting leaves their codes as they are.
"""

import math
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector
from thinkback.values import dataclass

Codes = NDArray[np.int8]
_STEPS = 127
_ENCODED = 256  # rows encoded at a time, to stay in the cache of the processor
_BLOCK = 1024  # rows converted at once, to stay in the processor's cache
# float32 rounding of the sums above and of the stored lengths, generously; far below the error of the codes.
ROUNDING = 8e-6
_UP = np.float32(1.0001)
_CENTRED_FROM = 1024  # rows; μ is 0 for fewer
_GRID = (
    256  # μ is a multiple of 1 / 256: so many rows add up to an unknown of at least ±2 in every number of one of them
)
BY_ROW = ("codes", "scales", "errors", "norms")  # arrays that have an entry for every row
ARRAYS = (*BY_ROW, "mean")  # of a block


@dataclass(frozen=True, eq=False)
class Block:
    """Coded rows of one segment."""

    codes: Codes
    scales: Vector
    errors: Vector  # e
    lengths: Vector  # ‖y‖ + e
    mean: Vector

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> "Block":
        """A block of the arrays that `encode` made."""
        return cls(*(arrays[name] for name in ARRAYS))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that it is made of."""
        return dict(zip(ARRAYS, (self.codes, self.scales, self.errors, self.lengths, self.mean), strict=True))

    def __len__(self) -> int:
        return len(self.scales)

    def estimates(self, query: "CodedQuery") -> Vector:
        """The cosine of every row with the query, nearly."""
        return estimated(query, self.codes, self.scales, np.float32(np.vecdot(self._wide_mean, query.wide)))

    def most_off(self, query: "CodedQuery") -> float:
        """No row's estimate is further off."""
        error, length = self._largest
        return length * query.error + error + ROUNDING

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """Of the errors and of the lengths."""
        return (float(self.errors.max()), float(self.lengths.max())) if len(self) else (0.0, 0.0)

    @cached_property
    def _wide_mean(self) -> Floats:
        return self.mean.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class CodedQuery:
    """A unit query and its codes."""

    wide: Floats
    codes: Codes
    scale: float
    error: float

    @classmethod
    def of(cls, query: Vector) -> "CodedQuery":
        wide = query.astype(np.float64)
        scale = float(np.float32(np.abs(wide).max() / _STEPS))
        codes = np.rint(wide / scale)  # at most 127, as the scale is off by far less than a step
        left = wide - codes * scale
        return cls(wide, codes.astype(np.int8), scale, math.sqrt(left @ left) * float(_UP))


def estimated(query: CodedQuery, codes: Codes, scales: Vector, centres: Vector | np.float32) -> Vector:
    """The cosines of rows with the query, nearly; `centres` is q·μ of each."""
    estimate = _products(codes, query.codes)
    estimate *= scales
    estimate *= np.float32(query.scale)
    estimate += centres
    return estimate


def bound(query: CodedQuery, lengths: Vector, errors: Vector) -> Vector:
    """How far off the estimates of rows may be."""
    off: Vector = lengths * np.float32(query.error) + errors + np.float32(ROUNDING)
    return off


def encode(rows: Vector) -> dict[str, NDArray[Any]]:
    """The arrays of a block for unit rows."""
    mean = np.zeros(rows.shape[1], np.float32)
    if len(rows) >= _CENTRED_FROM:
        mean = (np.rint(rows.mean(axis=0, dtype=np.float64) * _GRID) / _GRID).astype(np.float32)
    count = len(rows)
    codes, scales = np.empty(rows.shape, dtype=np.int8), np.empty(count, dtype=np.float32)
    errors, lengths = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    for at in range(0, count, _ENCODED):
        some = slice(at, at + _ENCODED)
        centred = rows[some].astype(np.float32) - mean
        codes[some], scales[some], found = _coded(centred)
        # The difference x − μ is itself rounded to float32: relative error 2⁻²⁴ of each number.
        errors[some] = found + np.float32(2.0**-23)
        squares = np.einsum("ij,ij->i", centred, centred, dtype=np.float64)
        lengths[some] = np.sqrt(squares).astype(np.float32) * _UP + errors[some]
    return dict(zip(ARRAYS, (codes, scales, errors, lengths, mean), strict=True))


def rounded(rows: Vector, scale: float | Vector) -> Codes:
    """Rows divided by their scale, to whole numbers of eight bits."""
    codes: Codes = np.rint(rows / scale).clip(-_STEPS, _STEPS).astype(np.int8)
    return codes


def scale_of(largest: float) -> float:
    """The scale at which numbers up to the largest have all the steps there are."""
    return largest / _STEPS if largest > 0 else 1.0


def _coded(rows: Vector) -> tuple[Codes, Vector, Vector]:
    largest = np.abs(rows).max(axis=1) if len(rows) else np.zeros(0, np.float32)
    scales = np.where(largest > 0, largest / _STEPS, 1.0).astype(np.float32)
    codes = rounded(rows, scales[:, None])
    left = rows.astype(np.float64) - codes.astype(np.float64) * scales[:, None]
    errors = np.sqrt(np.square(left).sum(axis=1)).astype(np.float32) * _UP
    return codes, scales, errors


class _Kernel(Protocol):
    def __call__(self, codes: Codes, query: Codes) -> Vector: ...


def _products(codes: Codes, query: Codes) -> Vector:
    return _kernel()(codes, query)


@cache
def _kernel() -> _Kernel:
    """numkong's if it is installed (it comes with usearch), else NumPy's; both give the same whole numbers."""
    try:
        import numkong
    except ImportError:
        return numpy_products
    else:

        def products(codes: Codes, query: Codes) -> Vector:
            if not len(codes):
                return np.zeros(0, dtype=np.float32)
            found: Vector = np.asarray(numkong.cdist(query[None, :], codes, metric="dot", out_dtype="float32"))[0]
            return found

        return products


def numpy_products(codes: Codes, query: Codes) -> Vector:
    """Exact sums: up to 1,040 products of two codes stay below 2²⁴; longer vectors are summed in float64."""
    kind: Any = np.float32 if codes.shape[1] * _STEPS * _STEPS < 1 << 24 else np.float64
    target, found = query.astype(kind), np.empty(len(codes), dtype=np.float32)
    for at in range(0, len(codes), _BLOCK):
        found[at : at + _BLOCK] = codes[at : at + _BLOCK].astype(kind) @ target
    return found
