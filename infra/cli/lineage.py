# SPDX-License-Identifier: Apache-2.0
"""`lab lineage check | impact | origin | cause | provenance | tags | diff`, and the commands that change a service.

Exit codes: 0 no findings, or answered; 1 findings or differences; 2 failed.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command_failing_with, out
from infra.cli.lineage_administration import compact, describe, forget, rebuild
from infra.cli.lineage_alerts import ALERTS_PATH, alerts_text
from infra.cli.lineage_backup import backup, restore
from infra.cli.lineage_cause import Period, cause_of
from infra.cli.lineage_change import assess
from infra.cli.lineage_client import UrlOption, find_node, get_json, instant, load_graph
from infra.cli.lineage_metadata import stated_metadata, tags_json, tags_of, tags_text
from infra.cli.lineage_provenance import as_json, check_document, provenance_of, summary
from infra.cli.lineage_publish import publish
from infra.cli.lineage_reach import render_reach
from infra.cli.lineage_service import service_of
from infra.cli.lineage_skew import skew_json, skew_text, skewed
from infra.cli.stack import Stack
from infra.cli.verification import read_contract
from infra.errors import LabError
from infra.toolchain import Artifacts
from lineage.checks.cause import render_text
from lineage.checks.diff import diff_graphs
from lineage.checks.provenance import render_html
from lineage.rules import Rules, RulesError, read_rules

EXIT_FINDINGS = 1
EXIT_FAILED = 2

JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON.")]
JunitOption = Annotated[Path | None, typer.Option("--junit", help="Also write the result as JUnit XML.")]
NodeArgument = Annotated[
    str,
    typer.Argument(metavar="DATASET[#COLUMN]", help="lake.sales.orders, sales/orders, s3://...; .COLUMN works too."),
]
DepthOption = Annotated[int | None, typer.Option(help="Maximum distance, in jobs.", min=0)]

app = typer.Typer(
    name="lineage",
    help="Check events, query impact and origin, compare graphs, maintain the event log."
    " Exit codes: 0 no findings, 1 findings, 2 failed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
lineage_command = command_failing_with(EXIT_FAILED)


@app.command()
@lineage_command
def check(
    source: Annotated[str, typer.Argument(help="File or folder of events, - for stdin, or URL of a service.")],
    spec: Annotated[
        str | None, typer.Option(help="OpenLineage JSON schemas: a folder or URL, instead of the pinned version.")
    ] = None,
    no_spec: Annotated[bool, typer.Option("--no-spec", help="Do not validate against the JSON schemas.")] = False,
    rules_file: Annotated[
        Path | None, typer.Option("--rules", help="Naming rules of the service, applied first.")
    ] = None,
    json_file: JsonOption = None,
    junit_file: JunitOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
) -> None:
    """Check events: conformance, life cycle of runs, naming."""
    # Imported here, because it takes a third of a second and no other command needs it.
    from lineage.checks import events as checks

    rules = _read_rules(rules_file)
    try:
        specification = None if no_spec else checks.Specification.open(spec)
        findings = checks.check_events(checks.events_of(source), rules, specification, source)
    except (checks.SourceError, checks.SpecificationError) as error:
        raise LabError(str(error)) from error
    _write_report(json_file, checks.render_json(findings, strict))
    _write_report(junit_file, checks.render_junit(findings, strict))
    out.print(checks.render_text(findings), markup=False, end="")
    if not findings.ok(strict):
        raise typer.Exit(EXIT_FINDINGS)


@app.command()
@lineage_command
def impact(
    node: NodeArgument,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    depth: DepthOption = None,
    json_file: JsonOption = None,
    change: Annotated[
        Path | None, typer.Option(help="Candidate Avro schema of the dataset: the impact of what it changes.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 if this is affected: dashboard, tag:KEY, owner:NAME, namespace:TEXT."),
    ] = None,
    contract: Annotated[
        Path | None, typer.Option(help="Contract whose schema of the dataset the candidate must be compatible with.")
    ] = None,
) -> None:
    """Show everything that changes when a dataset or column changes."""
    if contract is not None and change is None:
        raise LabError("--contract needs --change: the candidate schema that is compared with it")
    service = url or _service_url(stack)
    if change is None and not fail_on:
        _print_reach("impact", node, service, depth, json_file)
        return
    agreed = None if contract is None else read_contract(contract)
    impact = assess(service, node, change, fail_on or [], depth, agreed)
    _write_report(json_file, impact.json())
    out.print(impact.text(), markup=False, end="")
    if impact.is_refused:
        raise typer.Exit(EXIT_FINDINGS)


@app.command()
@lineage_command
def origin(
    node: NodeArgument,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    depth: DepthOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show everything that a dataset or column is derived from."""
    _print_reach("origin", node, url or _service_url(stack), depth, json_file)


@app.command()
@lineage_command
def alerts(stack: StackOption = DEFAULT_STACK, url: UrlOption = None, json_file: JsonOption = None) -> None:
    """Show what is wrong now: failed and silent jobs, failed checks, schema changes; and the webhooks."""
    found = get_json(url or _service_url(stack), ALERTS_PATH)
    _write_report(json_file, json.dumps(found, indent=2) + "\n")
    out.print(alerts_text(found), markup=False, end="")


