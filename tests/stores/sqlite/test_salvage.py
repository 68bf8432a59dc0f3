"""Salvage: whatever is damaged, every row whose pages are intact is saved, and what is lost is told."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

import thinkback
from thinkback.errors import InvalidInput, NotFound
from thinkback.stores.sqlite.pages import Pages
from thinkback.stores.sqlite.salvage import KEPT, Salvaged, salvage
from thinkback.stores.sqlite.schema import PAGE_SIZE
from thinkback.testing import FixedClock, ToyEmbedder

from codes import raises  # isort: skip
from older import with_vectors_by_pair  # isort: skip

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "glade", "heath", "islet", "jetty"]


def fill(path: Path, count: int = 100) -> None:
    """A store with short and long texts, versions, links, judgements, a journal and vectors."""
    rng = random.Random(7)
    with thinkback.open(path, embedder=ToyEmbedder(), clock=FixedClock("2026-05-08")) as memory:
        items = [
            {
                "text": f"memory {n} " + " ".join(rng.choices(WORDS, k=rng.choice([3, 30, 2500]))),
                "tags": [rng.choice(WORDS)],
                "thread": f"thread-{n % 7}",
            }
            for n in range(count)
        ]
        made = memory.remember_many(items)
        for n in range(20):
            memory.link(made[n].id, made[n + 1].id, "about", weight=0.5)
        for n in range(count // 10):
            memory.update(made[n].id, text=f"a new text of memory {n}")
            memory.judge(f"question {n}", made[n].id, 2)
        memory.archive(*(record.id for record in made[: count // 5]))


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {table: list(connection.execute(f"SELECT * FROM {table}")) for table in (*KEPT, "memory_tags")}
    finally:
        connection.close()


@dataclass(frozen=True)
class Sound:
    """A file before it is damaged, and the pages of every row that has a row number."""

    data: bytes
    pages: dict[int, set[int]]  # of memories


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    fill(path)
    pages = {
        cell.rowid: set(cell.pages)
        for _, cells in Pages(path, PAGE_SIZE).cells()
        for cell in cells
        if cell.rowid is not None and cell.values is not None and len(cell.values) > 25
    }
    assert sorted(pages) == sorted(row[0] for row in rows_of(path)["memories"])
    return Sound(path.read_bytes(), pages)


def noise(rng: random.Random, page: bytearray) -> None:
    page[:] = rng.randbytes(len(page))


def zeros(rng: random.Random, page: bytearray) -> None:
    page[:] = bytes(len(page))


def flips(rng: random.Random, page: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 8, 200])):
        page[rng.randrange(len(page))] ^= 1 << rng.randrange(8)


def damaged(data: bytes, seed: int) -> tuple[bytes, set[int]]:
    """A copy with some pages damaged, the file cut off now and then; and which pages those are."""
    rng, copy = random.Random(seed), bytearray(data)
    count = len(data) // PAGE_SIZE
    hit = {1} if rng.random() < 0.3 else set()
    hit |= {rng.randrange(1, count + 1) for _ in range(rng.choice([1, 2, 5, 20, count // 2]))}
    for number in hit:
        page = copy[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        damage: Callable[[random.Random, bytearray], None] = rng.choice([noise, zeros, flips])
        damage(rng, page)
        copy[(number - 1) * PAGE_SIZE : number * PAGE_SIZE] = page
    if rng.random() < 0.2:
        left = rng.randrange(1, count)
        hit |= set(range(left + 1, count + 1))
        del copy[left * PAGE_SIZE + rng.randrange(PAGE_SIZE) :]
    return bytes(copy), hit


def save(folder: Path, data: bytes) -> tuple[Salvaged, Path]:
    broken, saved = folder / "broken.db", folder / "saved.db"
    broken.write_bytes(data)
    saved.unlink(missing_ok=True)
    done = salvage(broken, saved)
    assert broken.read_bytes() == data
    return done, saved


def check_one(folder: Path, sound: Sound, seed: int) -> None:
    data, hit = damaged(sound.data, seed)
    done, saved = save(folder, data)
    kept = {row[0] for row in rows_of(saved)["memories"]}
    intact = {seq for seq, pages in sound.pages.items() if not pages & hit}
    assert intact <= kept, f"seed {seed}: lost {sorted(intact - kept)}"
    assert not done.problems, f"seed {seed}: {done.problems[0]}"
    if kept < set(sound.pages):
        assert done.losses, f"seed {seed}: a loss that is not told"


def test_a_sound_file_is_saved_row_by_row(tmp_path: Path, sound: Sound) -> None:
    done, saved = save(tmp_path, sound.data)
    before, after = rows_of(tmp_path / "broken.db"), rows_of(saved)
    assert not done.losses
    for table in before:
        if table != "counters":
            assert sorted(map(repr, before[table])) == sorted(map(repr, after[table])), table
    assert before["counters"][0][1] == after["counters"][0][1]  # it is the same store


def test_rows_that_are_only_in_the_log_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory = thinkback.open(path, embedder=None)
    record = memory.remember("only in the log so far")
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes()[: PAGE_SIZE // 2])
    Path(f"{copy}-wal").write_bytes(Path(f"{path}-wal").read_bytes())
    memory.close()
    salvage(copy, tmp_path / "saved.db")
    with thinkback.open(tmp_path / "saved.db", embedder=None) as saved:
        assert saved.get(record.id).text == "only in the log so far"


def test_vectors_of_an_older_file_are_saved(tmp_path: Path, sound: Sound) -> None:
    path = tmp_path / "older.db"
    path.write_bytes(sound.data)
    before = rows_of(path)["vectors"]
    with_vectors_by_pair(str(path))
    done, saved = save(tmp_path, path.read_bytes())
    assert not done.losses
    assert done.rows["vectors"] == 100 + 10  # of memories, and of their new versions
    assert rows_of(saved)["vectors"] == before


def test_a_vector_of_an_older_file_with_an_impossible_number_is_lost_alone(tmp_path: Path, sound: Sound) -> None:
    path = tmp_path / "older.db"
    path.write_bytes(sound.data)
    with_vectors_by_pair(str(path))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE vectors SET generation = 1 << 40 WHERE seq = 3")
    connection.close()
    done, _ = save(tmp_path, path.read_bytes())
    assert {(loss.table, loss.row, loss.what.split(" (")[0]) for loss in done.losses if "impossible" in loss.what} == {
        ("vectors", "3", "has an impossible number")
    }
    assert done.rows["vectors"] == 100 + 10 - 1


@pytest.mark.parametrize("seed", range(4))
def test_every_row_on_intact_pages_is_saved(tmp_path: Path, sound: Sound, seed: int) -> None:
    check_one(tmp_path, sound, seed)


@pytest.mark.slow
def test_200_damaged_stores(tmp_path: Path, sound: Sound) -> None:
    for seed in range(1000, 1200):
        check_one(tmp_path, sound, seed)


def without_rows_of(data: bytes, path: Path, fields: int, has_rowid: bool) -> bytes:
    """The file with every page zeroed that holds rows of so many columns."""
    copy = bytearray(data)
    for number, cells in Pages(path, PAGE_SIZE).cells():
        if any(cell.values and len(cell.values) == fields and (cell.rowid is not None) == has_rowid for cell in cells):
            copy[(number - 1) * PAGE_SIZE : number * PAGE_SIZE] = bytes(PAGE_SIZE)
    return bytes(copy)


def test_lost_links_are_named_by_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with thinkback.open(path, embedder=None) as memory:
        memory.remember_many([{"text": f"memory {n}", "id": f"m{n}"} for n in range(3)])
        memory.link("m0", "m1", "about")
        memory.link("m2", "m1")
    done, _ = save(tmp_path, without_rows_of(path.read_bytes(), path, fields=7, has_rowid=False))
    assert done.rows["edges"] == 0
    assert [loss.row for loss in done.losses if loss.table == "edges"] == ["m0 – m1 (about)", "m1 – m2 (related)"]


def test_a_page_of_which_nothing_is_left_is_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with thinkback.open(path, embedder=None) as memory:
        memory.remember("Oscar is a cat", id="cat")
        memory.judge("which cat?", "cat")
    done, _ = save(tmp_path, without_rows_of(path.read_bytes(), path, fields=4, has_rowid=False))
    assert done.rows["judgements"] == 0
    assert [loss.table for loss in done.losses] == ["the file"]


def test_lost_vectors_are_named_by_their_memories(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with thinkback.open(path, embedder=ToyEmbedder(), reranker=None) as memory:
        memory.remember_many([{"text": f"memory {n}", "id": f"m{n}"} for n in range(3)])
    done, saved = save(tmp_path, without_rows_of(path.read_bytes(), path, fields=3, has_rowid=True))
    assert [loss.row for loss in done.losses if loss.table == "vectors"] == ["1", "2", "3"]
    with thinkback.open(saved, embedder=ToyEmbedder(), reranker=None) as memory:
        assert [record.embedded for record in memory.list()] == [False] * 3
        assert memory.embed_missing() == 3


def test_a_text_that_is_not_utf8_is_lost_alone_and_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with thinkback.open(path, embedder=None) as memory:
        kept, lost = memory.remember("this one stays"), memory.remember("zzzz this one is hit")
    data = path.read_bytes().replace(b"zzzz this", b"zz\xff\xff this")
    done, saved = save(tmp_path, data)
    assert [(loss.table, loss.row, loss.what) for loss in done.losses if loss.table == "memories"] == [
        ("memories", "2", "has a text that is not UTF-8")
    ]
    with thinkback.open(saved, embedder=None) as memory:
        assert [record.id for record in memory.list()] == [kept.id]
        assert lost.id != kept.id


def test_a_file_that_exists_is_not_overwritten_and_none_gives_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        salvage(tmp_path / "none.db", tmp_path / "new.db")
    (tmp_path / "a.db").write_bytes(b"x")
    (tmp_path / "b.db").write_bytes(b"y")
    with raises(InvalidInput, "file_exists"):
        salvage(tmp_path / "a.db", tmp_path / "b.db")
    assert (tmp_path / "b.db").read_bytes() == b"y"


def hostile() -> Iterator[bytes]:
    yield b""
    yield b"SQLite format 3\0"
    yield b"\x0d" * 30_000
    yield b"\x0a\xff" * 15_000
    yield random.Random(3).randbytes(100_000)


@pytest.mark.parametrize("data", list(hostile()), ids=["empty", "a name", "leaves", "index", "noise"])
def test_what_was_never_a_store_gives_an_empty_one(tmp_path: Path, data: bytes) -> None:
    done, saved = save(tmp_path, data)
    assert done.rows["memories"] == 0
    with thinkback.open(saved, embedder=None) as memory:
        assert memory.count() == 0
