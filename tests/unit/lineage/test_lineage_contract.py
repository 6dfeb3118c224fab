# SPDX-License-Identifier: Apache-2.0
"""Contract: parsing and comparison with a graph."""

import json
import re
from xml.etree import ElementTree

import pytest
from lineage_events import NAMESPACE, body, dataset, facet, read, schema, source

from lineage.checks.columns import Column
from lineage.checks.contract import ContractError, Dataset, check_candidate, check_freshness, compare, load
from lineage.graph import Graph, export_graph, fold_events

CONTRACT = f"""
version: 1
namespace: {NAMESPACE}
aliases:
  lake: s3://warehouse
  orders: s3://warehouse/sales/orders
jobs:
  - job: stats
    inputs: [orders]
    outputs:
      - dataset: lake/sales/stats
        columns:
          supplier: supplier IDENTITY
          total: [s3://warehouse/sales/orders#price AGGREGATION, lake/sales/orders#supplier CONDITIONAL]
          count: []
        dataset_columns: [supplier GROUP_BY]
  - job: copy
    requires: [flink]
    inputs: [orders]
    outputs: [lake/copy]
"""


def orders_column(field, subtype, kind="DIRECT"):
    return source("sales/orders", field, subtype, kind)


def stats_job(**changes):
    """Return events of the contract's job; `changes` replace the sources of its columns."""
    fields = {
        "supplier": [orders_column("supplier", "IDENTITY")],
        "total": [
            orders_column("price", "AGGREGATION"),
            orders_column("supplier", "CONDITIONAL", "INDIRECT"),
        ],
        **changes,
    }
    columns = {
        "fields": {name: {"inputFields": sources} for name, sources in fields.items()},
        "dataset": [orders_column("supplier", "GROUP_BY", "INDIRECT")],
    }
    output = dataset("sales/stats", columnLineage=columns, schema=schema("supplier", "total", "count"))
    return body(job="stats", inputs=[dataset("sales/orders")], outputs=[output])


def copy_job():
    return body(job="copy", run=2, inputs=[dataset("sales/orders")], outputs=[dataset("copy")])


def application():
    return body(job="app", run=3)


def graph(*contents):
    lineage = fold_events(read(content) for content in contents)
    return json.loads(json.dumps(export_graph(lineage, Graph(lineage))))


def findings(*contents, contract=CONTRACT, features=()):
    return [finding.line() for finding in compare(load(contract), graph(*contents), features).findings]


def test_matching_lineage_has_no_findings():
    report = compare(load(CONTRACT), graph(stats_job(), application()))
    assert report.ok
    assert report.render_text() == f"lineage of 1 job of {NAMESPACE}: as the contract says\n"
    assert compare(load(CONTRACT), graph(stats_job(), copy_job()), ["flink"]).ok


def test_entries_of_disabled_features_are_skipped_and_their_lineage_is_unexpected():
    assert findings(stats_job()) == []
    assert findings(stats_job(), features=["flink"]) == ["missing     job     copy"]
    assert findings(stats_job(), copy_job()) == [
        "unexpected  job     copy (touches s3://warehouse/copy, s3://warehouse/sales/orders)"
    ]


def other_job(name, *outputs):
    content = copy_job()
    content["job"]["name"] = name
    content["outputs"] = [dataset(output) for output in outputs]
    return content


def test_job_of_others_is_listed_apart():
    report = compare(load(CONTRACT), graph(stats_job(), other_job("mine", "mine")))
    assert (report.ok, report.is_complete, report.findings) == (True, False, ())
    assert report.render_text().splitlines() == [
        "unlisted    job     mine (touches s3://warehouse/mine, s3://warehouse/sales/orders)",
        f"lineage of 1 job of {NAMESPACE}: as the contract says; beside them 1 job that it does not list",
    ]
    as_json = json.loads(report.render_json())
    assert (as_json["ok"], as_json["findings"]) == (True, [])
    assert [item["job"] for item in as_json["unlisted"]] == ["mine"]


