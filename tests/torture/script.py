"""A deterministic story of writes, so that a campaign knows what must be there after each."""

import random
from collections.abc import Callable, Iterator

from thinkback.errors import ThinkbackError
from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import PENDING_SCRUB, EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import ToyEmbedder

NOW = 1_770_000_000_000_000
EVERYTHING = Filter(now=NOW, everything=True)
TOY = ToyEmbedder(16)
SPACE = EmbeddingSpace(TOY.fingerprint, TOY.dimensions)
State = dict[str, str]  # text by id
Step = tuple[Callable[[SqliteStore], object], State]


def steps(seed: int, count: int, state: State | None = None) -> Iterator[Step]:
    """Writes, each with what the store holds after it."""
    rng, held = random.Random(seed), dict(state or {})
    for number in range(count):
        luck = rng.random()
        if luck < 0.55 or not held:
            added = {
                f"{seed}-{number}-{n}": f"shared note {seed} {number} {n} " * rng.choice([1, 1, 40]) for n in range(2)
            }
            held = {**held, **added}
            yield _add(added), held
        elif luck < 0.8:
            id = rng.choice(sorted(held))
            text = f"shared note {seed} {number} changed"
            held = {**held, id: text}
            yield _update(id, text), held
        else:
            id = rng.choice(sorted(held))
            held = {key: text for key, text in held.items() if key != id}
            yield _forget(id), held


def _add(texts: State) -> Callable[[SqliteStore], object]:
    drafts = [Draft(text=text, id=id, tags=("a",), vector=TOY.embed_query(text)) for id, text in texts.items()]
    return lambda store: store.add(drafts, NOW, SPACE)


def _update(id: str, text: str) -> Callable[[SqliteStore], object]:
    return lambda store: store.update(id, {"text": text}, NOW + 1)


def _forget(id: str) -> Callable[[SqliteStore], object]:
    return lambda store: store.forget([id])


def held_by(store: SqliteStore) -> State:
    return {record.id: record.text for record in store.list(EVERYTHING, None)}


def sound(store: SqliteStore) -> str | None:
    """What is wrong with a store that should be whole, or None."""
    problems = [problem for problem in store.check() if problem.area != PENDING_SCRUB]
    if problems:
        return problems[0].message
    found = {hit.id for hit in store.search_keywords(parse_keywords("shared"), EVERYTHING, 10**6)}
    if found != set(held_by(store)):
        return "the keyword index and the list disagree"
    return None


def verdict(path: str, allowed: list[State]) -> str | None:
    """Open a store after an accident; what is wrong, or None if it holds one of the states that it may."""
    try:
        with SqliteStore(path) as store:
            held = held_by(store)
            if held not in allowed:
                return f"holds {len(held)} memories, expected {[len(state) for state in allowed]}"
            wrong = sound(store)
            store.set_setting("after", "the accident")
            return wrong
    except ThinkbackError as error:
        return f"{type(error).__name__}: {error}"
