# SPDX-License-Identifier: Apache-2.0
"""Searches in directed graphs, which may have cycles. Pure Python: nodes are of any hashable, comparable type."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

Node = TypeVar("Node", bound=Any)
Links = Mapping[Node, Iterable[Node]]
"""Nodes by the node that leads to them."""


def reached(links: Links[Node], start: Node) -> dict[Node, int]:
    """Return the nodes that are reached from a node, itself only by a cycle, and the edges of the shortest path."""
    found: dict[Node, int] = {}
    frontier, steps = [start], 0
    while frontier:
        steps += 1
        following: list[Node] = []
        for node in frontier:
            for target in links.get(node, ()):
                if target not in found:
                    found[target] = steps
                    following.append(target)
        frontier = following
    return found


def longest_chains(links: Links[Node]) -> dict[Node, tuple[Node, ...]]:
    """Return the longest chain of nodes that ends at each node with an edge to or from another one.

    A cycle is one node, named by its smallest node; of equally long chains it is the greatest one.
    """
    # A component is complete before those that lead to it, so the reverse is the order of the edges.
    components = list(_components(links))[::-1]
    names: dict[Node, Node] = {}
    for component in components:
        names |= dict.fromkeys(component, min(component))
    chains: dict[Node, tuple[Node, ...]] = {}
    for component in components:
        name = names[component[0]]
        targets = {names[target] for node in component for target in links.get(node, ())} - {name}
        if targets:
            chains.setdefault(name, (name,))
        for target in targets:
            chain = (*chains[name], target)
            known = chains.get(target, ())
            if (len(chain), chain) > (len(known), known):
                chains[target] = chain
    return chains


def _components(links: Links[Node]) -> Iterator[list[Node]]:
    """Yield the sets of nodes that reach one another, each after those that it leads to.

    Tarjan's algorithm, without recursion: `lowest` is the first node of the path that a node is known to lead back to.
    """
    order: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    is_open: set[Node] = set()
    open_nodes: list[Node] = []
    path: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        order[node] = lowest[node] = len(order)
        is_open.add(node)
        open_nodes.append(node)
        path.append((node, iter(links.get(node, ()))))

    for root in links:
        if root not in order:
            enter(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    enter(target)
                    break
                if target in is_open:
                    lowest[node] = min(lowest[node], order[target])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    yield _closed(node, open_nodes, is_open)


def _closed(first: Node, open_nodes: list[Node], is_open: set[Node]) -> list[Node]:
    """Remove the nodes from `first` on, and return them."""
    component: list[Node] = []
    while not component or component[-1] != first:
        component.append(open_nodes.pop())
    is_open.difference_update(component)
    return component
