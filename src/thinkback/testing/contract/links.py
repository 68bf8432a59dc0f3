"""Laws of edges and threads."""

from collections.abc import Sequence

import pytest

from thinkback.clock import DAY
from thinkback.errors import InvalidInput, NotFound
from thinkback.model import Filter, StoredEdge
from thinkback.stores.base import Store
from thinkback.testing.contract.words import NOW, ids, put, put_one
from thinkback.testing.errors import raises


def _ends(store: Store, id: str, filter: Filter | None = None, limit: int = 10) -> Sequence[tuple[str, str, float]]:
    """The other end's text, the kind and the weight of each edge of a memory."""
    edges = store.edges([id], filter or Filter(now=NOW), limit).get(id, [])
    texts = store.get([edge.other(id) for edge in edges])
    return [(texts[edge.other(id)].text, edge.kind, edge.weight) for edge in edges]


class LinkLaws:
    """Edges are seen from both ends, strongest first; a thread is a chain."""

    def test_edges_are_seen_from_both_ends_strongest_first(self, store: Store) -> None:
        a, b, c, d = put(store, "a", "b", "c", "d")
        weights = ((a, b, 0.5), (c, a, 0.9), (a, d, 0.5))
        store.link([StoredEdge(from_id=x.id, to_id=y.id, kind="k", weight=w) for x, y, w in weights], NOW)
        assert _ends(store, a.id) == [("c", "k", 0.9), ("b", "k", 0.5), ("d", "k", 0.5)]
        assert _ends(store, a.id, limit=2) == [("c", "k", 0.9), ("b", "k", 0.5)]
        assert _ends(store, b.id) == [("a", "k", 0.5)]
        assert set(store.edges([a.id, b.id, "nobody"], Filter(now=NOW), 5)) == {a.id, b.id}

    def test_kinds_are_chosen_before_the_limit(self, store: Store) -> None:
        hub, weak, before, after = put(store, "hub", "weak", "before", "after")
        many = put(store, *[f"near {n}" for n in range(12)])
        store.link([StoredEdge(from_id=near.id, to_id=hub.id, kind="nearest", weight=0.9) for near in many], NOW)
        store.link([StoredEdge(from_id=hub.id, to_id=weak.id, weight=0.1)], NOW)
        for position, record in enumerate((before, hub, after)):
            store.update(record.id, {"thread": "t", "position": position}, NOW)

        def ends(limit: int | None, sequence: bool = True, **chosen: Sequence[str]) -> set[str]:
            edges = store.edges([hub.id], Filter(now=NOW), limit, sequence, **chosen).get(hub.id, [])
            return {edge.other(hub.id) for edge in edges}

        assert ends(1, sequence=False, without=["nearest"]) == {weak.id}
        assert ends(1, without=["nearest", "next"]) == {weak.id}
        assert ends(1, kinds=["related"]) == {weak.id}
        assert ends(2, kinds=["next"]) == {before.id, after.id}
        assert ends(3, kinds=["next", "related"]) == {before.id, after.id, weak.id}
        assert ends(99, kinds=["next"], sequence=False) == ends(99, kinds=["nobody"]) == set()
        assert ends(99, kinds=["nearest", "related"], without=["nearest"]) == {weak.id}
        assert len(ends(99)) == len(ends(None)) == 15

    def test_the_same_link_again_replaces_its_weight(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        store.link(
            [StoredEdge(from_id=a.id, to_id=b.id, weight=0.2), StoredEdge(from_id=a.id, to_id=b.id, kind="other")], NOW
        )
        store.link([StoredEdge(from_id=a.id, to_id=b.id, weight=0.7)], NOW + 1)
        assert _ends(store, a.id) == [("b", "other", 1.0), ("b", "related", 0.7)]
        assert [edge.created_at for edge in store.export_edges()] == [NOW, NOW]

    def test_unlinking_says_how_many_there_were(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        store.link([StoredEdge(from_id=a.id, to_id=b.id, kind=kind) for kind in ("x", "y", "z")], NOW)
        assert store.unlink(b.id, a.id) == 0
        assert store.unlink(a.id, b.id, "x") == 1
        assert store.unlink(a.id, b.id) == 2
        assert _ends(store, a.id) == []

    def test_links_that_cannot_be_are_refused(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        good = StoredEdge(from_id=a.id, to_id=b.id)
        with raises(NotFound, "unknown_memory"):
            store.link([good, StoredEdge(from_id=a.id, to_id="nobody")], NOW)
        bad = (
            StoredEdge(from_id=a.id, to_id=a.id),
            StoredEdge(from_id=a.id, to_id=b.id, weight=float("nan")),
            StoredEdge(from_id=a.id, to_id=b.id, weight=-1.0),
            StoredEdge(from_id=a.id, to_id=b.id, kind=" "),
            StoredEdge(from_id=a.id, to_id=b.id, kind="next"),
            StoredEdge(from_id=a.id, to_id=b.id, valid_from=NOW, valid_to=NOW - 1),
        )
        for edge in bad:
            with pytest.raises(InvalidInput):
                store.link([good, edge], NOW)
        assert list(store.export_edges()) == []

    def test_edges_hold_for_a_time(self, store: Store) -> None:
        a, b = put(store, "a", "b", created_at=NOW - 9 * DAY)
        store.link([StoredEdge(from_id=a.id, to_id=b.id, valid_from=NOW - DAY, valid_to=NOW + DAY)], NOW)
        for now, seen in ((NOW - DAY - 1, 0), (NOW - DAY, 1), (NOW + DAY - 1, 1), (NOW + DAY, 0)):
            assert len(_ends(store, a.id, Filter(now=now))) == seen
        assert _ends(store, a.id, Filter(now=NOW, as_of=NOW - 2 * DAY)) == []

    def test_an_edge_to_a_hidden_memory_is_not_seen(self, store: Store) -> None:
        a, b, c = put(store, "a", "b", "c")
        store.link([StoredEdge(from_id=a.id, to_id=x.id) for x in (b, c)], NOW)
        store.amend({b.id: {"archived_at": NOW}}, NOW)
        assert _ends(store, a.id) == [("c", "related", 1.0)]
        only_a = Filter(now=NOW).only([a.id])
        assert _ends(store, a.id, only_a) == [("c", "related", 1.0)]

    def test_a_thread_is_a_chain_in_order_of_position(self, store: Store) -> None:
        a, b, c = put(store, "a", "b", "c", thread="t")
        first = put_one(store, "first", thread="t", position=-1)
        put(store, "elsewhere", thread="u")
        assert [r.position for r in (a, b, c)] == [0, 1, 2]
        assert _ends(store, first.id) == [("a", "next", 1.0)]
        assert _ends(store, b.id) == [("a", "next", 1.0), ("c", "next", 1.0)]
        edges = store.edges([b.id], Filter(now=NOW), 5)[b.id]
        assert {(e.from_id, e.to_id) for e in edges} == {(a.id, b.id), (b.id, c.id)}
        assert store.edges([b.id], Filter(now=NOW), 5, sequence=False) == {}
        assert list(store.export_edges()) == []

    def test_the_chain_closes_over_a_memory_that_is_hidden_or_gone(self, store: Store) -> None:
        a, b, c, d = put(store, "a", "b", "c", "d", thread="t")
        store.amend({b.id: {"archived_at": NOW}}, NOW)
        assert _ends(store, a.id) == [("c", "next", 1.0)]
        store.forget([c.id])
        assert _ends(store, a.id) == [("d", "next", 1.0)]
        assert _ends(store, d.id) == [("a", "next", 1.0)]

    def test_positions_go_on_from_the_last_one(self, store: Store) -> None:
        put(store, "a", thread="t", position=7)
        later = put(store, "b", "c", thread="t")
        assert [r.position for r in later] == [8, 9]
        moved = store.update(later[0].id, {"thread": "u"}, NOW + 1)
        assert (moved.thread, moved.position) == ("u", 0)
        out = store.update(later[0].id, {"thread": None}, NOW + 2)
        assert (out.thread, out.position) == (None, None)

    def test_an_update_keeps_its_place_in_the_chain(self, store: Store) -> None:
        a, b, c = put(store, "a", "b", "c", thread="t")
        store.update(b.id, {"text": "b again"}, NOW + 1)
        assert ids(list(store.get([a.id, c.id]).values())) == [a.id, c.id]
        assert _ends(store, a.id) == [("b again", "next", 1.0)]
        assert _ends(store, c.id) == [("b again", "next", 1.0)]

    def test_how_many_lie_between(self, store: Store) -> None:
        a, b, c, d, e = put(store, "a", "b", "c", "d", "e", thread="t")
        (other,) = put(store, "elsewhere", thread="u")
        pairs = [(a.id, b.id), (a.id, c.id), (a.id, e.id), (a.id, other.id), (a.id, "nobody"), (d.id, e.id)]
        assert store.between(pairs, Filter(now=NOW), 9) == [0, 1, 3, 9, 9, 0]
        assert store.between(pairs, Filter(now=NOW), 2) == [0, 1, 2, 2, 2, 0]
        store.amend({c.id: {"archived_at": NOW}}, NOW)
        assert store.between([(a.id, d.id), (a.id, e.id)], Filter(now=NOW).only([a.id]), 9) == [1, 2]
        assert store.between([(a.id, d.id)], Filter(now=NOW, everything=True), 9) == [2]
        assert store.between([], Filter(now=NOW), 9) == []
