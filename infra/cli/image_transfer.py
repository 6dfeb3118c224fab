# SPDX-License-Identifier: Apache-2.0
"""`lab images push | load`: built images for the nodes of a cluster."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress_display
from infra.cli.container_stacks import docker_daemon
from infra.cli.stack_file import stack_settings
from infra.cli.stack_model import services_and_tasks
from infra.errors import SettingsError
from infra.model import PublicImage
from infra.targets.docker.images import Images
from infra.targets.docker.images.transfer import Transfer, plan_transfer, push_images
from infra.targets.kubernetes.node_images.containerd import DEFAULT_ADDRESS, DEFAULT_NAMESPACE, ContainerdNode
from infra.targets.kubernetes.node_images.local_clusters import K3dCluster, KindCluster, LocalCluster, MinikubeCluster
from infra.toolchain import Artifacts

if TYPE_CHECKING:
    from infra.targets.docker.images.daemon import ImageDaemon
    from infra.targets.kubernetes.node_images.nodes import Nodes


class Destination(StrEnum):
    """Kind of a cluster whose nodes images are loaded into."""

    KIND = "kind"
    K3D = "k3d"
    MINIKUBE = "minikube"
    CONTAINERD = "containerd"


CLUSTERS: Mapping[Destination, type[LocalCluster]] = {
    Destination.KIND: KindCluster,
    Destination.K3D: K3dCluster,
    Destination.MINIKUBE: MinikubeCluster,
}


@command
def push(
    registry: Annotated[
        str,
        typer.Argument(metavar="[REGISTRY]", help="HOST[:PORT]/PATH, instead of the stack's `imageRegistry`."),
    ] = "",
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Push the built images of a stack to a registry, except those that it has."""
    settings, daemon = stack_settings(stack), docker_daemon()
    destination = registry or settings.image_registry
    if not destination:
        raise SettingsError(f"no registry. Name one, or set lineage-lab:imageRegistry in Pulumi.{stack}.yaml")
    transfer = _plan(stack, daemon, destination)
    pushed = push_images(transfer, daemon, progress_display())
    out.print(_summary("pushed", len(pushed), len(transfer.names)))
    if destination != settings.image_registry:
        out.print(f"to run the stack on them, set lineage-lab:imageRegistry: {destination} in Pulumi.{stack}.yaml")


@command
def load(
    to: Annotated[Destination, typer.Option("--to", help="What runs the cluster's nodes.")],
    stack: StackOption = DEFAULT_STACK,
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="NAME", help="Cluster of kind or k3d, profile of minikube.")
    ] = "",
    address: Annotated[
        str, typer.Option("--address", metavar="SOCKET", help="With containerd: path of its socket.")
    ] = DEFAULT_ADDRESS,
    namespace: Annotated[
        str, typer.Option("--namespace", help="With containerd: its namespace of Kubernetes' images.")
    ] = DEFAULT_NAMESPACE,
) -> None:
    """Load the built images of a stack into the nodes of a cluster without a registry, except those that they have."""
    from infra.targets.kubernetes.node_images.load import load_images

    nodes = _nodes(to, cluster, address, namespace)
    settings, daemon = stack_settings(stack), docker_daemon()
    transfer = _plan(stack, daemon, settings.image_registry, public=True)
    loaded = load_images(transfer, nodes, daemon, progress_display())
    out.print(_summary("loaded", len(loaded), len(transfer.names)))


def _plan(stack: str, daemon: "ImageDaemon", registry: str, public: bool = False) -> Transfer:
    """Return the transfer of a stack's built images and, if asked for, of its public images that the daemon has."""
    artifacts, settings = Artifacts.open(), stack_settings(stack)
    parts = services_and_tasks(stack, settings, artifacts)
    built = Images(artifacts, settings.base_image).references(parts)
    further = {part.run.reference for part in parts if isinstance(part.run, PublicImage)} if public else set()
    pulled = [reference for reference in sorted(further) if daemon.has_image(reference)]
    command = f"bin/lab images build --stack {stack}"
    return plan_transfer(built, daemon, registry, settings.image_tag, command).with_public(pulled)


def _nodes(to: Destination, cluster: str, address: str, namespace: str) -> "Nodes":
    """Return the nodes that the options select.

    Raises:
        SettingsError: an option does not fit the kind of cluster.
    """
    if to is Destination.CONTAINERD:
        if cluster:
            raise SettingsError("--cluster does not fit --to containerd: --address selects the node")
        return ContainerdNode(address, namespace)
    if (address, namespace) != (DEFAULT_ADDRESS, DEFAULT_NAMESPACE):
        raise SettingsError(f"--address and --namespace do not fit --to {to}: --cluster selects the cluster")
    kind = CLUSTERS[to]
    return kind(cluster or kind.default_name)


def _summary(done: str, count: int, total: int) -> str:
    """Return the result of a transfer."""
    return f"{count} images {done}" + (f", {total - count} exist already" if count < total else "")
