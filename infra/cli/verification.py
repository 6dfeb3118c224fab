# SPDX-License-Identifier: Apache-2.0
"""`lab verify`: comparison of the lineage that arrived with the lineage contract."""

from collections.abc import Mapping
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
from infra.services.overview import enabled_features
from infra.toolchain import Artifacts
from lineage.checks.contract import ContractError, Report, compare, load

NO_HEADERS: Mapping[str, str] = {}

CONTRACT = PROJECT / "jobs" / "lineage_contract.yaml"


def compare_with_contract(
    service: str, features: frozenset[str], contract: Path = CONTRACT, headers: Mapping[str, str] = NO_HEADERS
) -> Report:
    """Compare the graph of a lineage service with a contract; `features` are those of the lab, `headers` have its key.

    Raises:
        LabError: the service does not respond, or the contract cannot be read.
    """
    try:
        expected = load(contract.read_text(encoding="utf-8"))
    except (OSError, ContractError) as error:
        raise LabError(f"cannot read the lineage contract {contract}: {error}") from error
    try:
        graph = client().get(f"{service}/api/v1/graph", headers=headers, timeout=30).raise_for_status().json()
    except httpx.HTTPError as error:
        raise LabError(
            f"the lineage service at {service} does not respond ({error}); see: bin/lab status, bin/lab logs lineage"
        ) from error
    return compare(expected, graph, features)


@command
def verify(
    stack: StackOption = DEFAULT_STACK,
    contract: Annotated[Path, typer.Option(help="Contract to compare with.")] = CONTRACT,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report as JSON.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Also write the report as JUnit XML.")] = None,
    strict: Annotated[bool, typer.Option(help="Exit with 1 for jobs that the contract does not list, too.")] = False,
) -> None:
    """Compare the lineage with its contract. Exits with 1 if they differ."""
    features = enabled_features(stack_settings(stack))
    lab = Stack(stack, Artifacts.open())
    report = compare_with_contract(lab.endpoints()["lineage"], features, contract, lab.lineage_authorization())
    if json_file:
        json_file.write_text(report.render_json(), encoding="utf-8")
    if junit_file:
        junit_file.write_text(report.render_junit(), encoding="utf-8")
    out.print(report.render_text(), markup=False)
    if not (report.is_complete if strict else report.ok):
        raise typer.Exit(1)
