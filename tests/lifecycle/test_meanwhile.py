"""Two processes on one file: whatever the other does between two steps of the one, it comes to one after the other."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lifecycle_fixtures import START

from thinkback.clock import DAY, HOUR, WEEK
from thinkback.errors import NotFound, ThinkbackError
from thinkback.lifecycle.embed import Embedding
from thinkback.memory import Memory
from thinkback.model import Draft, Vector
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

NOW = FixedClock(START)() + 13 * DAY
KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
SETTINGS = ("tidy.decayed_until", "reflect.described", "reflect.raised", "reflect.seen")
Verb = Callable[[Memory], object]


class Shouting(ToyEmbedder):
    """Another model with as many numbers."""

    @property
    def fingerprint(self) -> str:
        return "shouting"

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(" ".join(f"{word}x" for word in text.split()))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([self.embed_query(text) for text in texts])


def tidy_later(memory: Memory) -> object:
    memory.clock = FixedClock(NOW + WEEK)
    return memory.tidy(dry_run=False)


def embed_anew(memory: Memory) -> object:
    return Memory(memory.store, embedding=Embedding(memory.store, Shouting), clock=memory.clock).reembed()


VERBS: dict[str, Verb] = {
    "remember": lambda memory: memory.remember("Oscar is a very grey cat", id="again"),
    "archive": lambda memory: memory.archive("cat", "plumber"),
    "restore": lambda memory: memory.restore("plumber", "roof"),
    "tidy": lambda memory: memory.tidy(dry_run=False),
    "reflect": lambda memory: memory.reflect(),
    "redact": lambda memory: memory.redact(),
    "embed the missing": lambda memory: memory.embed_missing(),
    "embed anew": embed_anew,
    "tidy later": tidy_later,
    "change the text": lambda memory: memory.update("cat", text="Oscar is a very black cat"),
    "change the tier": lambda memory: memory.update("roof", tier="semantic"),
    "change the confidence": lambda memory: memory.update("cat", confidence=0.6),
    "close": lambda memory: memory.contest("cat2", "cat", close=True),
    "forget": lambda memory: memory.forget("cat", "dog-sofa"),
    "forget the repetition": lambda memory: memory.forget("cat2"),
    "judge": lambda memory: memory.judge("what opens the gate", "secret"),
    "judge again": lambda memory: memory.judge("which key", "secret", 3),
}
MEANWHILE = {
    "remember": ("change the text", "close", "forget"),
    "archive": ("forget",),
    "restore": ("change the tier", "tidy"),
    "tidy": (
        "remember",
        "archive",
        "restore",
        "tidy",
        "tidy later",
        "change the text",
        "change the confidence",
        "close",
        "forget the repetition",
    ),
    "reflect": ("remember", "change the text", "forget", "embed anew"),
    "redact": ("judge", "judge again", "embed anew"),
    "embed the missing": ("forget",),
    "embed anew": ("forget",),
}


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every verb finds something to do."""
    path = tmp_path_factory.mktemp("meanwhile") / "lived_in.db"
    clock = FixedClock(START)
    with opened(path, clock) as memory:
        memory.remember("Oscar is a very grey cat", id="cat")
        memory.remember("call the plumber tomorrow morning", id="plumber", tier="working")
        memory.remember("the roof has to be mended", id="roof", tier="working", expires_at=clock() + 5 * DAY)
        memory.remember(f"my key is {KEY} for now", id="secret")
        memory.judge("which key", "secret")
        for thing in ("sofa", "fish", "birds", "garden"):
            memory.remember(f"the small grey dog Rex likes his {thing}", id=f"dog-{thing}")
        clock.advance(2 * DAY)
        memory.reflect()
        memory.remember("the small grey dog Rex likes his walks", id="dog-walks")
        clock.advance(12 * HOUR)
        unlinked = [Draft(text="Oscar is a very grey cat", id="cat2"), Draft(text="dog Rex likes his ball", id="ball")]
        memory.store.add(unlinked, clock())
    return path


@contextmanager
def opened(path: Path, clock: FixedClock) -> Iterator[Memory]:
    store = SqliteStore(path)
    with Memory(store, embedding=Embedding(store, ToyEmbedder), clock=clock) as memory:
        yield memory


