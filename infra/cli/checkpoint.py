# SPDX-License-Identifier: Apache-2.0
"""What Pulumi remembers of a stack, read from its own file.

`pulumi stack export` and `pulumi stack output` say the same, each as a process that takes a third of a second. The
file is where `infra.cli.stack` tells Pulumi to keep it, and of a form that the pinned Pulumi writes.
"""

import json
from pathlib import Path
from typing import Any

from infra.errors import LabError

VERSION = 3
"""Of the form: https://github.com/pulumi/pulumi/blob/master/sdk/go/common/apitype/stacks.go (VersionedCheckpoint)."""

_STACK = "pulumi:pulumi:Stack"

Resource = dict[str, Any]


def resources(file: Path) -> list[Resource]:
    """The resources of a stack, the stack itself among them.

    Raises:
        LabError: the file is damaged, or of another form.
    """
    try:
        document = json.loads(file.read_bytes())
        version, latest = document["version"], document["checkpoint"].get("latest")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(
            f"Pulumi's state in {file} cannot be read: {type(error).__name__} {error}. To give the lab up: bin/lab "
            f"reset --stack {file.stem}"
        ) from error
    if version != VERSION:
        raise LabError(f"Pulumi's state in {file} is of version {version}, and the kit reads {VERSION}")
    return list((latest or {}).get("resources") or ())


def outputs(found: list[Resource]) -> dict[str, Any]:
    """The stack's outputs; none where it has never come up."""
    return next((dict(resource.get("outputs") or {}) for resource in found if resource["type"] == _STACK), {})
