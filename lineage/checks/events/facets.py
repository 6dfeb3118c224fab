# SPDX-License-Identifier: Apache-2.0
"""Facets of an event and the part of the event that each one describes."""

from collections.abc import Iterator
from typing import NamedTuple

from lineage.events import JsonObject

RUN, JOB, DATASET, INPUT, OUTPUT = "run", "job", "dataset", "input", "output"
"""Owners of facets: a run, a job, a dataset, and a dataset in its role as input or output of a run."""

UNPREFIXED = frozenset({"checkpoints", "debug", "environment-properties", "spark.exception", "spark.logicalPlan"})
"""Custom facets of OpenLineage's Spark and Flink integrations that predate the rule that such keys have a prefix.

Users of these integrations cannot rename them.
"""

REGISTRY = frozenset(
    {
        *("gcp_composer_job", "gcp_composer_run", "gcp_dataproc", "gcp_lineage"),
        *("icebergCommitReport", "icebergScanReport"),
    }
)
"""Facets of the standard's registry. Their producers write the schema URL in their own form, which is not checked."""


class Facet(NamedTuple):
    """A facet in an event: its owner, key, path and content."""

    owner: str
    key: str
    path: str
    content: object


def facets_of(event: JsonObject) -> Iterator[Facet]:
    """Return every facet of an event, whatever its content; `facets` that is not an object has none."""
    for part in (RUN, JOB, DATASET):
        yield from _facets_of_object(event.get(part), part, "facets", part)
    for direction, role, role_facets in (("inputs", INPUT, "inputFacets"), ("outputs", OUTPUT, "outputFacets")):
        datasets = event.get(direction)
        for i, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            path = f"{direction}[{i}]"
            yield from _facets_of_object(dataset, DATASET, "facets", path)
            yield from _facets_of_object(dataset, role, role_facets, path)


def _facets_of_object(holder: object, owner: str, key: str, path: str) -> Iterator[Facet]:
    facets = holder.get(key) if isinstance(holder, dict) else None
    for name, content in (facets if isinstance(facets, dict) else {}).items():
        yield Facet(owner, name, f"{path}.{key}.{name}", content)
