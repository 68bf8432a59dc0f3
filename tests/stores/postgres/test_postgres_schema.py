"""The tables of the server know every field of a memory."""

import pytest

pytest.importorskip("psycopg")

from thinkback.fields import FIELDS, names
from thinkback.stores.postgres import schema


def test_every_field_of_a_memory_has_a_column() -> None:
    """A field that is new in the table of fields needs a step in `schema.MIGRATIONS`, for databases that are there already."""
    assert set(schema.FIELDS_KNOWN) == set(names(FIELDS))
