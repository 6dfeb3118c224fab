# SPDX-License-Identifier: Apache-2.0
"""What is declared of jobs that Flink cannot look into, and how a wrong declaration is refused."""

import json
from pathlib import Path

import pytest

from infra.namespaces import JOB_SUPPLIER_WINDOWS, KAFKA, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from jobs.flink.declared_columns import DeclarationError, declaration, declared

JAVA = Path(__file__).parents[3] / "jobs/flink/supplier-windows"
AVRO = JAVA / "src/main/resources/dev/lineagelab/flink/windows/supplier_window.avsc"


def content(**changes):
    output = {
        "schema": {"supplier": "string", "total": "long"},
        "columns": {"supplier": ["supplier IDENTITY"], "total": ["price AGGREGATION", "price CONDITIONAL"]},
        "rows": ["supplier GROUP_BY"],
    }
    outputs = {"kafka/totals": {**output, **changes.pop("output", {})}}
    return {"inputs": ["kafka/orders"], "outputs": outputs, **changes}


def described(**changes):
    return declared(json.dumps(content(**changes)), "job.json")


def edges(fields):
    return [
        (f["namespace"], f["name"], f["field"], [(t["type"], t["subtype"]) for t in f["transformations"]])
        for f in fields
    ]


def test_a_declaration_becomes_datasets_with_schema_and_column_lineage():
    found = described()
    assert found.inputs == [{"namespace": KAFKA, "name": "orders", "facets": {}}]
    (output,) = found.outputs
    assert (output["namespace"], output["name"]) == (KAFKA, "totals")
    assert output["facets"]["schema"]["fields"] == [
        {"name": "supplier", "type": "string"},
        {"name": "total", "type": "long"},
    ]
    lineage = output["facets"]["columnLineage"]
    assert edges(lineage["dataset"]) == [(KAFKA, "orders", "supplier", [("INDIRECT", "GROUP_BY")])]
    assert edges(lineage["fields"]["total"]["inputFields"]) == [
        (KAFKA, "orders", "price", [("DIRECT", "AGGREGATION"), ("INDIRECT", "CONDITIONAL")])
    ]


def test_with_several_inputs_a_source_names_its_own():
    columns = {"supplier": ["lake/sales/orders#supplier IDENTITY"], "total": []}
    found = described(inputs=["kafka/orders", "lake/sales/orders"], output={"columns": columns, "rows": []})
    lineage = found.outputs[0]["facets"]["columnLineage"]
    assert edges(lineage["fields"]["supplier"]["inputFields"])[0][:3] == ("s3://warehouse", "sales/orders", "supplier")
    assert lineage["fields"]["total"]["inputFields"] == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"more": 1}, "job.json: has ['inputs', 'more', 'outputs'], not ['inputs', 'outputs']"),
        ({"inputs": "kafka/orders"}, "job.json: inputs: is no list"),
        ({"inputs": [7]}, "job.json: inputs: 7 is no text"),
        ({"inputs": ["orders"]}, "'orders' is no dataset: write one of kafka, lake, archive"),
        ({"inputs": ["kafka/orders", "kafka/bids"]}, "the job has 2 inputs: write which one"),
        ({"outputs": {"kafka/totals": []}}, "job.json: kafka/totals: is no object"),
        ({"output": {"extra": {}}}, "has ['columns', 'extra', 'rows', 'schema']"),
        ({"output": {"schema": {"supplier": "string", "total": None}}}, "type of total: None is no text"),
        (
            {"output": {"columns": {"supplier": [], "sum": []}}},
            "without an entry are ['total'], not in the schema ['sum']",
        ),
        ({"output": {"rows": ["supplier"]}}, "rows: 'supplier' is not of the form '[DATASET#]FIELD KIND'"),
        ({"output": {"rows": ["supplier IDENTITY"]}}, "rows: IDENTITY is none of CONDITIONAL, FILTER"),
        ({"output": {"rows": ["kafka/bids#supplier FILTER"]}}, "rows: kafka/bids is none of the inputs"),
        ({"output": {"rows": ["supplier FILTER", "supplier FILTER"]}}, "rows: says something twice"),
    ],
)
def test_what_is_wrong_is_named(changes, problem):
    with pytest.raises(DeclarationError) as raised:
        described(**changes)
    assert problem in str(raised.value)
    assert str(raised.value).startswith("job.json: ")


@pytest.mark.parametrize(("text", "problem"), [("{", "Expecting"), ('{"a": 1, "a": 2}', "a stands twice")])
def test_what_is_no_json_is_refused(text, problem):
    with pytest.raises(DeclarationError, match=problem):
        declared(text, "job.json")


def test_a_job_without_a_file_has_no_declaration():
    assert declaration("iceberg_ingestion") is None


def test_the_windows_are_declared_under_the_names_of_the_lab():
    found = declaration(JOB_SUPPLIER_WINDOWS)
    assert [(d["namespace"], d["name"]) for d in found.inputs] == [(KAFKA, TOPIC_ORDERS)]
    assert [(d["namespace"], d["name"]) for d in found.outputs] == [(KAFKA, TOPIC_SUPPLIER_WINDOWS)]


def test_the_windows_are_declared_with_the_schema_that_the_job_writes():
    """Beside the key, which is no field of the message."""
    written = {field["name"]: _word(field["type"]) for field in json.loads(AVRO.read_text())["fields"]}
    (output,) = declaration(JOB_SUPPLIER_WINDOWS).outputs
    said = {field["name"]: field["type"] for field in output["facets"]["schema"]["fields"]}
    assert said == {"_key": "string", **written}


def _word(kind):
    if not isinstance(kind, dict):
        return kind
    if kind["logicalType"] == "decimal":
        return f"decimal({kind['precision']},{kind['scale']})"
    return kind["logicalType"]
