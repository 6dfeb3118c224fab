# SPDX-License-Identifier: Apache-2.0
"""Types of Kubernetes objects: their paths in the API, and their names in messages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ObjectType:
    """A type of object.

    Attributes:
        api: path of the API group and version.
        plural: name of the collection in paths.
        kind: name in messages.
    """

    api: str
    plural: str
    kind: str

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of a collection, an object or a subresource; `namespace` is empty for cluster-wide ones."""
        parts = [self.api, *(("namespaces", namespace) if namespace else ()), self.plural, name, subresource]
        return "/".join(part for part in parts if part)

    def described(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return an object for messages: `log of Pod kafka-0 in namespace lab`."""
        own = f"{self.kind} {name}" if name else f"{self.kind}s"
        return (f"{subresource} of " if subresource else "") + own + (f" in namespace {namespace}" if namespace else "")


_CORE = "/api/v1"
_APPS = "/apis/apps/v1"
_BATCH = "/apis/batch/v1"

NAMESPACES = ObjectType(_CORE, "namespaces", "Namespace")
NODES = ObjectType(_CORE, "nodes", "Node")
PODS = ObjectType(_CORE, "pods", "Pod")
SERVICES = ObjectType(_CORE, "services", "Service")
SECRETS = ObjectType(_CORE, "secrets", "Secret")
EVENTS = ObjectType(_CORE, "events", "Event")
CLAIMS = ObjectType(_CORE, "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES = ObjectType(_CORE, "persistentvolumes", "PersistentVolume")
DEPLOYMENTS = ObjectType(_APPS, "deployments", "Deployment")
STATEFUL_SETS = ObjectType(_APPS, "statefulsets", "StatefulSet")
CRON_JOBS = ObjectType(_BATCH, "cronjobs", "CronJob")
JOBS = ObjectType(_BATCH, "jobs", "Job")
STORAGE_CLASSES = ObjectType("/apis/storage.k8s.io/v1", "storageclasses", "StorageClass")
ENDPOINT_SLICES = ObjectType("/apis/discovery.k8s.io/v1", "endpointslices", "EndpointSlice")

WORKLOADS = {kind.kind: kind for kind in (DEPLOYMENTS, STATEFUL_SETS)}
"""Types of the objects that run a service's pods, by kind."""
