# SPDX-License-Identifier: Apache-2.0
"""Seeded histories of random pipelines with one incident, harmless changes, and the answer key of the incident.

The answer is not part of the events: a test compares it with the cause that was found.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from lineage.checks.cause import ChangeKind

START = datetime(2026, 3, 1, tzinfo=UTC)
SINCE = START + timedelta(hours=10)
UNTIL = SINCE + timedelta(hours=6)
INTERVAL = timedelta(minutes=30)
PRODUCER = "urn:lineage-lab:tests"

Column = tuple[int, str]
"""Number of a table and name of its column."""


@dataclass
class Step:
    """A job that writes one table.

    Attributes:
        inputs: numbers of the tables that it reads.
        edges: column edges: output column to input columns.
        filters: input columns that decide on its rows.
    """

    name: str
    output: int
    inputs: list[int]
    edges: dict[str, set[Column]]
    filters: set[Column]
    streaming: bool
    sql: str


@dataclass
class Pipeline:
    """A random pipeline: tables by number, a step for each table that has one, and the number that is wrong."""

    columns: list[dict[str, str]]
    steps: list[Step]
    metric: Column
    rows: float = 1000.0

    def writer(self, table: int) -> Step | None:
        return next((step for step in self.steps if step.output == table), None)

    def row_columns(self) -> set[Column]:
        """Return the columns that decide on the rows of the metric's table, and those that they are made of."""
        found: set[Column] = set()
        tables = [self.metric[0]]
        for table in tables:
            step = self.writer(table)
            if step is not None:
                found |= step.filters
                tables += [source for source in step.inputs if source not in tables]
        queue = list(found)
        for table, name in queue:
            step = self.writer(table)
            new = (step.edges.get(name, set()) if step else set()) - found
            found |= new
            queue += new
        return found

    def upstream(self) -> tuple[dict[Column, int], dict[int, int], dict[str, int]]:
        """Return contributing columns, upstream tables and steps, with distances from the metric."""
        columns, tables, steps = {self.metric: 0}, {self.metric[0]: 0}, {}
        queue = [self.metric]
        for table, name in queue:
            step = self.writer(table)
            if step is None:
                continue
            distance = columns[table, name] + 1
            for source in step.edges.get(name, set()):
                if source not in columns:
                    columns[source] = distance
                    queue.append(source)
        pending = [self.metric[0]]
        for table in pending:
            step = self.writer(table)
            if step is not None:
                steps.setdefault(step.name, tables[table] + 1)
                for source in step.inputs:
                    if source not in tables:
                        tables[source] = tables[table] + 1
                        pending.append(source)
        return columns, tables, steps


