"""For tests of programs and stores built on Recollect: a toy embedder, a fixed clock and the contract of a store."""

import sys
from typing import TYPE_CHECKING, Any

from recollect.testing.toys import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from recollect.testing.contract import StoreContract

__all__ = ["FixedClock", "StoreContract", "ToyEmbedder"]


def __getattr__(name: str) -> Any:
    # The contract needs pytest, the toys do not; its plain asserts are to explain themselves when they fail.
    if name == "StoreContract":
        import pytest

        if "recollect.testing.contract" not in sys.modules:  # pytest warns of what comes too late
            pytest.register_assert_rewrite("recollect.testing.contract")
        from recollect.testing.contract import StoreContract

        return StoreContract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
