# SPDX-License-Identifier: Apache-2.0
"""`lab status | logs | run | start | stop`: the processes of a running lab."""

import subprocess
import time
from collections.abc import Mapping
from typing import Annotated

import psutil
import typer
from rich.table import Table

from infra.artifacts import Artifacts
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.errors import LabError
from infra.lab import ENDPOINTS
from infra.supervision import State, Supervisor, log_tail

ServiceArgument = Annotated[str, typer.Argument(help="A name that `lab status` shows.", metavar="SERVICE")]


def memory_mib(pid: int) -> float:
    """What a process and its children take: the sum of PSS where the system tells it, else of RSS, in MiB."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_bytes(member) for member in family) / 2**20


def _bytes(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(info, "pss", info.rss))


def _supervisor_of(service: str, stack: str) -> Supervisor:
    """The supervisor of a stack, which must know the service."""
    supervisor = Stack(stack, Artifacts.open()).supervisor
    supervisor.known(service)
    return supervisor


@command
def status(stack: StackOption = DEFAULT_STACK) -> None:
    """Show what runs, since when, where, and what it takes."""
    lab = Stack(stack, Artifacts.open())
    if lab.supervisor.pid() is None:
        raise LabError(f"there is no lab in stack {stack} that runs; start it: make up (or bin/lab up)")
    endpoints = lab.outputs().get("endpoints", {})
    table = Table(box=None, pad_edge=False)
    for heading in ("service", "state", "pid", "since", "MiB", "where"):
        table.add_column(heading, justify="right" if heading in {"pid", "since", "MiB"} else "left")
    total = 0.0
    for state in lab.supervisor.states():
        memory = memory_mib(state.pid) if state.pid else 0.0
        total += memory
        table.add_row(
            state.name,
            _word(state),
            str(state.pid or ""),
            _since(state),
            f"{memory:.0f}" if state.pid else "",
            _where(state.name, endpoints),
        )
    out.print(table)
    out.print(f"{total:.0f} MiB in all; logs: lab logs SERVICE")


def _word(state: State) -> str:
    """supervisord's word in a colour; a task that has ended shows how."""
    if state.running:
        return "[green]running[/green]"
    if state.word == "EXITED":
        return "done" if state.exit_status == 0 else f"[red]failed ({state.exit_status})[/red]"
    if state.word == "STOPPED":
        return "[dim]not started[/dim]" if not state.started else "stopped"
    return f"[red]{state.word.lower()}[/red] {state.explanation}"


def _since(state: State) -> str:
    if not state.running:
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
    supervisor = _supervisor_of(service, stack)
    log = supervisor.log_of(service)
    if follow:
        log.touch()  # a task that never ran has none yet
        subprocess.run(["tail", "-n", str(lines), "-F", str(log)], check=False)
    else:
        out.print(log_tail(log, lines), markup=False)


@command
def run(job: Annotated[str, typer.Argument(metavar="JOB")], stack: StackOption = DEFAULT_STACK) -> None:
    """Run a job to its end and show what it prints; exit 1 where it fails."""
    supervisor = _supervisor_of(job, stack)
    if supervisor.stays(job):
        raise LabError(
            f"{job} is a service: it runs all the time. See: lab status; lab logs {job}; lab stop | start {job}"
        )
    seconds = run_task(supervisor, job, lambda line: out.print(line, markup=False))
    out.print(f"{job} took {seconds:.1f} s")


@command
def start(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Start a service that was stopped."""
    _supervisor_of(service, stack).run(service)
    out.print(f"{service} is starting")


@command
def stop(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Stop a service and leave it stopped (until `lab start`, or the next `lab up`)."""
    _supervisor_of(service, stack).stop(service)
    out.print(f"{service} is stopped")
