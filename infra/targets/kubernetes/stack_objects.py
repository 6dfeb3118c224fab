# SPDX-License-Identifier: Apache-2.0
"""Workloads, tasks and pods of one stack, found by their labels."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.objects import CRON_JOBS, JOBS, PODS, WORKLOADS, ObjectType
from infra.targets.kubernetes.workload_state import is_of_job, latest, part_name
from infra.targets.labels import PART_LABEL, ROLE_LABEL, SERVICE_ROLE, TASK_ROLE, stack_labels

ANY = ""
"""Selects the objects of all parts."""


@dataclass(frozen=True)
class StackObjects:
    """Objects of a stack of this checkout.

    Attributes:
        cluster: their cluster.
        namespace: their namespace.
        stack: name of the stack.
    """

    cluster: Cluster
    namespace: str
    stack: str

    def workloads(self, part: str = ANY) -> list[KubernetesObject]:
        """Return the Deployments and StatefulSets of services; lists of the API leave out their objects' kind."""
        return [
            {**found, "kind": kind.kind}
            for kind in WORKLOADS.values()
            for found in self._labelled(kind, part, SERVICE_ROLE)
        ]

    def cron_jobs(self, part: str = ANY) -> list[KubernetesObject]:
        """Return the CronJobs of tasks, which are templates of their runs."""
        return self._labelled(CRON_JOBS, part, TASK_ROLE)

    def jobs(self, part: str = ANY) -> list[KubernetesObject]:
        """Return the runs of tasks."""
        return self._labelled(JOBS, part, TASK_ROLE)

    def task_pods(self, part: str = ANY) -> list[KubernetesObject]:
        """Return the pods of tasks, without those that a task has started itself."""
        return self._labelled(PODS, part, TASK_ROLE)

    def service_pods(self, part: str = ANY) -> list[KubernetesObject]:
        """Return the pods of services, without those that a service has started itself."""
        return self._labelled(PODS, part, SERVICE_ROLE)

    def all_pods(self) -> list[KubernetesObject]:
        """Return all pods of services and tasks, with Spark's executors."""
        return self.cluster.list(PODS, self.namespace, {**stack_labels(self.stack), PART_LABEL: ANY})

    def service_pods_by_part(self) -> Mapping[str, list[KubernetesObject]]:
        """Return the pods of services by the names of the services."""
        found: dict[str, list[KubernetesObject]] = defaultdict(list)
        for pod in self.service_pods():
            found[part_name(pod)].append(pod)
        return found

    def job_pods(self, job: KubernetesObject) -> list[KubernetesObject]:
        """Return the pods of a run."""
        return [pod for pod in self.task_pods(part_name(job)) if is_of_job(pod, job)]

    def latest_pods(self, part: str) -> list[KubernetesObject]:
        """Return the pods of a service, or of the last run of a task."""
        if jobs := self.jobs(part):
            return self.job_pods(latest(jobs))
        return self.service_pods(part)

    def current(self, kind: ObjectType, item: KubernetesObject) -> KubernetesObject | None:
        """Return the present state of an object; None if it is gone, or another one has its name."""
        found = self.cluster.find(kind, self.namespace, item["metadata"]["name"])
        return found if found and found["metadata"]["uid"] == item["metadata"]["uid"] else None

    def _labelled(self, kind: ObjectType, part: str, role: str) -> list[KubernetesObject]:
        labels = {**stack_labels(self.stack), PART_LABEL: part, ROLE_LABEL: role}
        return self.cluster.list(kind, self.namespace, labels)
