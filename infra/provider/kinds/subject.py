# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Subject`: a schema in the registry, and the compatibility that later versions must keep."""

import json
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.model.resources import Subject
from infra.provider.failure import name_fields
from infra.provider.kind import Call, Found, Kind

REQUEST_SECONDS = 20
INCOMPATIBLE = 409


class SubjectKind(Kind[Subject]):
    """A subject that is there already is taken over.

    Versions that producers register beside ours are no drift: ours has to be among them.
    """

    name = "Subject"
    inputs = Subject
    replace_on = frozenset({"registry", "name"})

    def create(self, inputs: Subject, call: Call) -> dict[str, Any]:
        registry = _Registry(inputs, "register")
        before = registry.level() if registry.versions() else None
        if before != inputs.compatibility:
            registry.set_level(inputs.compatibility)
        try:
            return registry.register()
        except BaseException:
            if before is None:
                registry.forget_level()
            else:
                registry.set_level(before)
            raise

    def read(self, inputs: Subject, call: Call) -> Found[Subject] | None:
        registry = _Registry(inputs, "read")
        try:
            if not registry.versions():
                return None
            found = registry.look_up()
            avro = inputs.avro if found else registry.latest()
            actual = inputs.model_copy(update={"avro": avro, "compatibility": registry.level()})
        except Unreachable:
            return None  # the registry itself is gone: it is made anew, its subjects after it
        return Found(actual, found or {})

    def update(self, old: Subject, new: Subject, call: Call) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: Subject, call: Call) -> None:
        registry = _Registry(inputs, "delete")
        try:
            registry.delete()
        except Unreachable:
            return  # the registry is gone, and with it the subject


class Unreachable(LabError):
    """Nothing answers at the registry's address."""


class _Registry:
    """The requests about one subject. Every error begins with what was attempted."""

    def __init__(self, inputs: Subject, what: str) -> None:
        self._inputs = inputs
        self._what = what
        self._body = {"schemaType": "AVRO", "schema": inputs.avro}

    def versions(self) -> list[int]:
        """Numbers of the subject's versions; none where there is no such subject."""
        answer = self._ask("GET", f"/subjects/{self._inputs.name}/versions", gone=[])
        return list(answer)

    def level(self) -> str:
        return str(self._ask("GET", f"/config/{self._inputs.name}")["compatibilityLevel"])

    def set_level(self, level: str) -> None:
        self._ask("PUT", f"/config/{self._inputs.name}", {"compatibility": level})

    def forget_level(self) -> None:
        self._ask("DELETE", f"/config/{self._inputs.name}", gone={})

    def latest(self) -> str:
        """The newest version, spelled as we spell schemas."""
        schema = self._ask("GET", f"/subjects/{self._inputs.name}/versions/latest")["schema"]
        return json.dumps(json.loads(schema), separators=(",", ":"))

    def look_up(self) -> dict[str, Any] | None:
        """Version and id of our schema; None where it is not among the subject's versions."""
        found = self._ask("POST", f"/subjects/{self._inputs.name}", self._body, gone={})
        return {"version": found["version"], "schemaId": found["id"]} if found else None

    def register(self) -> dict[str, Any]:
        """Makes our schema one of the subject's versions, where it is not one already."""
        self._ask("POST", f"/subjects/{self._inputs.name}/versions", self._body)
        found = self.look_up()
        if found is None:
            raise self._failure("the registry took the schema, but does not show it")
        return found

    def delete(self) -> None:
        """For good: the registry's first deletion only hides."""
        for path in ("", "?permanent=true"):
            self._ask("DELETE", f"/subjects/{self._inputs.name}{path}", gone={})
        self.forget_level()

    def _ask(self, method: str, path: str, body: dict[str, str] | None = None, gone: Any = None) -> Any:  # noqa: ANN401
        """The answer's JSON; `gone`, where it is given, for what is not there."""
        try:
            answer = client().request(method, self._inputs.registry + path, json=body, timeout=REQUEST_SECONDS)
        # Docker takes connections for a container that does not listen yet, and cuts them off.
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise Unreachable(str(self._failure("nothing answers there"))) from error
        except httpx.HTTPError as error:
            raise self._failure(f"{type(error).__name__} {error}") from error
        if answer.status_code == httpx.codes.NOT_FOUND and gone is not None:
            return gone
        if answer.is_success:
            return answer.json()
        words = _words(answer)
        if answer.status_code == INCOMPATIBLE:
            raise self._failure(
                f"the registry refuses it as incompatible ({self._inputs.compatibility}) with the versions that are "
                f"there: {name_fields(words, self._inputs.avro)}. Give a new field a default, or make it optional; "
                "a field that is to be of another type needs another name"
            )
        raise self._failure(f"it answered {answer.status_code}: {words}")

    def _failure(self, why: str) -> LabError:
        return LabError(
            f"could not {self._what} subject {self._inputs.name} in the registry at {self._inputs.registry}: {why}"
        )


def _words(answer: httpx.Response) -> str:
    """What the registry says, without the names of its classes."""
    try:
        message = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = answer.text
    return message.rpartition("Exception: ")[2]
