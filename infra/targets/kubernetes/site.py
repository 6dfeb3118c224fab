# SPDX-License-Identifier: Apache-2.0
"""Site of stacks on Kubernetes: host names in the namespace, forwarded ports on this machine."""

from dataclasses import dataclass, replace
from typing import Literal

from infra.model import Address, ExecutorPods, Listener
from infra.targets.container_paths import CREDENTIALS_FOLDER, CREDENTIALS_NAME, host_name
from infra.targets.container_site import ALL_INTERFACES, OUTSIDE, ContainerSite
from infra.targets.labels import checkout_id
from infra.targets.site import INSIDE, LOOPBACK

OWN_HOST_VARIABLE = "POD_IP"
"""Environment variable of every container with the address of its pod, set by the chart."""

EXECUTOR_PODS = ExecutorPods(
    template="/etc/lineage-lab/executor.yaml",
    container="executor",
    image_variable="IMAGE",
    name_variable="POD_NAME",
    namespace_variable="POD_NAMESPACE",
)
"""Template in the driver's ConfigMap, and environment variables of every container; both from the chart."""

REPLICA_PORT_STEP = 100
"""Difference between the forwarded ports of two replicas of a service that advertises its address."""


@dataclass(frozen=True)
class KubernetesSite(ContainerSite):
    """Site of a stack on Kubernetes.

    Attributes:
        in_cluster: clients of resources (`outside`) are pods too, as in a lab that Helm installs without Pulumi.
    """

    in_cluster: bool = False

    @property
    def identity(self) -> str:
        # Without a path of this machine: the values for Helm contain it.
        return f"{self.stack} of {checkout_id(self.checkout)} on Kubernetes"

    @property
    def client_credentials(self) -> str:
        return f"{CREDENTIALS_FOLDER}/{CREDENTIALS_NAME}" if self.in_cluster else super().client_credentials

    @property
    def own_host_variable(self) -> str:
        return OWN_HOST_VARIABLE

    @property
    def executor_pods(self) -> ExecutorPods:
        return EXECUTOR_PODS

    def for_clients_in_cluster(self) -> "KubernetesSite":
        """Return the site whose outside addresses are those of the namespace."""
        return replace(self, in_cluster=True)

    def address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"] = "inside") -> Address:
        return super().address(service, endpoint, "inside" if self.in_cluster else seen_from)

    def replica_host(self, service: str, replica: int) -> str:
        """Return the pod's host name; the chart creates the headless service `NAME-pods` for each StatefulSet."""
        name = host_name(service)
        return f"{name}-{replica}.{name}-pods"

    def replica_listeners(self, service: str, endpoint: str, replica: int) -> tuple[Listener, ...]:
        bind = self.listen(service, endpoint)
        inside = Address(self.replica_host(service, replica), bind.port)
        outside = Address(LOOPBACK, self.forwarded_port(service, endpoint, replica))
        return (
            Listener(INSIDE, bind, inside),
            Listener(OUTSIDE, Address(ALL_INTERFACES, self.container_port(service, endpoint)), outside),
        )

    def forwarded_port(self, service: str, endpoint: str, replica: int = 0) -> int:
        """Return the port of this machine that is forwarded to an endpoint of a replica."""
        return self._endpoint(service, endpoint).port + self.port_offset + replica * REPLICA_PORT_STEP