@dataclass
class History:
    """Events of a pipeline over time, some of them changed by incidents.

    Attributes:
        changes: functions that change the pipeline, by time.
        failures: error by step and time range in which its runs fail.
        pauses: steps that do not run after a time.
        shares: factor of the rows of a table after a time.
        assertions: failing assertion of a table's column after a time.
        tags: tag of a table after a time.
        quiet: share of the reports of a streaming step that have no rows.
    projections: steps that report only two columns of tables that other steps write, after a time.
    """

    pipeline: Pipeline
    dice: random.Random
    changes: list[tuple[datetime, Callable[[Pipeline], None]]] = field(default_factory=list)
    failures: list[tuple[str, datetime, datetime]] = field(default_factory=list)
    pauses: dict[str, datetime] = field(default_factory=dict)
    shares: dict[int, tuple[datetime, float]] = field(default_factory=dict)
    assertions: dict[Column, datetime] = field(default_factory=dict)
    tags: dict[int, datetime] = field(default_factory=dict)
    quiet: dict[str, float] = field(default_factory=dict)
    projections: dict[str, datetime] = field(default_factory=dict)

    def events(self) -> Iterator[dict[str, Any]]:
        pending = sorted(self.changes, key=lambda change: change[0])
        at = START
        while at < UNTIL:
            while pending and pending[0][0] <= at:
                pending.pop(0)[1](self.pipeline)
            for number, step in enumerate(self.pipeline.steps):
                moment = at + timedelta(minutes=number)
                if moment < self.pauses.get(step.name, UNTIL):
                    yield from self._run(step, moment)
            at += INTERVAL

    def _run(self, step: Step, at: datetime) -> Iterator[dict[str, Any]]:
        run = f"{step.name}-{'stream' if step.streaming else at.isoformat()}"
        if step.streaming:
            yield self._event(step, run, at, "RUNNING")
            return
        fails = any(name == step.name and since <= at < until for name, since, until in self.failures)
        yield self._event(step, run, at, "START", fails)
        yield self._event(step, run, at + timedelta(minutes=5), "FAIL" if fails else "COMPLETE", fails)

    def _event(self, step: Step, run: str, at: datetime, state: str, fails: bool = False) -> dict[str, Any]:
        facets = {"errorMessage": {"message": "division by zero"}} if state == "FAIL" else {}
        processing = "STREAMING" if step.streaming else "BATCH"
        ended = state in {"COMPLETE", "RUNNING"}
        return {
            "eventTime": at.isoformat(),
            "eventType": state,
            "producer": PRODUCER,
            "run": {"runId": run, "facets": facets},
            "job": {
                "namespace": "jobs",
                "name": step.name,
                "facets": {
                    "jobType": {"processingType": processing, "integration": "TEST"},
                    "sql": {"_producer": f"{PRODUCER}:{self.dice.randint(1, 3)}", "query": step.sql},
                },
            },
            "inputs": [self._input(table, at, ended, step, fails) for table in step.inputs],
            "outputs": [self._dataset(step.output, at, ended, step, step)],
        }

    def _input(self, table: int, at: datetime, ended: bool, reader: Step, fails: bool) -> dict[str, Any]:
        """Return an input. A run that fails has not decoded it, a projection is not what the table has."""
        body = self._dataset(table, at, ended, None, reader)
        schema = body["facets"]["schema"]
        if fails:
            schema["fields"] = [{"name": "_value", "type": "binary"}]
        elif at > self.projections.get(reader.name, UNTIL) and self.pipeline.writer(table) is not None:
            schema["fields"] = schema["fields"][:2]
        return body

    def _dataset(self, table: int, at: datetime, ended: bool, step: Step | None, reporter: Step) -> dict[str, Any]:
        fields = [{"name": name, "type": kind} for name, kind in self.pipeline.columns[table].items()]
        facets: dict[str, Any] = {"schema": {"fields": fields}}
        if table in self.tags:
            value = "gold" if at > self.tags[table] else "silver"
            facets["tags"] = {"tags": [{"key": "tier", "value": value}]}
        body = {"namespace": "db", "name": f"t{table}", "facets": facets}
        if ended:
            body["outputFacets" if step else "inputFacets"] = self._run_facets(table, at, step, reporter)
        if step:
            facets["columnLineage"] = {
                "fields": {
                    name: {"inputFields": [_column(source) for source in sorted(sources)]}
                    for name, sources in step.edges.items()
                },
                "dataset": [_column(source) for source in sorted(step.filters)],
            }
        return body

    def _run_facets(self, table: int, at: datetime, step: Step | None, reporter: Step) -> dict[str, Any]:
        rows = self.pipeline.rows * self._share(table, at) * self.dice.uniform(0.95, 1.05)
        if reporter.streaming and self.dice.random() < self.quiet.get(reporter.name, 0):
            rows = 0
        facets: dict[str, Any] = {"outputStatistics" if step else "inputStatistics": {"rowCount": round(rows)}}
        found = [(name, since) for (one, name), since in self.assertions.items() if one == table]
        if found and step is None:
            facets["dataQualityAssertions"] = {
                "assertions": [
                    {"assertion": "not_null", "column": name, "success": at <= since} for name, since in found
                ]
            }
        return facets

    def _share(self, table: int, at: datetime) -> float:
        """Return the factor of a table's rows: that of its own and of the tables that it is derived from."""
        since, share = self.shares.get(table, (UNTIL, 1.0))
        step = self.pipeline.writer(table)
        above = min((self._share(source, at) for source in step.inputs), default=1.0) if step else 1.0
        return above * (share if at > since else 1.0)


@dataclass(frozen=True)
class Incident:
    """Events, the origin of the wrong number, and the answer: kinds and name of the node, None for a control."""

    kind: str
    seed: int
    events: list[dict[str, Any]]
    origin: dict[str, Any]
    answer: tuple[frozenset[ChangeKind], str] | None


