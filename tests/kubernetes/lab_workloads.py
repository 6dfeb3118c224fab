# SPDX-License-Identifier: Apache-2.0
"""Workloads and tasks like those of the chart, whose programs are shell scripts of the test image."""

from typing import Any

from infra.targets.container_paths import USER, VOLUMES
from infra.targets.kubernetes.names import COMPONENT_LABEL, INSTANCE_LABEL, RELEASE, REPLICAS_ANNOTATION, object_name
from infra.targets.labels import DEFINITION_LABEL, PART_LABEL, ROLE_LABEL, stack_labels
from tests.kubernetes.manifests import pod_spec

DEFINITION = "0123456789abcdef"

WAIT_FOR_TERM = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
"""Shell script that ends when it is asked to."""


def labels(stack: str, part: str, role: str = "service") -> dict[str, str]:
    """Return the labels of an object of a part."""
    own = {COMPONENT_LABEL: object_name(part), INSTANCE_LABEL: RELEASE, PART_LABEL: part, ROLE_LABEL: role}
    return stack_labels(stack) | own


def workload(
    stack: str,
    part: str,
    script: str,
    *,
    kind: str = "Deployment",
    replicas: int = 1,
    definition: str = DEFINITION,
    ready_file: str = "",
    container: dict[str, Any] | None = None,
    volume: str = "",
    **spec: Any,
) -> dict[str, Any]:
    """Return a Deployment or StatefulSet.

    Args:
        stack: name of the stack.
        part: name of the service.
        script: shell script that its container runs.
        kind: kind of the workload.
        replicas: number of pods.
        definition: hash of its definition.
        ready_file: path of a file; pods are ready while it exists. Empty: pods are ready while they run.
        container: further keys of the container.
        volume: storage class of a claim `data` that is mounted at the volumes' folder; empty for no claim.
        spec: further keys of the pod's spec.
    """
    own = labels(stack, part)
    template = pod_spec(["sh", "-c", script], shareProcessNamespace=True, **{"terminationGracePeriodSeconds": 5} | spec)
    main = template["containers"][0]
    main.update(container or {})
    if ready_file:
        main["readinessProbe"] = {"exec": {"command": ["test", "-e", ready_file]}, "periodSeconds": 1}
    if volume:
        main["volumeMounts"] = [*main["volumeMounts"], {"name": "data", "mountPath": VOLUMES}]
        template["securityContext"] = template["securityContext"] | {"fsGroup": USER}
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": volume,
        },
    }
    stateful = {
        "serviceName": object_name(part),
        "podManagementPolicy": "Parallel",
        **({"volumeClaimTemplates": [claim]} if volume else {}),
    }
    selector = {COMPONENT_LABEL: own[COMPONENT_LABEL], INSTANCE_LABEL: own[INSTANCE_LABEL]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": object_name(part), "labels": own, "annotations": {REPLICAS_ANNOTATION: str(replicas)}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": own, "annotations": {DEFINITION_LABEL: definition}},
                "spec": template,
            },
            **(stateful if kind == "StatefulSet" else {}),
        },
    }


def task(stack: str, name: str, script: str, container: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a suspended CronJob."""
    own = labels(stack, name, "task")
    template = pod_spec(["sh", "-c", script], restartPolicy="Never", terminationGracePeriodSeconds=1)
    template["containers"][0].update(container or {})
    job = {"backoffLimit": 0, "template": {"metadata": {"labels": own}, "spec": template}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": object_name(name), "labels": own},
        "spec": {
            "schedule": "0 0 31 2 *",
            "suspend": True,
            "jobTemplate": {"metadata": {"labels": own}, "spec": job},
        },
    }


def service(stack: str, part: str, port: int) -> dict[str, Any]:
    """Return the Service of a part."""
    own = labels(stack, part)
    selector = {COMPONENT_LABEL: own[COMPONENT_LABEL], INSTANCE_LABEL: own[INSTANCE_LABEL]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": object_name(part), "labels": own},
        "spec": {"selector": selector, "ports": [{"name": "main", "port": port}]},
    }
