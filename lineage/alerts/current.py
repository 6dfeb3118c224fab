# SPDX-License-Identifier: Apache-2.0
"""Alerts of jobs and datasets at a time, kept up to date with what changes."""

from collections.abc import Iterator, Set
from typing import NamedTuple

from lineage.alerts.alert import Alert, AlertKind
from lineage.events.ids import DatasetId, JobId
from lineage.graph.adjacency import Graph
from lineage.graph.records import LineageRecords
from lineage.graph.records_by_name import READS_PER_PART
from lineage.graph.run_record import RunRecord
from lineage.graph.run_state import SETTLED, RunState, is_stale, run_outcome
from lineage.graph.schema_breaks import SchemaBreak, SchemaBreaks
from lineage.graph.summaries import failed_checks

SCHEMA_DAYS = 7
"""Days after which a schema change is no alert any more: readers that it breaks have failed, or never run."""

_SECOND = 10**9
_DAY = 86_400 * _SECOND
_MAX_NAMED = 3
"""Columns, checks or readers that a text names."""


class _OpenRun(NamedTuple):
    """Streaming run without an end. `silence` is the time (ns) without an event after which it is stale."""

    uuid: str
    last: int
    silence: float


class _KnownBreak(NamedTuple):
    """Alert of a schema change, None if all readers have run since, and what it depends on."""

    since: int
    readers: frozenset[JobId]
    alert: Alert | None


class CurrentAlerts:
    """Alerts of all jobs and datasets. Run `steps` before reading to update them.

    Not thread-safe: one thread owns the records and this.
    """

    def __init__(self, lineage: LineageRecords) -> None:
        self.lineage = lineage
        self._changes = lineage.follow()
        self._changes.jobs.update(lineage.jobs)
        self._settled: dict[JobId, tuple[Alert, ...]] = {}
        self._open: dict[JobId, _OpenRun] = {}
        self._breaks: dict[DatasetId, _KnownBreak] = {}
        self._updated: set[JobId] = set()

    def steps(self, graph: Graph) -> Iterator[None]:
        """Look at the jobs that have changed; yields after each slice. The graph must be of the same records.

        A job whose lineage is not derived again yet keeps its former alerts until the next call.
        """
        self._changes.datasets.clear()
        for count, job in enumerate(self._changes.jobs - self.lineage.touched, 1):
            if job in self._changes.jobs:  # another request may have updated it meanwhile
                self._changes.jobs.discard(job)
                self._updated.add(job)
                self._update(job, graph)
            if count % READS_PER_PART == 0:
                yield

    def at(
        self,
        graph: Graph,
        breaks: SchemaBreaks,
        now: int,
        listening_since: int = 0,
        raised: Set[str] = frozenset(),
    ) -> list[Alert]:
        """Return the alerts at `now` (ns), in the order of their jobs and datasets.

        No run becomes stale before it had its time of silence since `listening_since` (ns): while the service was down,
        no event could arrive. One that was stale before, an alert with an id of `raised`, stays so.
        """
        found = [alert for alerts in self._settled.values() for alert in alerts]
        found += (
            alert
            for job, run in self._open.items()
            if (alert := self._stale_alert(job, run, now)) is not None
            and (now - listening_since > run.silence or alert.id in raised)
        )
        found += self._schema_alerts(graph, breaks, now)
        return sorted(found, key=lambda alert: (alert.subject or ("", ""), alert.kind, alert.id))

    def _update(self, job: JobId, graph: Graph) -> None:
        run = graph.latest_run(job) if job in graph.job_lineages else None
        alerts = () if run is None else tuple(self._settled_alerts(job, run))
        if alerts:
            self._settled[job] = alerts
        else:
            self._settled.pop(job, None)
        record = self.lineage.jobs.get(job)
        if run is not None and record is not None and run.terminal is None and record.is_streaming(run):
            self._open[job] = _OpenRun(run.id.run, run.span.last.time, record.silence_limit(run))
        else:
            self._open.pop(job, None)

    def _settled_alerts(self, job: JobId, run: RunRecord) -> Iterator[Alert]:
        outcome = run_outcome(self.lineage, run, SETTLED)
        if run.terminal is not None and outcome.state is RunState.FAILED:
            yield Alert(AlertKind.FAILED, job, run.id.run, f"job {_name(job)} failed: run {run.id.run}", outcome.ended)
        checks: dict[DatasetId, list[str]] = {}
        for row in failed_checks(self.lineage, run):
            column = "" if row["column"] is None else f" of {row['column']}"
            name = DatasetId(row["namespace"], row["name"])
            checks.setdefault(name, []).append(f"{row['assertion'] or 'check'}{column}")
        for dataset, failed in checks.items():
            text = f"dataset {_name(dataset)}: {_listed(failed)} failed in job {_name(job)}"
            ended = outcome.ended if outcome.ended is not None else run.span.last.time
            yield Alert(AlertKind.QUALITY, dataset, f"{job.namespace} {job.name} {run.id.run}", text, ended)

    def _stale_alert(self, job: JobId, open_run: _OpenRun, now: int) -> Alert | None:
        if now - open_run.last <= open_run.silence:
            return None
        run = self.lineage.run(open_run.uuid, job)
        # Another run or the end of its application may have ended it.
        if run is None or not is_stale(self.lineage, run, now):
            return None
        text = f"job {_name(job)} is running, but has sent no event for {open_run.silence / _SECOND:.0f} s"
        return Alert(AlertKind.STALE, job, f"{open_run.uuid} {open_run.last}", text, open_run.last)

    def _schema_alerts(self, graph: Graph, breaks: SchemaBreaks, now: int) -> list[Alert]:
        """Return the alerts of schema changes; those of which no reader has changed are known."""
        recent = {name: change for name, change in breaks.found.items() if now - change.since <= SCHEMA_DAYS * _DAY}
        known, self._breaks = self._breaks, {}
        for dataset, change in recent.items():
            readers = frozenset(graph.consumers.get(dataset, ()))
            former = known.get(dataset)
            if (
                former is None
                or (former.since, former.readers) != (change.since, readers)
                or not self._updated.isdisjoint(readers)
            ):
                former = _KnownBreak(change.since, readers, self._schema_alert(graph, dataset, change, readers))
            self._breaks[dataset] = former
        self._updated.clear()
        return [known.alert for known in self._breaks.values() if known.alert is not None]

    def _schema_alert(
        self, graph: Graph, dataset: DatasetId, change: SchemaBreak, readers: frozenset[JobId]
    ) -> Alert | None:
        waiting = [reader for reader in sorted(readers) if not self._has_run_since(graph, reader, change.since)]
        if not waiting:
            return None
        changes = [f"{name} removed" for name in change.removed]
        changes += [f"{name} {after} instead of {before}" for name, before, after in change.retyped]
        text = (
            f"dataset {_name(dataset)}: {_listed(changes)}; not run with it yet: {_listed(list(map(_name, waiting)))}"
        )
        return Alert(AlertKind.SCHEMA, dataset, str(change.since), text, change.since)

    def _has_run_since(self, graph: Graph, reader: JobId, time: int) -> bool:
        """Return whether a run of a job that began after a time (ns) is open, or completed."""
        run = graph.latest_run(reader)
        if run is None or run.first_start is None or run.first_start.time <= time:
            return False
        return run.terminal is None or run.terminal[2] == "COMPLETE"


def _name(node: JobId | DatasetId) -> str:
    return " ".join(f"{node.namespace}/{node.name}".split())


def _listed(names: list[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(" ".join(name.split()) for name in names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
