"""The toys behave like what they stand for."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import thinkback.testing
from thinkback.clock import DAY, to_us
from thinkback.testing import FixedClock, ToyEmbedder


def test_texts_that_share_words_are_near() -> None:
    toy = ToyEmbedder()
    cat, cats, dog = toy.embed_passages(["the grey cat sleeps", "grey cats sleeping", "brown dogs bark"])
    assert cat @ cats > 0.6
    assert abs(cat @ dog) < 0.35


@given(st.text())
def test_every_text_has_a_direction(text: str) -> None:
    toy = ToyEmbedder(16)
    vector = toy.embed_query(text)
    assert vector.shape == (16,)
    assert vector.dtype == np.float32
    assert abs(np.linalg.norm(vector) - 1) < 1e-6
    assert toy.embed_passages([text, "other"])[0].tolist() == vector.tolist()


def test_no_texts_make_no_rows() -> None:
    assert ToyEmbedder(16).embed_passages([]).shape == (0, 16)


def test_the_fingerprint_names_the_space() -> None:
    assert ToyEmbedder(16).fingerprint == ToyEmbedder(16).fingerprint != ToyEmbedder(32).fingerprint
    assert ToyEmbedder(16).fingerprint.startswith("toy-")


def test_another_process_makes_the_same_vectors() -> None:
    script = "from thinkback.testing import ToyEmbedder; print(ToyEmbedder().embed_query('grey cats').tobytes().hex())"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == ToyEmbedder().embed_query("grey cats").tobytes().hex()


def test_the_clock_stands_still_until_told() -> None:
    clock = FixedClock("2026-05-08")
    assert clock() == clock() == to_us("2026-05-08")
    assert clock.advance(DAY) == clock() == to_us("2026-05-09")


def test_the_toys_need_no_pytest() -> None:
    script = "import sys, thinkback.testing; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_public_names() -> None:
    assert thinkback.testing.__all__ == ["FixedClock", "StoreContract", "ToyEmbedder"]
    assert all(hasattr(thinkback.testing, name) for name in thinkback.testing.__all__)
