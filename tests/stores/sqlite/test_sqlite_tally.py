"""Counts of versions, threads and tags that a process keeps up are those that a new process counts."""

import random
from pathlib import Path

import pytest

from thinkback.model import Draft
from thinkback.stores.sqlite import SqliteStore, tally


def counted(store: SqliteStore) -> tuple[object, ...]:
    stats = store.stats()
    return list(store.tags().items()), stats["versions"], stats["threads"], stats["tags"]


def draft(chance: random.Random) -> Draft:
    tags = tuple(f"tag {chance.randrange(5)}" for _ in range(chance.randrange(3)))
    return Draft(
        text="text", tags=tuple(sorted(set(tags))), thread=chance.choice([None, "a", "b", f"c{chance.randrange(9)}"])
    )


def write(store: SqliteStore, other: SqliteStore, chance: random.Random, now: int) -> None:
    """One write of any kind, by this process or by another."""
    ids = [record.id for record in store.export_records()]
    one = chance.choice(ids) if ids else None
    writer = chance.choice([store, store, other])
    kind = chance.randrange(6)
    if one is None or kind < 2:
        writer.add([draft(chance) for _ in range(chance.randrange(1, 3))], now)
    elif kind == 2:
        writer.update(
            one, {"tags": ("new", f"tag {chance.randrange(5)}"), "thread": chance.choice([None, "a", "d"])}, now
        )
    elif kind == 3:
        writer.amend({one: {"archived_at": now}}, now)
    elif kind == 4:
        writer.forget([one])
    else:
        with pytest.raises(ZeroDivisionError):
            fail(writer, one, now)


def fail(store: SqliteStore, id: str, now: int) -> None:
    """A transaction that is rolled back."""
    with store.transaction():
        store.add([Draft(text="never", tags=("never",), thread="never")], now)
        store.forget([id])
        store.tags()
        raise ZeroDivisionError


@pytest.mark.parametrize("clock", [0, 1], ids=["still", "moving"])
def test_counts_are_kept_up_with_every_write(clock: int, tmp_path: Path) -> None:
    chance = random.Random(clock)
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        for turn in range(30):
            write(store, other, chance, 1_000_000 + clock * turn)
            if chance.random() < 0.5:
                with SqliteStore(path, read_only=True) as fresh:
                    assert counted(store) == counted(fresh)


def test_many_changed_threads_are_counted_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_CHANGED_KEPT", 3)
    chance, plain = random.Random(3), {"a": 2, "b": 1}
    counts = tally.ThreadCounts(dict(plain))
    for _ in range(200):
        name = chance.choice("abcdefgh")
        change = chance.choice([1, 2, -plain.get(name, 0)])
        plain[name] = plain.get(name, 0) + change
        counts = counts.after({name: change})
        assert len(counts) == sum(count > 0 for count in plain.values())


def test_what_is_kept_up_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteStore(tmp_path / "memory.db") as store:
        first, second = store.add([Draft(text="one", tags=("a",), thread="t"), Draft(text="two", tags=("a", "b"))], 1)
        assert counted(store) == ([("a", 2), ("b", 1)], 2, 1, 2)
        monkeypatch.setattr(tally, "_counted", None)
        store.add([Draft(text="three", tags=("c",), thread="u")], 2)
        assert counted(store) == ([("a", 2), ("b", 1), ("c", 1)], 3, 2, 3)
        store.update(first.id, {"tags": ("c",), "thread": None}, 3)
        assert counted(store) == ([("a", 1), ("b", 1), ("c", 2)], 4, 1, 3)
        store.forget([second.id])
        assert counted(store) == ([("c", 2)], 3, 1, 1)
        store.forget([first.id])  # two versions, of which one was present
        assert counted(store) == ([("c", 1)], 1, 1, 1)
