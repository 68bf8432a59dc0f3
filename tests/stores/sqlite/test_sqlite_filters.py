"""One law, three languages: `Filter.rejects` in Python, the WHERE clause in SQL, the masks of the mirror."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thinkback.clock import DAY
from thinkback.fields import KINDS, PRIORITIES, TIERS
from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore

NOW = 1_770_000_000_000_000
SPACE = EmbeddingSpace("axes", 2)

moments = st.integers(-3, 3).map(lambda days: NOW + days * DAY)
maybe = st.none() | moments
names = st.sampled_from(["a", "b", "A", "é", "a b", "a,b", "'", '"', "$.a", "%"])
tags = st.lists(st.sampled_from(["x", "y", "z w"]), unique=True, max_size=3).map(tuple)
scalars: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
    | st.sampled_from([0.0, 1.0, 0.5, 1e300, float(2**53), 9.223372036854775807e18])
    | st.sampled_from(["", "x", "1", "true", "null", "é", "a\nb", '"'])
)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(names, scalars, max_size=2)
metadata = st.dictionaries(names, values, max_size=3)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    valid_from, valid_to = draw(maybe), draw(maybe)
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        valid_to = None
    return Draft(
        text="a word",
        kind=draw(st.sampled_from(KINDS[:3])),
        tier=draw(st.sampled_from(TIERS[:3])),
        priority=draw(st.sampled_from(PRIORITIES)),
        tags=draw(tags),
        metadata=draw(metadata),
        thread=draw(st.none() | names),
        created_at=draw(moments),
        recorded_at=draw(moments),
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=draw(maybe),
        archived_at=draw(st.none() | st.just(NOW)),
        source=draw(st.none() | names),
        trust=draw(st.sampled_from([0.0, 0.5, 1.0])),
        vector=[1.0, 0.0],  # type: ignore[arg-type]
    )


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    fields: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {"now": moments},
            optional={
                "tags": tags,
                "kinds": st.lists(st.sampled_from(KINDS[:3]), max_size=2).map(tuple),
                "without_kinds": st.lists(st.sampled_from(KINDS[:3]), max_size=2).map(tuple),
                "tiers": st.lists(st.sampled_from(TIERS[:3]), max_size=2).map(tuple),
                "priorities": st.lists(st.sampled_from(PRIORITIES), max_size=2).map(tuple),
                "threads": st.lists(names, max_size=2).map(tuple),
                "sources": st.lists(names, max_size=2).map(tuple),
                "metadata": st.lists(st.tuples(names, values), max_size=1).map(tuple),
                "since": maybe,
                "until": maybe,
                "as_of": maybe,
                "known_at": maybe,
                "min_trust": st.sampled_from([0.0, 0.5, 0.7]),
                "everything": st.booleans(),
            },
        )
    )
    return Filter(**fields)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(drafts(), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), tags, moments), max_size=3),
    st.lists(filters(), min_size=1, max_size=8),
)
def test_every_search_follows_the_law(
    drafts: list[Draft], updates: list[tuple[int, tuple[str, ...], int]], filters: list[Filter]
) -> None:
    with SqliteStore(":memory:") as store:
        added = store.add(drafts, NOW, SPACE)
        for place, new_tags, moment in updates:
            if place < len(added):
                store.update(added[place].id, {"tags": new_tags}, moment)
        versions = list(store.export_records())
        some = frozenset(record.id for record in added[::2])
        for filter in [*filters, *(Filter(now=f.now, ids=some, known_at=f.known_at) for f in filters[:1])]:
            passing = sorted(version.id for version in versions if filter.rejects(version) is None)
            query, vector = parse_keywords("word"), [1.0, 0.0]
            assert sorted(r.id for r in store.list(filter, 99)) == passing
            assert sorted(s.id for s in store.recent(filter, 99)) == passing
            assert sorted(s.id for s in store.search_keywords(query, filter, 99)) == passing
            assert sorted(s.id for s in store.search_vectors(vector, filter, 99)) == passing  # type: ignore[arg-type]
            assert store.count(filter) == len(passing)
