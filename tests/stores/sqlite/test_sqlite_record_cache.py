"""Records kept at hand are never older than the file."""

from pathlib import Path

from thinkback.model import Draft
from thinkback.stores.sqlite import SqliteStore


def test_a_record_read_again_shows_what_happened_meanwhile(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        first, second = (record.id for record in store.add([Draft(text="one"), Draft(text="two")], now=1))
        assert store.get([first, second])[first].text == "one"
        other.update(first, {"text": "uno"}, now=2)
        assert store.get([first])[first].text == "uno"
        store.touch({first: 3}, now=3)
        assert store.get([first])[first].access_count == 3
        assert store.get([second])[second].access_count == 0
        other.touch({second: 1}, now=4)
        assert store.get([second])[second].access_count == 1
        other.amend({second: {"priority": "P1"}}, now=5)
        assert store.get([second])[second].priority == "P1"
        store.forget([first])
        assert list(store.get([first, second])) == [second]
        with store.transaction():
            store.update(second, {"text": "dos"}, now=6)
            assert store.get([second])[second].text == "dos"


def test_what_a_transaction_undid_was_never_kept(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        (record,) = store.add([Draft(text="one")], now=1)
        try:
            with store.transaction():
                store.update(record.id, {"text": "uno"}, now=2)
                store.touch({record.id: 1}, now=2)
                store.get([record.id])
                raise RuntimeError
        except RuntimeError:
            pass
        assert store.get([record.id])[record.id] == record
