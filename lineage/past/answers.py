# SPDX-License-Identifier: Apache-2.0
"""Answers about one node at a past time."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from lineage.events import JsonObject
from lineage.graph.export import export_part
from lineage.graph.reach_json import reach_json
from lineage.graph.traversal import traverse
from lineage.marquez import Catalog, NodeRef, lineage_graph
from lineage.past.neighbours import Part, found_node, need_neighbourhood, need_reach
from lineage.rules.event_reader import EventReader


class Answer(StrEnum):
    """Kinds of questions about a node, under the names of the requests."""

    GRAPH = "graph"
    LINEAGE = "lineage"
    IMPACT = "impact"
    ORIGIN = "origin"


class Question(NamedTuple):
    """Question about the node with an id, up to `depth` jobs away; None: at any distance, of impact and origin only."""

    answer: Answer
    node: str
    depth: int | None


class UnknownNode(Exception):
    """No event until then names the node, or it was deleted."""


class NoDataset(Exception):
    """The node is a job, which has neither impact nor origin."""


def answer(part: Part, question: Question, reader: EventReader, at: int) -> JsonObject:
    """Return the answer to a question as of time `at` (ns).

    Raises:
        UnknownNode, NoDataset: there is none.
    """
    node = found_node(part, reader, question.node)
    if node is None:
        if question.answer is Answer.GRAPH:
            return export_part(part.lineage, part.graph, set(), set())
        raise UnknownNode
    return _ANSWERS[question.answer](part, node, question.depth, at)


def _graph(part: Part, node: NodeRef, depth: int | None, _at: int) -> JsonObject:
    jobs, datasets = need_neighbourhood(part, node, depth or 0)
    return export_part(part.lineage, part.graph, jobs, datasets)


def _lineage(part: Part, node: NodeRef, depth: int | None, at: int) -> JsonObject:
    if node.column is not None and node.column.field is not None:
        raise UnknownNode
    need_neighbourhood(part, node, depth or 0)
    return lineage_graph(Catalog(part.lineage, part.graph, at), part.graph, node, depth or 0)


def _reach(downstream: bool) -> Callable[[Part, NodeRef, int | None, int], JsonObject]:
    def found(part: Part, node: NodeRef, depth: int | None, _at: int) -> JsonObject:
        if node.column is None:
            raise NoDataset
        need_reach(part, node.column.dataset, downstream, depth)
        return reach_json(node.column, traverse(part.lineage, part.graph, node.column, downstream, depth))

    return found


_ANSWERS: Mapping[Answer, Callable[[Part, NodeRef, int | None, int], JsonObject]] = MappingProxyType(
    {
        Answer.GRAPH: _graph,
        Answer.LINEAGE: _lineage,
        Answer.IMPACT: _reach(downstream=True),
        Answer.ORIGIN: _reach(downstream=False),
    }
)
