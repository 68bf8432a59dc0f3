"""Errors in tests are matched by their code, never by their prose."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from thinkback.errors import ThinkbackError


@contextmanager
def raises(kind: type[ThinkbackError], code: str | None = None) -> Iterator[pytest.ExceptionInfo[ThinkbackError]]:
    """`pytest.raises` that also checks the error's code; the class's own code if none is given."""
    with pytest.raises(kind) as error:
        yield error
    assert error.value.code == (kind.code if code is None else code), str(error.value)
