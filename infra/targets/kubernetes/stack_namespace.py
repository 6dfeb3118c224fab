# SPDX-License-Identifier: Apache-2.0
"""Name of a stack's namespace."""

import re

PREFIX = "lineage-lab-"
MAX_LENGTH = 63


def stack_namespace(stack: str, setting: str) -> str:
    """Return the namespace of a stack: the setting, else one derived from the stack's name.

    Names of stacks may contain capital letters, `_` and `.`, which namespaces may not.
    """
    return setting or (PREFIX + re.sub(r"[^a-z0-9-]", "-", stack.lower()))[:MAX_LENGTH].rstrip("-")
