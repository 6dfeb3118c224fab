# SPDX-License-Identifier: Apache-2.0
"""Work of the `lab` command for stacks on Docker and Kubernetes: Pulumi's plugins, images, a report on the daemon.

For stacks of local processes, the functions do nothing.
"""

from typing import TYPE_CHECKING

from infra.cli import docker_state
from infra.cli.console import out, progress_display
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_place, stack_target
from infra.cli.stack_model import build_lab_and_target, services_and_tasks
from infra.cli.vendor_plugin import DOCKER, KUBERNETES, ensure_plugin
from infra.settings import Settings
from infra.toolchain.progress import format_size

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import ImageDaemon

PLUGINS = {"docker": DOCKER, "kubernetes": KUBERNETES}
"""Plugin of each target that is built on a vendor's."""

RELEASE_TYPE = "kubernetes:helm.sh/v3:Release"


def prepare_update(stack: Stack, settings: Settings) -> None:
    """Install what `pulumi up` requires: the plugin and, on Docker, images that the daemon lacks.

    The nodes of a cluster get their images from a registry, or by `lab images load`.

    Raises:
        LabError: there is no daemon, the stack runs on another one, the daemon cannot run it as configured, an image
            cannot be pulled or built, or the plugin cannot be installed.
    """
    if settings.target == "docker":
        _existing_containers(stack)
        if not stack.resources():
            _check_host(stack, settings)
    if plugin := PLUGINS.get(settings.target):
        ensure_plugin(plugin, stack)
    if settings.target != "docker":
        return
    from infra.targets.docker.images import Images

    parts = services_and_tasks(stack.name, settings, stack.artifacts)
    images, daemon = Images(stack.artifacts, settings.base_image), docker_daemon()
    images.pull(parts, daemon, progress_display())
    images.build(parts, daemon, progress_display())


def _check_host(stack: Stack, settings: Settings) -> None:
    """Check ports and resources of a lab that does not exist yet, as the provider does: here before the images.

    Raises:
        PreflightError: the daemon cannot run the lab as configured.
    """
    from infra.targets.docker.engine import shared_client
    from infra.targets.docker.host_preflight import check_ports_and_resources, reject_stack_of_other_checkout
    from infra.targets.docker.target import DockerTarget

    lab, target = build_lab_and_target(stack.name, settings, stack.artifacts)
    assert isinstance(target, DockerTarget)
    client, inputs = shared_client(), target.host_inputs(lab)
    reject_stack_of_other_checkout(client, inputs)
    stack.runtime.remove_unmanaged(set)  # orphans of a run whose state is lost
    check_ports_and_resources(client, inputs, warn=lambda _: None)


def prepare_destroy(stack: Stack) -> None:
    """Install what `pulumi destroy` requires, even if the stack's configuration is invalid.

    Removes containers and a Helm release that no longer exist from the state: the vendors' plugins fail to delete them.

    Raises:
        LabError: there is no daemon, the stack runs on another one, or the plugin cannot be installed.
    """
    target = stack_target(stack.name)
    if plugin := PLUGINS.get(target):
        ensure_plugin(plugin, stack)
    if missing := _missing_resources(stack, target):
        targets = [word for urn in missing for word in ("--target", urn)]
        stack.run_pulumi("refresh", "--yes", "--skip-preview", "--suppress-outputs", *targets)


def _missing_resources(stack: Stack, target: str) -> list[str]:
    """Return the URNs of the vendor's resources in the state that no longer exist."""
    if target == "docker":
        return docker_state.missing_containers(stack.resources(), _existing_containers(stack))
    if target == "kubernetes":
        return _missing_releases(stack)
    return []


def _missing_releases(stack: Stack) -> list[str]:
    """Return the URN of the Helm release if the namespace has no record of it."""
    from infra.targets.kubernetes.client import shared_cluster
    from infra.targets.kubernetes.release_records import has_records

    found = [known["urn"] for known in stack.resources() if known["type"] == RELEASE_TYPE]
    context, namespace = stack_place(stack.name)
    return found if found and not has_records(shared_cluster(context), namespace) else []


def _existing_containers(stack: Stack) -> set[str]:
    """Return the ids of the stack's containers on the selected daemon.

    Raises:
        LabError: there is no daemon, or the stack runs on another one.
    """
    from infra.targets.docker.engine import engine_host
    from infra.targets.docker.runtime import Containers

    existing = Containers(stack.name).ids()
    docker_state.reject_other_daemon(stack.name, stack.resources(), engine_host(), existing)
    return existing


def remove_images(stack: Stack) -> None:
    """Remove the lab's images of all checkouts.

    Raises:
        LabError: a container of another stack uses one of them, or there is no daemon.
    """
    if stack_target(stack.name) != "docker":
        out.print(f"stack {stack.name} does not run on Docker; no images removed")
        return
    from infra.targets.docker.images import Images

    removed = Images(stack.artifacts).remove(docker_daemon())
    out.print(f"{len(removed)} images removed")


def print_docker_report(stack: Stack, settings: Settings) -> None:
    """Print version and resources of the Docker daemon, and the state of the stack's images."""
    if settings.target != "docker":
        return
    from infra.targets.docker.engine import docker_errors, engine_host
    from infra.targets.docker.images import Images

    daemon = docker_daemon()
    with docker_errors("return its version"):
        info, version = daemon.client.info(), daemon.client.version()
    out.print(f"docker  {version['Version']} (API {version['ApiVersion']}) at {engine_host()}")
    out.print(f"        {info['MemTotal'] // 2**20} MiB and {info['NCPU']} processors, {info['OperatingSystem']}")
    parts = services_and_tasks(stack.name, settings, stack.artifacts)
    images = Images(stack.artifacts, settings.base_image).list_images(parts, daemon)
    required = [image for image in images if image.required]
    existing = [image for image in required if image.size is not None]
    remedy = "" if len(existing) == len(required) else "; `bin/lab up` builds the others"
    out.print(f"images  {len(existing)} of {len(required)} exist, {format_size(daemon.disk_bytes())} on disk{remedy}")


def docker_daemon() -> "ImageDaemon":
    """Return the Docker daemon. The SDK is imported on first use: it is slow to import, and few commands need it."""
    from infra.targets.docker.engine import shared_client
    from infra.targets.docker.images.daemon import ImageDaemon

    return ImageDaemon(shared_client())
