"""Processes that share a derived index: they write, search, forget and are killed, and the index stays whole and keeps nothing."""

import os
import random
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np

import thinkback
from thinkback.model import Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.index.folder import Folder
from thinkback.stores.sqlite import SqliteStore, derived, index_cache, keywords, matrices, segment_files
from thinkback.stores.sqlite import store as stores
from thinkback.stores.sqlite.derived import folder_of

PROCESSES, STEPS, DIMENSIONS = 3, 40, 24
WORDS = [f"word{number}" for number in range(300)]
SMALL = (
    (segment_files, "SEGMENT_ROWS", 64),
    (derived, "PAYS_FROM", 20),
    (stores, "PAYS_FROM", 20),
    (matrices, "BLOCK_ROWS", 64),
    (keywords, "PAYS_FROM_ROWS", 0),
)


def shared_index(count: int, seed: int, folder: Path) -> list[str]:
    """Rounds of three processes on one file, of which some are killed; after each the index is looked at."""
    failures: list[str] = []
    with ExitStack() as small:
        for module, name, value in SMALL:
            small.enter_context(patch.object(module, name, value))
        for number in range(count):
            path = folder / f"shared{number // 5}.db"  # the same file goes on for five rounds
            wrong = [*_round(path, random.Random(seed * 1_000_003 + number)), *_looked_at(path)]
            failures += [f"round {number} of seed {seed}: {what}" for what in wrong]
    return failures


def _round(path: Path, rng: random.Random) -> Iterator[str]:
    """What went wrong while processes worked; what they were told was forgotten must not be in the index."""
    reading, writing = os.pipe()
    with patch.object(matrices, "MANY", rng.choice([matrices.MANY, 100])):
        children = [_forked(path, rng.randrange(1 << 30), reading, writing) for _ in range(PROCESSES)]
    os.close(writing)
    for child in children[1:]:
        if rng.random() < 0.4:
            time.sleep(rng.random() * 0.2)
            os.kill(child, signal.SIGKILL)
    with os.fdopen(reading) as told:
        lines = told.read().splitlines()
    for child in children:
        os.waitpid(child, 0)
    held = b"".join(file.read_bytes() for file in folder_of(str(path)).glob("*"))
    for line in lines:
        kind, _, what = line.partition(" ")
        if kind == "error":
            yield what
        elif what.encode() in held:
            yield f"{what} is in the index after its receipt"


def _forked(path: Path, seed: int, reading: int, writing: int) -> int:
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            for line in _worked(path, seed):
                os.write(writing, f"{line}\n".encode())
        except Exception as error:  # noqa: BLE001 - whatever it is, it went wrong
            where = traceback.extract_tb(error.__traceback__)[-1]
            os.write(writing, f"error {error!r} at {where.filename}:{where.lineno}\n".encode())
        finally:
            os._exit(0)
    return child


def _worked(path: Path, seed: int) -> Iterator[str]:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    done = 0
    while done < STEPS:
        with thinkback.open(path, embedder=None, reranker=None) as memory:
            mine: list[tuple[str, str]] = []
            for _ in range(rng.randint(1, STEPS)):
                done += 1
                choice, vector = rng.random(), numbers.standard_normal(DIMENSIONS).astype(np.float32)
                if choice < 0.5:
                    for _ in range(rng.randint(1, 15)):
                        token = f"token{rng.randrange(1 << 60):x}"
                        text = " ".join([*rng.choices(WORDS, k=6), token])
                        mine.append((memory.remember(text, vector=vector).id, token))
                elif choice < 0.65 and mine:
                    id, token = mine.pop(rng.randrange(len(mine)))
                    if memory.forget_verified(id).verified:
                        yield f"forgot {token}"
                        yield f"forgot {id}"
                else:
                    memory.recall(" ".join(rng.choices(WORDS, k=3)), vector=vector)


def _looked_at(path: Path) -> Iterator[str]:
    """What is wrong with the index, once a process has searched and closed the store."""
    with SqliteStore(path) as store:
        _answers(store)
    folder = folder_of(str(path))
    named = {entry.file for entry in Folder(folder).manifest().segments}
    if named != {file.name for file in folder.glob("*.segment")}:
        yield "the index names other files than there are"
    with SqliteStore(path, read_only=True) as store:
        found, view = _answers(store), store._indexes.latest
        if view.unsaved >= derived.PAYS_FROM:
            yield f"{view.unsaved} of {view.catalogue.size} rows are not in the index"
    with SqliteStore(path, read_only=True) as store:
        store._derived, store._indexes = None, index_cache.IndexCache()
        if found != _answers(store):
            yield "answers differ without the index"


def _answers(store: SqliteStore) -> list[object]:
    rng, numbers, filter = random.Random(1), np.random.default_rng(1), Filter(now=1 << 60)
    found: list[object] = []
    for _ in range(20):
        words = parse_keywords(" ".join(rng.choices(WORDS, k=3)), drop_function_words=False)
        vector = numbers.standard_normal(DIMENSIONS).astype(np.float32)
        found += [store.search_vectors(vector, filter, 10), store.search_keywords(words, filter, 10)]
    return found
