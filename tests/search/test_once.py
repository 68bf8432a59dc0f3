"""What is read from a record is read once, kept with that record alone, and no part of its value."""

import gc
import importlib
import pickle
import pkgutil
from dataclasses import asdict, fields, replace

import thinkback.search
from thinkback.model import StoredRecord
from thinkback.search.once import Once

RECORD = StoredRecord(id="a", text="Ann: I painted a sunrise")


def counted() -> tuple[Once[int], list[str]]:
    read: list[str] = []

    def length(record: StoredRecord) -> int:
        read.append(record.text)
        return len(record.text)

    return Once(length), read


def test_a_record_is_read_once_alone_or_among_others():
    length, read = counted()
    record = replace(RECORD)
    assert length(record) == 24
    assert length.each([record, record]) == [24, 24]
    assert read == [RECORD.text]


def test_another_version_is_read_anew():
    length, read = counted()
    record = replace(RECORD)
    assert length.each([record, replace(record, text="short")]) == [24, 5]
    assert read == [RECORD.text, "short"]


def test_what_was_read_is_no_part_of_the_value():
    length, _ = counted()
    record = replace(RECORD)
    length(record)
    assert record == RECORD
    assert repr(record) == repr(RECORD)
    assert asdict(record) == asdict(RECORD)
    assert "kept" not in {field.name for field in fields(record)}
    assert not hasattr(pickle.loads(pickle.dumps(record)), "kept")


def test_nothing_that_is_kept_looks_at_accesses():
    for module in pkgutil.walk_packages(thinkback.search.__path__, "thinkback.search."):
        importlib.import_module(module.name)
    readers = [one for one in gc.get_objects() if type(one) is Once and one._read.__module__.startswith("thinkback.")]
    assert len(readers) > 5
    used = replace(RECORD, access_count=9, last_access=10**15)
    assert [reader._read(RECORD) for reader in readers] == [reader._read(used) for reader in readers]


def test_what_was_read_goes_with_the_record():
    class Told:
        alive = 0

        def __init__(self) -> None:
            Told.alive += 1

        def __del__(self) -> None:
            Told.alive -= 1

    told = Once(lambda record: Told())
    record = replace(RECORD)
    told(record)
    assert Told.alive == 1
    del record
    gc.collect()
    assert Told.alive == 0
