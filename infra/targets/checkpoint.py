# SPDX-License-Identifier: Apache-2.0
"""Reader of Pulumi's checkpoint file, the state of a stack.

`pulumi stack export` and `pulumi stack output` print the same data, but each starts a process, which takes a third of
a second. `infra.cli.stack` sets the location of the file; the pinned Pulumi determines its format.
"""

import json
from pathlib import Path
from typing import Any

from infra.errors import LabError
from infra.project import NAME

FORMAT_VERSION = 3
"""Supported `VersionedCheckpoint`: https://github.com/pulumi/pulumi/blob/master/sdk/go/common/apitype/stacks.go."""

_STACK_TYPE = "pulumi:pulumi:Stack"

Resource = dict[str, Any]


def checkpoint_file(stack: str, backend: Path) -> Path:
    """Return the path of a stack's state in a local backend; it does not exist before `stack init`."""
    return backend / ".pulumi" / "stacks" / NAME / f"{stack}.json"


def recorded_resources(stack: str, backend: Path) -> list[Resource]:
    """Return the resources in the state of a stack; empty if it has none in this local backend.

    Raises:
        LabError: as for `read_resources`.
    """
    file = checkpoint_file(stack, backend)
    return read_resources(file) if file.exists() else []


def read_resources(file: Path) -> list[Resource]:
    """Return the resources of a stack, including the stack itself.

    Raises:
        LabError: the file is damaged, or has another format version.
    """
    try:
        document = json.loads(file.read_bytes())
        version, latest = document["version"], document["checkpoint"].get("latest")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(
            f"cannot read Pulumi's state {file}: {type(error).__name__} {error}; remove the lab with: "
            f"bin/lab reset --stack {file.stem}"
        ) from error
    if version != FORMAT_VERSION:
        raise LabError(
            f"unsupported format version {version} of Pulumi's state {file}, expected {FORMAT_VERSION}; use the "
            'Pulumi of the lab: eval "$(bin/lab env)"'
        )
    return list((latest or {}).get("resources") or ())


def stack_outputs(resources: list[Resource]) -> dict[str, Any]:
    """Return the outputs of a stack; empty before its first update."""
    return next((dict(resource.get("outputs") or {}) for resource in resources if resource["type"] == _STACK_TYPE), {})
