# SPDX-License-Identifier: Apache-2.0
"""Logs of pods: lines with their times, followed across interruptions of the connection and restarts."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.objects import PODS
from infra.targets.kubernetes.pod_stage import main_container
from infra.targets.kubernetes.request_errors import NOT_FOUND, RequestError

POLL_SECONDS = 0.5
"""Interval at which a followed log checks for new or restarted pods."""

_NO_CONTAINER = 400
"""Status of requests for the log of a container that has not been started yet."""

_REMOVED = {NOT_FOUND, _NO_CONTAINER}

Line = tuple[str, str]
"""Time in RFC 3339 format with nanoseconds, which sorts as text, and text of a line."""


def read_log(cluster: Cluster, pod: KubernetesObject, **options: Any) -> Iterator[Line]:  # noqa: ANN401
    """Yield the lines of a pod's program. `options` are parameters of the API; a pod that has none yet has no lines."""
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    query = {"container": main_container(pod), "timestamps": "true", **options}
    attempt = f"read the log of {PODS.described(namespace, name)}"
    try:
        for line in cluster.lines(PODS.path(namespace, name, "log"), attempt, query):
            stamp, _, text = line.partition(" ")
            yield stamp, text.rstrip("\r")
    except RequestError as error:
        if error.status not in _REMOVED:
            raise


def merged_tail(cluster: Cluster, pods: Iterable[KubernetesObject], lines: int) -> list[str]:
    """Return the last lines of several pods in the order of their times, with the pods' names if there are several."""
    found = [
        (stamp, pod["metadata"]["name"], text)
        for pod in pods
        for stamp, text in read_log(cluster, pod, tailLines=lines)
    ]
    several = len({name for _, name, _ in found}) > 1
    return [f"{name}: {text}" if several else text for _, name, text in sorted(found, key=_time)[-lines:]]


def _time(entry: tuple[str, str, str]) -> str:
    return entry[0]


def follow_pod(cluster: Cluster, pod: Callable[[], KubernetesObject | None], lines: int | None = None) -> Iterator[str]:
    """Yield the lines of a pod until it is gone, across restarts of its program, each line once.

    Args:
        cluster: cluster of the pod.
        pod: returns the pod; None if it is gone.
        lines: number of lines to begin with; None: all.
    """
    latest, waiter = "", threading.Event()
    while (found := pod()) is not None:
        printed = latest  # `sinceTime` repeats lines
        for stamp, text in read_log(cluster, found, follow="true", **_beginning(latest, lines)):
            if stamp > printed:
                latest = max(latest, stamp)
                yield text
        if found["status"].get("phase") in {"Succeeded", "Failed"}:
            return
        waiter.wait(POLL_SECONDS)


def _beginning(latest: str, lines: int | None) -> dict[str, Any]:
    """Return the parameters for the beginning of a log: the last line seen, of which the API ignores the fraction."""
    if latest:
        moment = datetime.fromisoformat(latest) - timedelta(seconds=1)
        return {"sinceTime": moment.isoformat(timespec="seconds")}
    return {} if lines is None else {"tailLines": lines}


def follow_pods(
    pods: Callable[[], Iterable[KubernetesObject]], follow: Callable[[KubernetesObject], Iterator[str]]
) -> Iterator[str]:
    """Yield the lines of all pods, also of later ones, until the caller stops.

    Args:
        pods: returns the present pods.
        follow: yields the lines of a pod until it is gone; runs in a thread that may outlive the iteration.
    """
    lines: queue.Queue[str | Exception] = queue.Queue()
    known: set[str] = set()

    def forward(pod: KubernetesObject) -> None:
        try:
            for line in follow(pod):
                lines.put(line)
        except Exception as error:  # raised by the thread of the caller
            lines.put(error)

    while True:
        for pod in pods():
            if pod["metadata"]["uid"] not in known:
                known.add(pod["metadata"]["uid"])
                threading.Thread(target=forward, args=(pod,), daemon=True).start()
        yield from _available(lines)


def _available(lines: "queue.Queue[str | Exception]") -> Iterator[str]:
    """Yield lines until there was none for `POLL_SECONDS`."""
    while True:
        try:
            found = lines.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if isinstance(found, Exception):
            raise found
        yield found
