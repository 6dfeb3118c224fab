# SPDX-License-Identifier: Apache-2.0
"""`lab sql`, `lab profile` and `lab expect`: DuckDB on the lake of a running lab, in an environment of its own."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, command
from infra.cli.foreground import run_in_foreground
from infra.cli.stack import Stack
from infra.errors import LabError
from infra.project import ENVIRONMENT_FILE, PROJECT, command_path
from infra.services import lake_client
from infra.toolchain import Artifacts, venvs
from infra.toolchain.progress import PlainProgress
from infra.toolchain.venvs import VirtualEnvironment
from lineage.checks.authorities import AUTHORITY_VARIABLE

SQL_MODULE, PROFILE_MODULE = "lineagelab_sql", "lineagelab_sql.profile_run"
EXPECT_MODULE = "lineagelab_great_expectations"
SUITES = PROJECT / "jobs" / "quality"
"""Folder of the suites of `lab expect`."""

UNSENT_EVENTS = "sql/unsent-events.json"
"""File in the stack's folder with events that the lineage service has not accepted yet."""


@command
def sql(
    statements: Annotated[
        str, typer.Argument(help="SQL, separated by semicolons; `-`, the default, reads it.", metavar="SQL")
    ] = "-",
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="File with the SQL.", exists=True, dir_okay=False)
    ] = None,
    form: Annotated[str, typer.Option("--format", help="table, csv or json.")] = "table",
    max_rows: Annotated[int, typer.Option(help="Rows of a table that are shown.", min=1)] = 100,
    write: Annotated[bool, typer.Option("--write", help="Allow statements that write.")] = False,
    name: Annotated[str, typer.Option(help="Name of the job in the lineage; queries with a name are reported.")] = "",
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Run SQL on the lake's tables. Statements that write, and those with a name, are runs in the lineage."""
    if file is not None and statements != "-":
        raise LabError("both SQL and a file of it were given; leave one of them out")
    if statements == "-" and file is None and sys.stdin.isatty():
        raise LabError('no SQL was given; for example: bin/lab sql "SELECT count(*) FROM sales.orders"')
    words: list[str | Path] = ["--format", form, "--max-rows", str(max_rows)]
    words += ["--file", file] if file else []
    words += [*(["--write"] if write else []), *(["--name", name] if name else [])]
    _run_engine(stack, SQL_MODULE, [*words, "--", statements])


@command
def profile(
    tables: Annotated[list[str], typer.Argument(help="Tables, such as sales.orders.", metavar="TABLE")],
    no_values: Annotated[
        bool, typer.Option("--no-values", help="Neither show nor report the most frequent values.")
    ] = False,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Profile tables of the lake: rows, nulls, distinct values, the most frequent value of each column."""
    _run_engine(stack, PROFILE_MODULE, [*(["--no-values"] if no_values else []), "--", *tables])


@command
def expect(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Tables; all with a suite by default.", metavar="[TABLE]")
    ] = None,
    suites: Annotated[Path, typer.Option(help="Folder of suites, such as sales.orders.json.")] = SUITES,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Check tables of the lake with Great Expectations; exit code 1 if a rule is broken."""
    _run_engine(stack, EXPECT_MODULE, [suites, "--", *(tables or ())], venvs.QUALITY)


def check_tables(lab: Stack, tables: Sequence[str], further: Mapping[str, str]) -> int:
    """Check tables as `lab expect` does, with further environment variables; return the exit code."""
    return _engine(lab, EXPECT_MODULE, [SUITES, "--", *tables], venvs.QUALITY, further)


def _run_engine(
    stack: str, module: str, arguments: Sequence[str | Path], environment: VirtualEnvironment = venvs.SQL
) -> None:
    """Run a module on the lake of a running lab, with a query engine; exits with its exit code."""
    if status := _engine(Stack(stack, Artifacts.open()), module, arguments, environment, {}):
        raise typer.Exit(status)


def _engine(
    lab: Stack,
    module: str,
    arguments: Sequence[str | Path],
    environment: VirtualEnvironment,
    further: Mapping[str, str],
) -> int:
    lab.endpoints()  # fails if there is no lab
    variables = credentials.read(lab.root / ENVIRONMENT_FILE)
    # Progress is not part of a result that is written to a file.
    lab.artifacts.setup(frozenset({environment.name}), PlainProgress(sys.stderr))
    values = {
        **os.environ,
        **variables,
        "PYTHONPATH": command_path(PROJECT),
        **lake_client.NAMES,
        "LINEAGE_SPOOL": str(lab.root / UNSENT_EVENTS),
        # Great Expectations would report its use to its vendor.
        "GX_ANALYTICS_ENABLED": "false",
        # For their lineage events; the query engine reads the variable of lab.env.
        **({"SSL_CERT_FILE": variables[AUTHORITY_VARIABLE]} if AUTHORITY_VARIABLE in variables else {}),
        **further,
    }
    return run_in_foreground([lab.artifacts.python(environment.name), "-m", module, *arguments], values)
