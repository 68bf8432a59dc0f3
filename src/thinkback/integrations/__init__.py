"""Adapters to agent frameworks, one file each, each behind its own extra: `pip install 'thinkback[langgraph]'`."""

from collections.abc import Iterator
from contextlib import contextmanager

from thinkback.errors import MissingExtra


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Answer a failed import inside with the extra that brings the framework."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("thinkback"):
            raise
        raise MissingExtra.of(f"thinkback.integrations.{extra.replace('-', '_')}", extra) from None