def incident(kind: str, seed: int) -> Incident:
    """Return the incident of a seed; `kind` is a key of `KINDS`, or `control`."""
    dice = random.Random(f"incident/{kind}/{seed}")
    pipeline = _pipeline(dice)
    history = History(pipeline, dice)
    columns, tables, steps = pipeline.upstream()
    origin = _origin(pipeline, columns, tables, steps)
    answer = None if kind == "control" else KINDS[kind](history, columns, steps)
    _add_noise(history, columns, tables, set(steps), answer[1] if answer else "")
    return Incident(kind, seed, list(history.events()), origin, answer)


def _pipeline(dice: random.Random) -> Pipeline:
    sources, derived = dice.randint(2, 4), dice.randint(4, 7)
    columns = [{f"c{n}": dice.choice(("int", "string", "decimal")) for n in range(5)} for _ in range(sources)]
    steps: list[Step] = []
    for table in range(sources, sources + derived):
        # The previous table is always an input, so that the last one has a long way to its sources.
        others = [one for one in range(table - 1) if dice.random() < 0.25]
        inputs = [table - 1, *others[:2]]
        edges: dict[str, set[Column]] = {}
        for n in range(5):
            first = (table - 1, f"c{dice.randrange(5)}")
            second = {(dice.choice(inputs), f"c{dice.randrange(5)}")} if dice.random() < 0.3 else set()
            edges[f"c{n}"] = {first} | second
        filters = {(dice.choice(inputs), f"c{dice.randrange(5)}")} if dice.random() < 0.5 else set()
        columns.append({f"c{n}": "decimal" for n in range(5)})
        steps.append(
            Step(f"job{table}", table, inputs, edges, filters, dice.random() < 0.4, f"INSERT INTO t{table} SELECT 1")
        )
    return Pipeline(columns, steps, (sources + derived - 1, f"c{dice.randrange(5)}"))


def _moment(dice: random.Random) -> datetime:
    return SINCE + timedelta(minutes=dice.randint(30, 180))


def _path_column(history: History, columns: dict[Column, int]) -> Column:
    """Return a column of the path that is not the metric itself."""
    return history.dice.choice(sorted(column for column in columns if columns[column] > 0))


def _path_step(history: History, columns: dict[Column, int], batch: bool = False) -> Step:
    """Return a step whose output contributes."""
    tables = {table for table, _ in columns}
    found = [step for step in history.pipeline.steps if step.output in tables]
    step = history.dice.choice(found)
    step.streaming = step.streaming and not batch
    return step


Answer = tuple[frozenset[ChangeKind], str]


def _schema_answer(column: Column) -> Answer:
    return frozenset({ChangeKind.SCHEMA}), f"t{column[0]}"


