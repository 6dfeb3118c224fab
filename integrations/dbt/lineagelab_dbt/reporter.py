# SPDX-License-Identifier: Apache-2.0
"""Reports the nodes of a running dbt command, from the events that dbt gives to callbacks."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from lineagelab_common.events import Dataset, Json, dataset_json
from lineagelab_common.identifiers import ParentRun, new_run_id, timestamp
from lineagelab_common.open_runs import OpenRuns
from lineagelab_dbt.artifacts import DUCKDB, RunningCommand
from lineagelab_dbt.dbt_event import FINISHED, STARTED, DbtEvent
from lineagelab_dbt.project import TEST, WRITTEN, Project
from lineagelab_dbt.run_events import WRITER, Assertion, Job, Run, tested_input
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.run_events import Described
from lineagelab_sql.statements import Statement, StatementLineage

log = logging.getLogger(__name__)

_SUCCESS, _PASS, _WARN, _FAIL, _SKIPPED = "success", "pass", "warn", "fail", "skipped"
"""Statuses of nodes in dbt's events. Others are errors."""

ANOTHER_DIALECT = "columns are derived from the SQL of DuckDB only"


@dataclass
class _OpenRun:
    run: Run
    job: Job
    inputs: list[Json]
    outputs: list[Json]


@dataclass
class _TestedTable:
    """Results of the tests of one table, or of one test of several tables."""

    job: str
    tables: list[Json]
    started: int
    ended: int
    assertions: list[Assertion] = field(default_factory=list)


