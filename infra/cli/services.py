# SPDX-License-Identifier: Apache-2.0
"""`lab status | logs | run | start | stop`: services and tasks of a running lab."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table

from infra.catalog import ENDPOINTS
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.job_problems import job_problems
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.cli.workflow_command import run_named_workflow
from infra.cli.workflow_file import workflow_names
from infra.errors import LabError
from infra.provider.notes import launcher_problem
from infra.targets.runtime import Runtime, State
from infra.toolchain import Artifacts
from infra.toolchain.process import sigterm_as_keyboard_interrupt
from lineagelab_common.identifiers import PARENT, ROOT_PARENT, ParentRun, parent_variables

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

ServiceArgument = Annotated[str, typer.Argument(help="Name of a service or task in `lab status`.", metavar="SERVICE")]


def _running_stack(stack: str) -> Stack:
    """Return a stack whose lab runs."""
    lab = Stack(stack, Artifacts.open(or_earlier=True))
    if not lab.runtime.exists():
        raise lab.not_running_error()
    return lab


def _runtime_with(service: str, stack: str) -> Runtime:
    """Return the runtime of a stack, which must have the service or task."""
    runtime = _running_stack(stack).runtime
    runtime.require_state(service)
    return runtime


@command
def status(stack: StackOption = DEFAULT_STACK) -> None:
    """Show services and tasks: state, process id, uptime, memory, address; and jobs that do not run."""
    lab = _running_stack(stack)
    endpoints = lab.outputs().get("endpoints", {})
    table = Table(box=None, pad_edge=False)
    for heading in ("service", "state", "pid", "uptime", "MiB", "address"):
        table.add_column(heading, justify="right" if heading in {"pid", "uptime", "MiB"} else "left")
    states, memory, problems = lab.runtime.states(), lab.runtime.memory(), _job_problems(lab)
    for state in states:
        table.add_row(
            state.name,
            "[red]failing[/red]" if state.running and state.name in problems else _status_text(state),
            str(state.pid or ""),
            _uptime(state),
            f"{memory[state.name]:.0f}" if state.name in memory else "",
            service_addresses(state.name, endpoints),
        )
    out.print(table)
    for state in states:
        if not state.healthy and state.explanation:
            out.print(f"{state.name} is {state.status.lower()}: {state.explanation}", style="red", markup=False)
        if state.running and state.name in problems:
            out.print(f"{state.name} is running, but its job {problems[state.name]}", style="red", markup=False)
    out.print(f"{sum(memory.values()):.0f} MiB in total; logs: bin/lab logs SERVICE")


def _job_problems(lab: Stack) -> dict[str, str]:
    # Imported here, as it imports all kinds: it registers the readers of notes in containers and pods.
    import infra.targets.kinds  # noqa: F401

    return job_problems(lab.resources(), launcher_problem)


def _status_text(state: State) -> str:
    """Return the status with a colour, and the exit status of a failed task."""
    match state.status:
        case "RUNNING":
            return "[green]running[/green]"
        case "EXITED":
            return "done" if state.exit_status == 0 else f"[red]failed ({state.exit_status})[/red]"
        case "STOPPED":
            return "stopped" if state.started else "[dim]not started[/dim]"
        case "STARTING" | "STOPPING":
            return f"[yellow]{state.status.lower()}[/yellow]"
        case _:
            return f"[red]{state.status.lower()}[/red]"


def _uptime(state: State) -> str:
    """Return the time since the start as `h:mm:ss`; empty without a process."""
    if not state.alive or not state.started:
        return ""
    seconds = int(time.time() - state.started)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def service_addresses(service: str, endpoints: Mapping[str, str]) -> str:
    """Return the published addresses of a service, separated by spaces; `endpoints` is an output of the stack."""
    return " ".join(
        endpoints[endpoint.published_as]
        for endpoint in ENDPOINTS.get(service, ())
        if endpoint.published_as in endpoints
    )


@command
def logs(
    service: ServiceArgument,
    stack: StackOption = DEFAULT_STACK,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue to print new lines.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Number of lines to begin with.", min=1)] = 50,
) -> None:
    """Show the log of a service or task."""
    runtime = _runtime_with(service, stack)
    if not follow:
        out.print(runtime.log_tail(service, lines), markup=False)
        return
    for line in runtime.follow(service, lines):
        out.print(line, markup=False)


@command
def run(
    job: Annotated[
        str, typer.Argument(help="Name of a task in `lab status`, or of a workflow in jobs/workflows.", metavar="JOB")
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="Environment variable of this run of a task.", metavar="NAME=VALUE"),
    ] = None,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Run a job, or a workflow of jobs, to completion and print its output. Exits with 1 if it fails.

    Ctrl-C and SIGTERM stop the job. A scheduler passes on its run in OPENLINEAGE_PARENT_ID and
    OPENLINEAGE_ROOT_PARENT_ID, as the parent of the job's.
    """
    lab = _running_stack(stack)
    runtime, variables, parent = lab.runtime, run_variables(given or ()), parent_run(os.environ)
    if job in workflow_names() and runtime.state(job) is None:
        if variables:
            raise LabError(f"--set is for one task, and {job} is a workflow: run its tasks one by one")
        with sigterm_as_keyboard_interrupt():
            run_named_workflow(lab, job, parent)
        return
    runtime.require_state(job)
    if runtime.is_service(job):
        raise LabError(
            f"{job} is a service, which runs until it is stopped; see: bin/lab status, bin/lab logs {job}, "
            f"bin/lab stop {job}, bin/lab start {job}"
        )
    if parent is not None:
        variables |= parent_variables(parent)
    with sigterm_as_keyboard_interrupt():
        seconds = run_task(runtime, job, lambda line: out.print(line, markup=False), variables)
    out.print(f"{job} took {seconds:.1f} s")


def run_variables(given: Sequence[str]) -> dict[str, str]:
    """Parse environment variables, `NAME=VALUE`. Raises LabError if one has another form."""
    variables = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not _VARIABLE.fullmatch(name):
            raise LabError(f"invalid variable {text!r}: expected NAME=VALUE, as in --set LINEAGE_HISTORY_AT=...")
        variables[name] = value
    return variables


def parent_run(environment: Mapping[str, str]) -> ParentRun | None:
    """Return the run of the program that started this command, from its environment; None if it names none.

    Raises:
        LabError: the variable `PARENT` or `ROOT_PARENT` is invalid.
    """
    try:
        return ParentRun.from_environment(environment)
    except ValueError as error:
        raise LabError(f"{PARENT} or {ROOT_PARENT}: {error}") from error


@command
def start(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Start a service that was stopped."""
    _runtime_with(service, stack).run(service)
    out.print(f"{service} is starting")


@command
def stop(service: ServiceArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """Stop a service until `lab start` or the next `lab up`."""
    _runtime_with(service, stack).stop(service)
    out.print(f"{service} is stopped")
