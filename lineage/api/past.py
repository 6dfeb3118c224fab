# SPDX-License-Identifier: Apache-2.0
"""Answers of past graphs over HTTP: the errors of queries that a subprocess runs."""

from collections.abc import Awaitable

from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import time_parameter
from lineage.events.timestamps import format_time
from lineage.marquez import NodeKind
from lineage.service import Service
from lineage.store import END_OF_TIME
from lineage.store.as_of_queries import AsOfQueryFailed, NoDataset, NoNode, TooManyAsOfQueries
from lineage.store.graph_as_of import Compacted
from lineage.store.packed_answer import PackedAnswer

NO_DATASET = (
    f"nodeId: a {NodeKind.JOB} has neither impact nor origin; request one of its datasets "
    "(dataset:{namespace}:{name}) or columns (datasetField:{namespace}:{name}:{field})"
)


async def past_graph(service: Service, parameter: str, at: str) -> PackedAnswer:
    """Return the whole graph as of the time that a parameter states."""
    return await _answered(parameter, service.past_graphs.graph(time_parameter(parameter, at)))


async def past_answer(
    service: Service, answer: str, node: str, depth: int | None, at: str | None, parameter: str = "asOf"
) -> PackedAnswer:
    """Return an answer about a node (see `lineage.past`) as of the time of a parameter, or of all events."""
    time = END_OF_TIME if at is None else time_parameter(parameter, at)
    try:
        return await _answered(parameter, service.answer_as_of(time, answer, node, depth))
    except NoNode as error:
        raise not_found("nodeId", node) from error
    except NoDataset as error:
        raise ApiError(400, "invalid_parameter", NO_DATASET, {"field": "nodeId"}) from error


async def _answered(parameter: str, query: Awaitable[PackedAnswer]) -> PackedAnswer:
    try:
        return await query
    except Compacted as error:
        earliest = format_time(error.since)
        message = f"{parameter}: retention has compacted the events up to {earliest}; request that time or later"
        raise ApiError(410, "compacted", message, {"field": parameter, "earliest": earliest}) from error
    except AsOfQueryFailed as error:
        message = f"the graph of that time could not be computed ({error}); retry"
        raise ApiError(503, "unanswered", message, headers={"Retry-After": "5"}) from error
    except TooManyAsOfQueries as error:
        message = "too many queries of past graphs are queued; retry later"
        raise ApiError(503, "overloaded", message, headers={"Retry-After": "2"}) from error
