# SPDX-License-Identifier: Apache-2.0
"""Names of Docker objects."""

from infra.targets.container_paths import host_name
from infra.targets.labels import PREFIX

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
