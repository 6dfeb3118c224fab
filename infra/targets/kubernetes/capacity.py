# SPDX-License-Identifier: Apache-2.0
"""Memory of a cluster that is free for pods. Pure functions on the API's JSON."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

MIB = 2**20

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

_ENDED = {"Succeeded", "Failed"}
"""Phases of pods that reserve nothing."""


def quantity(text: str) -> float:
    """Return a quantity of the API in its base unit: `512Mi` in bytes, `250m` in units.

    Raises:
        ValueError: the text is not a quantity.
    """
    found = re.fullmatch(r"([\d.]+(?:[eE][+-]?\d+)?)(m|[kMGT]|[KMGT]i)?", text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity")
    value, unit = float(found[1]), found[2]
    return value / 1000 if unit == "m" else value * _UNITS.get(unit or "", 1)


def free_memory_mib(nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]) -> int:
    """Return the memory of schedulable nodes that no pod has requested."""
    free = {
        node["metadata"]["name"]: quantity(node["status"]["allocatable"]["memory"])
        for node in nodes
        if not node["spec"].get("unschedulable")
    }
    for pod in pods:
        node = pod["spec"].get("nodeName", "")
        if node in free and pod["status"].get("phase") not in _ENDED:
            free[node] -= _requested_memory(pod["spec"])
    return int(sum(max(0, size) for size in free.values()) // MIB)


def _requested_memory(spec: Mapping[str, Any]) -> float:
    return sum(
        quantity(container.get("resources", {}).get("requests", {}).get("memory", "0"))
        for container in spec["containers"]
    )
