# SPDX-License-Identifier: Apache-2.0
"""Error about a service whose pods do not become ready: cause, events, end of the log, remedy. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infra.targets.kubernetes.pod_stage import Stage

MAX_EVENTS = 5
"""Events that a message shows, the last ones."""

MAX_EVENT_LENGTH = 500

_SETTINGS = "`bin/lab doctor --settings` lists them"

_REMEDIES = {
    "image": (
        "Bring the image to the nodes (`bin/lab images load`, or `bin/lab images push` and lineage-lab:imageRegistry), "
        "or set the registry's Secret: lineage-lab:imagePullSecret"
    ),
    "unschedulable": f"Add a node, stop other pods, or reduce the heaps (lineage-lab:*HeapMib; {_SETTINGS})",
    "memory": f"Reduce its heap (lineage-lab:*HeapMib; {_SETTINGS})",
}

_CLAIM_REMEDY = "Set lineage-lab:storageClass to a class whose provisioner works on this cluster"


@dataclass(frozen=True)
class Evidence:
    """Observations about a service that does not start.

    Attributes:
        service: name of the service.
        stage: stage at which its pod stays.
        context: name of the kubeconfig context.
        namespace: its namespace.
        pod: name of the pod; empty if there is none.
        seconds: time that the pod has spent in the stage.
        events: events of the pod, or of the workload if there is no pod.
        claims: claims of the pod that are not bound, and the events of each.
        log: last lines of the log; empty for none.
    """

    service: str
    stage: Stage
    context: str
    namespace: str
    pod: str = ""
    seconds: int = 0
    events: Sequence[Mapping[str, Any]] = ()
    claims: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]] = ()
    log: str = ""


def failure_message(evidence: Evidence) -> str:
    """Return the error's text."""
    stage = evidence.stage
    after = f" after {evidence.seconds} s" if evidence.seconds and ":" not in stage.text else ""
    sections = [
        f"{evidence.service} {stage.text.rstrip('. ')}{after}.{_remedy(evidence)}",
        *(_claim_text(claim, events) for claim, events in evidence.claims),
        _events_text(evidence),
        _log_text(evidence),
    ]
    return "\n".join(section for section in sections if section)


def _remedy(evidence: Evidence) -> str:
    known = _CLAIM_REMEDY if evidence.claims else _REMEDIES.get(evidence.stage.name, "")
    return f" {known}." if known else ""


def _claim_text(claim: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> str:
    storage_class = claim["spec"].get("storageClassName") or "none: the cluster has no default class"
    text = (
        f"Its claim {claim['metadata']['name']} is {claim['status']['phase'].lower()} (storage class {storage_class})"
    )
    shown = recent_warnings(events) or _lines(events)[-1:]
    return "\n".join([f"{text}{':' if shown else '.'}", *(f"    {line}" for line in shown)])


def _events_text(evidence: Evidence) -> str:
    lines = recent_warnings(evidence.events)
    if not lines:
        return ""
    place = f"pod {evidence.pod}" if evidence.pod else evidence.service
    return "\n".join([f"Events of {place} in namespace {evidence.namespace}:", *(f"    {line}" for line in lines)])


def recent_warnings(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the last warnings, each once, in the order of their last occurrence."""
    return _lines(event for event in events if event.get("type") == "Warning")[-MAX_EVENTS:]


def _lines(events: Iterable[Mapping[str, Any]]) -> list[str]:
    texts = (
        f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())[:MAX_EVENT_LENGTH]}"
        for event in sorted(events, key=event_time)
    )
    return list(dict.fromkeys(texts))


def event_time(event: Mapping[str, Any]) -> str:
    """Return the time of an event's last occurrence as text that sorts by time."""
    return str(
        (event.get("series") or {}).get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )


def _log_text(evidence: Evidence) -> str:
    stage = evidence.stage
    if not stage.container:
        return ""
    pod = f"{evidence.pod} -c {stage.container}{' --previous' if stage.previous else ''}"
    command = f"kubectl --context {evidence.context} logs -n {evidence.namespace} {pod}"
    lines = [f"    {line}" for line in evidence.log.rstrip().splitlines()] or ["    (nothing)"]
    return "\n".join([f"The end of its log ({command}):", *lines])
