# SPDX-License-Identifier: Apache-2.0
"""Detection of changes in the run events of upstream jobs."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any, TypeVar

from lineage.checks.cause.change import Change, ChangeKind
from lineage.checks.cause.facts import DatasetFacts, RunFacts
from lineage.checks.cause.upstream import Upstream
from lineage.events import DatasetId, JobId

MIN_BASELINE = 4
"""Number of earlier values with which a volume or an interval is compared; fewer prove nothing."""

MIN_VOLUME_SHARE = 0.2
"""Smallest relative change of a volume that counts. Data that vary more have a wider limit: see `MAD_FACTOR`."""

MAD_FACTOR = 6.0
"""Number of median absolute deviations of the baseline beyond which a volume has changed."""

QUIET_CHANCE = 0.01
"""Probability below which a stream that is often quiet is not quiet by chance."""

MISSING_INTERVALS = 2.5
"""Number of usual intervals without a run after which a run is missing."""

_MAX_SHOWN = 600
"""Characters of an error, and of a former or new definition, that a report shows."""

_FRAME = re.compile(r"\s+at .*\(.*\)$|\s+at \S+$|\s+\.\.\. \d+ more$")
"""Line of a Java stack trace."""


def detect(facts: Iterable[RunFacts], upstream: Upstream, since: int, until: int) -> list[Change]:
    """Return the changes after `since`, by time; events before it are the baseline.

    Args:
        facts: facts of run events of any jobs, in any order; those of other jobs than `upstream.jobs` are skipped.
        upstream: what the wrong number is derived from.
        since, until: ns since 1970.
    """
    by_job: dict[JobId, list[RunFacts]] = defaultdict(list)
    for fact in facts:
        if fact.job in upstream.jobs and fact.at <= until:
            by_job[fact.job].append(fact)
    written = {
        facts.dataset
        for history in by_job.values()
        for fact in history
        for facts in fact.datasets
        if facts.is_output and facts.schema
    }
    changes: list[Change] = []
    for job, history in by_job.items():
        history.sort(key=lambda fact: fact.at)
        changes += _definitions(history, since)
        changes += _failures(history, since)
        changes += _missing_runs(job, history, since, until)
        changes += _lost_inputs(history, upstream, since)
        changes += _dataset_changes(history, upstream, written, since)
    return sorted(changes, key=lambda change: change.at)


def _definitions(history: Sequence[RunFacts], since: int) -> Iterator[Change]:
    """Yield changes of the facets that define a job. A facet that an event lacks has not changed."""
    known: dict[str, str] = {}
    for fact in history:
        for name, content in fact.definition.items():
            before = known.get(name)
            known[name] = content
            if before is not None and before != content and fact.at > since:
                summary = f"the definition of the job changed ({name})"
                changed = _change_of_job(ChangeKind.DEFINITION, fact, summary)
                yield replace(changed, before=_shortened(before), after=_shortened(content))


def _failures(history: Sequence[RunFacts], since: int) -> Iterator[Change]:
    """Yield runs that failed after `since` and after which no run completed."""
    failed: RunFacts | None = None
    for fact in history:
        if fact.state == "FAIL" and fact.at > since:
            failed = failed or fact
        elif fact.state == "COMPLETE" or (fact.state == "RUNNING" and fact.is_streaming):
            failed = None
    if failed is not None:
        summary = f"the run failed: {_shortened(_message(failed.error)) or 'no reason was reported'}"
        yield _change_of_job(ChangeKind.FAILURE, failed, summary)


def _missing_runs(job: JobId, history: Sequence[RunFacts], since: int, until: int) -> Iterator[Change]:
    """Yield a batch job that no longer runs at its usual interval."""
    starts = [fact.at for fact in history if fact.state == "START"]
    if any(fact.is_streaming for fact in history) or len(starts) <= MIN_BASELINE:
        return
    usual = median(later - earlier for earlier, later in pairwise(starts))
    due = starts[-1] + usual
    if due > since and until - starts[-1] > MISSING_INTERVALS * usual:
        yield Change(
            kind=ChangeKind.MISSING_RUN,
            node=job,
            at=int(due),
            run="",
            job=job,
            summary=f"no run since {(until - starts[-1]) / 1e9:.0f} s; the usual interval is {usual / 1e9:.0f} s",
        )


def _lost_inputs(history: Sequence[RunFacts], upstream: Upstream, since: int) -> Iterator[Change]:
    """Yield a job that no longer reads datasets which it read before. Runs that failed or only started do not count."""
    known: frozenset[DatasetId] = frozenset()
    for fact in history:
        if fact.state != "COMPLETE" and not (fact.is_streaming and fact.state == "RUNNING" and fact.datasets):
            continue
        read = frozenset(facts.dataset for facts in fact.datasets if not facts.is_output) & upstream.datasets.keys()
        lost, known = known - read, read
        if lost and fact.at > since:
            names = ", ".join(sorted(f"{dataset.namespace}/{dataset.name}" for dataset in lost))
            yield _change_of_job(ChangeKind.EDGES, fact, f"the job no longer reads {names}")


def _dataset_changes(
    history: Sequence[RunFacts], upstream: Upstream, written: Set[DatasetId], since: int
) -> Iterator[Change]:
    """Yield changes of each dataset as one job reports it: other jobs may spell its types in another way.

    The columns of a dataset that a job in `upstream` writes are what its writers report; readers may know a part of
    them. What a run without effect says of columns does not count: it may have failed before it knew them.
    """
    without_effect = _runs_without_effect(history)
    by_dataset: dict[tuple[DatasetId, bool], list[tuple[RunFacts, DatasetFacts]]] = defaultdict(list)
    for fact in history:
        for facts in fact.datasets:
            if facts.dataset in upstream.datasets:
                by_dataset[facts.dataset, facts.is_output].append((fact, facts))
    for (dataset, is_output), reports in by_dataset.items():
        effective = [(fact, facts) for fact, facts in reports if fact.run not in without_effect]
        if is_output or dataset not in written:
            yield from _schemas(effective, since)
        yield from _edges(effective, since)
        yield from _volumes(reports, since)
        yield from _assertions(reports, since)
        yield from _tags(reports, since)


def _runs_without_effect(history: Sequence[RunFacts]) -> set[str]:
    """Return the runs that failed or were aborted, and reported nothing between their start and end."""
    failed = {fact.run for fact in history if fact.state in {"FAIL", "ABORT"}}
    return failed - {fact.run for fact in history if fact.state in {"COMPLETE", "RUNNING"} and fact.datasets}


_Reports = Sequence[tuple[RunFacts, DatasetFacts]]
V = TypeVar("V")


def _differing(
    reports: _Reports, value: Callable[[DatasetFacts], V | None], since: int
) -> Iterator[tuple[RunFacts, DatasetFacts, V, V]]:
    """Yield the reports after `since` with another value than the report before, and both values.

    Reports without the value are skipped.
    """
    known: V | None = None
    for fact, facts in reports:
        found = value(facts)
        if found is None or found == known:
            continue
        before, known = known, found
        if before is not None and fact.at > since:
            yield fact, facts, before, found


def _schemas(reports: _Reports, since: int) -> Iterator[Change]:
    for fact, facts, before, known in _differing(reports, lambda facts: facts.schema, since):
        removed = before.keys() - known.keys()
        added = known.keys() - before.keys()
        retyped = {name for name in before.keys() & known.keys() if before[name] != known[name]}
        if removed or added or retyped:
            yield _change(
                ChangeKind.SCHEMA,
                fact,
                facts.dataset,
                "; ".join(
                    [
                        *([f"columns added: {', '.join(sorted(added))}"] if added else []),
                        *([f"columns removed: {', '.join(sorted(removed))}"] if removed else []),
                        *(f"type of {name}: {before[name]}, now {known[name]}" for name in sorted(retyped)),
                    ]
                ),
                removed=frozenset(removed | retyped),
                added=frozenset(added),
            )


def _edges(reports: _Reports, since: int) -> Iterator[Change]:
    for fact, facts, before, known in _differing(reports, lambda facts: facts.edges, since):
        fields = frozenset(field for field, _, _ in before ^ known)
        lost, new = len(before - known), len(known - before)
        yield _change(
            ChangeKind.EDGES,
            fact,
            facts.dataset,
            f"{fact.job.name} derives {', '.join(sorted(fields - {''})) or 'the rows'} differently:"
            f" {lost} column edges removed, {new} added",
            removed=fields,
        )


def _volumes(reports: _Reports, since: int) -> Iterator[Change]:
    """Yield a volume whose median after `since` differs from the baseline's by more than its usual variation.

    A stream reports no rows while nothing arrives. That is neither a baseline nor a change, unless it lasts longer than
    it usually does. Nor is the report before or after it, during which rows arrived for a part of the time only.
    """
    values: list[tuple[RunFacts, DatasetFacts, int]] = [
        (fact, facts, facts.rows) for fact, facts in reports if facts.rows is not None
    ]
    baseline = [rows for fact, _, rows in values if fact.at <= since]
    later = [(fact, facts, rows) for fact, facts, rows in values if fact.at > since]
    if any(fact.is_streaming for fact, _, _ in values):
        quiet = baseline.count(0) / max(1, len(baseline))
        if any(rows for _, _, rows in later):
            whole = [one for before, one, after in _with_neighbours(values) if one[2] and before and after]
            baseline = [rows for fact, _, rows in whole if fact.at <= since]
            later = [one for one in whole if one[0].at > since]
        else:
            baseline = [rows for rows in baseline if rows]
            later = later if quiet ** len(later) < QUIET_CHANCE else []
    if len(baseline) < MIN_BASELINE or not later:
        return
    usual = median(baseline)
    variation = median(abs(rows - usual) for rows in baseline)
    limit = max(MIN_VOLUME_SHARE * usual, MAD_FACTOR * variation)
    now = median(rows for _, _, rows in later)
    if abs(now - usual) <= limit:
        return
    fact, facts, _ = next(one for one in later if abs(one[2] - usual) > limit)
    verb = "wrote" if facts.is_output else "read"
    yield _change(
        ChangeKind.VOLUME,
        fact,
        facts.dataset,
        f"{fact.job.name} {verb} {now:.0f} rows, before {usual:.0f} ({now / usual - 1:+.0%})"
        if usual
        else f"{fact.job.name} {verb} {now:.0f} rows, before none",
    )


def _with_neighbours(
    values: Sequence[tuple[RunFacts, DatasetFacts, int]],
) -> Iterator[tuple[bool, tuple[RunFacts, DatasetFacts, int], bool]]:
    """Yield each value, with whether there were rows before it and after it; unknown at both ends: there were."""
    rows = [True, *(bool(value[2]) for value in values), True]
    yield from zip(rows, values, rows[2:], strict=False)


def _assertions(reports: _Reports, since: int) -> Iterator[Change]:
    known: frozenset[Any] = frozenset()
    for fact, facts in reports:
        if facts.failed is None:
            continue
        new, known = facts.failed - known, facts.failed
        if new and fact.at > since:
            names = ", ".join(sorted(f"{one.name}{f' of {one.column}' if one.column else ''}" for one in new))
            columns = frozenset(one.column for one in new if one.column)
            yield _change(ChangeKind.QUALITY, fact, facts.dataset, f"failed assertions: {names}", removed=columns)


def _tags(reports: _Reports, since: int) -> Iterator[Change]:
    for fact, facts, before, known in _differing(reports, lambda facts: facts.tags, since):
        yield _change(ChangeKind.TAGS, fact, facts.dataset, f"tags: {', '.join(sorted(before ^ known))}")


def _change_of_job(kind: ChangeKind, fact: RunFacts, summary: str) -> Change:
    return Change(kind=kind, node=fact.job, at=fact.at, run=fact.run, job=fact.job, summary=summary)


def _change(
    kind: ChangeKind,
    fact: RunFacts,
    dataset: DatasetId,
    summary: str,
    removed: frozenset[str] = frozenset(),
    added: frozenset[str] = frozenset(),
) -> Change:
    return Change(
        kind=kind, node=dataset, at=fact.at, run=fact.run, job=fact.job, summary=summary, removed=removed, added=added
    )


def _message(error: str) -> str:
    """Return an error message in one line, without the frames of a stack trace."""
    return " ".join(word for line in error.splitlines() if not _FRAME.match(line) for word in line.split())


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
