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
from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.artifacts import Artifacts
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.setup import bring_in_lab
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.cli.tasks import run_task
from infra.cli.verification import report_on
from infra.errors import LabError
from infra.namespaces import JOB_ORDERS_ETL, JOB_SUPPLIER_STATS, TOPIC_ORDERS
from infra.project import ENVIRONMENT_FILE

PIPELINE = (JOB_ORDERS_ETL, JOB_SUPPLIER_STATS)
FIRST_ROWS = 100
FIRST_ROWS_SECONDS = 20
ROWS_SECONDS = 120


@command
def up(
    stack: StackOption = DEFAULT_STACK,
    pipeline: Annotated[bool, typer.Option(help="Run the jobs and check the lineage too.")] = True,
) -> None:
    """Stand the lab up, let the pipeline run on real rows, check the lineage, say where everything is."""
    began = time.monotonic()
    artifacts = Artifacts.open()
    lab = Stack(stack, artifacts)
    bring_in_lab(artifacts, stack_settings(stack))
    lab.ensure()
    lab.pulumi("up", "--yes", "--skip-preview", "--refresh", "--suppress-outputs")
    endpoints = lab.endpoints()
    if pipeline:
        _first_run(lab, endpoints)
    _where(lab, endpoints)
    out.print(f"\nready after {time.monotonic() - began:.0f} s. What now: lab status | verify | run | down")


def _first_run(lab: Stack, endpoints: Mapping[str, str]) -> None:
    """Runs the jobs where the lineage they leave is not there yet, and checks it."""
    if report_on(endpoints["lineage"]).ok:
        out.print("the lineage matches its contract already; run the jobs again with: lab run JOB")
        return
    rows = _await_rows(endpoints["kafka"], enough_rows(stack_settings(lab.name).shop_rate))
    out.print(f"{rows} rows are in topic {TOPIC_ORDERS}; running the jobs")
    for job in PIPELINE:
        out.print(f"  {job}", end=" ")
        out.print(f"{run_task(lab.supervisor, job):.1f} s")
    report = report_on(endpoints["lineage"])
    out.print(report.render_text(), markup=False)
    if not report.ok:
        raise LabError("the lineage that arrived is not what jobs/lineage_contract.yaml asks for")


def enough_rows(rate: float) -> int:
    """How many rows the first run waits for: some seconds' worth, so that a slow shop is waited for too."""
    return max(1, min(FIRST_ROWS, int(rate * FIRST_ROWS_SECONDS)))


def _await_rows(bootstrap: str, enough: int) -> int:
    """Waits until the shop has written its first rows, and returns how many there are."""
    deadline = time.monotonic() + ROWS_SECONDS
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "lab-up"})
    try:
        partitions = consumer.list_topics(TOPIC_ORDERS, timeout=10).topics[TOPIC_ORDERS].partitions
        while time.monotonic() < deadline:
            ends = [
                consumer.get_watermark_offsets(TopicPartition(TOPIC_ORDERS, number), timeout=10)
                for number in partitions
            ]
            rows = sum(high - low for low, high in ends)
            if rows >= enough:
                return rows
            consumer.poll(0.2)
    except KafkaException as error:
        raise LabError(f"counting the rows of topic {TOPIC_ORDERS} at {bootstrap} failed: {error}") from error
    finally:
        consumer.close()
    raise LabError(f"the shop wrote fewer than {enough} rows in {ROWS_SECONDS} s; see: lab logs shop")


def _where(lab: Stack, endpoints: Mapping[str, str]) -> None:
    out.print("\n[bold]where everything is[/bold]")
    for name, address in sorted(endpoints.items()):
        out.print(f"  {name:16} {address}")
    out.print(f"  {'credentials':16} {os.path.relpath(lab.root / ENVIRONMENT_FILE)} (shell variables)")


@command
def down(
    stack: StackOption = DEFAULT_STACK,
    export: Annotated[
        Path | None, typer.Option(help="Keep the lineage: write its events and graph into this folder.")
    ] = None,
) -> None:
    """Take the lab down; nothing of it is left but the download cache."""
    lab = Stack(stack, Artifacts.open())
    if export:
        _export(lab.endpoints()["lineage"], export)
    if not lab.exists() and not lab.root.exists():
        out.print(f"there is no lab in stack {stack}")
        return
    if lab.exists():
        lab.pulumi("destroy", "--yes", "--skip-preview", "--suppress-outputs")
    _remove(lab)
    out.print(f"nothing is left of stack {stack} but its configuration and the download cache")


@command
def reset(stack: StackOption = DEFAULT_STACK) -> None:
    """End and forget a lab whose Pulumi state is lost or broken: processes, files, state."""
    _remove(Stack(stack, Artifacts.open()), force=True)
    out.print(f"nothing is left of stack {stack}")


def _remove(lab: Stack, force: bool = False) -> None:
    """What `destroy` cannot know of: the processes and files of a lab that is in no state."""
    if lab.root.exists():
        lab.supervisor.shut_down()
        shutil.rmtree(lab.root)
    lab.forget(force)


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
