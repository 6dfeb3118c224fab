# SPDX-License-Identifier: Apache-2.0
"""Manifests of pods that run busybox under restricted Pod Security."""

from typing import Any

from infra.targets.container_paths import USER
from tests.kubernetes.cluster.images import TEST_IMAGE

HTTP_PORT = 8080

SERVE = ["sh", "-c", f"hostname > /tmp/index.html; exec httpd -f -p {HTTP_PORT} -h /tmp"]
"""Command that serves the name of its pod by HTTP."""

SLEEP = ["sleep", "infinity"]

_POD_SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_CONTAINER_SECURITY = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


def pod_spec(command: list[str], image: str = TEST_IMAGE, claim: str = "", **changes: Any) -> dict[str, Any]:
    """Return the spec of a pod with a writable /tmp; a claim is mounted at /data; `changes` are top-level keys."""
    mounts = [{"name": "tmp", "mountPath": "/tmp"}, *([{"name": claim, "mountPath": "/data"}] if claim else [])]
    container = {
        "name": "main",
        "image": image,
        "command": command,
        "securityContext": _CONTAINER_SECURITY,
        "volumeMounts": mounts,
    }
    spec = {
        "containers": [container],
        "securityContext": _POD_SECURITY,
        "terminationGracePeriodSeconds": 0,
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    return {**spec, **changes}


def pod(name: str, command: list[str], **options: Any) -> dict[str, Any]:
    """Return a pod with the label `app: NAME`; `options` are those of `pod_spec`."""
    metadata = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(command, **options)}


def service(name: str) -> dict[str, Any]:
    """Return a Service on port 80 of the pods with the label `app: NAME`."""
    ports = [{"port": 80, "targetPort": HTTP_PORT}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports},
    }


def stateful_set(name: str, command: list[str]) -> dict[str, Any]:
    """Return a StatefulSet of one pod with a claim named `data` on the default storage class."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": pod_spec(command, claim="data")}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
            "volumeClaimTemplates": [claim],
        },
    }
