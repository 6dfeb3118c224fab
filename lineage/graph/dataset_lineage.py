# SPDX-License-Identifier: Apache-2.0
"""Lineage that dataset events state.

A dataset event has no job, but the standard connects datasets by jobs alone. So such an event declares a job of its
dataset, in a namespace of the service: it reads the sources that the columnLineage and lineage facets name, and writes
the dataset. The last event with one of these facets is the declaration in force, as for job events.
"""

from dataclasses import replace

from lineage.events import Event, JobId, Kind
from lineage.graph.facet_references import referenced_datasets

DATASET_EVENTS = "urn:lineage-lab:dataset-events"
"""Namespace of jobs that stand for what dataset events state; the name is that of the dataset, with its namespace."""


def declared_job(event: Event) -> Event:
    """Return the job event that a dataset event with lineage amounts to; every other event itself."""
    if event.dataset is None:
        return event
    dataset = event.body["dataset"]
    facets = dataset.get("facets") or {}
    if "columnLineage" not in facets and "lineage" not in facets:
        return event
    job = JobId(DATASET_EVENTS, f"{event.dataset.namespace}/{event.dataset.name}")
    sources = sorted(referenced_datasets(event.body) - {event.dataset})
    body = {
        **event.body,
        "job": {"namespace": job.namespace, "name": job.name, "facets": {}},
        "inputs": [{"namespace": source.namespace, "name": source.name} for source in sources],
        "outputs": [dataset],
    }
    return replace(event, kind=Kind.JOB, job=job, body=body)
