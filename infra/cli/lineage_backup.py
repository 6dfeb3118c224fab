# SPDX-License-Identifier: Apache-2.0
"""`lab lineage backup | restore`: the event log of a stack's lineage service."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings
from infra.errors import LabError
from infra.services import lineage
from infra.targets.runtime import Runtime
from infra.toolchain import Artifacts
from lineage import maintenance


def backup(file: Annotated[Path, typer.Argument(help="File to create.")], stack: StackOption = DEFAULT_STACK) -> None:
    """Copy the event log to a file. The lineage service may be running."""
    _require_file(stack, "back up")
    runtime = Stack(stack, Artifacts.open()).runtime
    _run_on_data(runtime, lambda folder: maintenance.backup(folder, file))


def restore(file: Annotated[Path, typer.Argument(help="A backup.")], stack: StackOption = DEFAULT_STACK) -> None:
    """Replace the event log by a backup. The lineage service is restarted if it runs."""
    _require_file(stack, "restore")
    runtime = Stack(stack, Artifacts.open()).runtime
    was_running = runtime.require_state(lineage.NAME).alive
    if was_running:
        runtime.stop(lineage.NAME)
    try:
        _run_on_data(runtime, lambda folder: maintenance.restore(folder, file))
    finally:
        if was_running:
            runtime.run(lineage.NAME)


def _require_file(stack: str, action: str) -> None:
    """Raise LabError if the event log is not a file."""
    if lineage.stores_in_postgres(stack_settings(stack)):
        raise LabError(
            f"cannot {action} the event log of stack {stack}: it is database {lineage.DATABASE} of the lab's Postgres;"
            " use pg_dump and pg_restore, see docs/how-to/store-the-lineage-in-postgres.md"
        )


def _run_on_data(runtime: Runtime, operation: Callable[[Path], str]) -> None:
    """Run an operation on the data folder of the service and print its summary.

    The folder may be a temporary copy; messages name the location of the original.
    """
    location = runtime.volume_location(lineage.NAME, lineage.DATA)
    with runtime.data(lineage.NAME, lineage.DATA) as folder:
        try:
            summary = operation(folder)
        except maintenance.MaintenanceError as error:
            raise LabError(str(error).replace(str(folder), location)) from error
    out.print(summary.replace(str(folder), location), markup=False)
