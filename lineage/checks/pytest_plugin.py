# SPDX-License-Identifier: Apache-2.0
"""pytest plugin for jobs that emit OpenLineage events: `-p lineage.checks.pytest_plugin`.

    def test_lineage_of_stats(lineage_events):
        run_the_job()
        lineage_events.assert_valid()
        lineage_events.assert_column("stats#total", "orders#price AGGREGATION")

While a test uses the fixture `lineage_events`, the Python client and Spark's listener find their configuration in the
environment, in this process and in those it starts, and send their events to a recorder on this machine.
Override the fixture `lineage_rules` to give the naming rules of your lineage service.

PYTEST_DONT_REWRITE: this module has no `assert`, and pytest would warn if it was imported earlier.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pytest

from lineage.checks.contract import ContractError, compare, load
from lineage.checks.events import Specification, SpecificationError, check_events, raw_events, render_text
from lineage.checks.node_lookup import Node, Unresolved, resolve
from lineage.events import EventError, JobId, JsonObject, MalformedJson, parse_json
from lineage.graph import SETTLED, Graph, LineageRecords, RunState, export_graph, run_outcome
from lineage.rules import Rules
from lineage.rules.event_reader import read_event

if TYPE_CHECKING:
    from lineage.checks.recorder import Recorder

_VARIABLES = "OPENLINEAGE"
_NO_PROXY = ("NO_PROXY", "no_proxy")
_LOOPBACK = "127.0.0.1"


class RecordedRun(NamedTuple):
    """Run found in the recorded events; `events` are in order of arrival."""

    id: str
    job: JobId
    state: RunState
    events: list[JsonObject]


class LineageEvents:
    """Recorded events of one test. Every `assert_...` fails the test with a readable report."""

    def __init__(self, recorder: "Recorder", rules: Rules) -> None:
        self._recorder = recorder
        self._rules = rules

    @property
    def url(self) -> str:
        """URL that receives events; clients read it from `OPENLINEAGE_URL`."""
        return self._recorder.url

    @property
    def spark_properties(self) -> dict[str, str]:
        """Return `spark.openlineage.transport...` for a Spark that does not inherit the environment."""
        return {f"spark.openlineage.{key}": value for key, value in self._transport_properties().items()}

    @property
    def flink_properties(self) -> dict[str, str]:
        """Return `openlineage.transport...` for the configuration of Flink, next to its listener."""
        return {f"openlineage.{key}": value for key, value in self._transport_properties().items()}

    @property
    def events(self) -> list[JsonObject]:
        """Return events in order of arrival. Fails the test if a body is not a JSON object."""
        events = []
        for number, body in enumerate(self._recorder.bodies, 1):
            try:
                event = parse_json(body)
            except MalformedJson as error:
                _fail_test(f"event {number} is not JSON: {error}")
            if not isinstance(event, dict):
                _fail_test(f"event {number} is not a JSON object: {body[:60]!r}")
            events.append(event)
        return events

    def wait_for(self, enough: Callable[[list[JsonObject]], bool], seconds: float = 30) -> None:
        """Wait until `enough` accepts the received events; for jobs that send events in the background."""
        if not self._recorder.wait_for(lambda: enough(self.events), seconds):
            _fail_test(f"the expected events did not arrive within {seconds:g} s; received:\n{self._event_list()}")

    def runs(self, job: str | None = None) -> list[RecordedRun]:
        """Return the runs of a job (its name, or `namespace/name`), or all, sorted by the time of their first event."""
        lineage = self._recorded_lineage()
        known = {f"{record.id.namespace}/{record.id.name}": record for record in lineage.jobs.values()}
        wanted = [record for text, record in known.items() if job in (None, text, record.id.name)]
        if job is not None and not wanted:
            _fail_test(f"no event names job {job!r}; jobs are: {', '.join(sorted(known)) or 'none'}")
        found = sorted((run for record in wanted for run in record.runs.values()), key=lambda run: run.span.first)
        events = self.events
        return [
            RecordedRun(
                run.id.run,
                run.id.job,
                run_outcome(lineage, run, SETTLED).state,
                [e for e in events if _is_of(e, run.id.run)],
            )
            for run in found
        ]

    def graph(self) -> JsonObject:
        """Return the graph derived from the events, in the format of `GET /api/v1/graph`."""
        lineage = self._recorded_lineage()
        return export_graph(lineage, Graph(lineage))

    def assert_valid(self, strict: bool = False, specification: Path | None = None) -> None:
        """Fail if the check of events (`lineage.checks.events`) reports errors, or warnings if `strict`.

        `specification` is a folder of OpenLineage JSON schemas, instead of the pinned version.
        """
        try:
            standard = Specification.open(specification)
        except SpecificationError as error:
            _fail_test(str(error))
        events = raw_events(self._recorder.bodies, "event")
        findings = check_events(events, self._rules, standard, source="the recorder")
        if not findings.ok(strict):
            _fail_test(render_text(findings))

    def assert_contract(self, contract: Path | str, features: Iterable[str] = ()) -> None:
        """Fail if the graph differs from a lineage contract (a file, or its text), or has further jobs."""
        is_text = isinstance(contract, str) and "\n" in contract
        try:
            text = str(contract) if is_text else Path(contract).read_text(encoding="utf-8")
            report = compare(load(text), self.graph(), features)
        except (ContractError, OSError) as error:
            _fail_test(f"the contract{'' if is_text else f' {contract}'} cannot be used: {error}")
        if not report.is_complete:
            _fail_test(report.render_text())

    def assert_column(self, output: str, *inputs: str) -> None:
        """Fail if the sources of a column are not exactly these columns.

        Columns are `DATASET#COLUMN`; any unique short name of the dataset works. An input may add its transformation:
        `orders#price AGGREGATION`, `orders#email DIRECT/TRANSFORMATION masked`. Columns that decide on rows alone
        (filters, join keys and group keys of the dataset) are not inputs of a column.
        """
        graph = self.graph()
        target = _resolve_column(output, graph)
        found = _column_sources(graph, target)
        wanted = {}
        for text in inputs:
            name, _, kind = text.partition(" ")
            wanted[_resolve_column(name, graph)] = kind.strip()
        lines = [f"missing     {node}{_in_brackets(kind)}" for node, kind in wanted.items() if node not in found]
        lines += [
            f"unexpected  {node}{_in_brackets(_join_sorted(found[node]))}" for node in sorted(found.keys() - wanted)
        ]
        for node, kind in wanted.items():
            if kind and node in found and not _matches_kind(kind, found[node]):
                lines.append(f"different   {node}: expected {kind}, found {_join_sorted(found[node])}")
        if lines:
            _fail_test("\n".join([f"sources of {target}:", *(f"  {line}" for line in lines)]))

    def _recorded_lineage(self) -> LineageRecords:
        lineage = LineageRecords()
        for number, body in enumerate(self._recorder.bodies, 1):
            try:
                lineage.apply(read_event(body, self._rules))
            except EventError as error:
                _fail_test(f"a lineage service would reject event {number}: {error}")
        return lineage

    def _transport_properties(self) -> dict[str, str]:
        return {"transport.type": "http", "transport.url": self.url}

    def _event_list(self) -> str:
        lines = [
            f"  {event.get('eventTime')} {event.get('eventType')} {(event.get('job') or {}).get('name')}"
            for event in self.events
        ]
        return "\n".join(lines) or "  nothing"


@pytest.fixture
def lineage_rules() -> Rules:
    """Naming rules applied to events; none unless a project overrides this fixture."""
    return Rules()


@pytest.fixture
def lineage_events(lineage_rules: Rules, tmp_path: Path) -> Iterator[LineageEvents]:
    """Record events of the test's job; sets the environment variables that make clients send them here."""
    from lineage.checks.recorder import recording  # a web server, which other tests of a project do not need

    with recording() as recorder, _client_environment(recorder.url, tmp_path / "openlineage.yml"):
        yield LineageEvents(recorder, lineage_rules)


