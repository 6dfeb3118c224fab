# SPDX-License-Identifier: Apache-2.0
"""The event writer: facets, column lineage, events."""

from dataclasses import dataclass

from lineagelab_common.events import MAX_TEXT, ColumnEdge, EventWriter, lineage_entry


@dataclass(frozen=True, order=True)
class Dataset:
    namespace: str
    name: str


WRITER = EventWriter("urn:test")
A, B = Dataset("s3://lake", "a"), Dataset("s3://lake", "b")


def edge(dataset, column, subtype):
    return ColumnEdge(dataset, column, subtype, masking=False)


def test_a_facet_names_producer_and_schema_and_omits_missing_values():
    assert WRITER.facet("sql", query="SELECT 1", dialect=None) == {
        "_producer": "urn:test",
        "_schemaURL": "https://openlineage.io/spec/facets/1-1-0/SQLJobFacet.json#/$defs/SQLJobFacet",
        "query": "SELECT 1",
    }
    assert WRITER.facet("urn:own:1")["_schemaURL"] == "urn:own:1"


def test_transformations_of_one_input_column_are_one_input_field():
    edges = {edge(A, "price", "CONDITIONAL"), edge(A, "price", "AGGREGATION"), edge(B, "price", "IDENTITY")}
    facet = WRITER.column_lineage({"total": edges, "count": set()}, {edge(A, "id", "FILTER")})
    first, second = facet["fields"]["total"]["inputFields"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert [(t["type"], t["subtype"]) for t in first["transformations"]] == [
        ("DIRECT", "AGGREGATION"),
        ("INDIRECT", "CONDITIONAL"),
    ]
    assert facet["fields"]["count"]["inputFields"] == []
    assert facet["dataset"][0]["transformations"] == [{"type": "INDIRECT", "subtype": "FILTER", "masking": False}]


def test_a_lineage_entry_states_datasets_rows_and_columns():
    entry = lineage_entry(B, {A}, {"id": {edge(A, "id", "IDENTITY")}}, {edge(A, "price", "FILTER")})
    assert [each.get("field") for each in entry["inputs"]] == [None, "price"]
    assert entry["fields"]["id"]["inputs"][0]["type"] == "DATASET"
    assert WRITER.job_lineage([entry])["_schemaURL"].endswith("1-0-0/LineageFacet.json#/$defs/LineageJobFacet")


def test_events_of_runs_and_of_jobs():
    job = {"namespace": "lab", "name": "j"}
    run = WRITER.run_event("START", "T", {"runId": "r"}, job, [], [])
    assert (run["eventType"], run["eventTime"], run["schemaURL"]) == (
        "START",
        "T",
        "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    )
    assert run.keys() - WRITER.open_run({"runId": "r"}, job, [], []).keys() == {"eventType", "eventTime"}
    assert "run" not in WRITER.job_event("T", job, [], [])


def test_long_error_texts_are_cut():
    error = WRITER.error("x" * 10**6, "JAVA", "y" * 10**6)
    assert {len(error["message"]), len(error["stackTrace"])} == {MAX_TEXT}
    assert "stackTrace" not in WRITER.error("x", "JAVA")
