# SPDX-License-Identifier: Apache-2.0
"""Pulumi resource of the provider `labkit`, for use in the stack's program."""

from typing import Any

import pulumi

from infra.model.inputs import Inputs
from infra.provider import PACKAGE


class LabkitResource(pulumi.CustomResource):
    """A `labkit` resource.

    Args:
        kind: the kind's name, `Topic` for instance.
        name: the resource's name, unique within its kind.
        inputs: the kind's inputs, with known values.
        later: inputs that are outputs of other resources, by camelCase name; they override `inputs`.
        outputs: names of the kind's outputs that the program reads.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        inputs: Inputs,
        opts: pulumi.ResourceOptions | None = None,
        later: dict[str, pulumi.Input[Any]] | None = None,
        outputs: tuple[str, ...] = (),
    ) -> None:
        properties: dict[str, Any] = inputs.properties() | (later or {})
        super().__init__(f"{PACKAGE}:index:{kind}", name, properties | dict.fromkeys(outputs), opts)

    def output(self, name: str) -> pulumi.Output[Any]:
        """Return an output that is named in `outputs`."""
        value: pulumi.Output[Any] = pulumi.get(self, name)
        return value
