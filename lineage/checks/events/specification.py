# SPDX-License-Identifier: Apache-2.0
"""The standard's own JSON schemas, core and facets, where somebody has them: they are in no package."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from openlineage.client.facet_v2 import BaseFacet
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from lineage.checks.events import facets
from lineage.checks.events.facets import facets_of
from lineage.checks.http_client import client_for
from lineage.events import JsonObject

CORE = "OpenLineage.json"

_TEXT_LIMIT = 300


class SpecificationError(ValueError):
    """The schemas cannot be used; the message says what was read and what is missing."""


class Specification:
    """A set of schema documents by file name, resolved among themselves alone, by `$id`."""

    def __init__(self, documents: Mapping[str, JsonObject]) -> None:
        """Raises SpecificationError: the core schema is not among them, or one has no `$id`."""
        if CORE not in documents:
            raise SpecificationError(f"{CORE} is not among {len(documents)} schemas")
        for name, document in documents.items():
            if not isinstance(document, dict) or not isinstance(document.get("$id"), str):
                raise SpecificationError(f"{name} has no $id, so that others cannot refer to it")
        self._documents = documents

    @classmethod
    def from_folder(cls, folder: Path) -> "Specification":
        """All schemas of a folder and those below it.

        Raises:
            SpecificationError: there is no core schema, or a file is no JSON.
        """
        documents: dict[str, JsonObject] = {}
        for path in sorted(folder.rglob("*.json")):
            try:
                documents[path.name] = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise SpecificationError(f"schema {path} cannot be read: {error}") from error
        if CORE not in documents:
            raise SpecificationError(f"there is no {CORE} in {folder}; give the folder `spec` of OpenLineage")
        return cls(documents)

    @classmethod
    def from_url(cls, url: str) -> "Specification":
        """The schemas below a URL that has the standard's layout: `OpenLineage.json`, the others in `facets/`.

        A facet whose schema is not there is left unjudged.

        Raises:
            SpecificationError: the URL does not answer, or the core schema is not there.
        """
        documents: dict[str, JsonObject] = {}
        with client_for(url) as client:
            for name in (CORE, *_facet_files()):
                document = _fetch(client, url.rstrip("/"), name)
                if document is not None:
                    documents[name] = document
                elif name == CORE:
                    raise SpecificationError(f"there is no {CORE} at {url}; give the URL of the folder that has it")
        return cls(documents)

    def errors(self, event: JsonObject) -> Iterator[tuple[str, str]]:
        """(path, message) of everything the schemas refuse; a facet that they do not know is custom."""
        kind = "RunEvent" if "run" in event else "JobEvent" if "job" in event else "DatasetEvent"
        for error in self._iterate(self._core[kind], event):
            yield _path(error), _text(error)
        for facet in facets_of(event):
            verdicts = [list(self._iterate(v, {facet.key: facet.content})) for v in self._facets.get(facet.key, ())]
            if verdicts and all(verdicts):
                # Two files share some keys (`documentation` of jobs and of datasets); the nearer one is meant.
                for error in min(verdicts, key=len):
                    yield f"{facet.path}{_path(error).removeprefix(facet.key)}", _text(error)

    def _iterate(self, validator: Draft202012Validator, instance: object) -> Iterator[ValidationError]:
        try:
            yield from validator.iter_errors(instance)
        except Unresolvable as error:
            raise SpecificationError(f"a schema refers to {error.ref!r}, which is not among them") from error

    @cached_property
    def _core(self) -> dict[str, Draft202012Validator]:
        """Each kind's own definition: the core's `oneOf` would only say that none of three fits."""
        identity = self._documents[CORE]["$id"]
        kinds = ("RunEvent", "JobEvent", "DatasetEvent")
        return {kind: self._validator({"$ref": f"{identity}#/$defs/{kind}"}) for kind in kinds}

    @cached_property
    def _facets(self) -> dict[str, list[Draft202012Validator]]:
        """Validators by the key under which events carry the facet."""
        found: dict[str, list[Draft202012Validator]] = {}
        for name, document in self._documents.items():
            if name != CORE:
                for key in document.get("properties", {}):
                    found.setdefault(key, []).append(self._validator(document))
        return found

    @cached_property
    def _registry(self) -> Registry[bool | Mapping[str, Any]]:
        resources = ((document["$id"], Resource.from_contents(document)) for document in self._documents.values())
        registry: Registry[bool | Mapping[str, Any]] = Registry().with_resources(resources)
        return registry

    def _validator(self, schema: JsonObject) -> Draft202012Validator:
        return Draft202012Validator(schema, registry=self._registry, format_checker=FormatChecker())


def _facet_files() -> Iterable[str]:
    classes: list[type[BaseFacet]] = [cls for home in facets.CLASSES.values() for cls in home.values()]
    files = [cls._get_schema().partition("#")[0].rpartition("/")[2] for cls in classes]
    return dict.fromkeys([*files, *(f"{name}.json" for name in facets.REGISTERED.values())])


def _fetch(client: httpx.Client, url: str, name: str) -> JsonObject | None:
    for address in (f"{url}/{name}", f"{url}/facets/{name}"):
        try:
            answer = client.get(address)
            if answer.status_code == httpx.codes.NOT_FOUND:
                continue
            document: JsonObject = answer.raise_for_status().json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise SpecificationError(f"schema {address} cannot be fetched: {error}") from error
        return document
    return None


def _path(error: ValidationError) -> str:
    """`inputs[0].facets.schema`, as other rules write paths."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")


def _text(error: ValidationError) -> str:
    return error.message if len(error.message) <= _TEXT_LIMIT else f"{error.message[:_TEXT_LIMIT]}..."
