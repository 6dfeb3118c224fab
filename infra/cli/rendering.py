# SPDX-License-Identifier: Apache-2.0
"""`lab render`: what a stack would be made of."""

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infra.artifacts import Artifacts
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack_file import stack_settings
from infra.connector_files import read_connector_files
from infra.flink_job_files import read_flink_job_files
from infra.project import PROJECT
from infra.settings import Settings
from infra.spark_job_files import read_spark_job_files

if TYPE_CHECKING:
    from infra.targets.local import Declared


@command
def render(
    stack: StackOption = DEFAULT_STACK,
    into: Annotated[Path | None, typer.Option(help="Write scripts and files into this folder.")] = None,
) -> None:
    """Show what a stack would be made of, without making it: resources, scripts, configuration files."""
    for resource in rendered(stack, stack_settings(stack)):
        needs = f"  after {', '.join(resource.needs)}" if resource.needs else ""
        out.print(f"[bold]{resource.kind}[/bold] {resource.key}{needs}")
        properties = resource.inputs.properties()
        files = {"run": properties.pop("script"), **properties.pop("files")} if "script" in properties else {}
        for name, text in files.items():
            if into:
                target = into / resource.key / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            else:
                out.print(f"  --- {name}\n{textwrap.indent(text, '  ')}", markup=False)
    if into:
        out.print(f"scripts and files are in {os.path.relpath(into)}")


def rendered(stack: str, settings: Settings) -> "tuple[Declared, ...]":
    """The resources of a stack with these settings."""
    # Pulumi's SDK comes with the target and takes half a second to import; no other command needs it.
    from infra.lab import lab
    from infra.targets.local import local_target

    target = local_target(stack, settings, Artifacts.open())
    own = read_connector_files(PROJECT), read_spark_job_files(PROJECT), read_flink_job_files(PROJECT)
    return target.render(lab(target.site, settings, *own))
