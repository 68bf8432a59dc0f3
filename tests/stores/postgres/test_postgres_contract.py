"""PostgresStore keeps every law of a store."""

import pytest

from thinkback.testing import StoreContract


@pytest.mark.postgres
class TestOnAServer(StoreContract):
    """Each test in a space of its own (the fixture `store`)."""