def test_job_of_others_that_writes_a_dataset_of_the_contract_is_unexpected():
    report = compare(load(CONTRACT), graph(stats_job(), other_job("mine", "sales/stats", "mine")))
    assert [(finding.kind, finding.job) for finding in report.findings] == [("unexpected", "mine")]
    assert report.unlisted == ()


def test_other_namespaces_are_ignored():
    elsewhere = copy_job()
    elsewhere["job"]["namespace"] = "elsewhere"
    assert findings(stats_job(), elsewhere) == []


def test_missing_and_unexpected_edges():
    content = stats_job()
    content["inputs"] = [dataset("sales/other")]
    content["outputs"].append(dataset("extra"))
    del content["outputs"][0]["facets"]["columnLineage"]
    assert findings(content)[:3] == [
        "missing     input   stats <- s3://warehouse/sales/orders",
        "unexpected  input   stats <- s3://warehouse/sales/other",
        "unexpected  output  stats -> s3://warehouse/extra",
    ]


def test_missing_output_is_reported_once():
    content = stats_job()
    content["outputs"] = []
    assert findings(content) == ["missing     output  stats -> s3://warehouse/sales/stats"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"supplier": []},
            "missing     column  {out}#supplier <- {src}#supplier (DIRECT/IDENTITY)",
        ),
        (
            {"count": [orders_column("price", "AGGREGATION")]},
            "unexpected  column  {out}#count <- {src}#price (DIRECT/AGGREGATION)",
        ),
        (
            {"extra": [orders_column("price", "IDENTITY")]},
            "unexpected  column  {out}#extra <- {src}#price (DIRECT/IDENTITY)",
        ),
        (
            {"supplier": [orders_column("supplier", "TRANSFORMATION")]},
            "different   column  {out}#supplier <- {src}#supplier: expected DIRECT/IDENTITY,"
            " found DIRECT/TRANSFORMATION",
        ),
        (
            {"supplier": [orders_column("supplier", "IDENTITY", "INDIRECT")]},
            "different   column  {out}#supplier <- {src}#supplier: expected DIRECT/IDENTITY, found INDIRECT/IDENTITY",
        ),
    ],
)
def test_column_deviations(changes, line):
    expected = line.format(out="s3://warehouse/sales/stats", src="s3://warehouse/sales/orders")
    assert findings(stats_job(**changes)) == [expected]


def test_whole_dataset_column_deviations():
    content = stats_job()
    lineage = content["outputs"][0]["facets"]["columnLineage"]
    lineage["dataset"] = [orders_column("day", "FILTER", "INDIRECT")]
    assert findings(content) == [
        "unexpected  column  s3://warehouse/sales/stats <- s3://warehouse/sales/orders#day (INDIRECT/FILTER)",
        "missing     column  s3://warehouse/sales/stats <- s3://warehouse/sales/orders#supplier (INDIRECT/GROUP_BY)",
    ]


def test_schema_field_deviations():
    content = stats_job()
    content["outputs"][0]["facets"]["schema"]["fields"] = schema("supplier", "total", "day")["fields"]
    assert findings(content) == [
        "missing     field   s3://warehouse/sales/stats#count",
        "unexpected  field   s3://warehouse/sales/stats#day",
    ]


@pytest.mark.parametrize("columns", [("_key", "_value", "_offset"), ("supplier",)])
def test_columns_that_a_reader_states_are_not_those_of_the_dataset(columns):
    written, read_again = stats_job(), copy_job()
    del written["outputs"][0]["facets"]["schema"]
    read_again["inputs"] = [dataset("sales/stats", schema=schema(*columns))]
    read_again["job"]["namespace"] = "of others"
    assert findings(written, read_again) == []
    read_again["outputs"] = [dataset("sales/stats", schema=schema("supplier"))]
    assert "missing     field   s3://warehouse/sales/stats#total" in findings(written, read_again)


