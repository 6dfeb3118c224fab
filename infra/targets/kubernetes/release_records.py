# SPDX-License-Identifier: Apache-2.0
"""Helm's records of a release, which are Secrets in its namespace; those of killed updates block the next update."""

from infra.targets.kubernetes.client import Cluster
from infra.targets.kubernetes.names import RELEASE
from infra.targets.kubernetes.objects import SECRETS

_LABELS = {"owner": "helm", "name": RELEASE}

_UNFINISHED = ("pending-install", "pending-upgrade", "pending-rollback")
"""States of an operation that was killed: Helm refuses further ones with `another operation is in progress`."""


def release_id(namespace: str) -> str:
    """Return the id of the release in Pulumi's state."""
    return f"{namespace}/{RELEASE}"


def has_records(cluster: Cluster, namespace: str) -> bool:
    """Return whether Helm has a record of the release."""
    return bool(cluster.list(SECRETS, namespace, _LABELS))


def remove_records(cluster: Cluster, namespace: str) -> None:
    """Remove all records of the release. Its objects remain; the next installation takes them over."""
    _remove(cluster, namespace, None)


def remove_unfinished_records(cluster: Cluster, namespace: str) -> None:
    """Remove the records of killed operations; nothing else may operate on the release."""
    _remove(cluster, namespace, _UNFINISHED)


def _remove(cluster: Cluster, namespace: str, states: tuple[str, ...] | None) -> None:
    for record in cluster.list(SECRETS, namespace, _LABELS):
        if states is None or record["metadata"]["labels"].get("status") in states:
            cluster.delete(SECRETS, namespace, record["metadata"]["name"])
