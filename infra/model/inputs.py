# SPDX-License-Identifier: Apache-2.0
"""Base class of resource inputs, as the Pulumi engine stores them."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Inputs(BaseModel):
    """Inputs of a resource kind: frozen, camelCase in Pulumi's state; unknown properties are rejected."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    def properties(self) -> dict[str, Any]:
        """Return the inputs as Pulumi stores them; None values are omitted, as the engine does."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
