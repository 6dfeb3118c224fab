# SPDX-License-Identifier: Apache-2.0
"""`lab up | down | reset`: create and remove a lab."""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.container_stacks import prepare_destroy, prepare_update, remove_images
from infra.cli.first_run import first_run
from infra.cli.setup import check_machine, install_lab_artifacts
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.cli.stack_lock import changing
from infra.cli.stack_model import build_lab_and_target
from infra.errors import Interrupted, LabError
from infra.project import ENVIRONMENT_FILE
from infra.provider import DROP_UNREACHABLE
from infra.services import lineage
from infra.settings import Settings
from infra.targets.deployed import reject_moved_checkout, reject_other_security, reject_other_target
from infra.targets.labels import checkout_id
from infra.targets.local import lab_id
from infra.targets.local.host_preflight import check_ports_and_resources
from infra.targets.local.target import LocalTarget
from infra.toolchain import Artifacts
from lineage.checks.authorities import trusted_authorities


@command
def up(
    stack: StackOption = DEFAULT_STACK,
    pipeline: Annotated[bool, typer.Option(help="Run the pipeline and check the lineage.")] = True,
) -> None:
    """Start or update the lab, run the pipeline and check the lineage."""
    with changing(stack):
        _up(stack, pipeline)


def _up(stack: str, pipeline: bool) -> None:
    started = time.monotonic()
    artifacts = Artifacts.open()
    lab = Stack(stack, artifacts)
    settings = stack_settings(stack)
    reject_other_target(stack, settings.target, lab.resources())
    reject_other_security(stack, settings.security, lab.resources())
    reject_moved_checkout(stack, checkout_id(), lab.resources())
    check_machine(settings)
    lab.runtime.exists()  # before the downloads: fails at once if the Docker daemon does not respond
    check_new_lab(lab, settings)
    install_lab_artifacts(artifacts, settings)
    lab.create_if_missing()
    prepare_update(lab, settings)
    if settings.target == "local":
        lab_id.create(lab.root)
    lab.runtime.remove_unmanaged(lab.resource_ids)
    _pulumi_up(lab)
    endpoints = lab.endpoints()
    if pipeline:
        first_run(lab, endpoints, settings)
    _print_addresses(lab, endpoints)
    out.print(f"\nready after {time.monotonic() - started:.0f} s. Next: bin/lab status | verify | run | down")


def check_new_lab(lab: Stack, settings: Settings) -> None:
    """Check the ports and resources of a new local lab before the downloads; Pulumi checks them again.

    Raises:
        LabError: a port is in use, a user file is invalid, or memory or disk space are insufficient.
    """
    if settings.target != "local" or lab.resources() or lab.runtime.exists():
        return
    planned, target = build_lab_and_target(lab.name, settings, Artifacts.open(or_planned=True))
    if isinstance(target, LocalTarget):
        check_ports_and_resources(target.supervisor_inputs(planned), lambda shortage: None)  # Pulumi reports shortages


def _pulumi_up(lab: Stack) -> None:
    """Run `pulumi up`; on failure, add the services that are not healthy to the error."""
    try:
        lab.run_pulumi("up", "--yes", "--skip-preview", "--refresh", "--suppress-outputs")
    except Interrupted:
        raise
    except LabError as error:
        unhealthy = [state for state in lab.runtime.states() if not state.healthy] if lab.runtime.exists() else []
        lines = [f"  {state.name}: {state.status.lower()} {state.explanation}".rstrip() for state in unhealthy]
        services = "\n".join(["\nUnhealthy services (see: bin/lab logs NAME):", *lines]) if lines else ""
        raise LabError(f"{error}{services}\nFix the cause and run the same command again to continue") from error


def _print_addresses(lab: Stack, endpoints: Mapping[str, str]) -> None:
    out.print("\n[bold]addresses[/bold]")
    for name, address in sorted(endpoints.items()):
        out.print(f"  {name:17} {address}")
    out.print(f"  {'credentials':17} {os.path.relpath(lab.root / ENVIRONMENT_FILE)} (shell variables)")


