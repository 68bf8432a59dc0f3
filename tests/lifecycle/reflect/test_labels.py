"""Label propagation: seeded, at most 20 rounds, ties to the smallest label, and local."""

from hypothesis import given
from hypothesis import strategies as st

from thinkback.lifecycle.reflect.cluster import propagate


def undirected(*links: tuple[str, str, float]) -> dict[str, dict[str, float]]:
    graph: dict[str, dict[str, float]] = {}
    for one, other, weight in links:
        graph.setdefault(one, {})[other] = weight
        graph.setdefault(other, {})[one] = weight
    return graph


def test_what_is_not_linked_is_never_together() -> None:
    graph = undirected(("a", "b", 0.8), ("b", "c", 0.9), ("x", "y", 0.7)) | {"alone": {}}
    assert propagate(graph) == [("a", "b", "c"), ("x", "y")]


def test_a_pair_takes_the_smaller_label_when_it_is_the_first_to_move() -> None:
    assert propagate(undirected(("b", "a", 1.0))) == [("a", "b")]


def test_two_dense_groups_with_a_thin_bridge_stay_two() -> None:
    left = [(a, b, 1.0) for a, b in (("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "d"))]
    right = [(a, b, 1.0) for a, b in (("w", "x"), ("w", "y"), ("x", "y"), ("x", "z"), ("y", "z"), ("w", "z"))]
    assert propagate(undirected(*left, *right, ("d", "w", 0.1))) == [("a", "b", "c", "d"), ("w", "x", "y", "z")]


def test_no_round_leaves_everyone_alone() -> None:
    assert propagate(undirected(("a", "b", 1.0)), rounds=0) == [("a",), ("b",)]


def test_what_happens_elsewhere_changes_nothing_here() -> None:
    here = [("a", "b", 0.71), ("b", "c", 0.8), ("c", "d", 0.75), ("d", "e", 0.9), ("e", "a", 0.7)]
    alone = propagate(undirected(*here))
    with_others = propagate(undirected(*here, ("0", "1", 0.9), ("m", "n", 0.8), ("z", "y", 0.7)))
    assert [group for group in with_others if group[0] in "abcde"] == alone


names = st.sampled_from("abcdefghij")


@given(
    st.lists(
        st.tuples(names, names, st.sampled_from([0.7, 0.8, 0.9])).filter(lambda link: link[0] != link[1]), max_size=20
    )
)
def test_the_answer_is_a_partition_and_does_not_depend_on_the_order_of_links(
    links: list[tuple[str, str, float]],
) -> None:
    unique = {frozenset(link[:2]): link for link in links}.values()
    groups = propagate(undirected(*unique))
    assert sorted(node for group in groups for node in group) == sorted({n for link in unique for n in link[:2]})
    assert propagate(undirected(*reversed(list(unique)))) == groups
