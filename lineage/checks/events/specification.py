# SPDX-License-Identifier: Apache-2.0
"""The OpenLineage standard as JSON schemas: one for each kind of event and one for each facet."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from lineage.checks.events.facets import DATASET, INPUT, JOB, OUTPUT, RUN
from lineage.checks.http_client import client_for
from lineage.checks.schema_files import REMEDY, SchemasUnavailable, find_schemas
from lineage.checks.schema_pins import PINS
from lineage.events import JsonObject

CORE = "OpenLineage.json"

EVENT_KINDS = ("RunEvent", "JobEvent", "DatasetEvent")

_BASES = {
    "RunFacet": RUN,
    "JobFacet": JOB,
    "DatasetFacet": DATASET,
    "InputDatasetFacet": INPUT,
    "OutputDatasetFacet": OUTPUT,
}
"""Owner of a facet by the core definition that its schema extends."""


class SpecificationError(ValueError):
    """The schemas cannot be used; the message names what was read, what is missing and the remedy."""


class Schema(NamedTuple):
    """Schema of one kind of event or of one facet: its name, the `schemaURL` of its instances, its validator."""

    name: str
    url: str
    validator: Draft202012Validator

    def errors(self, instance: object) -> Iterator[ValidationError]:
        """Return the violations of the schema.

        Raises:
            SpecificationError: the schema refers to one that is not in the specification.
        """
        try:
            yield from self.validator.iter_errors(instance)
        except Unresolvable as error:
            raise SpecificationError(f"schema {self.name} refers to {error.ref!r}, which was not read") from error


class Specification:
    """A version of the standard. References between schemas are resolved by `$id` within the set alone."""

    def __init__(self, documents: Mapping[str, JsonObject]) -> None:
        """Use schema documents by file name.

        Raises:
            SpecificationError: the core schema is not among them, or one has no `$id`.
        """
        if CORE not in documents:
            raise SpecificationError(f"{CORE} is not among {len(documents)} schemas")
        for name, document in documents.items():
            if not isinstance(document, dict) or not isinstance(document.get("$id"), str):
                raise SpecificationError(f"schema {name} has no $id, which references to it require")
        self._documents = documents

    @classmethod
    def open(cls, place: Path | str | None = None) -> "Specification":
        """Read the schemas from a folder or a URL, else those that `schema_files.find_schemas` returns.

        Raises:
            SpecificationError: they do not exist or cannot be used.
        """
        if isinstance(place, str) and place.startswith(("http://", "https://")):
            return cls.from_url(place)
        try:
            return cls.from_folder(find_schemas() if place is None else Path(place))
        except SchemasUnavailable as error:
            raise SpecificationError(f"{error}; {REMEDY}") from error

    @classmethod
    def from_folder(cls, folder: Path) -> "Specification":
        """Read all schemas in a folder and those below it.

        Raises:
            SpecificationError: the core schema is missing, or a file is not JSON.
        """
        documents: dict[str, JsonObject] = {}
        for path in sorted(folder.rglob("[!.]*.json")):
            try:
                documents[path.name] = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise SpecificationError(f"cannot read schema {path}: {error}") from error
        if CORE not in documents:
            raise SpecificationError(f"{CORE} is not in folder {folder}; name the folder `spec` of OpenLineage")
        return cls(documents)

    @classmethod
    def from_url(cls, url: str) -> "Specification":
        """Read the schemas below a URL: `OpenLineage.json`, the others there or in `facets/`.

        Facets whose schema does not exist there are treated as custom facets.

        Raises:
            SpecificationError: the URL does not respond, or the core schema does not exist there.
        """
        documents: dict[str, JsonObject] = {}
        with client_for(url) as client:
            for name in PINS:
                document = _fetch_schema(client, url.rstrip("/"), name)
                if document is not None:
                    documents[name] = document
                elif name == CORE:
                    raise SpecificationError(f"{CORE} is not at {url}; give the URL of the folder that contains it")
        return cls(documents)

    @cached_property
    def events(self) -> dict[str, Schema]:
        """Schemas by kind of event. The core's `oneOf` would only report that none of the three matches."""
        return {kind: self._definition_schema(self._documents[CORE], kind) for kind in EVENT_KINDS}

    @cached_property
    def facets(self) -> dict[tuple[str, str], Schema]:
        """Schemas of facets by owner (`run`, `job`, `dataset`, `input`, `output`) and key."""
        found: dict[tuple[str, str], Schema] = {}
        for name, document in self._documents.items():
            if name != CORE:
                for definition, owner in _facet_definitions(document):
                    for key in document.get("properties", {}):
                        found[owner, key] = self._definition_schema(document, definition)
        return found

    @cached_property
    def _schema_registry(self) -> Registry[bool | Mapping[str, Any]]:
        resources = ((document["$id"], Resource.from_contents(document)) for document in self._documents.values())
        registry: Registry[bool | Mapping[str, Any]] = Registry().with_resources(resources)
        return registry

    def _definition_schema(self, document: JsonObject, definition: str) -> Schema:
        url = f"{document['$id']}#/$defs/{definition}"
        validator = Draft202012Validator({"$ref": url}, registry=self._schema_registry, format_checker=_FORMATS)
        return Schema(definition, url, validator)


_FORMATS = FormatChecker()


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    """Check for an absolute URI; jsonschema's own check needs a package that is not a dependency."""
    if not isinstance(value, str):
        return True
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme) and bool(parts.netloc or parts.path) and not re.search(r"[\s<>\"{}|\\^`]", value)


def _facet_definitions(document: JsonObject) -> Iterator[tuple[str, str]]:
    """Return the definitions of a document that are facets, each with its owner."""
    for name, definition in document.get("$defs", {}).items():
        for part in definition.get("allOf", ()):
            owner = _BASES.get(part.get("$ref", "").partition(f"{CORE}#/$defs/")[2])
            if owner is not None:
                yield name, owner


def _fetch_schema(client: httpx.Client, url: str, name: str) -> JsonObject | None:
    for address in (f"{url}/{name}", f"{url}/facets/{name}"):
        try:
            response = client.get(address)
            if response.status_code == httpx.codes.NOT_FOUND:
                continue
            document: JsonObject = response.raise_for_status().json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise SpecificationError(f"cannot fetch schema {address}: {error}") from error
        return document
    return None
