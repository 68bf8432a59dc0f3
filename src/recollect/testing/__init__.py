"""For tests of programs and stores built on Recollect: a toy embedder, a fixed clock and the contract of a store."""

from recollect.testing.toys import FixedClock, ToyEmbedder

__all__ = ["FixedClock", "ToyEmbedder"]
