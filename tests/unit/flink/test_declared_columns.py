# SPDX-License-Identifier: Apache-2.0
"""Tests of declared column lineage and of rejecting invalid declarations."""

import json
from pathlib import Path

import pytest

from infra.namespaces import KAFKA_NAMESPACE, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from infra.services.flink.jobs import DATASET_NAMESPACES, WINDOWS_COLUMNS
from lineagelab_flink.declared_columns import DeclarationError, declaration, declared

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
    return declared(json.dumps(content(**changes)), "job.json", DATASET_NAMESPACES)


def edges(fields):
    return [
        (f["namespace"], f["name"], f["field"], [(t["type"], t["subtype"]) for t in f["transformations"]])
        for f in fields
    ]


def test_a_declaration_becomes_datasets_with_schema_and_column_lineage():
    found = described()
    assert found.inputs == [{"namespace": KAFKA_NAMESPACE, "name": "orders", "facets": {}}]
    (output,) = found.outputs
    assert (output["namespace"], output["name"]) == (KAFKA_NAMESPACE, "totals")
    assert output["facets"]["schema"]["fields"] == [
        {"name": "supplier", "type": "string"},
        {"name": "total", "type": "long"},
    ]
    lineage = output["facets"]["columnLineage"]
    assert edges(lineage["dataset"]) == [(KAFKA_NAMESPACE, "orders", "supplier", [("INDIRECT", "GROUP_BY")])]
    assert edges(lineage["fields"]["total"]["inputFields"]) == [
        (KAFKA_NAMESPACE, "orders", "price", [("DIRECT", "AGGREGATION"), ("INDIRECT", "CONDITIONAL")])
    ]


def test_sources_are_qualified_with_several_inputs():
    columns = {"supplier": ["lake/sales/orders#supplier IDENTITY"], "total": []}
    found = described(inputs=["kafka/orders", "lake/sales/orders"], output={"columns": columns, "rows": []})
    lineage = found.outputs[0]["facets"]["columnLineage"]
    assert edges(lineage["fields"]["supplier"]["inputFields"])[0][:3] == ("s3://warehouse", "sales/orders", "supplier")
    assert lineage["fields"]["total"]["inputFields"] == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"more": 1}, "job.json: must have the keys ['inputs', 'outputs'], not ['inputs', 'more', 'outputs']"),
        ({"inputs": "kafka/orders"}, "job.json: inputs: must be a list"),
        ({"inputs": [7]}, "job.json: inputs: expected a non-empty string, not 7"),
        ({"inputs": ["orders"]}, "unknown dataset 'orders'; expected ALIAS/NAME, aliases: kafka, lake, archive"),
        ({"inputs": ["kafka/orders", "kafka/bids"]}, "the job has 2 inputs: write 'DATASET#FIELD KIND'"),
        ({"outputs": {"kafka/totals": []}}, "job.json: kafka/totals: must be an object"),
        ({"output": {"extra": {}}}, "not ['columns', 'extra', 'rows', 'schema']"),
        (
            {"output": {"schema": {"supplier": "string", "total": None}}},
            "type of total: expected a non-empty string, not None",
        ),
        (
            {"output": {"columns": {"supplier": [], "sum": []}}},
            "missing ['total'], not in the schema ['sum']",
        ),
        ({"output": {"rows": ["supplier"]}}, "rows: 'supplier' does not match '[DATASET#]FIELD KIND'"),
        (
            {"output": {"rows": ["supplier IDENTITY"]}},
            "rows: unknown kind IDENTITY; expected one of CONDITIONAL, FILTER",
        ),
        ({"output": {"rows": ["kafka/bids#supplier FILTER"]}}, "rows: kafka/bids is not among the inputs"),
        ({"output": {"rows": ["supplier FILTER", "supplier FILTER"]}}, "rows: duplicate source"),
    ],
)
def test_errors_name_the_problem(changes, problem):
    with pytest.raises(DeclarationError) as raised:
        described(**changes)
    assert problem in str(raised.value)
    assert str(raised.value).startswith("job.json: ")


@pytest.mark.parametrize(("text", "problem"), [("{", "Expecting"), ('{"a": 1, "a": 2}', "a is a duplicate key")])
def test_invalid_json_is_rejected(text, problem):
    with pytest.raises(DeclarationError, match=problem):
        declared(text, "job.json", DATASET_NAMESPACES)


def test_an_unreadable_file_is_an_error(tmp_path):
    with pytest.raises(DeclarationError, match=r"columns\.json cannot be read"):
        declaration(tmp_path / "columns.json", DATASET_NAMESPACES)


def test_supplier_windows_declares_the_labs_dataset_names():
    found = declaration(WINDOWS_COLUMNS, DATASET_NAMESPACES)
    assert [(d["namespace"], d["name"]) for d in found.inputs] == [(KAFKA_NAMESPACE, TOPIC_ORDERS)]
    assert [(d["namespace"], d["name"]) for d in found.outputs] == [(KAFKA_NAMESPACE, TOPIC_SUPPLIER_WINDOWS)]


def test_supplier_windows_declares_the_schema_that_the_job_writes():
    """The declaration additionally contains the key, which is not part of the value schema."""
    written = {field["name"]: _word(field["type"]) for field in json.loads(AVRO.read_text())["fields"]}
    (output,) = declaration(WINDOWS_COLUMNS, DATASET_NAMESPACES).outputs
    said = {field["name"]: field["type"] for field in output["facets"]["schema"]["fields"]}
    assert said == {"_key": "string", **written}


def _word(kind):
    if not isinstance(kind, dict):
        return kind
    if kind["logicalType"] == "decimal":
        return f"decimal({kind['precision']},{kind['scale']})"
    return kind["logicalType"]
