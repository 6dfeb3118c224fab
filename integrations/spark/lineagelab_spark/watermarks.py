# SPDX-License-Identifier: Apache-2.0
"""Event time of streaming plans: a step that keeps state drops rows that are late by the watermark.

A query has one watermark, of all its event times. So if one step drops late rows, each event time of the plan decides
about rows: it moves the watermark. Spark keeps a column as event time where it is renamed, or grouped into windows.
"""

from collections.abc import Iterable

from lineagelab_spark.model import Column, Subtype, union
from lineagelab_spark.plan_columns import Attributes
from lineagelab_spark.plan_json import ExprId, Node

_KEEPING_STATE = frozenset(
    {
        "Distinct",
        "Deduplicate",
        "DeduplicateWithinWatermark",
        "FlatMapGroupsInPandasWithState",
        "TransformWithStateInPySpark",
        "TransformWithStateInPandas",
    }
)
"""Steps that drop a late row by any event time that goes in."""

_PROJECTIONS = ("projectList", "aggregateExpressions")

_KEEPING_EVENT_TIME = frozenset({"AttributeReference", "CreateNamedStruct", "PreciseTimestampConversion", "WindowTime"})
"""Expressions over event time that are event time: another name, a window, and the time of a window."""

_STREAMING = "Streaming"
"""Beginning of the kinds of sources that are streams."""


class Watermarks:
    """Event-time columns of a plan, of which batches have none: Spark removes their watermarks."""

    def __init__(self) -> None:
        self._times: set[ExprId] = set()
        self._columns: list[Column] = []
        self._drops = False

    @property
    def rows(self) -> Column:
        """The event times as inputs of the rows, if a step drops late ones."""
        return union(self._columns).as_indirect(Subtype.FILTER) if self._drops else Column()

    def visit(self, node: Node, outputs: list[Attributes]) -> None:
        """Record the event time of a watermark, and follow event time through other nodes; children come first."""
        if node.kind == "EventTimeWatermark":
            (event_time,) = node.expressions("eventTime")
            self._times.add(event_time.expr_id)
            self._columns += [a.column for output in outputs for a in output if a.expr_id == event_time.expr_id]
        elif node.kind == "UpdateEventTimeWatermarkColumn":
            # What a processor with state returns has event time, which does not move the watermark.
            self._times.update(event_time.expr_id for event_time in node.expressions("eventTime"))
        elif self._times:
            self._drops = self._drops or self._drops_late_rows(node, outputs)
            self._follow(expression for field in _PROJECTIONS for expression in node.expressions(field))

    def rename(self, name: ExprId, other: ExprId) -> None:
        """Record that a column has another id in what reads it."""
        if name in self._times:
            self._times.add(other)

    def _drops_late_rows(self, node: Node, outputs: list[Attributes]) -> bool:
        if node.kind == "Aggregate":
            return any(map(self._uses_event_time, node.expressions("groupingExpressions")))
        if node.kind in _KEEPING_STATE or (node.kind == "Join" and all(map(_is_streaming, node.children))):
            return any(attribute.expr_id in self._times for output in outputs for attribute in output)
        return False

    def _follow(self, projected: Iterable[Node]) -> None:
        for alias in projected:
            if alias.kind == "Alias" and alias.children[0].kind in _KEEPING_EVENT_TIME and self._uses_event_time(alias):
                self._times.add(alias.expr_id)

    def _uses_event_time(self, expression: Node) -> bool:
        if expression.kind == "AttributeReference":
            return expression.expr_id in self._times
        return any(map(self._uses_event_time, expression.children))


def _is_streaming(plan: Node) -> bool:
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        if node.kind.startswith(_STREAMING):
            return True
        nodes.extend(node.children)
    return False
