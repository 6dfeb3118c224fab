# SPDX-License-Identifier: Apache-2.0
"""`lab lineage backup | restore`: the log of a stack's lineage service, to a file and back."""

from pathlib import Path
from typing import Annotated

import typer

from infra.artifacts import Artifacts
from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.stack import Stack
from infra.errors import LabError
from infra.services import lineage
from lineage import maintenance


def backup(
    file: Annotated[Path, typer.Argument(help="A file that does not exist yet.")], stack: StackOption = DEFAULT_STACK
) -> None:
    """Copy the log of the lineage service, which may run meanwhile, to a file."""
    try:
        out.print(maintenance.backup(_data(Stack(stack, Artifacts.open())), file), markup=False)
    except maintenance.MaintenanceError as error:
        raise LabError(str(error)) from error


def restore(file: Annotated[Path, typer.Argument(help="A backup.")], stack: StackOption = DEFAULT_STACK) -> None:
    """Put a backup in the place of the log; the service stops for it and starts again."""
    lab = Stack(stack, Artifacts.open())
    runs = lab.supervisor.known(lineage.NAME).running
    if runs:
        lab.supervisor.stop(lineage.NAME)
    try:
        out.print(maintenance.restore(_data(lab), file), markup=False)
    except maintenance.MaintenanceError as error:
        raise LabError(str(error)) from error
    finally:
        if runs:
            lab.supervisor.run(lineage.NAME)


def _data(stack: Stack) -> Path:
    """Where the service of the stack keeps its log; the local target has it in the stack's own folder."""
    return stack.root / "services" / lineage.NAME / "volumes" / lineage.DATA
