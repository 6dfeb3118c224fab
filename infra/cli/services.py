# SPDX-License-Identifier: Apache-2.0
"""`lab status | logs | run | start | stop`: the services and tasks of a running lab."""

import time
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.table import Table

from infra.catalog import ENDPOINTS
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.errors import LabError
from infra.targets.runtime import Runtime, State
from infra.toolchain import Artifacts

ServiceArgument = Annotated[str, typer.Argument(help="A name that `lab status` shows.", metavar="SERVICE")]


def _runtime_of(service: str, stack: str) -> Runtime:
    """What a stack runs on, which must know the service."""
    lab = Stack(stack, Artifacts.open())
    if not lab.runtime.exists():
        raise lab.no_lab()
    lab.runtime.require_state(service)
    return lab.runtime


@command
def status(stack: StackOption = DEFAULT_STACK) -> None:
    """Show what runs, since when, where, and what it takes."""
    lab = Stack(stack, Artifacts.open())
    runtime = lab.runtime
    if not runtime.exists():
        raise lab.no_lab()
    endpoints = lab.outputs().get("endpoints", {})
    table = Table(box=None, pad_edge=False)
    for heading in ("service", "state", "pid", "since", "MiB", "where"):
        table.add_column(heading, justify="right" if heading in {"pid", "since", "MiB"} else "left")
    states, memory = runtime.states(), runtime.memory()
    for state in states:
        table.add_row(
            state.name,
            _word(state),
            str(state.pid or ""),
            _since(state),
            f"{memory[state.name]:.0f}" if state.name in memory else "",
            _where(state.name, endpoints),
        )
    out.print(table)
    for state in states:
        if not state.healthy and state.explanation:
            out.print(f"{state.name} is {state.status.lower()}: {state.explanation}", style="red", markup=False)
    out.print(f"{sum(memory.values()):.0f} MiB in all; logs: lab logs SERVICE")


def _word(state: State) -> str:
    """A state's word in a colour; a task that has ended shows how."""
    match state.status:
        case "RUNNING":
            return "[green]running[/green]"
        case "EXITED":
            return "done" if state.exit_status == 0 else f"[red]failed ({state.exit_status})[/red]"
        case "STOPPED":
            return "[dim]not started[/dim]" if not state.started else "stopped"
        case "STARTING" | "STOPPING":
            return f"[yellow]{state.status.lower()}[/yellow]"
        case _:
            return f"[red]{state.status.lower()}[/red]"


def _since(state: State) -> str:
    if not state.alive or not state.started:
        return ""
    seconds = int(time.time() - state.started)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _where(service: str, endpoints: Mapping[str, str]) -> str:
    return " ".join(
        endpoints[endpoint.published_as]
        for endpoint in ENDPOINTS.get(service, ())
        if endpoint.published_as in endpoints
    )


@command
def logs(
    service: ServiceArgument,
    stack: StackOption = DEFAULT_STACK,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it is written.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", help="How many to begin with.", min=1)] = 50,
) -> None:
    """Show the log of a service or task."""
    runtime = _runtime_of(service, stack)
    if not follow:
        out.print(runtime.log_tail(service, lines), markup=False)
        return
    for line in runtime.follow(service, lines):
        out.print(line, markup=False)


@command
def run(job: Annotated[str, typer.Argument(metavar="JOB")], stack: StackOption = DEFAULT_STACK) -> None:
    """Run a job to its end and show what it prints; exit 1 where it fails."""
    runtime = _runtime_of(job, stack)
    if runtime.is_service(job):
        raise LabError(
            f"{job} is a service: it runs all the time. See: lab status; lab logs {job}; lab stop | start {job}"
        )
    seconds = run_task(runtime, job, lambda line: out.print(line, markup=False))
    out.print(f"{job} took {seconds:.1f} s")


@command
def start(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Start a service that was stopped."""
    _runtime_of(service, stack).run(service)
    out.print(f"{service} is starting")


@command
def stop(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Stop a service and leave it stopped (until `lab start`, or the next `lab up`)."""
    _runtime_of(service, stack).stop(service)
    out.print(f"{service} is stopped")
