# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Subject`: a schema in the registry and its compatibility level."""

import json
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client_for
from infra.model import external_settings
from infra.model.resources import Subject
from infra.provider.data_kind import DataKind, is_adopted, same_outputs
from infra.provider.external_service import external_error
from infra.provider.failure import add_field_names
from infra.provider.kind import OperationContext, ReadResult

REQUEST_SECONDS = 20
INCOMPATIBLE = 409


class SubjectKind(DataKind[Subject]):
    """Subjects of the schema registry; `create` adopts an existing subject.

    In an existing registry, such a subject keeps its compatibility level. Versions registered by producers are not
    drift as long as ours is among the versions.
    """

    name = "Subject"
    inputs = Subject
    replace_on = frozenset({"registry", "name"})
    addresses = frozenset({"registry"})
    setting = external_settings.SCHEMA_REGISTRY

    def describe(self, inputs: Subject) -> str:
        return f"subject {inputs.name} of the registry at {inputs.registry}"

    def create(self, inputs: Subject, call: OperationContext) -> dict[str, Any]:
        registry = _Registry(inputs, "register")
        existed = bool(registry.versions())
        version = registry.register() if inputs.external and existed else _register_with_level(inputs)
        return version | self.created(inputs, existed, call)

    def read(self, inputs: Subject, call: OperationContext) -> ReadResult[Subject] | None:
        registry = _Registry(inputs, "read")
        try:
            if not registry.versions():
                return None
            found = registry.find_version()
            avro = inputs.avro if found else registry.latest()
            level = inputs.compatibility if is_adopted(inputs, call) else registry.compatibility()
            actual = inputs.model_copy(update={"avro": avro, "compatibility": level})
        except RegistryUnreachable as error:
            return self.unreadable(inputs, call, str(error))
        return ReadResult(actual, (found or {}) | same_outputs(inputs, call))

    def update(self, old: Subject, new: Subject, call: OperationContext) -> dict[str, Any]:
        version = _Registry(new, "register").register() if is_adopted(new, call) else _register_with_level(new)
        return version | same_outputs(new, call)

    def remove(self, inputs: Subject, call: OperationContext) -> None:
        registry = _Registry(inputs, "delete")
        try:
            registry.delete()
        except RegistryUnreachable as error:
            raise self.unreachable(inputs, "delete", str(error)) from error


def _register_with_level(inputs: Subject) -> dict[str, Any]:
    """Set the compatibility level and register our schema; restore the level if the schema is rejected."""
    registry = _Registry(inputs, "register")
    before = registry.compatibility() if registry.versions() else None
    if before != inputs.compatibility:
        registry.set_compatibility(inputs.compatibility)
    try:
        return registry.register()
    except BaseException:
        if before is None:
            registry.delete_compatibility()
        else:
            registry.set_compatibility(before)
        raise


class RegistryUnreachable(LabError):
    """No registry responds at the address."""


class _Registry:
    """Client of the registry for one subject; errors begin with `could not {verb} subject`."""

    def __init__(self, inputs: Subject, verb: str) -> None:
        self._inputs = inputs
        self._verb = verb
        self._body = {"schemaType": "AVRO", "schema": inputs.avro}

    def versions(self) -> list[int]:
        """Return the subject's version numbers; none if the subject does not exist."""
        answer = self._request_json("GET", f"/subjects/{self._inputs.name}/versions", not_found=[])
        return list(answer)

    def compatibility(self) -> str:
        return str(self._request_json("GET", f"/config/{self._inputs.name}")["compatibilityLevel"])

    def set_compatibility(self, level: str) -> None:
        self._request_json("PUT", f"/config/{self._inputs.name}", {"compatibility": level})

    def delete_compatibility(self) -> None:
        self._request_json("DELETE", f"/config/{self._inputs.name}", not_found={})

    def latest(self) -> str:
        """Return the newest version's schema as compact JSON."""
        schema = self._request_json("GET", f"/subjects/{self._inputs.name}/versions/latest")["schema"]
        return json.dumps(json.loads(schema), separators=(",", ":"))

    def find_version(self) -> dict[str, Any] | None:
        """Return version and id of our schema; None if it is not among the subject's versions."""
        found = self._request_json("POST", f"/subjects/{self._inputs.name}", self._body, not_found={})
        return {"version": found["version"], "schemaId": found["id"]} if found else None

    def register(self) -> dict[str, Any]:
        """Register our schema as a version of the subject, unless it is one."""
        self._request_json("POST", f"/subjects/{self._inputs.name}/versions", self._body)
        found = self.find_version()
        if found is None:
            raise self._failure("the registry accepted the schema but does not list it")
        return found

    def delete(self) -> None:
        """Delete the subject permanently: the first request is a soft delete."""
        for path in ("", "?permanent=true"):
            self._request_json("DELETE", f"/subjects/{self._inputs.name}{path}", not_found={})
        self.delete_compatibility()

    def _request_json(self, method: str, path: str, body: dict[str, str] | None = None, not_found: Any = None) -> Any:  # noqa: ANN401
        """Return the response's JSON; `not_found`, if given, for a status 404."""
        try:
            url = self._inputs.registry + path
            answer = client_for(url).request(method, url, json=body, timeout=REQUEST_SECONDS)
        # Docker accepts and closes connections to a container that does not listen yet.
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise RegistryUnreachable(str(self._failure("the registry does not respond"))) from error
        except httpx.HTTPError as error:
            raise self._failure(f"{type(error).__name__} {error}") from error
        if answer.status_code == httpx.codes.NOT_FOUND and not_found is not None:
            return not_found
        if answer.is_success:
            return answer.json()
        message = _error_message(answer)
        if answer.status_code == INCOMPATIBLE:
            raise self._failure(
                f"incompatible ({self._inputs.compatibility}) with the registered versions"
                f": {add_field_names(message, self._inputs.avro)}. Give a new field a default or make it optional; "
                "a field of another type needs another name"
            )
        raise self._failure(f"the registry responded with status {answer.status_code}: {message}")

    def _failure(self, cause: str) -> LabError:
        action = f"{self._verb} subject {self._inputs.name} in the registry at {self._inputs.registry}"
        if self._inputs.external:
            return external_error(external_settings.SCHEMA_REGISTRY, action, cause)
        return LabError(f"could not {action}: {cause}")


def _error_message(answer: httpx.Response) -> str:
    """Return the registry's error message without its exception class."""
    try:
        message = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = answer.text
    return message.rpartition("Exception: ")[2]
