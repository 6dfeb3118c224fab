# SPDX-License-Identifier: Apache-2.0
"""Names, labels and annotations of Kubernetes objects; the labels of all targets are in `infra.targets.labels`."""

from infra.targets.container_paths import host_name
from infra.targets.labels import PREFIX

RELEASE = PREFIX
"""Name of the Helm release; one lab per namespace."""

CREDENTIALS_SECRET = f"{PREFIX}-credentials"
"""Name of the Secret with the credentials of the lab's services."""

REPLICAS_ANNOTATION = "dev.lineage-lab.replicas"
"""Annotation of a Deployment or StatefulSet: number of replicas while it is not stopped."""

COMPONENT_LABEL = "app.kubernetes.io/component"
INSTANCE_LABEL = "app.kubernetes.io/instance"

ENFORCE_LABEL = "pod-security.kubernetes.io/enforce"
ENFORCED_LEVEL = "restricted"
"""Label of a namespace, and its value: pods without the restrictions of this Pod Security level are rejected."""

WAITING_CONTAINER = "await"
"""Name of the init container that waits for the parts that a service needs."""


def object_name(part: str) -> str:
    """Return the name of the workload, Service or CronJob of a part, which is its host name in the namespace."""
    return host_name(part)


def claim_name(part: str, replica: int, volume: str) -> str:
    """Return the name of the claim that a StatefulSet makes for a replica; `volume` is the template's name."""
    return f"{volume}-{object_name(part)}-{replica}"
