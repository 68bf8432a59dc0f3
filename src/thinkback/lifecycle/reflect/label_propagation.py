"""Label propagation (Raghavan, Albert and Kumara, 2007): every node takes the label that most weight around it speaks for.

Nodes are visited in an order drawn once from the seed, at most `rounds` times; ties go to the smallest label. A node's turn
depends on its own name alone, so what happens in one part of the graph never reshuffles another.
"""

import hashlib
from collections.abc import Mapping

Graph = Mapping[str, Mapping[str, float]]  # undirected: every link stands under both its ends


def propagate(graph: Graph, seed: int = 0, rounds: int = 20) -> list[tuple[str, ...]]:
    """Groups of nodes that ended with one label, each sorted, in order of their first node; nodes without links are left out."""
    labels = {node: node for node, links in graph.items() if links}
    turns = sorted(labels, key=lambda node: (_draw(seed, node), node))
    around = {node: sorted(graph[node].items()) for node in turns}
    for _ in range(rounds):
        changed = False
        for node in turns:
            label = _heaviest(labels, around[node])
            changed |= label != labels[node]
            labels[node] = label
        if not changed:
            break
    return _groups(labels)


def _draw(seed: int, node: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{node}".encode(), digest_size=8).digest()


def _heaviest(labels: Mapping[str, str], links: list[tuple[str, float]]) -> str:
    votes: dict[str, float] = {}
    for other, weight in links:
        votes[labels[other]] = votes.get(labels[other], 0.0) + weight
    most = max(votes.values())
    return min(label for label, vote in votes.items() if vote == most)


def _groups(labels: Mapping[str, str]) -> list[tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for node, label in labels.items():
        groups.setdefault(label, []).append(node)
    return sorted(tuple(sorted(nodes)) for nodes in groups.values())
