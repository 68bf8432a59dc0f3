"""For tests of programs and stores built on Thinkback: a toy embedder, a fixed clock and the contract of a store."""

import sys
from typing import TYPE_CHECKING, Any

from thinkback.testing.toys import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from thinkback.testing.contract import StoreContract

__all__ = ["FixedClock", "StoreContract", "ToyEmbedder"]


def __getattr__(name: str) -> Any:
    # Imported on demand, because it needs pytest; rewriting its asserts gives readable failures.
    if name == "StoreContract":
        import pytest

        if "thinkback.testing.contract" not in sys.modules:  # pytest warns if it was imported before
            pytest.register_assert_rewrite("thinkback.testing.contract")
        from thinkback.testing.contract import StoreContract

        return StoreContract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
