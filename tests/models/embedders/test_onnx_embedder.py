"""ONNX embedders: meaning, prefixes, pooling, whole long texts, and vectors that depend on the text alone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from codes import raises
from paraphrases import TRIPLES

from thinkback.errors import InvalidInput, ModelDamaged, ModelUnavailable
from thinkback.models.embedders import Embedder, open_embedder
from thinkback.models.embedders.onnx import OnnxEmbedder, OnnxSettings
from thinkback.models.tokenizer import windows
from thinkback.models.weights import FetchOptions, OpenOptions, Pooling, find

pytestmark = pytest.mark.models

Weights = Callable[[str], Path]
ONNX = ["e5-small-v2", "bge-small-en-v1.5", "all-MiniLM-L6-v2"]


@pytest.fixture(scope="module")
def opened(weights: Weights, fetch: FetchOptions) -> Callable[[str], Embedder]:
    kept: dict[str, Embedder] = {}

    def get(name: str) -> Embedder:
        weights(name)
        return kept.setdefault(name, open_embedder(name, fetch))

    return get


def bare(weights: Weights, name: str, **changes: object) -> OnnxEmbedder:
    row = find(name)
    given = {"pooling": row.pooling, "max_tokens": row.max_tokens, **changes}
    return OnnxEmbedder(weights(name), OnnxSettings(name, "test", row.dimensions, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "at_least"), [*((name, 50) for name in ONNX), ("potion-base-8M", 44)])
def test_paraphrases_are_closer_than_unrelated_sentences(
    opened: Callable[[str], Embedder], name: str, at_least: int
) -> None:
    """All fifty for the transformers; the static table knows no word order and little of synonyms."""
    embedder = opened(name)
    same = embedder.embed_passages([paraphrase for _, paraphrase, _ in TRIPLES])
    other = embedder.embed_passages([unrelated for _, _, unrelated in TRIPLES])
    asked = np.stack([embedder.embed_query(sentence) for sentence, _, _ in TRIPLES])
    closer = (asked * same).sum(axis=1) > (asked * other).sum(axis=1)
    missed = [TRIPLES[index][0] for index in np.flatnonzero(~closer)]
    assert int(closer.sum()) >= at_least, missed


@pytest.mark.parametrize("name", [*ONNX, "potion-base-8M"])
def test_vectors_have_the_promised_size_and_length_one(opened: Callable[[str], Embedder], name: str) -> None:
    embedder = opened(name)
    rows = embedder.embed_passages(["one", "", "drei vier", "\ud800 a lone surrogate"])
    assert rows.shape == (4, find(name).dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows.astype(float), axis=1), 1.0, atol=1e-6)
    assert embedder.dimensions == rows.shape[1] == len(embedder.embed_query("one"))
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("name", ONNX)
def test_a_text_has_one_vector_whatever_its_company(opened: Callable[[str], Embedder], name: str) -> None:
    """To the last bit: alone, among short and long texts, in any order."""
    embedder = opened(name)
    texts = [sentence for triple in TRIPLES[:8] for sentence in triple] + ["word " * 90, "x", "1 2 3 " * 30]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    backwards = embedder.embed_passages(texts[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_threads_do_not_change_a_vector(weights: Weights, fetch: FetchOptions) -> None:
    weights("e5-small-v2")
    texts = [sentence for triple in TRIPLES[:5] for sentence in triple]
    rows = [
        open_embedder("e5-small-v2", OpenOptions(fetch, threads=threads)).embed_passages(texts) for threads in (1, 2, 5)
    ]
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])


def test_prefixes_stand_before_queries_and_passages(weights: Weights, opened: Callable[[str], Embedder]) -> None:
    plain, prefixed = bare(weights, "e5-small-v2"), opened("e5-small-v2")
    written_out = plain.embed_passages(["query: grey cat", "passage: grey cat"])
    assert np.array_equal(prefixed.embed_query("grey cat"), written_out[0])
    assert np.array_equal(prefixed.embed_passages(["grey cat"])[0], written_out[1])


@pytest.mark.parametrize(("name", "pooled"), [("bge-small-en-v1.5", "first"), ("all-MiniLM-L6-v2", "mean")])
def test_pooling_is_the_models_own(weights: Weights, opened: Callable[[str], Embedder], name: str, pooled: str) -> None:
    """Against onnxruntime called by hand: the first token's vector for bge, the mean of all for MiniLM."""
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(weights(name) / "model.onnx"), options)
    tokenizer = Tokenizer.from_file(str(weights(name) / "tokenizer.json"))
    tokenizer.no_padding()
    ids = np.array([tokenizer.encode("A grey cat named Oscar").ids])
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    tokens = session.run(["last_hidden_state"], feeds)[0][0].astype(float)
    vector = tokens[0] if pooled == "first" else tokens.mean(axis=0)
    expected = vector / np.sqrt((vector**2).sum())
    assert np.allclose(opened(name).embed_passages(["A grey cat named Oscar"])[0], expected, atol=1e-6)


