# SPDX-License-Identifier: Apache-2.0
"""Labels of the metrics of one emitter and job. Pure."""

from lineage.events import Event
from lineage.graph.descriptive_facets import producer_name

LABELS = ("producer", "namespace", "job")


def emitter_labels(event: Event) -> tuple[str, str, str]:
    """Return producer without version, namespace and name of the job; the last two empty for events of datasets."""
    producer = producer_name(str(event.body.get("producer", "")))
    return (producer, "", "") if event.job is None else (producer, event.job.namespace, event.job.name)
