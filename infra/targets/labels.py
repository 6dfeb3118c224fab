# SPDX-License-Identifier: Apache-2.0
"""Labels of the lab's objects, equal on Docker and on Kubernetes."""

import hashlib
from pathlib import Path

from infra.project import PROJECT

PREFIX = "lineage-lab"

STACK_LABEL = "dev.lineage-lab.stack"
CHECKOUT_LABEL = "dev.lineage-lab.checkout"
PART_LABEL = "dev.lineage-lab.part"
ROLE_LABEL = "dev.lineage-lab.role"
DEFINITION_LABEL = "dev.lineage-lab.definition"
CREDENTIALS_LABEL = "dev.lineage-lab.credentials"
"""Labels: stack, id of the checkout, service or task, its role, hash of its inputs, and fingerprint of the credentials.

On Kubernetes, the last two are annotations."""

SERVICE_ROLE = "service"
TASK_ROLE = "task"


def checkout_id(project: Path = PROJECT) -> str:
    """Return the id of a checkout, a hash of its path; it distinguishes the stacks of two checkouts in one place."""
    return hashlib.sha256(str(project).encode()).hexdigest()[:12]


def stack_labels(stack: str, project: Path = PROJECT) -> dict[str, str]:
    """Return the labels of every object of a stack."""
    return {STACK_LABEL: stack, CHECKOUT_LABEL: checkout_id(project)}