def test_a_long_text_is_the_mean_of_its_windows(weights: Weights) -> None:
    """100 one-token words, 40 to a window (38 beside the special tokens), at least 8 shared: starts 0, 20, 41, 62."""
    embedder = bare(weights, "all-MiniLM-L6-v2", max_tokens=40, overlap=8)
    vocabulary = ["cat", "dog", "house", "tree", "river", "stone", "music", "paper", "light", "water", "bread"]
    words = [vocabulary[(index * index) % len(vocabulary)] for index in range(100)]
    assert windows(100, 38, 8) == [(0, 38), (20, 58), (41, 79), (62, 100)]
    pieces = embedder.embed_passages([" ".join(words[start:end]) for start, end in windows(100, 38, 8)])
    mean = pieces.astype(float).mean(axis=0)  # equally long windows weigh the same
    whole = embedder.embed_passages([" ".join(words)])[0]
    assert np.allclose(whole, mean / np.sqrt((mean**2).sum()), atol=1e-6)


def test_prefix_and_special_tokens_frame_every_window(weights: Weights) -> None:
    """`passage: ` is two tokens, so 36 words fit beside it in a window of 40; 37 no longer do."""
    embedder = bare(weights, "e5-small-v2", max_tokens=40, overlap=4, passage_prefix="passage: ")
    plain = bare(weights, "e5-small-v2")
    words = ["cat", "river"] * 18
    fits = embedder.embed_passages([" ".join(words)])[0]
    assert np.array_equal(fits, plain.embed_passages(["passage: " + " ".join(words)])[0])
    longer = [*words, "stone"]
    halves = plain.embed_passages(["passage: " + " ".join(longer[:36]), "passage: " + " ".join(longer[1:])])
    mean = halves.astype(float).mean(axis=0)
    assert np.allclose(embedder.embed_passages([" ".join(longer)])[0], mean / np.sqrt((mean**2).sum()), atol=1e-6)


@pytest.mark.parametrize("name", ONNX)
def test_the_end_of_a_long_text_is_not_cut(opened: Callable[[str], Embedder], name: str) -> None:
    embedder = opened(name)
    long = "The weather report mentioned light winds over the hills. " * 120
    with_end, without = embedder.embed_passages([long + "Caroline's grey cat is called Oscar. " * 12, long])
    asked = embedder.embed_query("What is the name of Caroline's cat?")
    assert with_end @ asked > without @ asked + 0.005


def test_fingerprints_tell_spaces_apart(weights: Weights, opened: Callable[[str], Embedder]) -> None:
    names = [opened(name).fingerprint for name in ONNX]
    assert len(set(names)) == 3
    assert all(mark.startswith(f"{name}@") for mark, name in zip(names, ONNX, strict=True))
    base = bare(weights, "e5-small-v2").fingerprint
    assert base == bare(weights, "e5-small-v2").fingerprint
    for change in ({"max_tokens": 128}, {"query_prefix": "q: "}, {"pooling": Pooling.CLS}, {"overlap": 9}):
        assert bare(weights, "e5-small-v2", **change).fingerprint != base


def test_what_is_no_text_is_refused(opened: Callable[[str], Embedder]) -> None:
    with raises(InvalidInput, "not_text"):
        opened("e5-small-v2").embed_passages([3])  # type: ignore[list-item]


def test_a_broken_model_file_is_told(weights: Weights, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((weights("e5-small-v2") / "tokenizer.json").read_bytes())
    settings = OnnxSettings("broken", "test", 384)
    with raises(ModelUnavailable):
        OnnxEmbedder(tmp_path, settings)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with raises(ModelDamaged):
        OnnxEmbedder(tmp_path, settings)
    (tmp_path / "tokenizer.json").write_text("{}")
    with raises(ModelDamaged):
        OnnxEmbedder(tmp_path, settings)


@pytest.mark.parametrize(("options", "code"), [({"device": "tpu"}, "unknown_device"), ({"threads": 0}, "out_of_range")])
def test_impossible_choices_are_refused(weights: Weights, options: dict[str, object], code: str) -> None:
    with raises(InvalidInput, code):
        OnnxEmbedder(weights("e5-small-v2"), OnnxSettings("e5", "test", 384), **options)  # type: ignore[arg-type]


def test_a_folder_of_ones_own_is_opened_by_its_files(weights: Weights, tmp_path: Path) -> None:
    """Pooling, prefixes and limit come from the files sentence-transformers keeps beside a model."""
    import json
    import shutil

    shutil.copytree(weights("bge-small-en-v1.5"), tmp_path / "mine")
    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True}
    (tmp_path / "mine" / "1_Pooling").mkdir()
    (tmp_path / "mine" / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    prompts = {"prompts": {"query": "Represent this sentence for searching relevant passages: "}}
    (tmp_path / "mine" / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    own, listed = open_embedder(str(tmp_path / "mine")), open_embedder("bge-small-en-v1.5")
    assert np.array_equal(own.embed_query("grey cat"), listed.embed_query("grey cat"))
    assert own.fingerprint != listed.fingerprint