@pytest.mark.parametrize(("verb", "other"), [(verb, other) for verb, others in MEANWHILE.items() for other in others])
@pytest.mark.filterwarnings("ignore::thinkback.errors.ThinkbackWarning")
def test_it_comes_to_one_after_the_other(lived_in: Path, tmp_path: Path, verb: str, other: str) -> None:
    orders = ((verb, other), (other, verb))
    in_order = [_outcome(lived_in, tmp_path / f"order{n}.db", order) for n, order in enumerate(orders)]
    steps = Steps(0)
    for n in range(1, 100):
        steps = Steps(n)
        found = _outcome(lived_in, tmp_path / f"{n}.db", (verb, other), steps)
        if steps.done < n:
            break
        if found not in in_order:
            assert found == in_order[0], f"{other} after step {n}"
    assert 1 <= steps.done < 99


def test_a_receipt_counts_and_proves_every_version_that_went(lived_in: Path, tmp_path: Path) -> None:
    """Also the one that another process writes at the last moment."""
    for n in range(1, 6):
        path = tmp_path / f"{n}.db"
        shutil.copy(lived_in, path)
        steps = Steps(n)
        versions = 1
        with opened(path, FixedClock(NOW)) as one, opened(path, FixedClock(NOW)) as another:

            def change(another: Memory = another) -> None:
                nonlocal versions
                with suppress(NotFound):
                    versions += bool(another.update("cat", text="Oscar is a very black cat"))

            with pytest.MonkeyPatch.context() as patch:
                steps.happens = change
                steps.watch(one.store, patch)
                receipt = one.forget_verified("cat")
        assert (steps.done >= n, receipt.removed["versions"]) == (True, versions)


class Steps:
    """Lets something happen once, after the n-th of all calls of a store outside of its transactions."""

    def __init__(self, n: int) -> None:
        self.n, self.done, self.happens = n, 0, lambda: None

    def count(self, store: SqliteStore) -> None:
        if not store.in_transaction:
            self.done += 1
            if self.done == self.n:
                self.happens()

    def watch(self, store: SqliteStore, patch: pytest.MonkeyPatch) -> None:
        managed = ("snapshot", "transaction")
        for name in managed:
            patch.setattr(store, name, self._around(store, getattr(store, name)))
        others = ("close", "path", "read_only", "in_transaction", *managed)
        for name in (name for name in dir(store) if name[0] != "_" and name not in others):
            patch.setattr(store, name, self._after(store, getattr(store, name)))

    def _around(self, store: SqliteStore, call: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def called(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with call(*args, **kwargs) as found:
                self.count(store)
                yield found
            self.count(store)

        return called

    def _after(self, store: SqliteStore, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            found = call(*args, **kwargs)
            found = iter(list(found)) if isinstance(found, Iterator) else found
            self.count(store)
            return found

        return called


def _outcome(lived_in: Path, path: Path, verbs: tuple[str, str], steps: Steps | None = None) -> dict[str, Any]:
    """What is in the store, and what failed, after two verbs: one after the other, or the second during the first."""
    shutil.copy(lived_in, path)
    failed: dict[str, object] = {}

    def do(verb: str, memory: Memory) -> None:
        try:
            VERBS[verb](memory)
        except ThinkbackError as error:
            failed[verb] = type(error)

    with (
        opened(path, FixedClock(NOW)) as one,
        opened(path, FixedClock(NOW)) as another,
        pytest.MonkeyPatch.context() as patch,
    ):
        first, second = verbs
        if steps is not None:
            steps.happens = lambda: do(second, another)
            steps.watch(one.store, patch)
        do(first, one)
        if steps is None:
            do(second, another)
    return {"failed": failed, **_contents(path)}


def _contents(path: Path) -> dict[str, Any]:
    with SqliteStore(path) as store:
        assert store.check() == []
        ids = {record.id for record in store.export_records()}
        told = ((e.action, e.memory_id, e.before, e.after, e.undone_at) for e in store.journal())
        return {
            "records": {id: store.history(id) for id in ids},
            "vectors": {id: np.round(vector, 6).tolist() for id, vector in store.vectors(sorted(ids)).items()},
            "edges": set(store.export_edges()),
            "judgements": set(store.judgements()),
            "journal": sorted(json.dumps(entry) for entry in told),
            "settings": {key: store.setting(key) for key in SETTINGS},
        }
