# SPDX-License-Identifier: Apache-2.0
"""Command `.ci/cluster`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from infra.errors import LabError
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import PlainProgress, format_size
from tests.kubernetes.cluster.cluster import COMPONENTS, Cluster
from tests.kubernetes.cluster.errors import ClusterUnavailable
from tests.kubernetes.cluster.images import import_image
from tests.kubernetes.cluster.requirements import check_machine
from tests.kubernetes.cluster.volumes import provide_volumes

NOT_RUNNING = 3
"""Exit status of `status` if the cluster does not run."""

UNAVAILABLE = 4
"""Exit status of `up` if this machine cannot run the cluster or cannot build its binaries."""


def up(cluster: Cluster) -> int:
    """Start the cluster and print the path of its kubeconfig."""
    cluster.up(PlainProgress(sys.stderr))
    print(cluster.folders.kubeconfig)
    return 0


def down(cluster: Cluster) -> int:
    """Stop the cluster and remove everything but Debian's packages and the cached binaries."""
    cluster.down(PlainProgress(sys.stderr))
    return 0


def status(cluster: Cluster) -> int:
    """Print the components with their memory, and the path of the kubeconfig."""
    for component in COMPONENTS:
        process = cluster.process(component)
        state = f"pid {process.pid}, {format_size(process.memory)}" if process.pid else "does not run"
        print(f"{component:20} {state}")
    running = cluster.is_running()
    print(f"ready; KUBECONFIG={cluster.folders.kubeconfig}" if running else "not ready")
    return 0 if running else NOT_RUNNING


def stop_kubelet(cluster: Cluster) -> int:
    """Stop the kubelet; containers continue to run."""
    cluster.stop_kubelet()
    return 0


def start_kubelet(cluster: Cluster) -> int:
    """Start the kubelet and wait until the node is ready."""
    cluster.start_kubelet()
    return 0


def volumes(cluster: Cluster) -> int:
    """Create missing volumes and replace used ones."""
    print(f"{provide_volumes(cluster.api, cluster.folders)} volumes available")
    return 0


COMMANDS: dict[str, Callable[[Cluster], int]] = {
    "up": up,
    "down": down,
    "status": status,
    "stop-kubelet": stop_kubelet,
    "start-kubelet": start_kubelet,
    "volumes": volumes,
}
IMPORT = "import-image"


def main(arguments: list[str]) -> int:
    """Run a command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        check_machine()
        cluster = Cluster.open()
        if options.command == IMPORT:
            print("\n".join(line for archive in options.archives for line in import_image(cluster.folders, archive)))
            return 0
        return COMMANDS[options.command](cluster)
    except LabError as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE if isinstance(error, ClusterUnavailable | ArtifactError) else 1
    except KeyboardInterrupt:
        print("Interrupted; run the same command again to continue.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=".ci/cluster", description="One-node Kubernetes cluster for tests.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        commands.add_parser(name, help=function.__doc__)
    importing = commands.add_parser(IMPORT, help="Import images from tar archives, as of `docker save`.")
    importing.add_argument("archives", nargs="+", type=Path, metavar="FILE", help="archive; - is standard input")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
