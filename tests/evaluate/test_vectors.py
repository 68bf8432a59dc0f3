"""The vector cache: each text embedded once, shared by processes, never trusted blindly, never in the way."""

import sys
from concurrent.futures import ThreadPoolExecutor
from subprocess import PIPE, Popen

import apsw
import numpy as np
import pytest

from thinkback.evaluate.vectors import BATCH, CachedEmbedder
from thinkback.stores.sqlite.vector_cache import VectorCache
from thinkback.testing import ToyEmbedder


class Counting:
    """A toy embedder that remembers what it was asked."""

    def __init__(self, name="toy", dimensions=8):
        self._toy = ToyEmbedder(dimensions)
        self.fingerprint = name
        self.dimensions = dimensions
        self.batches = []

    def embed_passages(self, texts):
        self.batches.append(list(texts))
        return self._toy.embed_passages(texts)

    def embed_query(self, text):
        return self._toy.embed_query(text)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "vectors.db"


def _embed(path, texts, embedder=None):
    embedder = embedder or Counting()
    with VectorCache(path) as cache:
        vectors = CachedEmbedder(embedder, cache).embed_passages(texts)
    return vectors, embedder.batches


def test_a_second_run_embeds_nothing_and_gets_the_same_bits(path):
    first, _ = _embed(path, ["a boat", "a fig"])
    second, asked = _embed(path, ["a fig", "a boat"])
    assert asked == []
    assert np.array_equal(second, first[::-1])
    assert second.dtype == np.float32


def test_only_unknown_texts_are_embedded_and_each_once(path):
    _embed(path, ["a boat"])
    vectors, asked = _embed(path, ["a fig", "a boat", "a fig"])
    assert asked == [["a fig"]]
    assert np.array_equal(vectors[0], vectors[2])


def test_the_order_is_that_of_the_texts(path):
    texts = ["c", "a", "b", "a"]
    vectors, _ = _embed(path, texts)
    assert np.array_equal(vectors, ToyEmbedder(8).embed_passages(texts))


def test_spaces_do_not_mix(path):
    _embed(path, ["a boat"], Counting("one"))
    _, asked = _embed(path, ["a boat"], Counting("two"))
    assert asked == [["a boat"]]


def test_a_vector_of_another_size_or_with_nan_counts_as_unknown(path):
    with VectorCache(path) as cache:
        cache.put("toy", ["short", "nan"], np.array([[1.0, 0.0], [np.nan, 0.0]], dtype=np.float32))
    _, asked = _embed(path, ["short", "nan"], Counting(dimensions=2))
    assert asked == [["nan"]]
    _, asked = _embed(path, ["short"], Counting(dimensions=8))
    assert asked == [["short"]]


def test_a_flipped_bit_is_noticed_and_the_text_embedded_again(path):
    expected, _ = _embed(path, ["a boat"])
    connection = apsw.Connection(str(path))
    (blob,) = connection.execute("SELECT vector FROM vectors").fetchone()
    connection.execute("UPDATE vectors SET vector = ?", (bytes([blob[0] ^ 1]) + blob[1:],))
    connection.close()
    again, asked = _embed(path, ["a boat"])
    assert asked == [["a boat"]]
    assert np.array_equal(again, expected)


def test_no_texts_give_no_rows(path):
    vectors, asked = _embed(path, [])
    assert vectors.shape == (0, 8)
    assert asked == []


def test_queries_are_embedded_live(path):
    embedder = Counting()
    with VectorCache(path) as cache:
        cached = CachedEmbedder(embedder, cache)
        assert np.array_equal(cached.embed_query("boat"), embedder.embed_query("boat"))
        assert (cached.fingerprint, cached.dimensions) == ("toy", 8)


def test_an_interrupted_run_keeps_the_batches_it_made(path):
    texts = [f"text {i}" for i in range(BATCH + 10)]

    class Stopping(Counting):
        def embed_passages(self, texts):
            if self.batches:
                raise KeyboardInterrupt
            return super().embed_passages(texts)

    with VectorCache(path) as cache, pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Stopping(), cache).embed_passages(texts)
    _, asked = _embed(path, texts)
    assert [len(batch) for batch in asked] == [10]


def test_progress_counts_the_unknown_texts(path):
    heard = []
    with VectorCache(path) as cache:
        cached = CachedEmbedder(Counting(), cache, lambda done, total: heard.append((done, total)))
        cached.embed_passages([f"text {i}" for i in range(BATCH + 1)])
        cached.embed_passages(["text 0"])
    assert heard == [(BATCH, BATCH + 1), (BATCH + 1, BATCH + 1)]


@pytest.mark.parametrize(
    "content",
    [b"not a database, but long enough to be looked at" * 100, b"SQLite format 3\0" + b"\xff" * 5000],
    ids=["other file", "broken header"],
)
def test_a_file_that_is_no_cache_is_set_aside_and_begun_anew(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    _embed(path, ["a boat"])
    _, asked = _embed(path, ["a boat"])
    assert asked == []
    assert path.with_name("vectors.db.damaged").read_bytes() == content


def test_a_page_overwritten_in_the_middle_costs_only_time(path):
    texts = [f"text {i}" for i in range(2000)]
    expected, _ = _embed(path, texts)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xaa" * 8192)
    again, _ = _embed(path, texts)
    assert np.array_equal(again, expected)
    _, asked = _embed(path, texts)
    assert asked == []


def test_a_table_of_another_shape_is_set_aside(path):
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE vectors(something)")
    connection.close()
    _embed(path, ["a boat"])
    assert _embed(path, ["a boat"])[1] == []


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    vectors, asked = _embed(tmp_path / "file" / "vectors.db", ["a boat"])
    assert vectors.shape == (1, 8)
    assert asked == [["a boat"]]


def test_threads_share_one_cache(path):
    texts = [f"text {i}" for i in range(300)]
    expected = ToyEmbedder(8).embed_passages(texts)
    with VectorCache(path) as cache, ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: CachedEmbedder(Counting(), cache).embed_passages(texts), range(16)))
    assert all(np.array_equal(vectors, expected) for vectors in made)


WRITER = """
import sys
from pathlib import Path
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.stores.sqlite.vector_cache import VectorCache
from thinkback.testing import ToyEmbedder
with VectorCache(Path(sys.argv[1])) as cache:
    embedder = CachedEmbedder(ToyEmbedder(8), cache)
    for start in range(0, 400, 20):
        embedder.embed_passages([f"text {i}" for i in range(start, start + 20)])
        embedder.embed_passages([f"own {sys.argv[2]} {i}" for i in range(start, start + 20)])
"""


def test_processes_share_one_file(path):
    writers = [Popen([sys.executable, "-c", WRITER, str(path), str(i)], stderr=PIPE) for i in range(3)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors.decode()
    texts = [f"text {i}" for i in range(400)] + [f"own {w} {i}" for w in range(3) for i in range(400)]
    _, asked = _embed(path, texts, Counting("toy-words-8"))
    assert asked == []


def test_only_its_owner_may_read_the_cache(path):
    path.parent.mkdir()
    path.touch(mode=0o644)
    with VectorCache(path) as cache:
        CachedEmbedder(Counting(), cache).embed_passages(["a boat"])
        assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}
