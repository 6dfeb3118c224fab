# SPDX-License-Identifier: Apache-2.0
"""Names of Docker objects and paths inside containers."""

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
"""Labels: the stack's name; which checkout's it is; the part's name in the model; its role; two hashes."""

SERVICE_ROLE = "service"
TASK_ROLE = "task"

PROGRAMS = "/opt/lineage-lab"
"""What is run; all of it read-only."""

PROBE = f"{PROGRAMS}/bin/probe"
"""Is told host, port and perhaps a path; its exit status is 0 where that answers."""

PUBLIC_PROBE = ("wget", "-q", "-T", "10", "-O", "/dev/null")
"""Is told a URL. A public image has no probe of the lab's; this is what both Debian's and Alpine's wget understand."""

WRITTEN = "/var/lib/lineage-lab"
FILES = f"{WRITTEN}/files"
VOLUMES = f"{WRITTEN}/volumes"
SCRATCH = "/tmp"
"""Where some programs write whatever they are told, so that everything may as well go there."""

CREDENTIALS_FOLDER = "/run/lineage-lab"
CREDENTIALS_NAME = "credentials.env"

USER = 10001
"""Uid and gid of everything."""


def host(part: str) -> str:
    """The name by which the stack's containers know a part: Java takes no URI whose host has a `_`."""
    return part.replace("_", "-")


def network(stack: str) -> str:
    return f"{PREFIX}-{stack}"


def container(stack: str, part: str) -> str:
    return f"{PREFIX}-{stack}-{host(part)}"


def volume(stack: str, service: str) -> str:
    return f"{PREFIX}-{stack}-{host(service)}"


def credentials_volume(stack: str) -> str:
    return f"{PREFIX}-{stack}-credentials"


def checkout(project: Path = PROJECT) -> str:
    """Tells the stacks of two checkouts on one daemon apart; says nothing of the machine."""
    return hashlib.sha256(str(project).encode()).hexdigest()[:12]


def labels(stack: str, project: Path = PROJECT) -> dict[str, str]:
    """What everything of a stack has."""
    return {STACK_LABEL: stack, CHECKOUT_LABEL: checkout(project)}
