"""The contract of a store as a pytest class; a store is correct if it passes.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self):
        with MyStore(...) as store:
            yield store
"""

from thinkback.testing.contract.journal import NoteLaws
from thinkback.testing.contract.links import LinkLaws
from thinkback.testing.contract.memories import MemoryLaws
from thinkback.testing.contract.passages import PassageLaws
from thinkback.testing.contract.search import SearchLaws
from thinkback.testing.contract.times import TimeLaws
from thinkback.testing.contract.vectors import VectorLaws
from thinkback.testing.contract.versions import VersionLaws


class StoreContract(MemoryLaws, VersionLaws, LinkLaws, SearchLaws, TimeLaws, VectorLaws, PassageLaws, NoteLaws):
    """All tests of the contract; the subclass provides a fixture `store` with an empty store."""


__all__ = ["StoreContract"]
