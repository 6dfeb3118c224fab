# SPDX-License-Identifier: Apache-2.0
"""`lab verify`: the lineage that arrived against the lineage contract."""

from pathlib import Path
from typing import Annotated

import httpx
import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.errors import LabError
from infra.http_client import client
from infra.project import PROJECT
from infra.services.overview import features
from infra.toolchain import Artifacts
from lineage.checks.contract import ContractError, Report, compare, load

CONTRACT = PROJECT / "jobs" / "lineage_contract.yaml"


def report_on(service: str, required: frozenset[str], contract: Path = CONTRACT) -> Report:
    """Compares the graph of a lineage service with a contract. `required` are the features that the lab has.

    Raises:
        LabError: the service does not answer, or the contract cannot be read.
    """
    try:
        wanted = load(contract.read_text(encoding="utf-8"))
    except (OSError, ContractError) as error:
        raise LabError(f"the lineage contract {contract} cannot be used: {error}") from error
    try:
        graph = client().get(f"{service}/api/v1/graph", timeout=30).raise_for_status().json()
    except httpx.HTTPError as error:
        raise LabError(
            f"the lineage service at {service} does not answer ({error}); see: lab status, lab logs lineage"
        ) from error
    return compare(wanted, graph, required)


@command
def verify(
    stack: StackOption = DEFAULT_STACK,
    contract: Annotated[Path, typer.Option(help="The contract to compare with.")] = CONTRACT,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report as JSON too.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write the report as JUnit XML too.")] = None,
) -> None:
    """Compare the lineage that arrived with the lineage contract; exit 1 where they differ."""
    required = features(stack_settings(stack))
    report = report_on(Stack(stack, Artifacts.open()).endpoints()["lineage"], required, contract)
    if json_file:
        json_file.write_text(report.render_json(), encoding="utf-8")
    if junit_file:
        junit_file.write_text(report.render_junit(), encoding="utf-8")
    out.print(report.render_text(), markup=False)
    if not report.ok:
        raise typer.Exit(1)
