"""The laws of a store, as a pytest class; an engine passes when its tests do.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self):
        with MyStore(...) as store:
            yield store
"""

from recollect.testing.contract.links import LinkLaws
from recollect.testing.contract.memories import MemoryLaws
from recollect.testing.contract.notes import NoteLaws
from recollect.testing.contract.search import SearchLaws
from recollect.testing.contract.times import TimeLaws
from recollect.testing.contract.vectors import VectorLaws
from recollect.testing.contract.versions import VersionLaws


class StoreContract(MemoryLaws, VersionLaws, LinkLaws, SearchLaws, TimeLaws, VectorLaws, NoteLaws):
    """Every law; the subclass gives a fixture `store` with an empty store."""


__all__ = ["StoreContract"]