def _added(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    """Values move to a new nullable column of a dataset on the path."""
    column = _path_column(history, columns)
    history.changes.append((_moment(history.dice), lambda p: p.columns[column[0]].update({"replacement": "decimal"})))
    return _schema_answer(column)


def _removed(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    column = _path_column(history, columns)
    history.changes.append((_moment(history.dice), lambda p: p.columns[column[0]].pop(column[1])))
    return _schema_answer(column)


def _renamed(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    column = _path_column(history, columns)

    def rename(pipeline: Pipeline) -> None:
        pipeline.columns[column[0]]["renamed"] = pipeline.columns[column[0]].pop(column[1])

    history.changes.append((_moment(history.dice), rename))
    return _schema_answer(column)


def _retyped(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    """Cents instead of units: the type changes with them."""
    column = _path_column(history, columns)
    history.changes.append((_moment(history.dice), lambda p: p.columns[column[0]].update({column[1]: "bigint"})))
    return _schema_answer(column)


def _redefined(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    step = _path_step(history, columns)

    def change(pipeline: Pipeline) -> None:
        step.sql = step.sql.replace("SELECT 1", "SELECT 0.7")

    history.changes.append((_moment(history.dice), change))
    return frozenset({ChangeKind.DEFINITION}), step.name


def _rewired(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    """A job derives a contributing column from another one, without SQL in its events."""
    on_path = [step for step in history.pipeline.steps if any((step.output, name) in columns for name in step.edges)]
    step = history.dice.choice(on_path)
    name = history.dice.choice(sorted(name for name in step.edges if (step.output, name) in columns))

    def rewire(pipeline: Pipeline) -> None:
        step.edges[name] = {(step.inputs[0], "c9")}

    history.changes.append((_moment(history.dice), rewire))
    return frozenset({ChangeKind.EDGES}), f"t{step.output}"


def _failing(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    step = _path_step(history, columns, batch=True)
    history.failures.append((step.name, _moment(history.dice), UNTIL))
    return frozenset({ChangeKind.FAILURE}), step.name


def _missing(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    step = _path_step(history, columns, batch=True)
    history.pauses[step.name] = _moment(history.dice)
    return frozenset({ChangeKind.MISSING_RUN}), step.name


def _dropped_partition(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    column = _path_column(history, columns)
    history.shares[column[0]] = (_moment(history.dice), 0.6)
    return frozenset({ChangeKind.VOLUME}), f"t{column[0]}"


def _bad_quality(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    column = _path_column(history, columns)
    history.assertions[column] = _moment(history.dice)
    return frozenset({ChangeKind.QUALITY}), f"t{column[0]}"


def _cut_off(history: History, columns: dict[Column, int], steps: dict[str, int]) -> Answer:
    """A job no longer reads a dataset on the path."""
    tables = {table for table, _ in columns}
    step = history.dice.choice([s for s in history.pipeline.steps if s.output in tables and s.inputs[0] in tables])
    gone = step.inputs[0]

    def cut(pipeline: Pipeline) -> None:
        step.inputs.remove(gone)

    history.changes.append((_moment(history.dice), cut))
    return frozenset({ChangeKind.EDGES}), step.name


KINDS: dict[str, Callable[[History, dict[Column, int], dict[str, int]], Answer]] = {
    "column added": _added,
    "column removed": _removed,
    "column renamed": _renamed,
    "column retyped": _retyped,
    "job redefined": _redefined,
    "columns rewired": _rewired,
    "input lost": _cut_off,
    "runs fail": _failing,
    "runs missing": _missing,
    "partition dropped": _dropped_partition,
    "assertion fails": _bad_quality,
}


def _add_noise(
    history: History, columns: dict[Column, int], tables: dict[int, int], steps: set[str], spared: str
) -> None:
    """Add changes that do not explain the number: of columns and jobs beside the path, tags, runs that recovered, and
    what readers report of the columns of a table."""
    dice, pipeline = history.dice, history.pipeline
    deciding = pipeline.row_columns()
    beside = [
        (table, name)
        for table in range(len(pipeline.columns))
        for name in pipeline.columns[table]
        if (table, name) not in columns and (table, name) not in deciding and table in tables and f"t{table}" != spared
    ]
    for table, name in dice.sample(beside, min(2, len(beside))):
        history.changes.append((_moment(dice), lambda p, t=table, n=name: p.columns[t].update({n: "varchar"})))
    history.tags[pipeline.metric[0]] = _moment(dice)
    history.quiet = {step.name: dice.uniform(0, 0.7) for step in pipeline.steps if dice.random() < 0.5}
    history.projections = {step.name: _moment(dice) for step in pipeline.steps if dice.random() < 0.3}
    pipeline.columns.append({f"c{n}": "int" for n in range(5)})
    other = Step(
        "unrelated", len(pipeline.columns) - 1, [0], {"c0": {(0, "c0")}}, set(), False, "INSERT INTO x SELECT 1"
    )
    pipeline.steps.append(other)

    def redefine(_: Pipeline) -> None:
        other.sql = "INSERT INTO x SELECT 2"

    history.changes.append((_moment(dice), redefine))
    history.failures.append(("unrelated", _moment(dice), UNTIL))
    batch = [step.name for step in pipeline.steps if step.name in steps and not step.streaming and step.name != spared]
    if batch:
        begin = _moment(dice)
        history.failures.append((dice.choice(batch), begin, begin + timedelta(hours=1)))


def _origin(
    pipeline: Pipeline, columns: dict[Column, int], tables: dict[int, int], steps: dict[str, int]
) -> dict[str, Any]:
    """Return the response of `/api/v1/origin` for the metric."""
    return {
        "start": {"namespace": "db", "name": f"t{pipeline.metric[0]}", "field": pipeline.metric[1]},
        "columns": [{**_column(column), "distance": distance} for column, distance in columns.items() if distance],
        "datasets": [
            {"namespace": "db", "name": f"t{table}", "distance": distance}
            for table, distance in tables.items()
            if distance
        ],
        "jobs": [{"namespace": "jobs", "name": name, "distance": distance} for name, distance in steps.items()],
    }


def _column(column: Column) -> dict[str, str]:
    return {"namespace": "db", "name": f"t{column[0]}", "field": column[1]}
