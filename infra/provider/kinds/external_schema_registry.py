# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ExternalSchemaRegistry`: an existing schema registry that serves Confluent's API."""

import httpx

from infra.errors import LabError
from infra.http_client import client_for
from infra.model import external_settings
from infra.model.external import ExternalSchemaRegistry
from infra.provider.external_service import ExternalKind, external_error
from infra.provider.kind import OperationContext

REQUEST_SECONDS = 20
AUTHENTICATION_CODES = frozenset({401, 403})


class ExternalSchemaRegistryKind(ExternalKind[ExternalSchemaRegistry]):
    """Existing schema registries."""

    name = "ExternalSchemaRegistry"
    inputs = ExternalSchemaRegistry

    def check(self, inputs: ExternalSchemaRegistry, call: OperationContext) -> None:
        try:
            answer = client_for(inputs.url).get(f"{inputs.url}/subjects", timeout=REQUEST_SECONDS)
        except httpx.HTTPError as error:
            raise _error(inputs, str(error) or type(error).__name__) from error
        if answer.status_code in AUTHENTICATION_CODES:
            raise _error(
                inputs,
                f"it responded with status {answer.status_code}",
                "set it to a registry without authentication: the lab's services log in to none",
            )
        if not answer.is_success or not _is_list(answer):
            raise _error(
                inputs,
                f"GET {inputs.url}/subjects is no list of subjects (status {answer.status_code})",
                "set it to the root of Confluent's API, for Apicurio http://HOST:PORT/apis/ccompat/v7",
            )


def _is_list(answer: httpx.Response) -> bool:
    try:
        return isinstance(answer.json(), list)
    except ValueError:
        return False


def _error(inputs: ExternalSchemaRegistry, cause: str, remedy: str = "") -> LabError:
    return external_error(external_settings.SCHEMA_REGISTRY, f"use the schema registry at {inputs.url}", cause, remedy)
