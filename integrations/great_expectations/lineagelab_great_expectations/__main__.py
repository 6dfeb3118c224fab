# SPDX-License-Identifier: Apache-2.0
"""`lineagelab-great-expectations FOLDER [TABLE...]`: check tables of a lake with the suites of a folder."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineagelab_common.events import Dataset, Json
from lineagelab_common.identifiers import DEFAULT_NAMESPACE, ParentRun
from lineagelab_great_expectations.check_run import CheckRun
from lineagelab_great_expectations.results import CheckResults
from lineagelab_great_expectations.suites import Suite, SuiteError, read_suites
from lineagelab_sql.lake import NAMESPACE, Lake, LakeError, quoted
from lineagelab_sql.reporting import event_spool

if TYPE_CHECKING:
    import duckdb

EXIT_BROKEN, EXIT_UNUSABLE, EXIT_INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Check the tables; return 0, 1 if a rule is broken, 2 if a table could not be checked."""
    parser = argparse.ArgumentParser(prog="lab expect", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of suites, such as sales.orders.json")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="tables; all that have a suite by default")
    given = parser.parse_args(arguments)
    try:
        suites = read_suites(given.folder, given.tables)
        lake = Lake.from_environment(os.environ)
        with event_spool(os.environ) as spool, lake.connect(writable=False) as connection:
            checked = [_check(suite, lake, connection, os.environ, spool.add) for suite in suites]
    except (SuiteError, LakeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    if None in checked:
        return EXIT_UNUSABLE
    return EXIT_BROKEN if any(found is not None and found.broken for found in checked) else 0


def _check(
    suite: Suite,
    lake: Lake,
    connection: "duckdb.DuckDBPyConnection",
    environment: Mapping[str, str],
    send: Callable[[Json], None],
) -> CheckResults | None:
    """Check one table and print the result; None if it could not be checked."""
    run = CheckRun(
        send,
        environment.get("OPENLINEAGE_NAMESPACE") or DEFAULT_NAMESPACE,
        f"check.{suite.table}",
        Dataset(NAMESPACE, f"{lake.name}.{suite.table}"),
        version("great_expectations"),
        ParentRun.from_environment(environment),
    )
    try:
        with run:
            found = run.record(_validate(suite, connection))
    except Exception as error:  # DuckDB's, pandas' and Great Expectations' own ones
        print(f"error: {suite.table} could not be checked: {error}", file=sys.stderr)
        return None
    passed = sum(each.success is True for each in found.results)
    print(f"{suite.table}: {passed} of {len(found.results)} expectations met, run {run.run_id}")
    for each in found.results:
        if each.success is not True:
            kind = "not evaluated" if each.success is None else each.severity
            print(f"  {kind}: {each.label}: {each.message}")
    return found


def _validate(suite: Suite, connection: "duckdb.DuckDBPyConnection") -> Mapping[str, Any]:
    import great_expectations
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    # Each in a validation of its own: a suite omits unknown expectation types with a log message only.
    expectations = [ExpectationConfiguration(**each).to_domain_obj() for each in suite.expectations]
    context = great_expectations.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    table = ".".join(map(quoted, suite.table.split(".")))
    columns = "*" if suite.columns is None else ", ".join(map(quoted, suite.columns))
    frame = connection.execute(f"SELECT {columns} FROM {table}").df()
    asset = context.data_sources.add_pandas("lake").add_dataframe_asset(suite.table)
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
    result: Mapping[str, Any] = batch.validate(
        great_expectations.ExpectationSuite(name=suite.table, expectations=expectations)
    ).to_json_dict()
    if len(result["results"]) != len(suite.expectations):
        raise ValueError(f"{len(result['results'])} results for {len(suite.expectations)} expectations")
    return result


def run() -> None:
    """Run the command; entry point of the package."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