@command
def down(
    stack: StackOption = DEFAULT_STACK,
    export: Annotated[
        Path | None, typer.Option(help="Write events and graph of the lineage to this folder first.")
    ] = None,
    images: Annotated[bool, typer.Option("--images", help="Also remove the images of a lab on Docker.")] = False,
) -> None:
    """Remove the lab. Its configuration and the download cache remain (and, on Docker, the images)."""
    with changing(stack):
        _down(stack, export, images)


def _down(stack: str, export: Path | None, images: bool) -> None:
    lab = Stack(stack, Artifacts.open(or_earlier=True))
    found = lab.exists()
    if export:
        lab.endpoints()  # fails at once if there is no lab
    if found:
        lab.runtime.exists()  # fails at once if the Docker daemon does not respond
    if export:
        service, key = lab.endpoints()["lineage"], lab.lineage_authorization()
        if kept := lineage_process(lab.resources()):
            # All emitters end, and the last events of their runs arrive, before the events are exported.
            _pulumi_destroy(lab, "--exclude", kept)
        _export_lineage(service, key, export)
    if found:
        _pulumi_destroy(lab)
    found |= _remove_leftovers(lab)
    if found:
        out.print(f"removed the lab of stack {stack}; its configuration and the download cache remain")
    else:
        out.print(f"stack {stack} has no lab")
    if images:
        remove_images(lab)


def lineage_process(resources: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the URN of the lineage service among a stack's resources; None unless it is a local process.

    Pulumi keeps what a resource that is excluded from `destroy` depends on.
    """
    return next((one["urn"] for one in resources if one["urn"].endswith(f":Process::{lineage.NAME}")), None)


def _pulumi_destroy(lab: Stack, *options: str) -> None:
    """Run `pulumi destroy`; on failure, add the command that removes a broken lab to the error."""
    try:
        prepare_destroy(lab)
        variables = {DROP_UNREACHABLE: "true"}
        words = ("destroy", "--yes", "--skip-preview", "--suppress-outputs", *options)
        lab.run_pulumi(*words, variables=variables)
    except Interrupted:
        raise
    except LabError as error:
        raise LabError(f"{error}\nTo remove the lab without Pulumi: bin/lab reset --stack {lab.name}") from error


@command
def reset(stack: StackOption = DEFAULT_STACK) -> None:
    """Remove a lab whose Pulumi state is lost or broken.

    Removes its processes or containers, data, files and state.
    """
    with changing(stack):
        _remove_leftovers(Stack(stack, Artifacts.open(or_earlier=True)), even_broken_state=True)
    out.print(f"removed the lab of stack {stack}")


def _remove_leftovers(lab: Stack, even_broken_state: bool = False) -> bool:
    """Remove processes, containers and files that are not in the state, then the state; return True if any existed."""
    found = lab.runtime.shut_down() or lab.root.exists()
    if lab.root.exists():
        shutil.rmtree(lab.root)
    lab.remove_state(even_broken_state)
    return found


def _export_lineage(service: str, headers: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    authorities = trusted_authorities() if service.startswith("https:") else True
    with httpx.Client(base_url=service, headers=headers, timeout=60, trust_env=False, verify=authorities) as client:
        try:
            graph = client.get("/api/v1/graph").raise_for_status()
            (folder / "graph.json").write_bytes(graph.content)
            with (folder / "events.ndjson").open("w", encoding="utf-8") as file:
                count = 0
                for event in _stored_events(client):
                    file.write(json.dumps(event, sort_keys=True) + "\n")
                    count += 1
        except httpx.HTTPError as error:
            raise LabError(f"cannot export the lineage of the service at {service}: {error}") from error
    out.print(f"exported {count} events and the graph to {folder}")


def _stored_events(client: httpx.Client, page_size: int = 500) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        response = client.get(
            "/api/v1/events/lineage", params={"limit": page_size, "offset": offset, "sortDirection": "asc"}
        ).raise_for_status()
        events = response.json()["events"]  # a page may be shorter than its limit; only an empty one is the last
        if not events:
            return
        yield from events
        offset += len(events)
