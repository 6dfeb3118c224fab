# SPDX-License-Identifier: Apache-2.0
"""`lab lineage`: all commands, run on files and against a real lineage service."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from infra.cli.__main__ import app
from infra.cli.lineage_client import as_of_time
from infra.errors import LabError
from infra.project import PROJECT
from infra.toolchain.bootstrap import MODULES
from tests.bench.service_process import running_service

KAFKA = "kafka://kafka:9092"
LAKE = "s3://warehouse"
FACET = {"_producer": "https://example.org/test", "_schemaURL": "https://example.org/schema"}

JSON = {"Content-Type": "application/json"}


def dataset(name, namespace=LAKE, *columns, **facets):
    schema = {"fields": [{"name": column, "type": "string"} for column in columns]}
    contents = {"schema": schema, **facets} if columns else facets
    return {
        "namespace": namespace,
        "name": name,
        "facets": {key: {**FACET, **value} for key, value in contents.items()},
    }


def edge(name, field, namespace=LAKE, subtype="IDENTITY"):
    kind = {"type": "DIRECT", "subtype": subtype}
    return {"namespace": namespace, "name": name, "field": field, "transformations": [kind]}


def event(job, minute, inputs, outputs, state="COMPLETE", run=1):
    return {
        "eventType": state,
        "eventTime": f"2026-01-01T00:{minute:02}:00Z",
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-7000-8000-{run:012}", "facets": {}},
        "job": {"namespace": "shop", "name": job, "facets": {}},
        "inputs": inputs,
        "outputs": outputs,
    }


def events():
    """Yield the events of two jobs, ten minutes apart: topic orders -> sales/orders -> sales/stats."""
    alias = {"identifiers": [{"namespace": LAKE, "name": "lake.sales.orders", "type": "TABLE"}]}
    etl = {"fields": {"price": {"inputFields": [edge("orders", "price", KAFKA)]}}}
    totals = {"fields": {"total": {"inputFields": [edge("sales/orders", "price", subtype="AGGREGATION")]}}}
    orders = dataset("sales/orders", LAKE, "price", symlinks=alias, columnLineage=etl)
    yield event("etl", 0, [dataset("orders", KAFKA, "price")], [orders])
    stats = dataset("sales/stats", LAKE, "total", columnLineage=totals)
    yield event("stats", 10, [dataset("sales/orders", LAKE, "price")], [stats], run=2)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("data")) as service:
        for content in events():
            with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
                pass
        yield service.url


def run_lineage(*words):
    """Run `lab lineage WORDS`; return exit code, standard output and standard error."""
    result = CliRunner().invoke(app, ["lineage", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.stdout, result.stderr


def candidate(tmp_path, *fields):
    file = tmp_path / "orders.avsc"
    file.write_text(json.dumps({"type": "record", "name": "Order", "fields": list(fields)}))
    return file


def test_check_of_a_file(tmp_path):
    file = tmp_path / "events.ndjson"
    file.write_text("".join(json.dumps(content) + "\n" for content in events()))
    json_file, junit_file = tmp_path / "report.json", tmp_path / "report.xml"
    code, text, _ = run_lineage("check", file, "--json", json_file, "--junit", junit_file)
    assert code == 1
    assert "shop/etl\n  error    run-no-start  " in text
    assert text.endswith("2 events, 2 runs, 2 jobs: 2 errors, 9 warnings\n")
    assert json.loads(json_file.read_text())["errors"] == 2
    assert ElementTree.parse(junit_file).find("testsuite").get("failures") == "2"


def test_check_fails_on_warnings_only_with_strict(tmp_path):
    file = tmp_path / "events.ndjson"
    contents = [event("job", minute, [], [], state) for minute, state in enumerate(("START", "COMPLETE"))]
    file.write_text("\n".join(map(json.dumps, contents)))
    assert run_lineage("check", file)[0] == 0
    code, text, _ = run_lineage("check", file, "--strict")
    assert code == 1
    assert "warning  no-job-type" in text


def test_check_applies_naming_rules(tmp_path):
    file, rules = tmp_path / "events.json", tmp_path / "rules.json"
    contents = [
        event("job", minute, [dataset("orders", namespace)], [], state)
        for minute, (state, namespace) in enumerate((("START", "kafka://a:1"), ("COMPLETE", "kafka://b:1")))
    ]
    file.write_text(json.dumps(contents))
    rules.write_text(json.dumps({"version": 1, "namespaces": [{"canonical": "kafka://a:1", "hosts": ["b:1"]}]}))
    assert "two-spellings" in run_lineage("check", file)[1]
    assert "two-spellings" not in run_lineage("check", file, "--rules", rules)[1]
    rules.write_text("{}")
    assert run_lineage("check", file, "--rules", rules) == (
        2,
        "",
        f"error: rules file {rules}: version: is missing\n",
    )


def test_check_of_a_service(url):
    code, text, _ = run_lineage("check", url)
    assert code == 1
    assert "2 events, 2 runs, 2 jobs" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "none.ndjson"], "cannot read events from none.ndjson: no such file"),
        (["check", "http://127.0.0.1:9"], "is the service up?"),
        (["check", "-", "--spec", "none"], "OpenLineage.json is not in folder none"),
        (["check", "-", "--spec", "http://127.0.0.1:9"], "cannot fetch schema"),
        (
            ["impact", "orders", "--url", "http://127.0.0.1:9"],
            "the lineage service at http://127.0.0.1:9 does not respond",
        ),
        (
            ["impact", "orders", "--url", "nowhere"],
            "'nowhere' is not an http URL; write the service as http://host:port",
        ),
        (["diff", "none", "now"], "'none' is not a file, a URL or a time"),
        (["diff", "now"], "Missing argument"),
        (["diff", "now", "now", "--jsn"], "unexpected extra argument"),
    ],
)
def test_failed_command_exits_with_2(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, error = run_lineage(*words)
    assert (code, text) == (2, "")
    assert message in error.replace("\n", " ")


def test_report_that_cannot_be_written_is_an_error(tmp_path):
    file = tmp_path / "events.json"
    file.write_text(json.dumps(list(events())))
    code, _, error = run_lineage("check", file, "--json", tmp_path / "none" / "report.json")
    assert code == 2
    assert "cannot write the report to" in error


def test_impact_of_a_column(url, tmp_path):
    file = tmp_path / "impact.json"
    code, text, _ = run_lineage("impact", "orders.price", "--url", url, "--json", file)
    assert code == 0
    assert text.startswith(f"impact of {KAFKA}/orders#price\n")
    lines = [line.strip() for line in text.splitlines()]
    assert f"{LAKE}/sales/orders, 1 job away" in lines
    assert f"{LAKE}/sales/stats#total <- {LAKE}/sales/orders#price (DIRECT/AGGREGATION) by shop/stats" in lines
    assert "job shop/stats, 2 jobs away" in lines
    answer = json.loads(file.read_text())
    assert {(row["name"], row["field"]) for row in answer["columns"]} == {
        ("sales/orders", "price"),
        ("sales/stats", "total"),
    }


def test_depth_limits_the_distance(url):
    text = run_lineage("impact", "orders.price", "--url", url, "--depth", "1")[1]
    assert "sales/orders" in text
    assert "sales/stats" not in text


def test_origin_of_a_dataset_named_by_an_alias(url):
    code, text, _ = run_lineage("origin", "lake.sales.orders", "--url", url)
    assert code == 0
    assert text.startswith(f"origin of {LAKE}/sales/orders\n")
    assert f"{KAFKA}/orders" in text
    assert run_lineage("origin", f"{LAKE}/sales/stats#total", "--url", url)[1].count("1 job away") >= 1


def test_unknown_name_lists_the_nearest_names(url):
    code, text, error = run_lineage("impact", "sales/order", "--url", url)
    assert (code, text) == (2, "")
    assert "no dataset or column in the graph is named 'sales/order'; similar names are sales/orders" in error


def test_diff_of_two_times(url, tmp_path):
    file, junit = tmp_path / "diff.json", tmp_path / "diff.xml"
    words = ["2026-01-01T00:05:00Z", "now", "--url", url, "--json", file, "--junit", junit]
    code, text, _ = run_lineage("diff", *words)
    assert code == 1
    assert "added    job          shop/stats (COMPLETED)" in text.splitlines()
    assert json.loads(file.read_text())["counts"]["dataset"] == {"added": 1}
    assert ElementTree.parse(junit).find("testsuite").get("failures") != "0"
    assert run_lineage("diff", "-10m", "-30s", "--url", url)[:2] == (0, "the graphs are the same\n")


def test_diff_of_files_and_services(url, tmp_path):
    file = tmp_path / "graph.json"
    with urlopen(f"{url}/api/v1/graph", timeout=60) as answer:
        file.write_bytes(answer.read())
    assert run_lineage("diff", file, url)[0] == 0
    assert run_lineage("diff", f"{url}/api/v1/graph?asOf=2026-01-01T00:05:00Z", file)[0] == 1
    for content in ("{", "[]", '{"version": 9}', "[" * 100_000):
        file.write_text(content)
        code, _, error = run_lineage("diff", file, url)
        assert code == 2
        assert "graph" in error


def test_error_of_a_service_is_shown(url):
    code, _, error = run_lineage("diff", f"{url}/api/v1/graph?asOf=then", url)
    assert code == 2
    assert "responded with 400: asOf" in error


def test_check_of_a_source_without_events_fails(tmp_path):
    file = tmp_path / "events.ndjson"
    file.write_text("")
    code, text, _ = run_lineage("check", file)
    assert code == 1
    assert f"error    no-events  {file}: " in text


def test_relative_and_absolute_times():
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert as_of_time("now", now) is None
    assert as_of_time("-90s", now) == "2026-01-01T11:58:30.000Z"
    assert as_of_time("-2h", now) == "2026-01-01T10:00:00.000Z"
    assert as_of_time("-1d", now) == "2025-12-31T12:00:00.000Z"
    assert as_of_time("2026-01-01T12:00:00+02:00", now) == "2026-01-01T10:00:00.000000Z"
    for text in ("10m", "-10", "-10y", "tomorrow", "-99999999999d", ""):
        with pytest.raises(LabError, match="not a file, a URL or a time"):
            as_of_time(text, now)


def test_cause_of_a_changed_number(url, tmp_path):
    report = tmp_path / "cause.json"
    period = ("--since", "2026-01-01T00:05:00Z", "--until", "2026-01-01T00:20:00Z")
    code, text, _ = run_lineage("cause", "sales/stats#total", *period, "--url", url, "--json", report)
    assert (code, json.loads(report.read_text())["explained"]) == (0, False)
    assert "the data themselves changed" in text

    (etl, _) = events()
    grown = event("etl", 15, [dataset("orders", KAFKA, "price", "list_price")], etl["outputs"], run=3)
    with urlopen(Request(f"{url}/api/v1/lineage", json.dumps(grown).encode(), JSON), timeout=60):
        pass
    code, text, _ = run_lineage("cause", "sales/stats#total", *period, "--url", url, "--json", report)
    assert code == 0
    assert "columns added: list_price" in text
    (cause,) = json.loads(report.read_text())["causes"]
    assert (cause["node"]["name"], cause["run"]) == ("orders", "00000000-0000-7000-8000-000000000003")


def test_cause_follows_edges_that_went_since(url, tmp_path):
    """A run that no longer reads its input cuts the number off from what changed."""
    cut = event("etl", 25, [], [dataset("sales/orders", LAKE, "price")], run=4)
    with urlopen(Request(f"{url}/api/v1/lineage", json.dumps(cut).encode(), JSON), timeout=60):
        pass
    report = tmp_path / "cause.json"
    period = ("--since", "2026-01-01T00:20:00Z", "--until", "2026-01-01T00:30:00Z")
    code, text, _ = run_lineage("cause", "sales/stats#total", *period, "--url", url, "--json", report)
    assert code == 0
    assert f"the job no longer reads {KAFKA}/orders" in text
    assert json.loads(report.read_text())["causes"][0]["node"] == {"type": "JOB", "namespace": "shop", "name": "etl"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--since", "now"], "is not before --until"),
        (["--since", "yesterday"], "'yesterday' is not a time"),
        (["--since", "-1h", "--baseline", "long"], "--baseline 'long' is not a duration; write 12h or 7d"),
    ],
)
def test_cause_rejects_periods_that_are_none(url, words, message):
    code, _, error = run_lineage("cause", "sales/stats#total", *words, "--url", url)
    assert code == 2
    assert message in error


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    """Service with topic orders (key, price) -> sales/orders, with tags and an owner -> a tile of a dashboard."""
    tags = {"tags": [{"key": "PII", "value": "true", "source": "USER", "field": "price"}]}
    owner = {"owners": [{"name": "Finance", "type": "TEAM"}]}
    orders = dataset(
        "sales/orders",
        LAKE,
        "price",
        columnLineage={"fields": {"price": {"inputFields": [edge("orders", "price", KAFKA)]}}},
        tags=tags,
        ownership=owner,
    )
    tile = dataset(
        "revenue",
        "dashboard://sales",
        "total",
        columnLineage={"fields": {"total": {"inputFields": [edge("sales/orders", "price")]}}},
    )
    with running_service(tmp_path_factory.mktemp("owned")) as service:
        for content in (
            event("etl", 0, [dataset("orders", KAFKA, "key", "price")], [orders]),
            event("tile", 10, [dataset("sales/orders")], [tile], run=2),
            event("load", 20, [], [dataset("keyed", KAFKA, "_key", "key", "price")], run=3),
        ):
            with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
                pass
        yield service.url


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("dashboard", "dashboard://sales/revenue"),
        ("tag:pii", "s3://warehouse/sales/orders#price"),
        ("owner:finance", "s3://warehouse/sales/orders"),
        ("namespace:dashboard://", "dashboard://sales/revenue"),
    ],
)
def test_impact_fails_on_what_a_rule_forbids(owned, rule, found):
    code, text, _ = run_lineage("impact", "orders#price", "--url", owned, "--fail-on", rule)
    assert code == 1
    assert f"  breaks {rule}: {found}\n" in text
    assert "impact of kafka://kafka:9092/orders#price" in text


@pytest.mark.parametrize("rule", ["tag:secret", "owner:nobody", "namespace:postgres://"])
def test_impact_passes_if_no_rule_matches(owned, rule):
    code, text, _ = run_lineage("impact", "orders#price", "--url", owned, "--fail-on", rule)
    assert code == 0
    assert "breaks" not in text


def test_a_column_that_nothing_reads_breaks_no_dashboard(owned):
    assert run_lineage("impact", "orders#key", "--url", owned, "--fail-on", "dashboard")[0] == 0


def test_an_unknown_rule_is_named(owned):
    code, _, error = run_lineage("impact", "orders#price", "--url", owned, "--fail-on", "colour:red")
    assert code == 2
    assert "invalid rule 'colour:red': dashboard, tag:KEY, owner:NAME or namespace:TEXT" in error


def test_impact_of_a_candidate_schema_is_that_of_the_columns_it_changes(owned, tmp_path):
    file, report = (
        candidate(tmp_path, {"name": "cost", "type": "string", "aliases": ["price"]}),
        tmp_path / "impact.json",
    )
    code, text, _ = run_lineage("impact", "orders", "--url", owned, "--change", file, "--json", report)
    assert code == 1  # without rules, every consumer counts
    assert "dropped: kafka://kafka:9092/orders#key\n" in text
    assert "renamed to cost: kafka://kafka:9092/orders#price\n" in text
    changes = json.loads(report.read_text())["changes"]
    assert [each["change"] for each in changes] == ["dropped:", "renamed to cost:"]
    reached = {each["name"] for each in changes[1]["impact"]["datasets"]}
    assert {"sales/orders", "revenue"} <= reached


def test_a_candidate_that_only_adds_columns_breaks_nothing(owned, tmp_path):
    fields = [{"name": name, "type": ["null", "string"]} for name in ("key", "price", "discount")]
    code, text, _ = run_lineage("impact", "orders", "--url", owned, "--change", candidate(tmp_path, *fields))
    assert (code, text) == (0, "the candidate drops, renames and retypes no column\n")


def test_metadata_of_records_is_not_expected_in_a_candidate(owned, tmp_path):
    """The graph has `_key` as a column of the topic; a schema of its value never has."""
    fields = [{"name": name, "type": "string"} for name in ("key", "price")]
    code, text, _ = run_lineage("impact", "keyed", "--url", owned, "--change", candidate(tmp_path, *fields))
    assert (code, text) == (0, "the candidate drops, renames and retypes no column\n")


CONTRACT = f"""
version: 1
namespace: shop
jobs: [{{job: etl, inputs: [{KAFKA}/orders]}}]
datasets:
  - dataset: {KAFKA}/orders
    schema: {{compatibility: BACKWARD, columns: {{key: string, price: string}}}}
