# SPDX-License-Identifier: Apache-2.0
"""Validation of events: required keys and their types.

Validates what the standard requires and every facet that the graph uses; other facets are not validated. Empty
dataset names pass here, because the rules may resolve them; `lineage.rules` rejects names that remain empty.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

from lineage.events.errors import InvalidEvent
from lineage.events.facet_shapes import MAX_COLUMN_NAME, ColumnLineage, Schema, has_shape
from lineage.events.ids import JsonObject
from lineage.events.timestamps import parse_time

MAX_NAME = 1024
"""Characters of a namespace, dataset or job name: Marquez's limit, and S3's for keys."""

EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Kind(StrEnum):
    """Kind of an event; see "Core spec" of OpenLineage."""

    RUN = "run"
    JOB = "job"
    DATASET = "dataset"


class ValidatedEvent(NamedTuple):
    """Validated event body."""

    kind: Kind
    body: JsonObject


_FacetCheck = Callable[[JsonObject, str], None]


def validate_event(body: object) -> ValidatedEvent:
    """Validate an event and determine its kind.

    Raises:
        InvalidEvent: names the first field that is missing or wrong.
    """
    if not isinstance(body, dict):
        raise InvalidEvent("", f"an event is a JSON object, not {_type_name(body)}")
    event_time = _required_text(body, "eventTime", "")
    try:
        parse_time(event_time)
    except ValueError as error:
        raise InvalidEvent("eventTime", str(error)) from error
    _required_text(body, "producer", "")
    _required_text(body, "schemaURL", "")
    kind = _event_kind(body)
    if kind is Kind.DATASET:
        _check_dataset(_required_object(body, "dataset", ""), "dataset")
    if kind is Kind.RUN:
        _check_run(body)
    if kind is not Kind.DATASET:
        _check_job(_required_object(body, "job", ""))
    for direction, extra in (("inputs", "inputFacets"), ("outputs", "outputFacets")):
        for i, dataset in enumerate(_optional_list(body, direction, "")):
            path = f"{direction}[{i}]"
            _check_dataset(_require_object(dataset, path), path)
            _check_facets(dataset, extra, f"{path}.{extra}", {})
    return ValidatedEvent(kind, body)


def _event_kind(body: JsonObject) -> Kind:
    present = [key for key in ("run", "job", "dataset") if body.get(key) is not None]
    match present:
        case ["run", "job"]:
            return Kind.RUN
        case ["job"]:
            return Kind.JOB
        case ["dataset"]:
            return Kind.DATASET
        case ["run"]:
            raise InvalidEvent("job", "is missing; a run event has run and job")
        case []:
            raise InvalidEvent("job", "is missing; an event has run and job, or job, or dataset")
        case _:
            raise InvalidEvent("dataset", f"an event cannot have {' and '.join(present)} together")


def _check_run(body: JsonObject) -> None:
    event_type = body.get("eventType")
    if event_type is not None and not (isinstance(event_type, str) and event_type in EVENT_TYPES):
        raise InvalidEvent("eventType", f"{event_type!r:.60} is none of {', '.join(sorted(EVENT_TYPES))}")
    run = _required_object(body, "run", "")
    _check_uuid(run, "runId", "run")
    _check_facets(run, "facets", "run.facets", {"parent": _check_parent})


def _check_job(job: JsonObject) -> None:
    check_name(_required_text(job, "namespace", "job"), "job.namespace")
    check_name(_required_text(job, "name", "job"), "job.name")
    _check_facets(job, "facets", "job.facets", {"lineage": _check_lineage, "jobType": _check_job_type})


def _check_dataset(dataset: JsonObject, path: str) -> None:
    _check_name_pair(dataset, path)
    _check_facets(dataset, "facets", f"{path}.facets", _DATASET_FACETS)


def _check_facets(owner: JsonObject, key: str, path: str, checks: dict[str, Callable[[JsonObject, str], None]]) -> None:
    facets = owner.get(key)
    if facets is None:
        return
    for name, facet in _require_object(facets, path).items():
        _require_object(facet, f"{path}.{name}")
        if name in checks and facet.get("_deleted") is not True:
            checks[name](facet, f"{path}.{name}")


def _check_parent(facet: JsonObject, path: str) -> None:
    _check_run_of_job(facet, path)
    if facet.get("root") is not None:
        _check_run_of_job(_require_object(facet["root"], f"{path}.root"), f"{path}.root")


def _check_run_of_job(owner: JsonObject, path: str) -> None:
    _check_uuid(_required_object(owner, "run", path), "runId", f"{path}.run")
    job = _required_object(owner, "job", path)
    for key in ("namespace", "name"):
        check_name(_required_text(job, key, f"{path}.job"), f"{path}.job.{key}")


def _check_job_type(facet: JsonObject, path: str) -> None:
    _required_text(facet, "processingType", path)
    pattern = facet.get("emissionPattern")
    if pattern is not None:
        window = _require_object(pattern, f"{path}.emissionPattern").get("windowDuration")
        if window is not None and (isinstance(window, bool) or not isinstance(window, int | float) or window < 0):
            raise InvalidEvent(f"{path}.emissionPattern.windowDuration", "must be a number of seconds")


def _check_schema(facet: JsonObject, path: str) -> None:
    if not has_shape(facet, Schema):
        check_schema_values(facet, path)


def check_schema_values(facet: JsonObject, path: str) -> None:
    """Reject an invalid schema facet, or nested column, with the place of the fault."""
    for i, field in enumerate(_optional_list(facet, "fields", path)):
        where = f"{path}.fields[{i}]"
        _required_text(_require_object(field, where), "name", where)
        _optional_text(field, "type", where)
        if field.get("fields") is not None:
            check_schema_values(field, where)


def _check_symlinks(facet: JsonObject, path: str) -> None:
    for i, identifier in enumerate(_optional_list(facet, "identifiers", path)):
        where = f"{path}.identifiers[{i}]"
        _check_name_pair(_require_object(identifier, where), where)
        _optional_text(identifier, "type", where)


def _check_lifecycle(facet: JsonObject, path: str) -> None:
    _required_text(facet, "lifecycleStateChange", path)
    if facet.get("previousIdentifier") is not None:
        _check_name_pair(_required_object(facet, "previousIdentifier", path), f"{path}.previousIdentifier")


def _check_column_lineage(facet: JsonObject, path: str) -> None:
    if not has_shape(facet, ColumnLineage):
        check_column_lineage_values(facet, path)


def check_column_lineage_values(facet: JsonObject, path: str) -> None:
    """Reject an invalid columnLineage facet with the place of the fault."""
    for name, field in _required_object(facet, "fields", path).items():
        where = f"{path}.fields.{name}"
        _check_column_name(name, path)
        if _require_object(field, where).get("inputFields") is None:
            raise InvalidEvent(f"{where}.inputFields", "is missing; write [] where the column has no source")
        _check_input_fields(field, "inputFields", where)
    _check_input_fields(facet, "dataset", path)


def _check_column_name(name: str, path: str) -> None:
    if not name:
        raise InvalidEvent(f"{path}.fields", "has a column without a name")
    if len(name) > MAX_COLUMN_NAME:
        raise InvalidEvent(f"{path}.fields", f"has a column name of {len(name)} characters; limit {MAX_COLUMN_NAME}")


def _check_input_fields(owner: JsonObject, key: str, path: str) -> None:
    for i, source in enumerate(_optional_list(owner, key, path)):
        where = f"{path}.{key}[{i}]"
        _check_name_pair(_require_object(source, where), where)
        _required_text(source, "field", where)
        _check_transformations(source, where)


def _check_transformations(source: JsonObject, path: str) -> None:
    for i, transformation in enumerate(_optional_list(source, "transformations", path)):
        where = f"{path}.transformations[{i}]"
        _required_text(_require_object(transformation, where), "type", where)
        _optional_text(transformation, "subtype", where)


def _check_lineage(facet: JsonObject, path: str) -> None:
    if facet.get("entries") is None:
        raise InvalidEvent(f"{path}.entries", "is missing")
    for i, entry in enumerate(_optional_list(facet, "entries", path)):
        where = f"{path}.entries[{i}]"
        if _is_dataset(_require_object(entry, where), where):
            _check_name_pair(entry, where)
        _check_lineage_targets(entry, where)


def _check_lineage_targets(owner: JsonObject, path: str) -> None:
    _check_lineage_inputs(owner, path)
    fields = owner.get("fields")
    if fields is not None:
        for name, field in _require_object(fields, f"{path}.fields").items():
            where = f"{path}.fields.{name}"
            _check_column_name(name, path)
            _check_lineage_inputs(_require_object(field, where), where)


def _check_lineage_inputs(owner: JsonObject, path: str) -> None:
    for i, source in enumerate(_optional_list(owner, "inputs", path)):
        where = f"{path}.inputs[{i}]"
        if _is_dataset(_require_object(source, where), where):
            _check_name_pair(source, where)
            _optional_text(source, "field", where)
        _check_transformations(source, where)


def _is_dataset(entity: JsonObject, path: str) -> bool:
    entity_type = _required_text(entity, "type", path)
    if entity_type not in ("DATASET", "JOB"):
        raise InvalidEvent(f"{path}.type", f"{entity_type!r:.60} is neither DATASET nor JOB")
    return entity_type == "DATASET"


_DATASET_FACETS: dict[str, _FacetCheck] = {
    "schema": _check_schema,
    "symlinks": _check_symlinks,
    "columnLineage": _check_column_lineage,
    "lifecycleStateChange": _check_lifecycle,
    "lineage": _check_lineage_targets,
}


def check_name(text: str, path: str) -> None:
    """Reject names that are blank, too long, or contain control characters."""
    fault = name_fault(text)
    if fault is not None:
        raise InvalidEvent(path, fault)


def name_fault(text: str) -> str | None:
    """Return what is wrong with a name, or None."""
    if not text.strip():
        return "is empty, and no naming rule resolves it"
    if len(text) > MAX_NAME:
        return f"has {len(text)} characters; the limit is {MAX_NAME}"
    if _CONTROL.search(text):
        return f"{text!r:.60} contains control characters"
    return None


def _check_name_pair(owner: JsonObject, path: str) -> None:
    for key in ("namespace", "name"):
        if not isinstance(owner.get(key), str):
            raise InvalidEvent(f"{path}.{key}", _type_fault(owner.get(key), "a string"))


# These take the path of the owner and put the whole path together where something is wrong with the value: most of
# the time nothing is, and there are hundreds of values in an event.


def _required_text(owner: JsonObject, key: str, path: str) -> str:
    value = owner.get(key)
    if not isinstance(value, str):
        raise InvalidEvent(_join_path(path, key), _type_fault(value, "a string"))
    if not value:
        raise InvalidEvent(_join_path(path, key), "is empty")
    return value


def _optional_text(owner: JsonObject, key: str, path: str) -> None:
    value = owner.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidEvent(_join_path(path, key), _type_fault(value, "a string"))


def _check_uuid(owner: JsonObject, key: str, path: str) -> None:
    value = _required_text(owner, key, path)
    if not _UUID.fullmatch(value):
        raise InvalidEvent(_join_path(path, key), f"{value!r:.60} is not a UUID")


def _required_object(owner: JsonObject, key: str, path: str) -> JsonObject:
    value = owner.get(key)
    return value if isinstance(value, dict) else _require_object(value, _join_path(path, key))


def _require_object(value: object, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidEvent(path, _type_fault(value, "an object"))
    return value


def _optional_list(owner: JsonObject, key: str, path: str) -> list[Any]:
    value = owner.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidEvent(_join_path(path, key), _type_fault(value, "an array"))
    return value


def _join_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _type_fault(value: object, wanted: str) -> str:
    return "is missing" if value is None else f"must be {wanted}, not {_type_name(value)}"


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a string"