class Reporter:
    """Callback of dbt that reports each model as a run, and the tests of each table as one.

    What it cannot report is logged: a dbt command does not fail because of its lineage.

    Args:
        send: takes each event.
        namespace: of the jobs.
        job: name of the command's job, the first part of the others' names.
        dbt_version: version of dbt.
        parent: run that the command is part of.
        open_runs: keeps the runs of the command for the case that it is killed.
    """

    def __init__(
        self,
        send: Callable[[Json], None],
        namespace: str,
        job: str,
        dbt_version: str,
        parent: ParentRun | None,
        open_runs: OpenRuns,
    ) -> None:
        self._send = send
        self._open_runs = open_runs
        self._namespace = namespace
        self._name = job
        self._version = dbt_version
        self._command = _OpenRun(Run(new_run_id(), dbt_version, parent), Job(namespace, job, "COMMAND"), [], [])
        self._own = ParentRun(namespace, job, self._command.run.run_id, parent.root if parent else None)
        self._running: RunningCommand | None = None
        self._open: dict[str, _OpenRun] = {}
        self._test_starts: dict[str, int] = {}
        self._tested: dict[str, _TestedTable] = {}
        self._lock = threading.RLock()  # dbt runs nodes, and with them the callback, in several threads

    def start(self) -> None:
        """Report the start of the command."""
        self._report("START", self._command)

    def end(self, event_type: str, error: str = "") -> None:
        """Report the results of tests, what has not ended, and the end of the command."""
        for tested in self._tested.values():
            self._guarded(tested.job, partial(self._report_tests, tested))
        for opened in self._open.values():
            self._report("ABORT", opened)
        self._open.clear()
        self._report(event_type, self._command, error)

    def __call__(self, event: DbtEvent) -> None:
        """Take an event of dbt."""
        if event.info.name not in (STARTED, FINISHED):
            return
        info = event.data.node_info
        with self._lock:
            if event.info.name == STARTED:
                self._guarded(info.unique_id, lambda: self._started(info.unique_id))
            else:
                result = event.data.run_result
                self._guarded(info.unique_id, lambda: self._finished(info.unique_id, result.status, result.message))

    def _guarded(self, what: str, report: Callable[[], None]) -> None:
        try:
            report()
        except Exception:
            log.exception("no lineage of %s", what)

    @property
    def _dbt(self) -> RunningCommand:
        if self._running is None:
            self._running = RunningCommand.current()
        return self._running

    @property
    def _project(self) -> Project:
        return self._dbt.project

    def _started(self, unique_id: str) -> None:
        node = self._project.nodes.get(unique_id)
        if node is None:
            return  # an operation, or a unit test
        if node["resource_type"] == TEST:
            self._test_starts[unique_id] = _milliseconds()
        elif node["resource_type"] in WRITTEN:
            job = Job(self._namespace, self._job_name(node), node["resource_type"].upper())
            inputs = [dataset_json(self._dataset(each), {}) for each in self._project.inputs(node)]
            opened = _OpenRun(
                Run(new_run_id(), self._version, self._own), job, inputs, [dataset_json(self._dataset(node), {})]
            )
            self._open[unique_id] = opened
            self._report("START", opened)

    def _finished(self, unique_id: str, status: str, message: str) -> None:
        if unique_id in self._test_starts:
            self._add_result(self._project.nodes[unique_id], status, message)
        opened = self._open.pop(unique_id, None)
        if opened is None:
            return
        if status == _SUCCESS:
            node = self._project.nodes[unique_id]
            self._guarded(f"the columns of {unique_id}", lambda: self._describe(opened, node))
            self._report("COMPLETE", opened)
        elif status == _SKIPPED:
            self._report("ABORT", opened)
        else:
            self._report("FAIL", opened, message or status)

    def _describe(self, opened: _OpenRun, node: Json) -> None:
        """Add the SQL, the schemas and the lineage of columns to a run that has succeeded."""
        text = self._dbt.compiled(node)
        opened.job = Job(self._namespace, opened.job.name, opened.job.kind, text, self._dbt.dialect)
        read = self._project.inputs(node)
        schemas = {self._project.table(each): self._dbt.columns(each) for each in (*read, node)}
        target = self._project.table(node)
        lineage = self._lineage(text, target, schemas, frozenset(map(self._project.table, read)))
        described = Described(text, self._dbt.namespace, lineage, schemas=schemas, writer=WRITER)
        opened.inputs, opened.outputs = described.inputs, described.outputs()

    def _lineage(
        self, text: str, target: str, schemas: dict[str, dict[str, str]], inputs: frozenset[str]
    ) -> StatementLineage:
        """Return the lineage of a model; the tables that dbt knows are its inputs, whatever is known of its columns."""
        columns = [name.lower() for name in schemas[target]]
        if not text:
            return StatementLineage(target, inputs, {name: frozenset() for name in columns}, frozenset(), {})
        if self._dbt.dialect != DUCKDB:
            unknown = dict.fromkeys(columns, ANOTHER_DIALECT)
            return StatementLineage(target, inputs, {}, frozenset(), unknown)
        default = tuple(target.split("."))[:-1]
        try:
            statement = Statement.parse(f"CREATE TABLE {target} AS {text.rstrip().rstrip(';')}", default)
        except UnsupportedSqlError as error:
            return StatementLineage(target, inputs, {}, frozenset(), dict.fromkeys(columns, str(error)))
        return statement.lineage(schemas, columns)

    def _add_result(self, test: Json, status: str, message: str) -> None:
        started = self._test_starts.pop(test["unique_id"])
        if status == _SKIPPED:
            return
        attached = self._project.tested(test)
        node = self._project.nodes.get(attached)
        if node is not None:
            key, job, tables = attached, f"{self._job_name(node)}.test", [node]
        else:
            key, job, tables = test["unique_id"], self._job_name(test), self._project.inputs(test)
        tested = self._tested.setdefault(key, _TestedTable(job, tables, started, started))
        tested.ended = _milliseconds()
        passed = {_PASS: True, _WARN: False, _FAIL: False}.get(status)
        tested.assertions.append(
            Assertion(
                name=test["name"],
                kind=(test.get("test_metadata") or {}).get("name") or "custom_sql",
                column=test.get("column_name") or "",
                severity=str(test["config"]["severity"]).lower(),
                success=passed,
                message="" if passed else f"{test['name']}: {message or status}",
            )
        )

    def _report_tests(self, tested: _TestedTable) -> None:
        job = Job(self._namespace, tested.job, TEST.upper())
        inputs = [tested_input(self._dataset(each), tested.assertions) for each in tested.tables]
        opened = _OpenRun(Run(new_run_id(), self._version, self._own), job, inputs, [])
        failed = [each for each in tested.assertions if each.breaks]
        self._report("START", opened, time_ms=tested.started)
        error = "\n".join(each.message for each in failed)
        self._report("FAIL" if failed else "COMPLETE", opened, error, tested.ended)

    def _report(self, event_type: str, opened: _OpenRun, error: str = "", time_ms: int | None = None) -> None:
        moment = timestamp(_milliseconds() if time_ms is None else time_ms)
        event = opened.run.event(event_type, moment, opened.job, opened.inputs, opened.outputs, error)
        if event_type == "START":
            self._open_runs.store(event)
        self._send(event)
        if event_type != "START":
            self._open_runs.remove(opened.run.run_id)

    def _job_name(self, node: Json) -> str:
        return f"{self._name}.{self._project.job(node)}"

    def _dataset(self, node: Json) -> Dataset:
        return Dataset(self._dbt.namespace, self._project.table(node))


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
