# SPDX-License-Identifier: Apache-2.0
"""Base of everything that the Pulumi engine keeps as the inputs of a resource."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Inputs(BaseModel):
    """Inputs of a resource kind: frozen, camelCase in Pulumi's state; unknown properties are rejected."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    def properties(self) -> dict[str, Any]:
        """Return the inputs as Pulumi stores them; a value of None is omitted, as the engine does."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
