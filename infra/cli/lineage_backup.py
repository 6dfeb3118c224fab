# SPDX-License-Identifier: Apache-2.0
"""`lab lineage backup | restore`: the log of a stack's lineage service, to a file and back."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.stack import Stack
from infra.errors import LabError
from infra.services import lineage
from infra.targets.runtime import Runtime
from infra.toolchain import Artifacts
from lineage import maintenance


def backup(
    file: Annotated[Path, typer.Argument(help="A file that does not exist yet.")], stack: StackOption = DEFAULT_STACK
) -> None:
    """Copy the log of the lineage service, which may run meanwhile, to a file."""
    runtime = Stack(stack, Artifacts.open()).runtime
    _with_data(runtime, lambda data: maintenance.backup(data, file))


def restore(file: Annotated[Path, typer.Argument(help="A backup.")], stack: StackOption = DEFAULT_STACK) -> None:
    """Put a backup in the place of the log; the service stops for it and starts again."""
    runtime = Stack(stack, Artifacts.open()).runtime
    ran = runtime.require_state(lineage.NAME).alive
    if ran:
        runtime.stop(lineage.NAME)
    try:
        _with_data(runtime, lambda data: maintenance.restore(data, file))
    finally:
        if ran:
            runtime.run(lineage.NAME)


def _with_data(runtime: Runtime, do: Callable[[Path], str]) -> None:
    """Does something with the folder of the service's log, which may be a copy, and tells of it as of the folder."""
    place = runtime.volume_location(lineage.NAME, lineage.DATA)
    with runtime.data(lineage.NAME, lineage.DATA) as data:
        try:
            said = do(data)
        except maintenance.MaintenanceError as error:
            raise LabError(str(error).replace(str(data), place)) from error
    out.print(said.replace(str(data), place), markup=False)
