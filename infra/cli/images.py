# SPDX-License-Identifier: Apache-2.0
"""`lab images build | list | remove | push | load`: images of stacks on Docker and Kubernetes."""

from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress_display
from infra.cli.container_stacks import docker_daemon
from infra.cli.image_transfer import load, push
from infra.cli.setup import install_lab_artifacts
from infra.cli.stack_file import stack_settings
from infra.cli.stack_model import services_and_tasks
from infra.targets.docker.images import Images
from infra.toolchain import Artifacts
from infra.toolchain.progress import format_size

BaseOption = Annotated[
    str | None, typer.Option("--base", metavar="IMAGE", help="Base image, instead of the stack's `baseImage`.")
]

app = typer.Typer(
    name="images",
    help="Build, list, remove, push and load the images of stacks on Docker and Kubernetes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@command
def build(stack: StackOption = DEFAULT_STACK, base: BaseOption = None) -> None:
    """Build or pull the missing images of a stack. `lab up` does the same."""
    artifacts, settings = Artifacts.open(), stack_settings(stack)
    daemon = docker_daemon()  # before the downloads: fails at once if there is no daemon
    install_lab_artifacts(artifacts, settings)
    images = Images(artifacts, base or settings.base_image)
    parts = services_and_tasks(stack, settings, artifacts)
    pulled = images.pull(parts, daemon, progress_display())
    built = images.build(parts, daemon, progress_display())
    if pulled:
        out.print(f"{len(pulled)} images pulled")
    out.print(f"{len(built)} images built" if built else "all images exist already")
    if base and base != settings.base_image:
        out.print(f"to run the stack on these images, set lineage-lab:baseImage: {base} in Pulumi.{stack}.yaml")


@app.command(name="list")
@command
def list_images(stack: StackOption = DEFAULT_STACK) -> None:
    """List the images of a stack, and those of other versions and stacks."""
    artifacts, settings = Artifacts.open(), stack_settings(stack)
    daemon = docker_daemon()
    listed = Images(artifacts, settings.base_image).list_images(services_and_tasks(stack, settings, artifacts), daemon)
    width = max(len(image.reference) for image in listed)
    for image in listed:
        size = "not built" if image.size is None else format_size(image.size)
        note = "" if image.required else "  of another version or stack"
        out.print(f"{image.reference:{width}}  {size:>9}{note}", markup=False)
    out.print(f"{format_size(daemon.disk_bytes())} on disk, shared layers counted once")


@app.command()
@command
def remove(
    stack: StackOption = DEFAULT_STACK,
    old: Annotated[bool, typer.Option("--old", help="Keep the images that the stack uses now.")] = False,
) -> None:
    """Remove the images of all versions and stacks, except the base image."""
    artifacts = Artifacts.open()
    kept = services_and_tasks(stack, stack_settings(stack), artifacts) if old else ()
    removed = Images(artifacts).remove(docker_daemon(), kept)
    out.print(f"{len(removed)} images removed")


app.command()(push)
app.command()(load)
