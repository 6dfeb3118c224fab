# SPDX-License-Identifier: Apache-2.0
"""What a stack on Docker needs of the command beside Pulumi: its images, the vendor's plugin, a daemon to look at.

On a stack of another target, all of it does nothing.
"""

from typing import TYPE_CHECKING

from infra.cli.console import out, progress
from infra.cli.description import described
from infra.cli.plugin import ensure_plugin
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_target
from infra.model import Service, Task
from infra.settings import Settings
from infra.toolchain.progress import format_size

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import ImageDaemon


def prepare(lab: Stack, settings: Settings) -> None:
    """Makes everything ready for `pulumi up`: the images that are missing, the plugin.

    Raises:
        LabError: there is no daemon, an image cannot be pulled or built, or the plugin is not to be had.
    """
    if settings.target != "docker":
        return
    ensure_plugin(lab)
    build_images(lab, settings)


def build_images(lab: Stack, settings: Settings) -> None:
    """Pulls or builds the images that the daemon lacks; says so only where there were any."""
    from infra.targets.docker.images import Images

    model, _ = described(lab.name, settings, lab.artifacts)
    parts: tuple[Service | Task, ...] = (*model.services, *model.tasks)
    images, daemon = Images(lab.artifacts, settings.base_image), docker_daemon()
    images.pull(parts, daemon, progress())
    images.build(parts, daemon, progress())


def prepare_destroy(lab: Stack) -> None:
    """Makes everything ready for `pulumi destroy`, where the configuration may make no sense any more."""
    if stack_target(lab.name) == "docker":
        ensure_plugin(lab)


def remove_images(lab: Stack) -> None:
    """Removes the lab's images, of every checkout.

    Raises:
        LabError: another stack runs on one of them, or there is no daemon.
    """
    if stack_target(lab.name) != "docker":
        out.print(f"stack {lab.name} runs on no images")
        return
    from infra.targets.docker.images import Images

    gone = Images(lab.artifacts).remove(docker_daemon())
    out.print(f"{len(gone)} images are removed")


def doctor(lab: Stack, settings: Settings) -> None:
    """Says which daemon a stack on Docker runs on, what it has, and which images are there."""
    if settings.target != "docker":
        return
    from infra.targets.docker.engine import docker_errors, engine_host
    from infra.targets.docker.images import Images

    daemon = docker_daemon()
    with docker_errors("say what it is"):
        info, version = daemon.client.info(), daemon.client.version()
    out.print(f"docker  {version['Version']} (API {version['ApiVersion']}) at {engine_host()}")
    out.print(f"        {info['MemTotal'] // 2**20} MiB and {info['NCPU']} processors, {info['OperatingSystem']}")
    model, _ = described(lab.name, settings, lab.artifacts)
    listed = Images(lab.artifacts, settings.base_image).list_images((*model.services, *model.tasks), daemon)
    wanted = [image for image in listed if image.required]
    built = [image for image in wanted if image.size is not None]
    missing = "" if len(built) == len(wanted) else "; `lab up` builds the rest"
    out.print(f"images  {len(built)} of {len(wanted)} are there, {format_size(daemon.disk_bytes())} on disk{missing}")


def docker_daemon() -> "ImageDaemon":
    """The stack's Docker daemon. The SDK is slow to import, and most commands do without."""
    from infra.targets.docker.engine import shared_client
    from infra.targets.docker.images.daemon import ImageDaemon

    return ImageDaemon(shared_client())
