# SPDX-License-Identifier: Apache-2.0
"""`lab lineage check | impact | origin | diff | backup | restore`: questions about lineage, care for its log.

Exit codes: 0 nothing found (or answered), 1 findings or differences, 2 it could not be done.
"""

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, err, out
from infra.cli.lineage_backup import backup, restore
from infra.cli.lineage_reach import render_reach
from infra.cli.lineage_service import GRAPH, ask, graph_of
from infra.cli.stack import Stack
from infra.errors import Interrupted, LabError
from infra.toolchain import Artifacts
from lineage.checks.diff import diff_graphs
from lineage.checks.node_lookup import Unresolved, resolve
from lineage.rules import Rules, RulesError, read_rules

FOUND = 1
FAILED = 2

P = ParamSpec("P")
R = TypeVar("R")

UrlOption = Annotated[str | None, typer.Option("--url", help="A lineage service, instead of the stack's.")]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the answer as JSON too.")]
JunitOption = Annotated[Path | None, typer.Option("--junit", help="Write the report as JUnit XML too.")]
NodeArgument = Annotated[
    str,
    typer.Argument(metavar="DATASET[#COLUMN]", help="lake.sales.orders, sales/orders, s3://...; .COLUMN works too."),
]
DepthOption = Annotated[int | None, typer.Option(help="Over how many jobs at most.", min=0)]

app = typer.Typer(
    name="lineage",
    help="Judge events, follow impact and origin, compare graphs. Exit codes: 0 nothing found, 1 findings, 2 failed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def question(function: Callable[P, R]) -> Callable[P, R]:
    """A command whose exit code 1 means findings: what could not be done ends it with 2."""

    @command
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Interrupted:
            raise
        except LabError as error:
            err.print("error:", style="bold red", end=" ")
            err.print(str(error), markup=False)
            raise typer.Exit(FAILED) from error

    return run


@app.command()
@question
def check(
    source: Annotated[str, typer.Argument(help="A file or folder of events, - for stdin, or a service's URL.")],
    spec: Annotated[
        str | None, typer.Option(help="OpenLineage JSON schemas: a folder or URL, instead of the pinned version.")
    ] = None,
    no_spec: Annotated[bool, typer.Option("--no-spec", help="Skip the check against the JSON schemas.")] = False,
    rules_file: Annotated[
        Path | None, typer.Option("--rules", help="The service's naming rules, applied first.")
    ] = None,
    json_file: JsonOption = None,
    junit_file: JunitOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as findings.")] = False,
) -> None:
    """Judge events: by the standard, by the life of each run, by naming; exit 1 where there are errors."""
    # Takes a third of a second to import; no other command needs it.
    from lineage.checks import events as checks

    rules = _rules(rules_file)
    try:
        specification = None if no_spec else checks.Specification.open(spec)
        findings = checks.check_events(checks.events_of(source), rules, specification, source)
    except (checks.SourceError, checks.SpecificationError) as error:
        raise LabError(str(error)) from error
    _write(json_file, checks.render_json(findings, strict))
    _write(junit_file, checks.render_junit(findings, strict))
    out.print(checks.render_text(findings), markup=False, end="")
    if not findings.ok(strict):
        raise typer.Exit(FOUND)


@app.command()
@question
def impact(
    node: NodeArgument,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    depth: DepthOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show everything that changes when a dataset or column changes."""
    _follow("impact", node, url or _service(stack), depth, json_file)


@app.command()
@question
def origin(
    node: NodeArgument,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    depth: DepthOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show everything that a dataset or column is made of."""
    _follow("origin", node, url or _service(stack), depth, json_file)


# Without this, `-10m` would be taken for options; the stack has no short form here for the same reason.
@app.command(context_settings={"ignore_unknown_options": True})
@question
def diff(
    before: Annotated[str, typer.Argument(help="A graph's file, a service's URL, or a time: now, -10m, RFC 3339.")],
    after: Annotated[str, typer.Argument(help="The same.")],
    stack: Annotated[
        str, typer.Option("--stack", envvar="LINEAGE_LAB_STACK", help="Whose service is asked for a time.")
    ] = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
    junit_file: JunitOption = None,
) -> None:
    """Compare two graphs, or one graph at two times; exit 1 where they differ."""

    def service() -> str:
        return url or _service(stack)

    try:
        difference = diff_graphs(graph_of(before, service), graph_of(after, service))
    except ValueError as error:
        raise LabError(f"cannot compare {before} with {after}: {error}") from error
    _write(json_file, difference.render_json())
    _write(junit_file, difference.render_junit())
    out.print(difference.render_text(), markup=False, end="")
    if not difference.empty:
        raise typer.Exit(FOUND)


app.command()(question(backup))
app.command()(question(restore))


def _follow(what: str, node: str, service: str, depth: int | None, json_file: Path | None) -> None:
    try:
        start = resolve(node, ask(service, GRAPH))
    except Unresolved as error:
        raise LabError(str(error)) from error
    limit = {} if depth is None else {"depth": str(depth)}
    answer = ask(service, f"/api/v1/{what}", nodeId=start.id, **limit)
    _write(json_file, json.dumps(answer, indent=2) + "\n")
    out.print(render_reach(f"{what} of", answer), markup=False, end="")


def _service(stack: str) -> str:
    return Stack(stack, Artifacts.open()).endpoints()["lineage"]


def _rules(path: Path | None) -> Rules:
    if path is None:
        return Rules()
    try:
        return read_rules(path)
    except RulesError as error:
        raise LabError(str(error)) from error


def _write(path: Path | None, text: str) -> None:
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(f"cannot write the report to {path}: {error.strerror}") from error
