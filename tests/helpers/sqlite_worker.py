"""A process beside the test's own: reads one job from its arguments, speaks JSON lines on stdout, obeys lines on stdin."""

import json
import sys
import threading
import time
from itertools import count
from typing import Any

from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import ToyEmbedder

NOW = 1_770_000_000_000_000
TOY = ToyEmbedder(32)
SPACE = EmbeddingSpace(TOY.fingerprint, TOY.dimensions)
OTHER = ToyEmbedder(16)
OTHER_SPACE = EmbeddingSpace(OTHER.fingerprint, OTHER.dimensions)


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any]:
    heard: dict[str, Any] = json.loads(sys.stdin.readline())
    return heard


def draft(name: str, number: int) -> Draft:
    text = f"shared note {number} of {name}"
    return Draft(text=text, id=f"{name}-{number}", tags=(name,), thread=name, vector=TOY.embed_query(text))


def write_forever(path: str) -> None:
    """Writes batches of three and says so after each, until killed."""
    with SqliteStore(path) as store:
        number = 0
        while True:
            store.add([draft("w", number + n) for n in range(3)], NOW, SPACE)
            store.update(f"w-{number}", {"text": f"shared note {number}, changed"}, NOW + 1)
            number += 3
            say(written=number)


def write_from_threads(path: str) -> None:
    """Writes from eight threads, one memory at a time, and says so after each, until killed."""
    saying = threading.Lock()

    def work(name: str) -> None:
        for number in count():
            store.add([draft(name, number)], NOW, SPACE)
            with saying:
                say(id=f"{name}-{number}")

    with SqliteStore(path) as store:
        threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def reembed_forever(path: str) -> None:
    """Embeds one version at a time into another space, saying so after each, until killed."""
    with SqliteStore(path) as store:
        store.begin_reembedding(OTHER_SPACE)
        while waiting := store.next_to_reembed(1):
            store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in waiting.items()}, OTHER_SPACE)
            say(done=list(waiting))


def write(path: str, name: str, seconds: float) -> None:
    """Writes, changes and forgets its own memories for a while; what it forgot it says at the end."""
    with SqliteStore(path) as store:
        say(ready=True)
        hear()
        number, forgotten, end = 0, 0, time.monotonic() + seconds
        while time.monotonic() < end:
            store.add([draft(name, number), draft(name, number + 1)], NOW, SPACE)
            store.amend({f"{name}-{number}": {"priority": "P1"}}, NOW)
            if number % 10 == 8:
                forgotten += len(store.forget([f"{name}-{number - 1}"]))
            number += 2
        say(written=number, forgotten=forgotten)
        settle(store)


def read(path: str, _: str, seconds: float) -> None:
    """Searches for a while; the change count it sees must never fall."""
    with SqliteStore(path) as store:
        say(ready=True)
        hear()
        searches, last, end = 0, 0, time.monotonic() + seconds
        while time.monotonic() < end:
            state = store.state()
            assert state.changes >= last
            last = state.changes
            found = store.search_keywords(parse_keywords("shared note"), Filter(now=NOW), 20)
            near = store.search_vectors(TOY.embed_query("shared note"), Filter(now=NOW), 20)
            records = store.get([hit.id for hit in [*found, *near]])
            assert all(record.text.startswith("shared note") for record in records.values())
            searches += 1
        say(searches=searches)
        settle(store)


def settle(store: SqliteStore) -> None:
    """After all have stopped writing: what this process, with its warm caches, finds by each way."""
    hear()
    everything = Filter(now=NOW, everything=True)
    say(
        keywords=sorted(hit.id for hit in store.search_keywords(parse_keywords("shared"), everything, 10**6)),
        vectors=sorted(hit.id for hit in store.search_vectors(TOY.embed_query("shared"), everything, 10**6)),
        count=store.count(everything),
        tags=sum(store.tags().values()),
    )


if __name__ == "__main__":
    job, path, *rest = sys.argv[1:]
    jobs = {
        "write_forever": write_forever,
        "write_from_threads": write_from_threads,
        "reembed_forever": reembed_forever,
    }
    if job in jobs:
        jobs[job](path)
    else:
        {"write": write, "read": read}[job](path, rest[0], float(rest[1]))
