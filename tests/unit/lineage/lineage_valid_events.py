# SPDX-License-Identifier: Apache-2.0
"""Events without findings, which tests invalidate one property at a time."""

from copy import deepcopy
from typing import Any

from lineage_events import body, schema

from lineage.checks.events import Findings, check_events, raw_events
from lineage.checks.events.facets import facets_of
from tests.openlineage_schemas import specification

EMISSION_PATTERN = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 30}


def valid_event(event_type: str = "START", second: float = 0, **options: Any) -> dict[str, Any]:
    """Return a run event of `lineage_events.body` with jobType and with the facets' schema URLs."""
    kind = {"processingType": "STREAMING", "integration": "TEST", "emissionPattern": EMISSION_PATTERN}
    if not options.pop("streaming", False):
        kind = {"processingType": "BATCH", "integration": "TEST"}
    if event_type == "FAIL":
        message = {"message": "out of rows", "programmingLanguage": "python"}
        options["run_facets"] = {"errorMessage": message, **options.get("run_facets", {})}
    options["job_facets"] = {"jobType": kind, **options.get("job_facets", {})}
    return with_schemas(body(event_type, second, **options))


def with_schemas(event: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the event in which each standard facet names its schema; other facets are unchanged."""
    event = deepcopy(event)
    for facet in facets_of(event):
        if schema := specification().facets.get((facet.owner, facet.key)):
            facet.content["_schemaURL"] = schema.url
    return event


def table(name: str, *columns: str, namespace: str = "s3://warehouse", **more: Any) -> dict[str, Any]:
    """Return a dataset with a schema; `more` are its other facets."""
    about = {"schema": schema(*columns), **more}
    base = {"_producer": "https://example.org/test", "_schemaURL": "https://example.org/schema"}
    return {"namespace": namespace, "name": name, "facets": {key: {**base, **value} for key, value in about.items()}}


def found(*events: object, **options: Any) -> Findings:
    return check_events(raw_events(events), specification=specification(), **options)


def codes(*events: object, **options: Any) -> list[str]:
    """Return the codes of all findings, in order."""
    return [finding.rule.code for finding in found(*events, **options)]
