import os
import sys
from pathlib import Path

import pytest

from recollect import models
from recollect.errors import ModelUnavailable

sys.path.append(str(Path(__file__).parents[1] / "models"))  # the loopback servers


@pytest.fixture(scope="session")
def fetch() -> models.FetchOptions:
    return models.fetch_options(os.environ, Path.home())


@pytest.fixture(scope="session")
def weights(fetch: models.FetchOptions):  # type: ignore[no-untyped-def]
    """The folder of a pinned model, fetched if need be; a machine that can fetch nothing skips, and says why."""

    def folder(name: str) -> Path:
        try:
            return models.ensure(name, fetch)
        except ModelUnavailable as error:
            pytest.skip(str(error))

    return folder
