# SPDX-License-Identifier: Apache-2.0
"""Memory and time limits of containers, equal on Docker and on Kubernetes."""

from infra.model import Service, Task

MEMORY_LIMIT_FACTOR = 1.5
"""Ratio of a container's memory limit to the memory in the model: stops leaks, leaves room for load peaks."""

STARTUP_FACTOR = 2
"""Ratio of a container's time limit for readiness to a process's: it reads its programs from image layers, uncached."""

UNPROBED_SECONDS = 60
"""Time limit for the start of a service without a readiness probe."""


def memory_limit_mib(part: Service | Task) -> int:
    """Return the memory limit of a part's container."""
    return int(part.memory_mib * MEMORY_LIMIT_FACTOR)


def startup_seconds(service: Service) -> int:
    """Return the time limit for a service's container to become ready, on a slow machine."""
    return STARTUP_FACTOR * service.ready.seconds if service.ready else UNPROBED_SECONDS
