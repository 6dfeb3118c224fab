# SPDX-License-Identifier: Apache-2.0
"""Searches in graphs, compared with their definitions over random graphs."""

import functools
import random

import pytest

from jobs.spark.transformations.graph_search import longest_chains, reached

SEEDS = range(300)
"""Seeds of random graphs. Graphs of odd seeds have no cycles except loops."""


def random_edges(seed):
    """Return edges of a random graph: sparse or dense, some with cycles and loops, from 2 to 14 nodes."""
    generator = random.Random(seed)
    nodes = generator.randint(2, 14)
    edges = [(generator.randrange(nodes), generator.randrange(nodes)) for _ in range(generator.randint(1, 3 * nodes))]
    return [tuple(sorted(edge)) for edge in edges] if seed % 2 else edges


def links_of(edges):
    links = {}
    for source, target in edges:
        links.setdefault(source, set()).add(target)
    return links


def distances(edges):
    """Return (source, target) -> edges of the shortest path, by repeated extension of all paths."""
    found = dict.fromkeys(edges, 1)
    steps = 1
    while True:
        steps += 1
        paths = {(a, c) for (a, b) in found for (d, c) in edges if b == d} - found.keys()
        if not paths:
            return found
        found |= dict.fromkeys(paths, steps)


def chains(edges):
    """Return node -> all chains that end at it, cycles being one node named by the smallest one."""
    paths = distances(edges)
    nodes = {node for edge in edges for node in edge}
    name = {a: min([a, *(b for b in nodes if (a, b) in paths and (b, a) in paths)]) for a in nodes}
    links = {(name[a], name[b]) for a, b in edges if name[a] != name[b]}

    @functools.cache
    def ending_at(node):
        before = [chain for a, b in links if b == node for chain in ending_at(a)]
        return [(*chain, node) for chain in before] or [(node,)]

    return {node: ending_at(node) for link in links for node in link}


@pytest.mark.parametrize("seed", SEEDS)
def test_shortest_paths_and_longest_chains_are_those_of_the_definitions(seed):
    edges = random_edges(seed)
    links = links_of(edges)
    assert {(a, b): steps for a in links for b, steps in reached(links, a).items()} == distances(edges)
    assert longest_chains(links) == {
        node: max(found, key=lambda chain: (len(chain), chain)) for node, found in chains(edges).items()
    }


def test_long_paths_and_large_cycles_are_no_recursion():
    path = {node: {node + 1} for node in range(3_000)}
    assert longest_chains(path)[3_000] == tuple(range(3_001))
    assert reached(path, 0)[3_000] == 3_000
    cycle = {node: {(node + 1) % 100_000} for node in range(100_000)}
    assert longest_chains(cycle | {100_000: {7}}) == {100_000: (100_000,), 0: (100_000, 0)}
