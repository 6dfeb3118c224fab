# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events of tiles: a tile is a dataset, and a refresh of it a run. Pure."""

from collections.abc import Mapping

from infra.namespaces import DASHBOARD_NAMESPACE, JOB_DASHBOARD, JOB_NAMESPACE
from jobs.dashboard.tile import Tile
from lineagelab_common.events import Dataset, EventWriter, Json
from lineagelab_sql import Statement
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.lake import NAMESPACE
from lineagelab_sql.run_events import Described
from lineagelab_sql.statements import StatementLineage

WRITER = EventWriter("urn:lineage-lab:jobs:dashboard")

Schema = Mapping[str, str]
"""Column -> type."""


def parsed(tile: Tile, default: tuple[str, str]) -> Statement:
    """Return the tile's query as the statement that writes the tile; `default` is catalog and schema.

    Raises:
        UnsupportedSqlError: its lineage cannot be derived.
    """
    return Statement.parse(f"CREATE TABLE {_target(tile)} AS {tile.query}", default)


def described(tile: Tile, default: tuple[str, str], schemas: Mapping[str, Schema], columns: Schema) -> Described:
    """Return the lineage of a tile.

    Args:
        schemas: table -> its columns.
        columns: those of the result.
    """
    names = [name.lower() for name in columns]
    try:
        lineage = parsed(tile, default).lineage(schemas, names)
    except UnsupportedSqlError as error:
        unknown = dict.fromkeys(names, str(error))
        lineage = StatementLineage(_target(tile), frozenset(schemas), unknown=unknown)
    return Described(
        tile.query,
        NAMESPACE,
        lineage,
        schemas={**schemas, _target(tile): columns},
        writer=WRITER,
        written=Dataset(DASHBOARD_NAMESPACE, tile.name),
    )


def event(event_type: str, time: str, run_id: str, tile: Tile, lineage: Described, error: str = "") -> Json:
    """Return a run event of a refresh; `error` is the message of a failed one."""
    facets = {"errorMessage": WRITER.error(error, "SQL")} if error else {}
    job_facets = {
        "jobType": WRITER.facet("jobType", processingType="BATCH", integration="STREAMLIT", jobType="TILE"),
        "sql": WRITER.facet("sql", query=lineage.text, dialect="duckdb"),
    }
    job = {"namespace": JOB_NAMESPACE, "name": f"{JOB_DASHBOARD}.{tile.name}", "facets": job_facets}
    run = {"runId": run_id, "facets": facets}
    return WRITER.run_event(event_type, time, run, job, lineage.inputs, lineage.outputs())


def _target(tile: Tile) -> str:
    return f"dashboard.tiles.{tile.name}".lower()