"""


def test_a_candidate_that_breaks_the_contract_is_refused(owned, tmp_path):
    contract, report = tmp_path / "contract.yaml", tmp_path / "impact.json"
    contract.write_text(CONTRACT)
    fields = [{"name": name, "type": "string"} for name in ("key", "price")]
    words = ("impact", "orders", "--url", owned, "--contract", contract, "--json", report, "--change")
    assert run_lineage(*words, candidate(tmp_path, *fields))[0] == 0
    assert json.loads(report.read_text())["contract"] == []
    # Nothing reads a new column, but a reader with the new schema cannot read old records.
    code, text, _ = run_lineage(*words, candidate(tmp_path, *fields, {"name": "new", "type": "string"}))
    assert code == 1
    assert f"breaks the contract: unexpected  schema  {KAFKA}/orders#new (BACKWARD to the contract) (string)" in text
    assert [row["kind"] for row in json.loads(report.read_text())["contract"]] == ["unexpected"]


@pytest.fixture
def schemas(owned, tmp_path):
    """Run the step of CI in a repository with committed schemas: `run(files, *options)`, files by name."""

    def git(*words):
        name = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        subprocess.run(["git", *name, *words], cwd=tmp_path, check=True, capture_output=True)

    def schema(*fields):
        return json.dumps({"type": "record", "name": "r", "fields": [{"name": f, "type": "string"} for f in fields]})

    def run(changed, *options):
        for name, fields in changed.items():
            (tmp_path / "schemas" / name).write_text(schema(*fields))
        git("add", "-A")
        git("commit", "-qm", "change", "--allow-empty")
        environment = os.environ | {
            "LINEAGE_URL": owned,
            "LINEAGE_LAB": f"{sys.executable} -m infra.cli",
            "PYTHONPATH": os.pathsep.join(map(str, MODULES)),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
        words = [PROJECT / "integrations" / "ci" / "check-schema-changes", "base", "schemas", KAFKA, *options]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "orders-value.avsc").write_text(schema("key", "price"))
    (tmp_path / "schemas" / "keyed.avsc").write_text(schema("key", "price"))
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("tag", "base")
    return run


def test_the_step_of_ci_refuses_a_schema_that_breaks_the_dashboard(schemas, tmp_path):
    done = schemas({"orders-value.avsc": ["key"]}, "--fail-on", "dashboard")
    assert done.returncode == 1, done.stderr
    assert "schemas/orders-value.avsc: exit code 1\n" in done.stdout
    assert "  breaks dashboard: dashboard://sales/revenue\n" in done.stdout
    assert "keyed" not in done.stdout
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### `schemas/orders-value.avsc`: refused\n\n    dropped: kafka://")


def test_the_step_of_ci_passes_what_breaks_nothing(schemas):
    assert (done := schemas({})).returncode == 0, done.stderr
    assert done.stdout == "no schema in schemas changed since base\n"
    done = schemas({"keyed.avsc": ["price"], "orders-value.avsc": ["price", "key"], "new.avsc": ["a"]})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "schemas/new.avsc: new\n" in done.stdout


def test_the_step_of_ci_fails_if_it_cannot_check(schemas, tmp_path):
    (tmp_path / "schemas" / "keyed.avsc").unlink()
    done = schemas({})
    assert (done.returncode, "schemas/keyed.avsc: deleted" in done.stdout) == (2, True)
    (tmp_path / "schemas" / "keyed.avsc").write_text("nothing")
    done = schemas({})
    assert (done.returncode, "not JSON" in done.stdout) == (2, True)
    done = schemas({}, "--fail-on", "colour:red")
    assert (done.returncode, "invalid rule" in done.stdout) == (2, True)


def test_a_contract_needs_a_candidate_and_must_be_readable(owned, tmp_path):
    code, _, error = run_lineage("impact", "orders", "--url", owned, "--contract", tmp_path / "none.yaml")
    assert (code, "--contract needs --change" in error) == (2, True)
    words = ("--change", candidate(tmp_path), "--contract", tmp_path / "none.yaml")
    code, _, error = run_lineage("impact", "orders", "--url", owned, *words)
    assert (code, "cannot read the lineage contract" in error) == (2, True)


def test_a_retyped_column_breaks_the_dashboard_that_shows_it(owned, tmp_path):
    file = candidate(tmp_path, {"name": "key", "type": "string"}, {"name": "price", "type": "long"})
    code, text, _ = run_lineage("impact", "orders", "--url", owned, "--change", file, "--fail-on", "dashboard")
    assert code == 1
    assert "int64 instead of string: kafka://kafka:9092/orders#price\n" in text
    assert "  breaks dashboard: dashboard://sales/revenue\n" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nothing", "not JSON"),
        ("[]", "not a record schema"),
        ('{"type": "record", "fields": [{}]}', "a field without a name"),
    ],
)
def test_an_invalid_candidate_is_explained(owned, tmp_path, content, message):
    file = tmp_path / "orders.avsc"
    file.write_text(content)
    code, _, error = run_lineage("impact", "orders", "--url", owned, "--change", file)
    assert code == 2
    assert message in " ".join(error.split())


def test_a_candidate_needs_a_dataset(owned, tmp_path):
    code, _, error = run_lineage("impact", "orders#price", "--url", owned, "--change", candidate(tmp_path))
    assert code == 2
    assert "--change needs a dataset, not a column" in error


def sql_event(minute, query, run):
    """Event of a run of `stats` whose code is `query`."""
    totals = {"fields": {"total": {"inputFields": [edge("sales/orders", "price", subtype="AGGREGATION")]}}}
    made = event(
        "stats",
        minute,
        [dataset("sales/orders", LAKE, "price")],
        [dataset("sales/stats", LAKE, "total", columnLineage=totals)],
        run=run,
    )
    made["job"]["facets"] = {"sql": {**FACET, "query": query}}
    started = {**made, "eventType": "START", "eventTime": f"2026-01-01T00:{minute - 1:02}:30Z"}
    return [started, made]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Service with topic orders -> sales/orders -> sales/stats, whose SQL and input schema change at minute 20."""
    owners = {"owners": [{"name": "finance", "type": "TEAM"}]}
    etl = {"fields": {"price": {"inputFields": [edge("orders", "price", KAFKA)]}}}
    first = dataset("sales/orders", LAKE, "price", columnLineage=etl, ownership=owners)
    second = dataset("sales/orders", LAKE, "price", "currency", columnLineage=etl, ownership=owners)
    contents = [
        event("etl", 0, [dataset("orders", KAFKA, "price")], [first]),
        *sql_event(10, "SELECT sum(price) FROM orders", 2),
        event("etl", 20, [dataset("orders", KAFKA, "price")], [second], run=3),
        *sql_event(30, "SELECT sum(price) / 100 FROM orders <b>", 4),
    ]
    with running_service(tmp_path_factory.mktemp("audited")) as service:
        for content in contents:
            with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
                pass
        yield service.url