def test_masking_and_transformation_types_are_optional():
    contract = CONTRACT.replace("supplier IDENTITY", "supplier DIRECT:HASH masked")
    masked = orders_column("supplier", "HASH")
    masked["transformations"][0]["masking"] = True
    assert findings(stats_job(supplier=[masked]), contract=contract) == []
    masked["transformations"][0]["masking"] = False
    assert findings(stats_job(supplier=[masked]), contract=contract) == [
        "different   column  s3://warehouse/sales/stats#supplier <- s3://warehouse/sales/orders#supplier:"
        " expected DIRECT/HASH masked, found DIRECT/HASH"
    ]


def test_columns_of_a_disabled_input_are_skipped():
    contract = f"""
version: 1
namespace: {NAMESPACE}
jobs:
  - job: copy
    inputs:
      - s3://warehouse/sales/orders
      - {{dataset: s3://warehouse/live, requires: [flink]}}
    outputs:
      - dataset: s3://warehouse/copy
        columns:
          a: [s3://warehouse/sales/orders#a IDENTITY, s3://warehouse/live#a IDENTITY]
"""
    lineage = {"fields": {"a": {"inputFields": [orders_column("a", "IDENTITY")]}}}
    content = body(job="copy", inputs=[dataset("sales/orders")], outputs=[dataset("copy", columnLineage=lineage)])
    assert findings(content, contract=contract) == []
    assert findings(content, contract=contract, features=["flink"]) == [
        "missing     input   copy <- s3://warehouse/live",
        "missing     column  s3://warehouse/copy#a <- s3://warehouse/live#a (DIRECT/IDENTITY)",
    ]


def test_output_without_columns_is_compared_as_a_table():
    contract = CONTRACT[: CONTRACT.index("        columns:")] + "        requires: []\n"
    assert findings(stats_job(), contract=contract) == []


HEAD = "version: 1\nnamespace: n\njobs:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the contract is empty"),
        ("a: [", "not YAML"),
        ("- a", "line 1: must be a mapping"),
        ("version: 1\nnamespace: n\n", "line 1: key 'jobs' is missing"),
        ("version: 2\nnamespace: n\njobs: []", "line 1: version: '2' is unknown"),
        (HEAD + "  - jab: x", r"line 4: jobs\[0\].jab: unknown key; known are inputs, job"),
        (HEAD + "  - job: x\n    job: y", r"line 5: jobs\[0\].job: is defined twice"),
        (HEAD + "  - job: x", r"line 4: jobs\[0\]: names neither inputs nor outputs"),
        (HEAD + "  - job: x\n    inputs: [a]", r"line 5: jobs\[0\].inputs\[0\]: 'a' is not an alias"),
        (HEAD + "  - job: x\n    inputs: [s3://a]", r"inputs\[0\]: 's3://a' is not a dataset"),
        (HEAD + "  - job: x\n    inputs: ['']", r"inputs\[0\]: is empty"),
        (HEAD + "  - job: x\n    inputs: [s3://a/b, s3://a/b]", "lists a dataset twice"),
        (
            HEAD + "  - {job: x, inputs: [s3://a/b]}\n  - {job: x, inputs: [s3://a/b]}",
            r"line 5: jobs\[1\]: job 'x' is defined twice",
        ),
        (
            HEAD + "  - job: x\n    outputs:\n      - dataset: s3://a/b\n        columns: {c: d IDENTITY}",
            r"line 7: jobs\[0\].outputs\[0\].columns.c: write DATASET#FIELD: the job has 0 inputs",
        ),
        (
            HEAD + "  - job: x\n    inputs: [s3://a/i]\n    outputs:\n      - dataset: s3://a/b\n"
            "        columns: {c: s3://a/z#d IDENTITY}",
            "s3://a/z is not an input of this job",
        ),
        (
            HEAD + "  - job: x\n    inputs: [s3://a/i]\n    outputs:\n      - dataset: s3://a/b\n"
            "        columns: {c: d SHUFFLE}",
            "line 8: .*SHUFFLE is none of AGGREGATION",
        ),
        (
            HEAD + "  - job: x\n    inputs: [s3://a/i]\n    outputs:\n      - dataset: s3://a/b\n"
            "        columns: {c: d}",
            r"'d' is not \[DATASET#\]FIELD KIND",
        ),
        (
            HEAD + "  - job: x\n    inputs: [s3://a/i]\n    outputs:\n      - dataset: s3://a/b\n"
            "        dataset_columns: [d FILTER]",
            "requires `columns`",
        ),
        ("version: 1\nnamespace: n\naliases: {a: b}\njobs: []", "line 3: aliases.a: 'b' must be a namespace"),
    ],
)
def test_contract_error_names_the_line(text, message):
    with pytest.raises(ContractError, match=message):
        load(text)


