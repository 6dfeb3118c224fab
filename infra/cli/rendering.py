# SPDX-License-Identifier: Apache-2.0
"""`lab render`: what a stack would be made of."""

import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.description import described
from infra.cli.stack_file import stack_settings
from infra.settings import Settings
from infra.toolchain import Artifacts

if TYPE_CHECKING:
    from infra.targets.declarations import ResourceDeclaration


@command
def render(
    stack: StackOption = DEFAULT_STACK,
    into: Annotated[Path | None, typer.Option(help="Write scripts and files into this folder.")] = None,
) -> None:
    """Show what a stack would be made of, without making it: resources, scripts, configuration files."""
    for resource in rendered(stack, stack_settings(stack)):
        needs = f"  after {', '.join(resource.needs)}" if resource.needs else ""
        out.print(f"[bold]{resource.kind}[/bold] {resource.key}{needs}")
        for name, text in _files(resource.inputs.properties()).items():
            if into:
                target = into / resource.key / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            else:
                out.print(f"  --- {name}\n{textwrap.indent(text, '  ')}", markup=False)
    if into:
        out.print(f"scripts and files are in {os.path.relpath(into)}")


def _files(properties: Mapping[str, Any]) -> dict[str, str]:
    """The script of a process with its configuration files; that of a container, which writes them itself."""
    if "script" in properties:
        return {"run": properties["script"], **properties["files"]}
    return {"run": properties["command"][-1]} if "command" in properties else {}


def rendered(stack: str, settings: Settings) -> "tuple[ResourceDeclaration, ...]":
    """The resources of a stack with these settings."""
    lab, target = described(stack, settings, Artifacts.open())
    return target.render(lab)