def provenance(url, tmp_path, *words):
    file = tmp_path / "provenance.json"
    code, text, error = run_lineage("provenance", "sales/stats#total", "--url", url, "--json", file, *words)
    assert code == 0, error
    return json.loads(file.read_text()), text


def test_provenance_names_sources_jobs_runs_and_owners(audited, tmp_path):
    document, text = provenance(audited, tmp_path)
    assert "  source kafka://kafka:9092/orders\n" in text
    assert document["sha256"] in text
    assert {(row["name"], row["isSource"]) for row in document["datasets"]} == {
        ("orders", True),
        ("sales/orders", False),
        ("sales/stats", False),
    }
    jobs = {row["name"]: row for row in document["jobs"]}
    assert jobs["stats"]["run"].endswith("4")
    assert jobs["stats"]["state"] == "COMPLETED"
    assert jobs["stats"]["code"] == "SELECT sum(price) / 100 FROM orders <b>"
    orders = next(row for row in document["datasets"] if row["name"] == "sales/orders")
    assert orders["owners"] == ["finance"]
    assert [field["name"] for field in orders["schema"]] == ["price", "currency"]


def test_provenance_of_a_past_time_has_the_code_and_schema_of_then(audited, tmp_path):
    document, _ = provenance(audited, tmp_path, "--at", "2026-01-01T00:15:00Z")
    jobs = {row["name"]: row for row in document["jobs"]}
    assert (jobs["stats"]["run"][-1], jobs["stats"]["code"]) == ("2", "SELECT sum(price) FROM orders")
    orders = next(row for row in document["datasets"] if row["name"] == "sales/orders")
    assert [field["name"] for field in orders["schema"]] == ["price"]