@contextmanager
def _client_environment(url: str, file: Path) -> Iterator[None]:
    """Set the variables that OpenLineage's clients read and remove all their other ones.

    The Python client writes variables of its own when it reads `OPENLINEAGE_URL`; they must not outlive the test
    either, or the next one's client would send to this one's recorder. A file comes before `./openlineage.yml` and
    the one at home, which may send events elsewhere.
    """
    before = dict(os.environ)
    file.write_text(f"transport:\n  type: http\n  url: {url}\n", encoding="utf-8")
    _remove_variables()
    os.environ["OPENLINEAGE_URL"] = url
    os.environ["OPENLINEAGE_CONFIG"] = str(file)
    for name in _NO_PROXY:
        os.environ[name] = ",".join(part for part in (os.environ.get(name), _LOOPBACK) if part)
    try:
        yield
    finally:
        _remove_variables()
        for name in _NO_PROXY:
            os.environ.pop(name, None)
        restored = (name for name in before if name.startswith(_VARIABLES) or name in _NO_PROXY)
        os.environ.update({name: before[name] for name in restored})


def _remove_variables() -> None:
    for name in [name for name in os.environ if name.startswith(_VARIABLES)]:
        del os.environ[name]


def _fail_test(report: str) -> NoReturn:
    """Fail the test with the report only; without a traceback through this plugin."""
    raise pytest.fail.Exception(report, pytrace=False) from None


def _is_of(event: Mapping[str, Any], run: str) -> bool:
    return isinstance(event.get("run"), dict) and str(event["run"].get("runId", "")).lower() == run


def _resolve_column(text: str, graph: JsonObject) -> Node:
    try:
        node = resolve(text, graph)
    except Unresolved as error:
        _fail_test(str(error))
    if node.field is None:
        _fail_test(f"{text!r} names a dataset; write DATASET#COLUMN")
    return node


def _column_sources(graph: JsonObject, target: Node) -> dict[Node, set[str]]:
    """Return the source columns of a column, each with its transformations."""
    found: dict[Node, set[str]] = {}
    for edge in graph["columns"]:
        if Node(**edge["output"]) == target:
            kind = "/".join(part for part in (edge["type"], edge["subtype"]) if part) or "unspecified"
            found.setdefault(Node(**edge["input"]), set()).add(f"{kind} masked" if edge["masking"] else kind)
    return found


def _matches_kind(kind: str, found: set[str]) -> bool:
    """Return True if all transformations are of `kind`, which may omit the type (DIRECT, INDIRECT)."""
    return all(kind in (transformation, transformation.partition("/")[2]) for transformation in found)


def _join_sorted(kinds: Iterable[str]) -> str:
    return ", ".join(sorted(kinds))


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
