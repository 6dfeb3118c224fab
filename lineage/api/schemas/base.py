# SPDX-License-Identifier: Apache-2.0
"""Base class, names and errors that several groups of routes share."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Facets = dict[str, Any]
"""Facets by name, as OpenLineage defines them."""


class ResponseModel(BaseModel):
    """Model of a response: camelCase keys, no unknown keys."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NodeName(ResponseModel):
    """Namespace and name of a job or dataset."""

    namespace: str
    name: str


class Error(ResponseModel):
    """Cause of a failed request. `code` is stable; `message` is for people."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorResponse(ResponseModel):
    """Body of every response with status 4xx or 5xx.

    `code` is the status; `code` and `message` are the body of Marquez's errors. `errors` are violated constraints of
    query parameters.
    """

    code: int
    message: str
    errors: list[str] | None = None
    error: Error