def test_a_run_that_had_not_ended_at_the_time_was_running(audited, tmp_path):
    document, _ = provenance(audited, tmp_path, "--at", "2026-01-01T00:29:45Z")
    stats = next(row for row in document["jobs"] if row["name"] == "stats")
    assert (stats["run"][-1], stats["state"], stats["endedAt"]) == ("4", "RUNNING", None)


def test_an_altered_document_is_found(audited, tmp_path):
    provenance(audited, tmp_path)
    file = tmp_path / "provenance.json"
    assert run_lineage("provenance", "--check", file)[0] == 0
    document = json.loads(file.read_text())
    document["jobs"][0]["owners"] = ["somebody else"]
    file.write_text(json.dumps(document))
    code, _, error = run_lineage("provenance", "--check", file)
    assert code == 2
    assert "was altered" in error


def test_the_page_of_a_document_escapes_what_it_quotes(audited, tmp_path):
    page = tmp_path / "provenance.html"
    document, _ = provenance(audited, tmp_path, "--html", page)
    text = page.read_text()
    assert document["sha256"] in text
    assert "orders &lt;b&gt;" in text
    assert "<b>" not in text


def test_provenance_needs_a_node_or_a_document(audited):
    code, _, error = run_lineage("provenance", "--url", audited)
    assert code == 2
    assert "name a dataset or column" in error


