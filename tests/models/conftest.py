import os
from pathlib import Path

import pytest

from thinkback.errors import ModelUnavailable
from thinkback.models.weights import FetchOptions, ensure, fetch_options


@pytest.fixture(scope="session")
def fetch() -> FetchOptions:
    return fetch_options(os.environ, Path.home())


@pytest.fixture(scope="session")
def weights(fetch: FetchOptions):  # type: ignore[no-untyped-def]
    """The folder of a pinned model, fetched if need be; a machine that can fetch nothing skips, and says why."""

    def folder(name: str) -> Path:
        try:
            return ensure(name, fetch)
        except ModelUnavailable as error:
            pytest.skip(str(error))

    return folder
