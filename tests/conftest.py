"""Every run tries the same examples, none fails because the machine was busy, and no test finds what another left behind."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def as_quiet_as_before() -> Iterator[None]:
    """Each command sets the level of our log, and ends its process elsewhere."""
    yield
    logging.getLogger("thinkback").setLevel(logging.NOTSET)
