"""Forgotten text is gone from the bytes on disk, not only from the answers."""

from pathlib import Path

import pytest

from thinkback.model import Draft, Filter, StoredEdge, StoredEntry, StoredJudgement
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore, counters
from thinkback.testing import ToyEmbedder

NOW = 1_770_000_000_000_000
TOY = ToyEmbedder(32)
SPACE = EmbeddingSpace(TOY.fingerprint, TOY.dimensions)
OTHER = ToyEmbedder(16)
OTHER_SPACE = EmbeddingSpace(OTHER.fingerprint, OTHER.dimensions)
SECRET = "xylophagous quandaries of Wolfeschlegelstein"
CHANGED = "zymurgical quiddities of Wolfeschlegelstein"


def _bytes_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def _traces(path: Path) -> list[str]:
    """The words (and their stems) that can still be found anywhere in the files."""
    content = _bytes_on_disk(path).lower()
    stems = ("xylophag", "quandar", "wolfesch", "zymurg", "quidditi", "secretag", "secretsource", "hiddenkey")
    return [stem for stem in stems if stem.encode() in content]


@pytest.mark.parametrize("others", [0, 40, 3000])
def test_no_byte_of_a_forgotten_memory_stays(tmp_path: Path, others: int) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        crowd = [Draft(text=f"word{n * 7919 % 1000} number{n} is here", tags=(f"t{n % 9}",)) for n in range(others)]
        store.add([*crowd[: others // 2], Draft(text="a neighbour", id="kept")], NOW)
        secret = Draft(
            text=SECRET,
            id="gone",
            essence=SECRET[:9],
            tags=("secretag",),
            metadata={"hiddenkey": SECRET},
            source="secretsource",
            thread="secretsource",
            vector=TOY.embed_query(SECRET),
        )
        store.add([secret], NOW, SPACE)
        store.add(crowd[others // 2 :], NOW)
        store.update("gone", {"text": CHANGED}, NOW + 1, TOY.embed_query(CHANGED), SPACE)
        store.link([StoredEdge(from_id="gone", to_id="kept", kind="secretag")], NOW)
        store.judge([StoredJudgement(SECRET, "gone", 1, NOW)])
        store.log([StoredEntry(0, "tidy", "gone", {"text": SECRET}, {"text": CHANGED}, NOW, "b")])
        assert len(_traces(path)) >= 7
        store.search_keywords(parse_keywords("word1"), Filter(now=NOW), 5)
        assert store.forget(["gone"]) == ["gone"]
        assert _traces(path) == []
        vectors = [TOY.embed_query(text).tobytes() for text in (SECRET, CHANGED)]
        assert not any(vector in _bytes_on_disk(path) for vector in vectors)
        assert store.check() == []
    assert _traces(path) == []


def test_vectors_of_a_dropped_generation_leave_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(text=SECRET, vector=TOY.embed_query(SECRET))], NOW, SPACE)
        store.begin_reembedding(OTHER_SPACE)
        store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in store.next_to_reembed(9).items()}, OTHER_SPACE)
        assert TOY.embed_query(SECRET).tobytes() in _bytes_on_disk(path)
        store.finish_reembedding(OTHER_SPACE)
        assert store.scrub()
        assert TOY.embed_query(SECRET).tobytes() not in _bytes_on_disk(path)
        assert OTHER.embed_query(SECRET).tobytes() in _bytes_on_disk(path)


def test_forgetting_inside_a_transaction_is_scrubbed_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.add([Draft(text=SECRET, id="gone"), Draft(text="kept")], NOW)
        with store.transaction():
            store.forget(["gone"])
            assert not store.scrub()
            assert _traces(path)
        assert _traces(path) == []


def test_scrubbing_says_when_a_reader_is_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path, busy_timeout_s=0.05) as store:
        store.add([Draft(text=SECRET, id="gone"), Draft(text="kept")], NOW)
        with store._connections.read() as reader:
            assert counters.state(reader).changes == 1
            store.forget(["gone"])
            assert not store.scrub()
        assert store.scrub()
        assert _traces(path) == []


def test_other_processes_learn_what_was_forgotten_however_long_they_slept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes of what was removed are kept for a while; a mirror older than the oldest note is made anew."""
    monkeypatch.setattr(counters, "_REMOVED_KEPT", 10)
    path = tmp_path / "memory.db"
    with SqliteStore(path) as here, SqliteStore(path) as there:
        records = here.add([Draft(text=f"cat {n}", vector=TOY.embed_query(f"cat {n}")) for n in range(40)], NOW, SPACE)
        assert len(there.search_vectors(TOY.embed_query("cat"), Filter(now=NOW), 99)) == 40
        for record in records[:30]:
            here.forget([record.id])
        left = sorted(record.id for record in records[30:])
        found = there.search_vectors(TOY.embed_query("cat"), Filter(now=NOW), 99)
        assert sorted(hit.id for hit in found) == left
        with here._connections.read() as connection:
            assert int(connection.execute("SELECT count(*) FROM removed").get) <= 10


@pytest.mark.parametrize("others", [0, 300])
def test_no_stem_of_a_forgotten_text_of_another_language_stays(tmp_path: Path, others: int) -> None:
    path, stems = tmp_path / "memory.db", (b"donaudampfschifffahrt", b"gesellschaftskapitan", b"donaudampf")
    with SqliteStore(path) as store:
        store.add(
            [Draft(text=f"Das ist die Notiz {n} und nicht der Brief {n * 7919 % 1000}") for n in range(others)], NOW
        )
        store.add([Draft(text="Die Donaudampfschifffahrten sind bei den Gesellschaftskapitänen", id="gone")], NOW)
        store.update("gone", {"text": "Die Donaudampfschifffahrt ist vorbei und nicht gut"}, NOW + 1)
        assert [stem for stem in stems if stem in _bytes_on_disk(path)] == list(stems)
        store.forget(["gone"])
        assert [stem for stem in stems if stem in _bytes_on_disk(path).lower()] == []
        assert store.check() == []
