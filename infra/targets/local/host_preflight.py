# SPDX-License-Identifier: Apache-2.0
"""Checks of this machine before the first process of a local lab starts."""

from collections.abc import Callable
from pathlib import Path

from infra.provider.preflight import busy_ports, enforce_preflight, resource_shortages
from infra.targets.local.inputs import SupervisorInputs


def check_ports_and_resources(inputs: SupervisorInputs, warn: Callable[[str], None]) -> None:
    """Reject a lab whose ports are in use, or that needs more memory or disk than there is.

    Args:
        inputs: what the lab needs.
        warn: receives shortages that the setting `preflight` allows.

    Raises:
        PreflightError: with every port and shortage, and the remedies.
    """
    root = Path(inputs.root)
    short = resource_shortages(root, inputs.memory_mib, inputs.disk_mib)
    enforce_preflight("this machine", root.name, busy_ports(inputs.ports), short, inputs.preflight, warn)