def test_graph_of_another_version_is_rejected():
    with pytest.raises(ValueError, match="graph export has version 7"):
        compare(load(CONTRACT), {"version": 7})


def test_all_renderings_contain_the_same_findings():
    report = compare(load(CONTRACT), graph(stats_job(supplier=[]), copy_job()))
    assert not report.ok
    lines = report.render_text().splitlines()
    assert lines[-1] == f"lineage of 1 job of {NAMESPACE}: 1 missing, 1 unexpected"

    as_json = json.loads(report.render_json())
    assert (as_json["ok"], as_json["jobs"]) == (False, ["stats"])
    assert [(item["kind"], item["subject"], item["job"]) for item in as_json["findings"]] == [
        ("missing", "column", "stats"),
        ("unexpected", "job", "copy"),
    ]

    suite = ElementTree.fromstring(report.render_junit()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    failures = {case.get("name"): case.findtext("failure") for case in suite.iter("testcase")}
    assert failures == {"stats": lines[0], "copy": lines[1]}


def test_junit_escapes_names_invalid_in_xml():
    odd = orders_column("a\u0001b", "IDENTITY")
    report = compare(load(CONTRACT), graph(stats_job(supplier=[odd])))
    assert "a\ufffdb" in report.render_junit()
    ElementTree.fromstring(report.render_junit())


SCHEMAS = f"""
version: 1
namespace: {NAMESPACE}
aliases: {{lake: s3://warehouse}}
jobs:
  - job: stats
    inputs: [lake/sales/orders]
datasets:
  - dataset: lake/sales/stats
    schema:
      version: 3
      compatibility: MODE
      columns:
        supplier: varchar(20)
        total: decimal(12,2)?
        count: bigint
    freshness: 15m
  - dataset: lake/other
    requires: [never]
    schema: {{columns: {{a: int}}}}
    freshness: 1d
"""


def demands(fields, mode="EXACT"):
    rows = [{"name": name, "type": kind} for name, kind in fields.items()]
    written = dataset("sales/stats", schema=facet(fields=rows))
    event = body(job="stats", inputs=[dataset("sales/orders")], outputs=[written])
    report = compare(load(SCHEMAS.replace("MODE", mode)), graph(event))
    assert {found.job for found in report.findings if found.subject == "schema"} <= set(report.datasets)
    return [found.line() for found in report.findings if found.subject == "schema"]


AGREED = {"supplier": "STRING", "total": "DECIMAL(12, 2)", "count": "long"}
STATS = "schema  s3://warehouse/sales/stats"


def test_a_schema_that_engines_spell_otherwise_is_the_agreed_one():
    assert demands(AGREED) == []
    assert demands({"_key": "string", **AGREED}) == []


def test_every_mutant_of_a_schema_is_found():
    """Each column dropped, renamed and retyped, and one added: all are found if the schema must be exact."""
    for name, kind in AGREED.items():
        others = {key: value for key, value in AGREED.items() if key != name}
        assert [line.split()[0] for line in demands(others)] == ["missing"]
        assert [line.split()[0] for line in demands({**others, f"{name}2": kind})] == ["missing", "unexpected"]
        assert [line.split()[0] for line in demands({**others, name: "boolean"})] == ["different"]
    assert [line.split()[0] for line in demands({**AGREED, "new": "string"})] == ["unexpected"]


def test_findings_name_column_types_and_agreement():
    assert demands({"supplier": "string", "total": "double", "new": "int"}) == [
        f"different   {STATS}#total (EXACT to version 3): expected decimal(12,2)?, found float64",
        f"missing     {STATS}#count (EXACT to version 3) (int64)",
        f"unexpected  {STATS}#new (EXACT to version 3) (int32)",
    ]


def test_compatibility_permits_what_readers_can_read():
    fewer, more = {"supplier": "string", "total": "decimal(12,2)"}, {**AGREED, "new": "string"}
    assert (demands(fewer, "BACKWARD"), demands(more, "BACKWARD")) == ([], [])
    assert (len(demands(fewer, "FORWARD")), demands(more, "FORWARD")) == (1, [])
    assert len(demands(fewer, "FULL")) == 1
    assert demands({**AGREED, "count": "double"}, "BACKWARD") == []
    assert demands({**AGREED, "count": "int"}, "FORWARD") == []
    assert len(demands({**AGREED, "count": "int"}, "BACKWARD")) == 1


def test_a_dataset_without_columns_and_one_that_is_missing_are_told_apart():
    assert demands({}) == [f"missing     {STATS} (its columns are not known)"]
    assert demands({"_value": "binary", "_offset": "bigint"}) == demands({}), "a reader that does not decode values"
    contract = load(SCHEMAS.replace("MODE", "EXACT"))
    lines = [found.line() for found in compare(contract, graph(), ["never"]).findings if found.subject == "schema"]
    assert lines == [
        f"missing     {STATS} (no such dataset)",
        "missing     schema  s3://warehouse/other (no such dataset)",
    ]


def test_freshness_is_the_time_since_the_last_write():
    contract = load(SCHEMAS.replace("MODE", "EXACT"))
    stats = Dataset("s3://warehouse", "sales/stats")

    def lines(written, features=()):
        return [found.line() for found in check_freshness(contract, written, 10_000.0, features)]

    assert lines({stats: 9_100.0}) == []
    assert lines({stats: 9_099.0}) == [
        "different   fresh   s3://warehouse/sales/stats: expected a write within 15 min, found one 15 min ago"
    ]
    assert lines({stats: 1_000.0}) == [
        "different   fresh   s3://warehouse/sales/stats: expected a write within 15 min, found one 2.5 h ago"
    ]
    assert lines({stats: 10_000.0}, ["never"]) == [
        "missing     fresh   s3://warehouse/other (a write within 1 d)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MODE", "SIDEWAYS", "line 12: datasets[0].schema.compatibility: 'SIDEWAYS' is none of EXACT, BACKWARD"),
        ("15m", "15", "'15' is not a duration such as 90s, 15m, 2h or 1d"),
        ("15m", "0m", "'0m' is not a duration"),
        ("lake/other", "lake/sales/stats", "dataset s3://warehouse/sales/stats is defined twice"),
        ("columns: {a: int}", "columns: {}", "lists no column"),
        ("schema: {columns: {a: int}}\n    freshness: 1d", "", "demands nothing; write `schema` or `freshness`"),
        ("count: bigint", "count: [bigint]", "must be a scalar"),
        ("version: 3", "verison: 3", "unknown key"),
    ],
)
def test_mistakes_in_demands_are_named(old, new, message):
    assert old in SCHEMAS
    with pytest.raises(ContractError, match=re.escape(message)):
        load(SCHEMAS.replace(old, new).replace("MODE", "EXACT"))


def test_a_candidate_is_compared_with_the_agreed_schema():
    contract = load(SCHEMAS.replace("MODE", "BACKWARD"))
    stats = Dataset("s3://warehouse", "sales/stats")
    agreed = [Column("supplier", "string", False), Column("total", "decimal(12,2)", True)]
    assert check_candidate(contract, stats, agreed) == []
    assert check_candidate(contract, Dataset("s3://warehouse", "unlisted"), []) == []
    added = [*agreed, Column("needed", "string", nullable=False)]
    assert [found.line() for found in check_candidate(contract, stats, added)] == [
        f"unexpected  {STATS}#needed (BACKWARD to version 3) (string)"
    ]
    strict = [agreed[0], Column("total", "decimal(12,2)", nullable=False)]
    assert [found.line() for found in check_candidate(contract, stats, strict)] == [
        f"different   {STATS}#total (BACKWARD to version 3): expected decimal(12,2)?, found decimal(12,2)"
    ]
