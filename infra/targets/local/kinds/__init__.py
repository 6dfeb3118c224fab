# SPDX-License-Identifier: Apache-2.0
"""Resource kinds of the local target."""

MODULES = {
    "Process": f"{__name__}.process",
    "Supervisor": f"{__name__}.supervisor",
}
"""Module of each kind by the kind's name."""
