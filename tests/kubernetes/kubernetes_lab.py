# SPDX-License-Identifier: Apache-2.0
"""A lab on Kubernetes, controlled by the `lab` command and inspected with kubectl."""

from typing import Any

from infra.targets.kubernetes.stack_namespace import stack_namespace
from infra.targets.labels import PART_LABEL, ROLE_LABEL
from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.kubectl import Kubectl
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack_files import SMOKE_KUBERNETES


class KubernetesLab(LabUnderTest):
    """A stack of the Kubernetes tests."""

    def __init__(self, stack: str = SMOKE_KUBERNETES) -> None:
        super().__init__(stack)
        self.namespace = stack_namespace(self.stack, "")
        self.kubectl = Kubectl(self.namespace)

    def pods(self, role: str = "service") -> dict[str, dict[str, Any]]:
        """Return the pods of services (`service`), tasks or executors by the name of their part."""
        found = self.kubectl.get("pods", "--selector", f"{ROLE_LABEL}={role}") or {"items": []}
        return {pod["metadata"]["labels"][PART_LABEL]: pod for pod in found["items"]}

    def log(self, service: str) -> str:
        """Return the log of a service's pod."""
        return self.kubectl.run("logs", "--selector", f"{PART_LABEL}={service},{ROLE_LABEL}=service", "--tail=-1")

    def kill(self, service: str) -> None:
        """Delete the pod of a service without a grace period."""
        name = self.pods()[service]["metadata"]["name"]
        self.kubectl.run("delete", "pod", name, "--grace-period=0", "--force")

    def start_times(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return the pod's id and its containers' start times of each service, which change with any restart."""
        return {
            name: (
                pod["metadata"]["uid"],
                tuple(status["state"]["running"]["startedAt"] for status in pod["status"]["containerStatuses"]),
            )
            for name, pod in self.pods().items()
        }


def load_images(lab: LabUnderTest, cluster: Cluster) -> None:
    """Build the images of a stack, and give those to the node that it lacks."""
    for words in (("build",), ("load", "--to", "containerd", "--address", str(cluster.folders.containerd_socket))):
        ended = lab.lab("images", *words)
        assert ended.status == 0, ended.text
