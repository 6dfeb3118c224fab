# SPDX-License-Identifier: Apache-2.0
"""Names and labels of Docker objects."""

import hashlib
from pathlib import Path

from infra.project import PROJECT
from infra.targets.container_paths import host_name

PREFIX = "lineage-lab"

STACK_LABEL = "dev.lineage-lab.stack"
CHECKOUT_LABEL = "dev.lineage-lab.checkout"
PART_LABEL = "dev.lineage-lab.part"
ROLE_LABEL = "dev.lineage-lab.role"
DEFINITION_LABEL = "dev.lineage-lab.definition"
CREDENTIALS_LABEL = "dev.lineage-lab.credentials"
"""Labels: stack, id of the checkout, service or task, its role, hash of the container's inputs, and fingerprint of the
credentials."""

SERVICE_ROLE = "service"
TASK_ROLE = "task"

PUBLIC_IMAGE_PROBE = ("wget", "-q", "-T", "10", "-O", "/dev/null")
"""Probe command of public images, followed by a URL; Debian's and Alpine's wget support these options."""


def network_name(stack: str) -> str:
    return f"{PREFIX}-{stack}"


def container_name(stack: str, part: str) -> str:
    return f"{PREFIX}-{stack}-{host_name(part)}"


def volume_name(stack: str, service: str) -> str:
    return f"{PREFIX}-{stack}-{host_name(service)}"


def credentials_volume_name(stack: str) -> str:
    return f"{PREFIX}-{stack}-credentials"


def checkout_id(project: Path = PROJECT) -> str:
    """Return the id of a checkout, a hash of its path; it distinguishes the stacks of two checkouts on one daemon."""
    return hashlib.sha256(str(project).encode()).hexdigest()[:12]


def stack_labels(stack: str, project: Path = PROJECT) -> dict[str, str]:
    """Return the labels of every object of a stack."""
    return {STACK_LABEL: stack, CHECKOUT_LABEL: checkout_id(project)}