METADATA = """
version: 1
namespace: shop
aliases: {kafka: "KAFKA"}
datasets:
  - dataset: kafka/orders
    owners: [team-shop]
    columns:
      price: {tags: [secret]}
jobs:
  - job: etl
    description: Loads the lake
""".replace("KAFKA", KAFKA)


@pytest.fixture
def described(tmp_path):
    """Service with a topic, a table and a tile, and the path of a metadata file about the topic."""
    orders = dataset(
        "sales/orders",
        LAKE,
        "price",
        columnLineage={"fields": {"price": {"inputFields": [edge("orders", "price", KAFKA)]}}},
    )
    file = tmp_path / "metadata.yaml"
    file.write_text(METADATA)
    with running_service(tmp_path / "data") as service:
        content = event("etl", 0, [dataset("orders", KAFKA, "key", "price")], [orders])
        with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(content).encode(), JSON), timeout=60):
            pass
        yield service.url, file


def test_tags_of_a_described_dataset_follow_its_columns(described, tmp_path):
    url, file = described
    code, text, _ = run_lineage("tags", "--url", url)
    assert (code, text) == (0, "no column of the graph has such a tag; give it one: bin/lab lineage describe FILE\n")
    code, text, error = run_lineage("describe", file, "--url", url, "--dry-run")
    assert (code, text) == (0, "would describe 2 datasets and jobs\n"), error
    for _ in range(2):
        code, text, error = run_lineage("describe", file, "--url", url)
        assert (code, text) == (0, "described 2 datasets and jobs\n"), error
    report = tmp_path / "tags.json"
    code, text, _ = run_lineage("tags", "SECRET", "--url", url, "--json", report)
    assert (code, text) == (0, f"secret: {KAFKA}/orders#price\n  {LAKE}/sales/orders#price (1 job, by etl)\n")
    (carried,) = json.loads(report.read_text())["carried"]
    assert (carried["field"], carried["origin"]["name"], carried["aggregated"]) == ("price", "orders", False)
    assert run_lineage("tags", "gold", "--url", url)[1].startswith("no column of the graph has such a tag")
    code, text, _ = run_lineage("impact", "orders#price", "--url", url, "--fail-on", "tag:secret")
    assert f"breaks tag:secret: {LAKE}/sales/orders#price\n" in text
    assert code == 1
    assert run_lineage("impact", "orders#key", "--url", url, "--fail-on", "tag:secret")[0] == 0


