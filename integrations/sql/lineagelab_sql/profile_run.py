# SPDX-License-Identifier: Apache-2.0
"""`python -m lineagelab_sql.profile_run TABLE...`: profile tables of a lake, and report each profile as a run."""

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence

import duckdb
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lineagelab_common.events import Dataset, Json, dataset_json
from lineagelab_common.identifiers import ParentRun, new_run_id, timestamp
from lineagelab_common.spool import Spool
from lineagelab_common.table_profile import TableProfile, profile_job
from lineagelab_sql.lake import NAMESPACE, Lake, LakeError
from lineagelab_sql.profile import columns_of, profile_table
from lineagelab_sql.reporting import event_spool
from lineagelab_sql.run_events import WRITER, run_facets
from lineagelab_sql.session import StatementError

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130
MAX_SHOWN = 40
"""Characters of a value that are shown."""


def main(arguments: Sequence[str]) -> int:
    """Profile the tables; return the exit code."""
    parser = argparse.ArgumentParser(prog="lab profile", description="Profile tables of the lake.")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help="sales.orders, or lake.sales.orders")
    parser.add_argument("--no-values", action="store_true", help="do not name the most frequent values")
    given = parser.parse_args(arguments)
    try:
        lake = Lake.from_environment(os.environ)
        with event_spool(os.environ) as spool, lake.connect(writable=False) as connection:
            for table in given.tables:
                profile = _profile(connection, _full_name(lake, table), os.environ, spool, not given.no_values)
                _show(profile, with_values=not given.no_values)
    except (LakeError, StatementError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


def _full_name(lake: Lake, table: str) -> str:
    """Return catalog, schema and name of a table that may be named without the first ones."""
    parts = table.split(".")
    if not all(parts) or len(parts) > 3:
        raise ValueError(f"{table!r} is not the name of a table; write sales.orders or lake.sales.orders")
    return ".".join([*(lake.name, lake.schema)[: 3 - len(parts)], *parts])


def _profile(
    connection: duckdb.DuckDBPyConnection, name: str, environment: Mapping[str, str], spool: Spool, with_values: bool
) -> TableProfile:
    run = ProfileRun(
        new_run_id(),
        environment.get("OPENLINEAGE_NAMESPACE") or "default",
        name,
        ParentRun.from_environment(environment),
    )
    columns_of(connection, name)  # a table that does not exist must not become a dataset of the graph
    spool.add(run.event("START", _now()))
    try:
        profile = profile_table(connection, name)
    except StatementError as error:
        spool.add(run.event("FAIL", _now(), error=str(error)))
        raise
    except BaseException:
        spool.add(run.event("ABORT", _now()))
        raise
    spool.add(run.event("COMPLETE", _now(), profile=profile, with_values=with_values))
    return profile


class ProfileRun:
    """Run that profiles one table."""

    def __init__(self, run_id: str, namespace: str, table: str, parent: ParentRun | None) -> None:
        self._run_id = run_id
        self._namespace = namespace
        self._table = table
        self._parent = parent

    def event(
        self,
        event_type: str,
        time: str,
        *,
        profile: TableProfile | None = None,
        with_values: bool = True,
        error: str = "",
    ) -> Json:
        """Return a run event; `error` is the message of a failed run."""
        facets = run_facets(f"v{duckdb.__version__}", self._parent, error)
        kind = WRITER.facet("jobType", processingType="BATCH", integration="DUCKDB", jobType="PROFILE")
        table = dataset_json(Dataset(NAMESPACE, self._table), {})
        if profile is not None:
            table["facets"]["schema"] = WRITER.schema({each.name: each.type for each in profile.columns})
            table["inputFacets"] = profile.facets(WRITER, with_values=with_values)
        return WRITER.run_event(
            event_type,
            time,
            {"runId": self._run_id, "facets": facets},
            {"namespace": self._namespace, "name": profile_job(self._table), "facets": {"jobType": kind}},
            [table],
            [],
        )


def _show(profile: TableProfile, *, with_values: bool) -> None:
    table = Table("column", "type", "nulls", "distinct", "most frequent", "share", box=None, pad_edge=False)
    for column in profile.columns:
        share = f"{100 * column.top_rows / profile.rows:.1f} %" if column.top is not None and profile.rows else ""
        value = (column.top or "")[:MAX_SHOWN] if with_values else ""
        distinct = "" if column.distinct is None else str(column.distinct)
        cells = (column.name, column.type.lower(), str(column.nulls), distinct, value, share)
        table.add_row(*(Text(" ".join(cell.split())) for cell in cells))
    console = Console(highlight=False)
    console.print(Text(f"{profile.name}: {profile.rows} rows"))
    console.print(table)


def _now() -> str:
    return timestamp(time.time_ns() // 1_000_000)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
