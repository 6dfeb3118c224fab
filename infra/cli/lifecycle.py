# SPDX-License-Identifier: Apache-2.0
"""`lab up`, `lab down`, `lab reset`: a lab's life from nothing to nothing."""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.docker_stack import prepare, prepare_destroy, remove_images
from infra.cli.first_run import first_run
from infra.cli.setup import install_lab_artifacts
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.errors import Interrupted, LabError
from infra.project import ENVIRONMENT_FILE
from infra.toolchain import Artifacts


@command
def up(
    stack: StackOption = DEFAULT_STACK,
    pipeline: Annotated[bool, typer.Option(help="Run the jobs and check the lineage too.")] = True,
) -> None:
    """Stand the lab up, let the pipeline run on real rows, check the lineage, say where everything is."""
    began = time.monotonic()
    artifacts = Artifacts.open()
    lab = Stack(stack, artifacts)
    settings = stack_settings(stack)
    lab.runtime.exists()  # a daemon that does not answer is told before anything is brought in
    install_lab_artifacts(artifacts, settings)
    lab.ensure()
    prepare(lab, settings)
    lab.runtime.remove_unmanaged(lab.resource_ids)
    _pulumi_up(lab)
    endpoints = lab.endpoints()
    if pipeline:
        first_run(lab, endpoints, settings)
    _where(lab, endpoints)
    out.print(f"\nready after {time.monotonic() - began:.0f} s. What now: lab status | verify | run | down")


def _pulumi_up(lab: Stack) -> None:
    """Runs the update; where it fails, says what does not run beside what the resources have said themselves."""
    try:
        lab.pulumi("up", "--yes", "--skip-preview", "--refresh", "--suppress-outputs")
    except Interrupted:
        raise
    except LabError as error:
        unwell = [state for state in lab.runtime.states() if not state.healthy] if lab.runtime.exists() else []
        lines = [f"  {state.name}: {state.status.lower()} {state.explanation}".rstrip() for state in unwell]
        seen = f"\nWhat is not well (lab logs NAME, lab status):\n{chr(10).join(lines)}" if lines else ""
        raise LabError(f"{error}{seen}\nWhen it is mended, run the same command again: it goes on from here") from error


def _where(lab: Stack, endpoints: Mapping[str, str]) -> None:
    out.print("\n[bold]where everything is[/bold]")
    for name, address in sorted(endpoints.items()):
        out.print(f"  {name:17} {address}")
    out.print(f"  {'credentials':17} {os.path.relpath(lab.root / ENVIRONMENT_FILE)} (shell variables)")


@command
def down(
    stack: StackOption = DEFAULT_STACK,
    export: Annotated[
        Path | None, typer.Option(help="Keep the lineage: write its events and graph into this folder.")
    ] = None,
    images: Annotated[
        bool, typer.Option("--images", help="Remove the images that a lab on Docker ran on, too.")
    ] = False,
) -> None:
    """Take the lab down; nothing of it is left but the download cache (and the images, on Docker)."""
    lab = Stack(stack, Artifacts.open())
    if export:
        _export(lab.endpoints()["lineage"], export)
    there = lab.exists()
    if there:
        lab.runtime.exists()  # as in `up`
        _pulumi_destroy(lab)
    there |= _remove(lab)
    if there:
        out.print(f"nothing is left of stack {stack} but its configuration and the download cache")
    else:
        out.print(f"there is no lab in stack {stack}")
    if images:
        remove_images(lab)


def _pulumi_destroy(lab: Stack) -> None:
    """Takes everything down in good order; where that fails, as something is broken, names the other way."""
    try:
        prepare_destroy(lab)
        lab.pulumi("destroy", "--yes", "--skip-preview", "--suppress-outputs")
    except Interrupted:
        raise
    except LabError as error:
        raise LabError(f"{error}\nTo remove it as it is, in no order: bin/lab reset --stack {lab.name}") from error


@command
def reset(stack: StackOption = DEFAULT_STACK) -> None:
    """End and forget a lab whose Pulumi state is lost or broken: what runs, its data, its files, its state."""
    _remove(Stack(stack, Artifacts.open()), force=True)
    out.print(f"nothing is left of stack {stack}")


def _remove(lab: Stack, force: bool = False) -> bool:
    """What `destroy` cannot know of: what runs of a lab that is in no state, and its files. Was there any of it?"""
    there = lab.runtime.shut_down() or lab.root.exists()
    if lab.root.exists():
        shutil.rmtree(lab.root)
    lab.forget(force)
    return there


def _export(service: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with httpx.Client(base_url=service, timeout=60, trust_env=False) as client:
        try:
            graph = client.get("/api/v1/graph").raise_for_status()
            (folder / "graph.json").write_bytes(graph.content)
            with (folder / "events.ndjson").open("w", encoding="utf-8") as file:
                count = 0
                for event in _events(client):
                    file.write(json.dumps(event, sort_keys=True) + "\n")
                    count += 1
        except httpx.HTTPError as error:
            raise LabError(f"the lineage at {service} could not be exported: {error}") from error
    out.print(f"{count} events and the graph are in {folder}")


def _events(client: httpx.Client, page: int = 500) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        answer = client.get(
            "/api/v1/events/lineage", params={"limit": page, "offset": offset, "sortDirection": "asc"}
        ).raise_for_status()
        events = answer.json()["events"]  # the service may cut a page short; only an empty one is the end
        if not events:
            return
        yield from events
        offset += len(events)
