"""Stems are the same whichever threads ask for them at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

from thinkback.stores.stemming import _stem, forms

WORDS = [f"{first}{second}{end}" for first in ("haus", "kind", "schön", "lauf") for second in ("", "er", "ung", "lich")
         for end in ("en", "es", "ern", "heiten", "igkeit", "amente", "aciones", "issement", "erait", "ement")]  # fmt: skip


def test_threads_do_not_disturb_each_other():
    alone = [forms(word) for word in WORDS]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(3):
                _stem.cache_clear()
                shares = [
                    pool.submit(lambda at: [forms(word) for word in WORDS[at:] + WORDS[:at]], at)
                    for at in range(0, 160, 20)
                ]
                for at, share in zip(range(0, 160, 20), shares, strict=True):
                    assert share.result() == alone[at:] + alone[:at]
    finally:
        sys.setswitchinterval(before)
        _stem.cache_clear()
