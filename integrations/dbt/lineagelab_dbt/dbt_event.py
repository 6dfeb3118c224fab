# SPDX-License-Identifier: Apache-2.0
"""Fields of the events that dbt gives to callbacks (`dbt.events.types`), as far as they are read."""

from typing import Protocol

STARTED, FINISHED = "LogStartLine", "NodeFinished"
"""Names of the events about a node: its SQL begins, and it has ended or was skipped."""


class EventInfo(Protocol):
    name: str


class NodeInfo(Protocol):
    unique_id: str


class RunResult(Protocol):
    """Result of a node: success, error, skipped; of a test: pass, warn, fail, error."""

    status: str
    message: str


class EventData(Protocol):
    """Data of the two events; only the second one has a result."""

    node_info: NodeInfo
    run_result: RunResult


class DbtEvent(Protocol):
    """Event of dbt; the data of other events have other fields."""

    info: EventInfo
    data: EventData
