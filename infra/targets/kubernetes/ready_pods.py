# SPDX-License-Identifier: Apache-2.0
"""Ready pods of services, kept up to date by a watch of the namespace's EndpointSlices."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from infra.targets.kubernetes.client import STREAM_SECONDS, Cluster
from infra.targets.kubernetes.objects import ENDPOINT_SLICES
from infra.targets.kubernetes.request_errors import RequestError

SERVICE_LABEL = "kubernetes.io/service-name"
"""Label of an EndpointSlice with the name of its Service."""

WATCH_SECONDS = STREAM_SECONDS - 60
"""Duration of one watch; the API server ends it before the client's timeout."""

RETRY_SECONDS = 1
"""Time between attempts to list the slices while the API server is not reachable."""

_LOG = logging.getLogger(__name__)


def ready_pods(endpoint_slice: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the ready pods in an EndpointSlice; no condition means ready."""
    return frozenset(
        endpoint["targetRef"]["name"]
        for endpoint in endpoint_slice.get("endpoints") or ()
        if endpoint.get("conditions", {}).get("ready") is not False
        if endpoint.get("targetRef", {}).get("kind") == "Pod"
    )


class ReadyPods:
    """Ready pods of some services of a namespace. Safe to share between threads.

    Args:
        cluster: returns the current client of the API server.
        namespace: namespace of the services.
        services: names of the services.
    """

    def __init__(self, cluster: Callable[[], Cluster], namespace: str, services: Iterable[str]) -> None:
        self._cluster = cluster
        self._path = ENDPOINT_SLICES.path(namespace)
        self._selector = f"{SERVICE_LABEL} in ({', '.join(sorted(services))})"
        self._attempt = f"list {ENDPOINT_SLICES.described(namespace)}"
        self._slices: dict[str, tuple[str, frozenset[str]]] = {}
        self._reachable = True

    def of(self, service: str) -> list[str]:
        """Return the ready pods of a service, sorted."""
        known = list(self._slices.values())
        return sorted({pod for name, pods in known if name == service for pod in pods})

    def watch(self, changed: Callable[[], None], stopped: threading.Event) -> None:
        """Update the pods until stopped; calls `changed` after each change. Blocks, as a thread of its own.

        While the API server is not reachable, the last known pods remain.
        """
        while not stopped.is_set():
            try:
                version = self.refresh()
                changed()
                self._follow(version, changed)
            except RequestError as error:
                self._report(str(error))
                stopped.wait(RETRY_SECONDS)

    def refresh(self) -> str:
        """Read all slices, and return the version of the collection."""
        found = self._cluster().json(self._path, self._attempt, {"labelSelector": self._selector})
        self._slices = {item["metadata"]["name"]: _content(item) for item in found["items"]}
        self._report("")
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str, changed: Callable[[], None]) -> None:
        """Apply changes since a version until the API server ends the watch."""
        query = {
            "watch": "true",
            "labelSelector": self._selector,
            "resourceVersion": version,
            "timeoutSeconds": WATCH_SECONDS,
        }
        for line in self._cluster().lines(self._path, self._attempt, query):
            event = json.loads(line)
            if event["type"] == "ERROR":  # the version is too old
                return
            name = event["object"]["metadata"]["name"]
            slices = dict(self._slices)  # readers iterate over the other one
            if event["type"] == "DELETED":
                slices.pop(name, None)
            else:
                slices[name] = _content(event["object"])
            self._slices = slices
            changed()

    def _report(self, problem: str) -> None:
        """Log the first of consecutive failures, and the recovery."""
        if problem and self._reachable:
            _LOG.warning("%s", problem)
        elif not problem and not self._reachable:
            _LOG.info("%s responds again", self._cluster())
        self._reachable = not problem


def _content(endpoint_slice: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    return endpoint_slice["metadata"]["labels"][SERVICE_LABEL], ready_pods(endpoint_slice)
