# SPDX-License-Identifier: Apache-2.0
"""`lab images build | list | remove`: the images that stacks on Docker run on."""

from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress
from infra.cli.description import described
from infra.cli.docker_stack import docker_daemon
from infra.cli.setup import install_lab_artifacts
from infra.cli.stack_file import stack_settings
from infra.model import Service, Task
from infra.settings import Settings
from infra.targets.docker.images import Images
from infra.toolchain import Artifacts
from infra.toolchain.progress import format_size

BaseOption = Annotated[
    str | None, typer.Option("--base", metavar="IMAGE", help="Build on this image instead of the stack's `baseImage`.")
]

app = typer.Typer(
    name="images",
    help="The images that stacks on Docker run on: build, list, remove.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@command
def build(stack: StackOption = DEFAULT_STACK, base: BaseOption = None) -> None:
    """Build, or pull, the images of a stack that the Docker daemon lacks; `lab up` does so by itself."""
    artifacts, settings = Artifacts.open(), stack_settings(stack)
    daemon = docker_daemon()  # a missing one is told before anything is downloaded
    install_lab_artifacts(artifacts, settings)
    images, parts = Images(artifacts, base or settings.base_image), _parts(stack, settings, artifacts)
    pulled = images.pull(parts, daemon, progress())
    built = images.build(parts, daemon, progress())
    if pulled:
        out.print(f"{len(pulled)} images were pulled")
    out.print(f"{len(built)} images were built" if built else "all images are there")
    if base and base != settings.base_image:
        out.print(f"the stack runs on them once its configuration says so: lineage-lab:baseImage: {base}")


@app.command(name="list")
@command
def list_images(stack: StackOption = DEFAULT_STACK) -> None:
    """List the images of a stack, built or not, and those of other versions that the daemon has."""
    artifacts, settings = Artifacts.open(), stack_settings(stack)
    daemon = docker_daemon()
    listed = Images(artifacts, settings.base_image).list_images(_parts(stack, settings, artifacts), daemon)
    width = max(len(image.reference) for image in listed)
    for image in listed:
        size = "not built" if image.size is None else format_size(image.size)
        note = "" if image.required else "  of another version or stack"
        out.print(f"{image.reference:{width}}  {size:>9}{note}", markup=False)
    out.print(f"{format_size(daemon.disk_bytes())} on disk, layers that images share counted once")


@app.command()
@command
def remove(
    stack: StackOption = DEFAULT_STACK,
    old: Annotated[bool, typer.Option("--old", help="Keep what the stack runs on as it is now.")] = False,
) -> None:
    """Remove the lab's images, of every version and stack; the base image stays."""
    artifacts = Artifacts.open()
    keep = _parts(stack, stack_settings(stack), artifacts) if old else ()
    gone = Images(artifacts).remove(docker_daemon(), keep)
    out.print(f"{len(gone)} images were removed")


def _parts(stack: str, settings: Settings, artifacts: Artifacts) -> tuple[Service | Task, ...]:
    lab, _ = described(stack, settings, artifacts)
    return (*lab.services, *lab.tasks)