@app.command()
@lineage_command
def skew(
    dataset: Annotated[str | None, typer.Argument(help="Dataset; without it, all that `lab profile` has read.")] = None,
    share: Annotated[float, typer.Option(help="Least share of one value.", min=0.0, max=1.0)] = 0.2,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show columns in which one value has a large share of the rows: hot keys."""
    found = skewed(url or _service_url(stack), dataset, share)
    _write_report(json_file, json.dumps(skew_json(found), indent=2) + "\n")
    out.print(skew_text(found), markup=False, end="")


@app.command()
@lineage_command
def cause(
    node: NodeArgument,
    since: Annotated[str, typer.Option(help="Time at which the number was still right: -2h, RFC 3339.")],
    until: Annotated[str, typer.Option(help="Time at which it was wrong: now, -10m, RFC 3339.")] = "now",
    baseline: Annotated[str, typer.Option(help="Period before --since that is compared with: 12h, 7d.")] = "1d",
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show what changed upstream of a wrong number, most likely cause first."""
    now = datetime.now(UTC)
    period = Period.of(instant(since, now), instant(until, now), baseline)
    found = cause_of(url or _service_url(stack), node, period)
    _write_report(json_file, json.dumps(found, indent=2) + "\n")
    out.print(render_text(found), markup=False, end="")


@app.command()
@lineage_command
def tags(
    key: Annotated[str | None, typer.Argument(metavar="[TAG]", help="Only this tag, such as pii.")] = None,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
) -> None:
    """Show tagged columns, and all columns downstream that have their values and thereby the tag."""
    tagged, carried = tags_of(url or _service_url(stack), key)
    _write_report(json_file, tags_json(tagged, carried))
    out.print(tags_text(tagged, carried), markup=False, end="")


@app.command()
@lineage_command
def metadata(stack: StackOption = DEFAULT_STACK, url: UrlOption = None) -> None:
    """Print what the metadata file and the page say about datasets and jobs, as a file for `describe`."""
    found = stated_metadata(url or _service_url(stack))
    if not found:
        raise LabError("nothing is described; describe datasets on the page, or with bin/lab lineage describe FILE")
    sys.stdout.write(found)


@app.command()
@lineage_command
def provenance(
    node: Annotated[str, typer.Argument(metavar="[DATASET[#COLUMN]]", help="As of impact; not with --check.")] = "",
    at: Annotated[str, typer.Option(help="Time of the facts: now, -30d, RFC 3339.")] = "now",
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Also write the document as a page.")] = None,
    checked: Annotated[Path | None, typer.Option("--check", help="Verify the hash of this document instead.")] = None,
) -> None:
    """Document where a dataset or column came from: jobs, runs, code, schemas, owners, with a hash."""
    if (checked is None) == (not node):
        raise LabError("name a dataset or column, or a document with --check")
    if checked is not None:
        check_document(checked)
        out.print(f"{checked} is unaltered", markup=False)
        return
    time = instant(at, datetime.now(UTC))
    document = provenance_of(url or _service_url(stack), node, time, is_past=at != "now")
    _write_report(json_file, as_json(document))
    _write_report(html_file, render_html(document))
    out.print(summary(document), markup=False, end="")


# `-10m` is an argument, not options; for the same reason `--stack` has no short form here.
@app.command(context_settings={"ignore_unknown_options": True})
@lineage_command
def diff(
    before: Annotated[str, typer.Argument(help="Graph file, URL of a service, or time: now, -10m, RFC 3339.")],
    after: Annotated[str, typer.Argument(help="As BEFORE.")],
    stack: Annotated[
        str,
        typer.Option(
            "--stack", envvar="LINEAGE_LAB_STACK", help="Stack whose lineage service returns the graph of a time."
        ),
    ] = DEFAULT_STACK,
    url: UrlOption = None,
    json_file: JsonOption = None,
    junit_file: JunitOption = None,
) -> None:
    """Compare two graphs, or one graph at two times."""

    def service() -> str:
        return url or _service_url(stack)

    try:
        difference = diff_graphs(load_graph(before, service), load_graph(after, service))
    except ValueError as error:
        raise LabError(f"cannot compare {before} with {after}: {error}") from error
    _write_report(json_file, difference.render_json())
    _write_report(junit_file, difference.render_junit())
    out.print(difference.render_text(), markup=False, end="")
    if not difference.empty:
        raise typer.Exit(EXIT_FINDINGS)


app.command()(lineage_command(rebuild))
app.command()(lineage_command(forget))
app.command()(lineage_command(describe))
app.command()(lineage_command(publish))
app.command(context_settings={"ignore_unknown_options": True})(lineage_command(compact))
app.command()(lineage_command(backup))
app.command()(lineage_command(restore))


def _print_reach(direction: str, node: str, service: str, depth: int | None, json_file: Path | None) -> None:
    """Print what is reachable from a node; `direction` is the endpoint, impact or origin."""
    start = find_node(service, node)
    limit = {} if depth is None else {"depth": str(depth)}
    reach = get_json(service, f"/api/v1/{direction}", nodeId=start.id, **limit)
    _write_report(json_file, json.dumps(reach, indent=2) + "\n")
    out.print(render_reach(f"{direction} of", reach), markup=False, end="")


def _service_url(stack: str) -> str:
    return service_of(Stack(stack, Artifacts.open()))


def _read_rules(path: Path | None) -> Rules:
    if path is None:
        return Rules()
    try:
        return read_rules(path)
    except RulesError as error:
        raise LabError(str(error)) from error


def _write_report(path: Path | None, text: str) -> None:
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(f"cannot write the report to {path}: {error.strerror}") from error
