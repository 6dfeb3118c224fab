# SPDX-License-Identifier: Apache-2.0
"""`lab verify`: comparison of the lineage that arrived, and of schemas and freshness, with the lineage contract."""

import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import httpx
import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.lineage_client import dataset_path
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.errors import LabError
from infra.http_client import client_for
from infra.namespaces import KAFKA_NAMESPACE
from infra.project import PROJECT
from infra.services.overview import enabled_features, known_features
from infra.toolchain import Artifacts
from lineage.checks.columns import read_avro
from lineage.checks.contract import (
    Contract,
    ContractError,
    Dataset,
    Finding,
    Report,
    check_candidate,
    check_freshness,
    compare,
    load,
)
from lineage.checks.contract.report import Kind, Subject
from lineage.events.timestamps import parse_time

NO_HEADERS: Mapping[str, str] = {}

CONTRACT = PROJECT / "jobs" / "lineage_contract.yaml"


def read_contract(path: Path) -> Contract:
    """Return the contract in a file.

    Raises:
        LabError: it cannot be read.
    """
    try:
        return load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ContractError) as error:
        raise LabError(f"cannot read the lineage contract {path}: {error}") from error


def compare_with_contract(
    service: str, features: frozenset[str], contract: Path = CONTRACT, headers: Mapping[str, str] = NO_HEADERS
) -> Report:
    """Compare the graph of a lineage service with a contract; `features` are those of the lab, `headers` have its key.

    Raises:
        LabError: the service does not respond, or the contract cannot be read, or requires an unknown feature.
    """
    expected = read_contract(contract)
    known = known_features()
    # Its rows would never be compared, without a word.
    if unknown := expected.features - known:
        raise LabError(
            f"the lineage contract {contract} requires {', '.join(sorted(unknown))}, which no setting of a lab enables;"
            f" known are {', '.join(sorted(known))}"
        )
    try:
        graph = (
            client_for(service).get(f"{service}/api/v1/graph", headers=headers, timeout=30).raise_for_status().json()
        )
        written = {
            row.dataset: written_at
            for row in expected.datasets
            if row.freshness is not None and (written_at := _last_write(service, row.dataset, headers)) is not None
        }
    except httpx.HTTPError as error:
        raise LabError(
            f"the lineage service at {service} does not respond ({error}); see: bin/lab status, bin/lab logs lineage"
        ) from error
    report = compare(expected, graph, features)
    return report.with_findings(check_freshness(expected, written, time.time(), features))


def registered_differences(registry: str, contract: Contract, features: frozenset[str]) -> list[Finding]:
    """Return how the schemas that a registry has of topics differ from those of the contract.

    Topics without a schema in the registry are skipped: their records may be JSON. A registry that does not respond, or
    not with an Avro record, is a deviation, because what is demanded cannot be compared.
    """
    found: list[Finding] = []
    for row in contract.datasets:
        if row.schema is None or row.dataset.namespace != KAFKA_NAMESPACE or not row.requires <= features:
            continue
        path = f"subjects/{quote(f'{row.dataset.name}-value', safe='')}/versions/latest"
        try:
            response = client_for(registry).get(f"{registry}/{path}", timeout=30)
            if response.status_code != HTTPStatus.NOT_FOUND:
                schema = read_avro(response.raise_for_status().json()["schema"])
                found += check_candidate(contract, row.dataset, schema)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            name = str(row.dataset)
            text = f"{name} (its schema in the registry at {registry} cannot be read: {error})"
            found.append(Finding(kind=Kind.MISSING, subject=Subject.SCHEMA, job=name, text=text))
    return found


def _last_write(service: str, dataset: Dataset, headers: Mapping[str, str]) -> float | None:
    """Return the time of the last write to a dataset, in seconds since 1970; None if there is none.

    Raises:
        httpx.HTTPError: the service does not respond, or with an error.
    """
    url = f"{service}{dataset_path(dataset.namespace, dataset.name)}"
    response = client_for(url).get(url, headers=headers, timeout=30)
    if response.status_code == HTTPStatus.NOT_FOUND:
        return None
    modified = response.raise_for_status().json().get("lastModifiedAt")
    return None if modified is None else parse_time(modified) / 1e9


@command
def verify(
    stack: StackOption = DEFAULT_STACK,
    contract: Annotated[Path, typer.Option(help="Contract to compare with.")] = CONTRACT,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report as JSON.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Also write the report as JUnit XML.")] = None,
    strict: Annotated[bool, typer.Option(help="Exit with 1 for jobs that the contract does not list, too.")] = False,
) -> None:
    """Compare the lineage with its contract, and what it demands of datasets. Exits with 1 if they differ."""
    features = enabled_features(stack_settings(stack))
    lab = Stack(stack, Artifacts.open())
    endpoints = lab.endpoints()
    report = compare_with_contract(endpoints["lineage"], features, contract, lab.lineage_authorization())
    if registry := endpoints.get("schema_registry"):
        report = report.with_findings(registered_differences(registry, read_contract(contract), features))
    if json_file:
        json_file.write_text(report.render_json(), encoding="utf-8")
    if junit_file:
        junit_file.write_text(report.render_junit(), encoding="utf-8")
    out.print(report.render_text(), markup=False)
    if not (report.is_complete if strict else report.ok):
        raise typer.Exit(1)
