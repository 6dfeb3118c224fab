# SPDX-License-Identifier: Apache-2.0
"""Inputs of the Kubernetes target's kinds. Separate from the kinds, so that the program does not import the client."""

from typing import Literal

from infra.model.inputs import Inputs
from infra.provider.preflight import Preflight
from infra.targets.copied_credentials import CopiedCredentialsInputs


class KubernetesClusterInputs(Inputs):
    """Requirements of a stack on a cluster, and the stack's namespace.

    Attributes:
        context: name of the kubeconfig context.
        server: URL that the API server of the context must have; empty: any.
        namespace: namespace of the stack, which is created and deleted with it.
        root: the stack's folder on this machine, which is removed with the resource.
        stack: the stack's name, a label of its objects.
        checkout: id of the checkout, which distinguishes stacks of the same name.
        storage_class: storage class of the volumes; empty: the cluster's default. None: the lab has no volumes.
        ports: ports of this machine that the stack binds, by purpose.
        fixed_replicas: number of replicas of services that cannot change it once they have data.
        memory_mib: memory of the services and the largest task.
        preflight: reaction to insufficient memory.
    """

    context: str
    server: str
    namespace: str
    root: str
    stack: str
    checkout: str
    storage_class: str | None = None
    ports: dict[str, int]
    fixed_replicas: dict[str, int]
    memory_mib: int
    preflight: Preflight


class CredentialsSecretInputs(CopiedCredentialsInputs):
    """A Secret with a copy of the credentials and, with TLS, of the certificates.

    Attributes:
        context: name of the kubeconfig context.
        namespace: namespace of the Secret.
        name: name of the Secret.
        labels: labels of the Secret.
    """

    context: str
    namespace: str
    name: str
    labels: dict[str, str]


class Forward(Inputs):
    """A port of this machine whose connections are forwarded to a pod.

    Attributes:
        local: port on the loopback interface of this machine.
        service: name of the Kubernetes Service whose ready pods are used.
        replica: number of the StatefulSet's pod; None: any ready pod.
        remote: port in the pod.
    """

    local: int
    service: str
    replica: int | None = None
    remote: int


class PortForwardInputs(Inputs):
    """A process of this machine that forwards ports to pods.

    Attributes:
        context: name of the kubeconfig context.
        namespace: namespace of the services.
        root: the stack's folder on this machine, for the process's files.
        forwards: the forwarded ports.
    """

    context: str
    namespace: str
    root: str
    forwards: list[Forward]


class WorkloadInputs(Inputs):
    """A Deployment or StatefulSet that the chart made, and its readiness.

    Attributes:
        context: name of the kubeconfig context.
        namespace: its namespace.
        service: the service's name; the object's name is the service's host name.
        kind: kind of the object.
        replicas: number of pods.
        seconds: time limit for readiness after the pods' images are pulled, on a slow machine.
        definition: hash of the service's values, annotation of the object's pods; a change waits for the rollout.
        fingerprint: fingerprint of the credentials that the pods mount; empty for none.
        may_exit: True if the service may exit with status 0.
    """

    context: str
    namespace: str
    service: str
    kind: Literal["Deployment", "StatefulSet"]
    replicas: int
    seconds: int
    definition: str
    fingerprint: str = ""
    may_exit: bool = False
