"""An embedder whose passages are cached on disk, so that every benchmark embeds a text only once."""

from collections.abc import Callable, Sequence

import numpy as np

from thinkback.models.embedders.base import Embedder
from thinkback.stores.sqlite.vector_cache import VectorCache, Vectors

BATCH = 256


class CachedEmbedder:
    """An embedder with a cache of passages on disk; queries are always embedded, so that their time is measured.

    New vectors are written batch by batch, so an interrupted run keeps them. `progress` is called with the number of new texts
    embedded so far, and of all.
    """

    def __init__(
        self, embedder: Embedder, cache: VectorCache, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._progress = progress

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        known = self._cache.get(self.fingerprint, self.dimensions, texts)
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(unknown), BATCH):
            batch = unknown[start : start + BATCH]
            made = self._embedder.embed_passages(batch)
            self._cache.put(self.fingerprint, batch, made)
            known.update(zip(batch, made, strict=True))
            if self._progress is not None:
                self._progress(start + len(batch), len(unknown))
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)
