# SPDX-License-Identifier: Apache-2.0
"""`lab render`: the resources of a stack, without creating them."""

import os
import textwrap
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.cli.chart_values import render_values
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack_file import stack_settings
from infra.cli.stack_model import build_lab_and_target
from infra.settings import Settings
from infra.toolchain import Artifacts

if TYPE_CHECKING:
    from infra.targets.declarations import ResourceDeclaration


class Form(StrEnum):
    """Other output of `lab render` than the resources of a stack."""

    KUBERNETES = "kubernetes"


@command
def render(
    form: Annotated[
        Form | None, typer.Argument(help="kubernetes: values of the Helm chart, to install the lab without Pulumi.")
    ] = None,
    stack: StackOption = DEFAULT_STACK,
    into: Annotated[
        Path | None,
        typer.Option(help="Write scripts and files to this folder; for kubernetes, the values to this file."),
    ] = None,
) -> None:
    """Show resources, scripts and files of a stack without creating them."""
    if form is Form.KUBERNETES:
        _render_chart_values(stack, into)
        return
    for resource in render_resources(stack, stack_settings(stack)):
        dependencies = f"  after {', '.join(resource.needs)}" if resource.needs else ""
        out.print(f"[bold]{resource.kind}[/bold] {resource.key}{dependencies}")
        for name, text in _script_and_files(resource.inputs.properties()).items():
            if into:
                target = into / resource.key / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            else:
                out.print(f"  --- {name}\n{textwrap.indent(text, '  ')}", markup=False)
    if into:
        out.print(f"scripts and files are in {os.path.relpath(into)}")


def _render_chart_values(stack: str, into: Path | None) -> None:
    """Write the values with which Helm installs the lab of a stack, whatever the stack's own target is."""
    from infra.targets.kubernetes.chart import helm_values

    settings = stack_settings(stack).model_copy(update={"target": "kubernetes"})
    text = render_values(
        helm_values(stack, settings, Artifacts.open()), f"Values of charts/lineage-lab for stack {stack}: lab render"
    )
    if into is None:
        print(text, end="")
        return
    into.write_text(text, encoding="utf-8")
    out.print(f"values are in {os.path.relpath(into)}: helm install lineage-lab charts/lineage-lab -f {into}")


def render_resources(stack: str, settings: Settings) -> "tuple[ResourceDeclaration, ...]":
    """Return the resources of a stack with these settings."""
    lab, target = build_lab_and_target(stack, settings, Artifacts.open())
    return target.render(lab)


def _script_and_files(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a resource by file name; a container's script contains its configuration files."""
    if "script" in properties:
        return {"run": properties["script"], **properties["files"]}
    return {"run": properties["command"][-1]} if "command" in properties else {}
