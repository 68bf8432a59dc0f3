"""Errors and warnings in tests are matched by their code, never by their prose."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from thinkback.errors import ThinkbackWarning
from thinkback.testing.errors import raises as raises


@contextmanager
def warns(code: str) -> Iterator[None]:
    """`pytest.warns` for a ThinkbackWarning with this code."""
    with pytest.warns(ThinkbackWarning) as caught:
        yield
    assert code in [getattr(getattr(warning.message, "notice", None), "code", "") for warning in caught]