def test_names_like_emoji_codes_are_printed_as_they_are(described):
    """The tag is followed by a colon: `:secret:` is the code of a picture."""
    url, file = described
    assert run_lineage("describe", file, "--url", url)[0] == 0
    _, text, _ = run_lineage("impact", "orders#price", "--url", url, "--fail-on", "tag:secret")
    assert "  breaks tag:secret: " in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("kafka/orders", "kafka/order"),
            f"nothing was sent: the graph does not have {KAFKA}/order. Correct the names",
        ),
        (("job: etl", "job: elt"), "nothing was sent: the graph does not have shop/elt"),
        (("version: 1", "version: 3"), "line 2: version: '3' is unknown"),
    ],
)
def test_a_metadata_file_with_a_mistake_changes_nothing(described, change, message):
    url, file = described
    file.write_text(METADATA.replace(*change))
    code, _, error = run_lineage("describe", file, "--url", url)
    assert code == 2
    assert message in error
    assert run_lineage("tags", "--url", url)[1].startswith("no column")
    if "version" not in change[0]:
        assert run_lineage("describe", file, "--url", url, "--force")[0] == 0


def test_a_missing_metadata_file_is_named(url, tmp_path):
    code, _, error = run_lineage("describe", tmp_path / "none.yaml", "--url", url)
    assert code == 2
    assert f"cannot read the metadata file {tmp_path / 'none.yaml'}" in error


def test_alerts_are_listed_with_their_times(tmp_path):
    report = tmp_path / "alerts.json"
    with running_service(tmp_path / "data") as service:
        assert run_lineage("alerts", "--url", service.url)[:2] == (0, "0 alerts\n")
        failed = event("etl", 7, [], [dataset("sales/orders")], "FAIL")
        with urlopen(Request(f"{service.url}/api/v1/lineage", json.dumps(failed).encode(), JSON), timeout=60):
            pass
        code, text, _ = run_lineage("alerts", "--url", service.url, "--json", report)
    assert code == 0
    assert text.startswith("failed   2026-01-01T00:07:00.000000Z  job shop/etl failed: run ")
    assert text.endswith("\n1 alert\n")
    assert json.loads(report.read_text())["alerts"][0]["subject"] == {"type": "JOB", "namespace": "shop", "name": "etl"}
