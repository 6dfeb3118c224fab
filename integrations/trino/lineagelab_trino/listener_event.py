# SPDX-License-Identifier: Apache-2.0
"""Events of Trino's HTTP event listener: one when a query is created, one when it has ended. Pure.

Their fields are those of `QueryCreatedEvent` and `QueryCompletedEvent` in Trino's SPI.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, timestamp, uuid7

FINISHED, FAILED = "FINISHED", "FAILED"
"""States of a query that has ended."""

CANCELED = frozenset({"USER_CANCELED", "ADMINISTRATIVELY_KILLED"})
"""Error codes of queries that were stopped on request."""

_RANDOM_BYTES = 10


class ListenerEventError(ValueError):
    """The body of a request is not an event of the listener."""


@dataclass(frozen=True)
class EngineOutput:
    """Trino's own analysis of the table that a query writes.

    Attributes:
        table: `catalog.schema.table`.
        columns: column -> the columns (table, column) that its expression names, those of conditions included.
        types: column -> type.
    """

    table: str
    columns: Mapping[str, frozenset[tuple[str, str]]]
    types: Mapping[str, str]


@dataclass(frozen=True)
class Query:
    """A query, as one event describes it.

    Attributes:
        query_id: Trino's id.
        source: name that the client gives to what it runs; empty for none.
        default: catalog and schema of tables that are named without them.
        kind: as Trino names it: SELECT, INSERT, DATA_DEFINITION and others; empty if it is not known.
        update_type: what Trino calls a statement that changes something, such as CREATE TABLE; known at the end.
        version: of Trino.
        created, ended: times in milliseconds since 1970; `ended` is None in the event of its creation.
        state: as Trino names it.
        error_code, error: name and message of an error; empty for none.
        parent: run that the query is part of, from the session's client info.
        tables: that the statement names, without those behind views; known at the end.
        output: table that is written, if Trino has analysed the statement.
        written_rows: rows written, as Trino counts them; None in the event of its creation.
    """

    query_id: str
    source: str
    default: tuple[str, ...]
    text: str
    version: str
    created: int
    kind: str = ""
    update_type: str = ""
    ended: int | None = None
    state: str = ""
    error_code: str = ""
    error: str = ""
    parent: ParentRun | None = None
    tables: frozenset[str] = field(default_factory=frozenset)
    output: EngineOutput | None = None
    written_rows: int | None = None

    @classmethod
    def parse(cls, event: Json) -> "Query":
        """Read an event. Raises ListenerEventError."""
        try:
            return _parse(event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ListenerEventError(f"no event of Trino's HTTP event listener: {error!r}") from error

    @property
    def run_id(self) -> str:
        """Run id, the same for each event of the query."""
        return uuid7(self.created * 10**6, sha256(self.query_id.encode()).digest()[:_RANDOM_BYTES])

    @property
    def event_type(self) -> str:
        """Type of the OpenLineage event that this event becomes."""
        if self.ended is None:
            return "START"
        if self.state == FINISHED:
            return "COMPLETE"
        return "ABORT" if self.error_code in CANCELED else "FAIL"

    @property
    def event_time(self) -> str:
        """Time of the event in OpenLineage's notation."""
        return timestamp(self.created if self.ended is None else self.ended)


def _parse(event: Json) -> Query:
    context, metadata, failure = event["context"], event["metadata"], event.get("failureInfo") or {}
    ended = event.get("endTime")
    output = (event.get("ioMetadata") or {}).get("output")
    return Query(
        query_id=_text(metadata["queryId"]),
        source=(context.get("source") or "").strip(),
        default=tuple(name for name in (context.get("catalog"), context.get("schema")) if name),
        text=_text(metadata["query"]).strip(),
        version=context.get("serverVersion") or "",
        created=_milliseconds(event["createTime"]),
        kind=context.get("queryType") or "",
        update_type=metadata.get("updateType") or "",
        ended=_milliseconds(ended) if ended else None,
        state=metadata["queryState"],
        error_code=(failure.get("errorCode") or {}).get("name") or "",
        error=failure.get("failureMessage") or failure.get("failureType") or "",
        parent=_parent(context.get("clientInfo") or ""),
        tables=frozenset(_table_name(each) for each in metadata.get("tables") or () if each["directlyReferenced"]),
        output=_output(output) if output else None,
        written_rows=_written_rows(event),
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _parent(client_info: str) -> ParentRun | None:
    """Return the parent run in a session's client info, `namespace/job/runId`; clients may use it for anything else."""
    try:
        return ParentRun.parse(client_info)
    except ValueError:
        return None


def _table_name(found: Mapping[str, Any], catalog: str = "catalog") -> str:
    return f"{found[catalog]}.{found['schema']}.{found['table']}".lower()


def _output(found: Mapping[str, Any]) -> EngineOutput:
    columns = found.get("columns") or ()
    return EngineOutput(
        _table_name(found, "catalogName"),
        {
            each["columnName"]: frozenset(
                (_table_name(source), source["columnName"]) for source in each.get("sourceColumns") or ()
            )
            for each in columns
        },
        {each["columnName"]: each["columnType"] for each in columns},
    )


def _written_rows(event: Json) -> int | None:
    found = (event.get("statistics") or {}).get("writtenRows")
    return found if isinstance(found, int) else None
