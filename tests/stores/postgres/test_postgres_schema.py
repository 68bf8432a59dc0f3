"""The tables of the server know every field of a memory."""

import pytest

pytest.importorskip("psycopg")

import psycopg

from thinkback.fields import FIELDS, names
from thinkback.stores.postgres import PostgresSpaces, schema, words
from thinkback.testing.contract.words import by_keyword, put

from postgres_server import LocalServer  # isort: skip


def test_every_field_of_a_memory_has_a_column() -> None:
    """A field that is new in the table of fields needs a step in `schema.MIGRATIONS`, for databases that are there already."""
    assert set(schema.FIELDS_KNOWN) == set(names(FIELDS))


@pytest.mark.postgres
def test_texts_of_other_languages_in_an_older_database_are_stemmed_once(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    store = spaces.open("alice")
    texts = ["the houses of the painter", "die alten Häuser und die Kinder", "los perros que viven en la casa"]
    put(store, *texts)
    expected, counted = by_keyword(store, "Haus"), store.frequencies(["Kind", "perro", "house"])
    spaces.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM thinkback.postings")
        for seq, text in enumerate(texts, 1):
            terms, length = words.counts_of((text, "", ""))
            for term, count in terms.items():
                connection.execute(
                    "INSERT INTO thinkback.postings (space, class, term, seq, tf, len) "
                    "SELECT s.space, 0, %s, %s, %s, %s FROM thinkback.spaces s",
                    (term, seq, count, length),
                )
        connection.execute("UPDATE thinkback.spaces SET tokens = tokens - 2")
        step = schema.MIGRATIONS.index(schema._stems_of_languages)
        connection.execute("DELETE FROM thinkback.schema_version WHERE version > %s", (step,))
        assert schema.migrate(connection) == schema.VERSION - step
        assert schema.migrate(connection) == 0
    spaces = PostgresSpaces(url)
    store = spaces.open("alice")
    assert (by_keyword(store, "Haus"), store.frequencies(["Kind", "perro", "house"])) == (expected, counted)
    assert store.check() == []
    spaces.close()
