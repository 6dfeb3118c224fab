# SPDX-License-Identifier: Apache-2.0
"""Metrics of the service in Prometheus' text format. Pure, but for the process' own metrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from lineage.alerts.alert import Alert, AlertKind
from lineage.checks.contract import Dataset
from lineage.events import DatasetId, JobId, JsonObject

MAX_ALERTS = 500
"""Alerts that have a series of their own; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """State of the service at one time.

    Attributes:
        counts: as `Service.counts` returns them.
        logged: events in the log.
        dead_letters: number by kind, of every kind.
        jobs, datasets: numbers of nodes of the graph.
        alerts: of jobs and datasets.
        written: time of the last write to the datasets of which the contract demands freshness, seconds since 1970.
        webhooks: as `Watch.status` returns them.
    """

    counts: JsonObject
    logged: int
    dead_letters: Mapping[str, int]
    jobs: int
    datasets: int
    alerts: Sequence[Alert] = ()
    written: Mapping[Dataset, float] = field(default_factory=dict)
    webhooks: Sequence[JsonObject] = ()


def render(snapshot: Snapshot, registry: CollectorRegistry) -> bytes:
    """Return the metrics of a snapshot and of a registry, and the memory and CPU time of this process."""
    return generate_latest(_All(snapshot, registry))


class _All(CollectorRegistry):
    """Registry of a snapshot, of another registry, and of this process."""

    def __init__(self, snapshot: Snapshot, other: CollectorRegistry) -> None:
        super().__init__(auto_describe=False)
        self._snapshot = snapshot
        self._other = other
        ProcessCollector(registry=self)

    def collect(self) -> Iterator[Metric]:
        yield from super().collect()
        yield from self._other.collect()
        yield from families(self._snapshot)


def families(snapshot: Snapshot) -> Iterator[Metric]:
    """Yield the metrics of a snapshot."""
    counts = snapshot.counts
    for name, text, key in (
        ("lineage_events_accepted", "Valid events that arrived since the start.", "accepted"),
        ("lineage_events_duplicate", "Events that were stored before.", "duplicates"),
        (
            "lineage_events_clamped",
            "Future events, which were given the time of their arrival.",
            "clamped",
        ),
    ):
        yield CounterMetricFamily(name, text, value=counts[key])
    # The sum exists before the first refusal: Prometheus sees no increase in the first value of a series.
    yield CounterMetricFamily(
        "lineage_events_refused", "Refused requests and events.", value=sum(counts["refused"].values())
    )
    yield _by_label(
        CounterMetricFamily("lineage_events_refused_by_code", "Refused requests and events by code.", labels=["code"]),
        counts["refused"].items(),
    )
    for name, text, value in (
        ("lineage_events_waiting", "Events that wait for the disk.", counts["waiting"]),
        ("lineage_events_logged", "Events in the log.", snapshot.logged),
        ("lineage_events_unapplied", "Events and jobs that a defect keeps out of the graph.", len(counts["unapplied"])),
        ("lineage_change_streams", "Open streams of changes.", counts["listeners"]),
        ("lineage_jobs", "Jobs in the graph.", snapshot.jobs),
        ("lineage_datasets", "Datasets in the graph.", snapshot.datasets),
    ):
        yield GaugeMetricFamily(name, text, value=value)
    yield _by_label(
        GaugeMetricFamily("lineage_dead_letters", "Events that could not be used.", labels=["kind"]),
        snapshot.dead_letters.items(),
    )
    yield from _forwarding(counts.get("forward"))
    yield from _alerts(snapshot.alerts)
    written = GaugeMetricFamily(
        "lineage_dataset_last_write_timestamp_seconds",
        "Last write to a dataset of which the lineage contract demands freshness.",
        labels=["namespace", "name"],
    )
    for labels, time in snapshot.written.items():
        written.add_metric(labels, time)
    yield written
    yield _by_label(
        GaugeMetricFamily("lineage_webhook_waiting", "Messages that wait for a webhook.", labels=["webhook"]),
        ((webhook["name"], webhook["waiting"]) for webhook in snapshot.webhooks),
    )
    yield _by_label(
        CounterMetricFamily("lineage_webhook_given_up", "Messages given up since the start.", labels=["webhook"]),
        ((webhook["name"], webhook["givenUp"]) for webhook in snapshot.webhooks),
    )


def _forwarding(status: JsonObject | None) -> Iterator[Metric]:
    if status is None:
        return
    yield GaugeMetricFamily("lineage_forward_behind", "Events not yet forwarded.", value=status["behind"])
    for name, text in (("delivered", "Events that the backend accepted."), ("parked", "Events that it rejected.")):
        yield CounterMetricFamily(f"lineage_forward_{name}", f"{text} Since the start.", value=status[name])


def _alerts(alerts: Sequence[Alert]) -> Iterator[Metric]:
    numbers = {kind: sum(alert.kind is kind for alert in alerts) for kind in AlertKind if kind != AlertKind.CONTRACT}
    yield _by_label(
        GaugeMetricFamily("lineage_alerts", "Alerts of jobs and datasets.", labels=["kind"]), numbers.items()
    )
    found = GaugeMetricFamily(
        "lineage_alert", "1 for each alert of a job or dataset.", labels=["kind", "type", "namespace", "name"]
    )
    nodes: dict[tuple[str, str, str, str], None] = {}
    for alert in alerts:
        if isinstance(alert.subject, (JobId, DatasetId)):
            kind = "job" if isinstance(alert.subject, JobId) else "dataset"
            nodes[alert.kind, kind, alert.subject.namespace, alert.subject.name] = None
    for labels in list(nodes)[:MAX_ALERTS]:
        found.add_metric(labels, 1)
    yield found


def _by_label(family: Metric, values: Iterable[tuple[str, float]]) -> Metric:
    for label, value in values:
        family.add_metric([label], value)  # type: ignore[attr-defined]
    return family
