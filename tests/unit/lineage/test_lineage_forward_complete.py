# SPDX-License-Identifier: Apache-2.0
"""Completion of forwarded events: inputs, outputs and facets added from the run and the job."""

import json

import pytest
from lineage_events import (
    at,
    body,
    dataset,
    dataset_event,
    event,
    facet,
    read,
    recorded_lines,
    run_id,
    schema,
    source,
)
from lineage_recorder import assert_complete

from lineage.forward import enrich
from lineage.graph import Graph, LineageRecords, fold_events


def forwarded(last, *others, ended=False):
    """Return the message for `last` after all events are stored."""
    lineage = fold_events([*others, last])
    graph = Graph(lineage)
    graph.refresh()
    before = last.original.data, json.dumps(last.body, sort_keys=True)
    message = enrich(last, lineage, graph, ended)
    assert (last.original.data, json.dumps(last.body, sort_keys=True)) == before
    assert_complete(message)
    return message


def names(datasets):
    return [dataset["name"] for dataset in datasets]


def edges(message):
    return names(message["inputs"]), names(message["outputs"])


def facets(message, name):
    [found] = [ds["facets"] for ds in (*message["inputs"], *message["outputs"]) if ds["name"] == name]
    return found


def columns(*names, **options):
    return {"fields": {name: {"inputFields": [source("a", name, **options)]} for name in names}}


def event_with_datasets(event_type="START", second=0, **options):
    output = dataset("b", schema=schema("x"), columnLineage=columns("x"))
    return event(event_type, second, inputs=[dataset("a", schema=schema("x"))], outputs=[output], **options)


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"])
def test_event_without_datasets_carries_those_of_its_run(event_type):
    message = forwarded(event(event_type, 5), event_with_datasets(streaming=True))
    assert message["eventType"] == event_type
    assert message["eventTime"] == at(5)
    assert edges(message) == (["a"], ["b"])
    assert names(facets(message, "a")["schema"]["fields"]) == ["x"]
    assert names(facets(message, "b")["schema"]["fields"]) == ["x"]
    assert facets(message, "b")["columnLineage"]["fields"]["x"]["inputFields"] == [source("a", "x")]
    assert message["job"]["facets"]["jobType"]["processingType"] == "STREAMING"


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"])
def test_run_without_datasets_carries_those_of_its_job(event_type):
    message = forwarded(event(event_type, 9, run=2), event_with_datasets(), event("COMPLETE", 5))
    assert edges(message) == (["a"], ["b"])
    assert names(facets(message, "b")["schema"]["fields"]) == ["x"]
    found = facets(message, "b")["columnLineage"]["fields"]["x"]
    assert found["inputFields"] == [
        {**source("a", "x"), "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}]}
    ]


def test_datasets_accumulate_over_a_run():
    events = [
        event("START", 0, inputs=[dataset("a", schema=schema("x"))]),
        event("RUNNING", 1, outputs=[dataset("b")]),
        event("RUNNING", 2, inputs=[dataset("c")], outputs=[dataset("d")]),
    ]
    assert edges(forwarded(event("COMPLETE", 3), *events)) == (["a", "c"], ["b", "d"])
    assert edges(forwarded(events[1], *events)) == (["a", "c"], ["b", "d"])


def test_unknown_datasets_are_empty_lists():
    bare = body()
    del bare["inputs"], bare["outputs"], bare["run"]["facets"], bare["job"]["facets"]
    message = forwarded(read(bare))
    assert (message["inputs"], message["outputs"], message["run"]["facets"]) == ([], [], {})
    assert message["job"]["facets"]["jobType"]["processingType"] == "BATCH"


def test_event_without_type_is_other():
    assert forwarded(event(None))["eventType"] == "OTHER"


def test_job_type_comes_from_the_run_then_from_the_job():
    streaming, batch = event("START", 0, streaming=True), event("START", 0, run=2)
    assert forwarded(event("RUNNING", 1), streaming)["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    other = forwarded(event("RUNNING", 1, run=2), batch, streaming)
    assert other["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    deleted = body("RUNNING", 2, run=3, job="new")
    deleted["job"]["facets"]["jobType"] = {**facet(), "_deleted": True}
    assert forwarded(read(deleted))["job"]["facets"]["jobType"]["processingType"] == "BATCH"


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "OTHER", None])
@pytest.mark.parametrize("end", ["COMPLETE", "ABORT", "FAIL"])
def test_event_after_the_end_of_a_run_is_sent_with_the_terminal_type(event_type, end):
    late = event(event_type, 1, run_facets={"late": {"text": "news"}})
    message = forwarded(late, event(end, 5), ended=True)
    assert message["eventType"] == end
    assert message["run"]["facets"]["late"]["text"] == "news"
    # Marquez takes the end of the run from the last event.
    assert message["eventTime"] == "2026-01-01T00:00:05.000000Z"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["COMPLETE"], "COMPLETE"),
        (["COMPLETE", "FAIL"], "FAIL"),
        (["FAIL", "COMPLETE"], "FAIL"),
        (["ABORT", "COMPLETE"], "ABORT"),
        (["ABORT", "FAIL", "COMPLETE"], "FAIL"),
    ],
)
def test_terminal_event_is_sent_with_the_strongest_type_of_its_run(types, expected):
    made = [event(event_type, second) for second, event_type in enumerate(types)]
    for one in made:
        assert forwarded(one, *made)["eventType"] == expected


def test_every_event_of_a_run_has_the_schemas_known_by_then():
    bare = event("START", 0, inputs=[dataset("a")], outputs=[dataset("b")])
    first = event("RUNNING", 1, inputs=[dataset("a", schema=schema("k"))], outputs=[dataset("b", schema=schema("x"))])
    last = event("RUNNING", 2, outputs=[dataset("b", schema=schema("x", "y"))])
    for one in (bare, first, last, event("COMPLETE", 3)):
        message = forwarded(one, bare, first, last)
        assert names(facets(message, "a")["schema"]["fields"]) == ["k"]
        assert names(facets(message, "b")["schema"]["fields"]) == ["x", "y"]


def test_inputs_have_the_services_fields_and_not_the_readers():
    writer = event("START", 0, job="writer", run=9, outputs=[dataset("a", schema=schema("x", "y"))])
    spelled = {"fields": [{"name": "x", "type": "STRING"}, {"name": "Z", "type": "INT"}]}
    message = forwarded(event(inputs=[dataset("a", schema=spelled)]), writer)
    assert facets(message, "a")["schema"]["fields"] == schema("x", "y")["fields"]


def test_missing_schema_is_taken_from_other_runs():
    reader = event("START", 5, run=2, job="reader", inputs=[dataset("b")])
    assert names(facets(forwarded(reader, event_with_datasets()), "b")["schema"]["fields"]) == ["x"]
    assert "schema" not in facets(forwarded(reader), "b")
    assert "columnLineage" not in facets(forwarded(reader, event_with_datasets()), "b")


def test_persistent_facets_are_repeated_and_momentary_ones_are_not():
    output = dataset(
        "b",
        documentation={"description": "text"},
        dataSource={"name": "s", "uri": "s3://w"},
        lifecycleStateChange={"lifecycleStateChange": "CREATE"},
        version={"datasetVersion": "1"},
    )
    output["outputFacets"] = {"outputStatistics": facet(rowCount=3)}
    code = {"sourceCodeLocation": {"type": "git", "url": "https://example.org"}}
    start = event("START", 0, outputs=[output], parent=(9, "app"), job_facets=code, run_facets={"once": {}})
    message = forwarded(event("COMPLETE", 1), start)
    assert set(facets(message, "b")) == {"documentation", "dataSource"}
    assert facets(message, "b")["dataSource"]["name"] == "s3://warehouse"
    assert "outputFacets" not in message["outputs"][0]
    assert set(message["run"]["facets"]) == {"parent"}
    assert message["run"]["facets"]["parent"]["run"]["runId"] == run_id(9)
    assert set(message["job"]["facets"]) == {"sourceCodeLocation", "jobType"}
    own = forwarded(start)
    assert set(facets(own, "b")) == set(output["facets"])
    assert own["outputs"][0]["outputFacets"] == output["outputFacets"]


def test_facet_tombstones_are_omitted():
    output = dataset("b")
    gone = {**facet(), "_deleted": True}
    output["facets"] = dict.fromkeys(["schema", "columnLineage", "symlinks", "documentation"], gone)
    content = body("RUNNING", 5, outputs=[output])
    content["job"]["facets"] = {"documentation": gone, "sql": gone}
    content["run"]["facets"] = {"nominalTime": gone}
    message = forwarded(read(content), event_with_datasets(job_facets={"sql": {"query": "select 1"}}))
    assert set(facets(message, "b")) == {"dataSource"}
    assert set(message["job"]["facets"]) == {"jobType"}
    assert message["run"]["facets"] == {}


def test_job_type_has_every_field_that_marquez_requires():
    for job_facets in ({}, {"jobType": {"processingType": "STREAMING", "integration": "SPARK"}}):
        found = forwarded(event(job_facets=job_facets))["job"]["facets"]["jobType"]
        assert found["jobType"] == "JOB"
        assert found["integration"]
    own = {"jobType": {"processingType": "BATCH", "integration": "SPARK", "jobType": "COMMAND"}}
    assert forwarded(event(job_facets=own))["job"]["facets"]["jobType"]["jobType"] == "COMMAND"


@pytest.mark.parametrize(
    ("namespace", "uri"),
    [
        ("kafka://kafka:9092", "kafka://kafka:9092"),
        ("postgres://db:5432/a?b=c", "postgres://db:5432/a?b=c"),
        ("my team's [files] 100%", "my%20team's%20%5Bfiles%5D%20100%25"),
    ],
)
def test_data_source_is_the_namespace_with_a_valid_uri(namespace, uri):
    [output] = forwarded(event(outputs=[dataset("b", namespace)]))["outputs"]
    assert (output["facets"]["dataSource"]["name"], output["facets"]["dataSource"]["uri"]) == (namespace, uri)


@pytest.mark.parametrize(
    ("transformations", "expected_type", "description"),
    [
        ([("DIRECT", "IDENTITY", False)], "IDENTITY", "DIRECT IDENTITY"),
        ([("DIRECT", "AGGREGATION", True)], "MASKED", "DIRECT AGGREGATION"),
        ([("INDIRECT", "FILTER", False)], "FILTER", "INDIRECT FILTER"),
        (
            [("DIRECT", "AGGREGATION", False), ("INDIRECT", "GROUP_BY", False)],
            "AGGREGATION",
            "DIRECT AGGREGATION; INDIRECT GROUP_BY",
        ),
        (
            [("DIRECT", "IDENTITY", False), ("DIRECT", "TRANSFORMATION", True)],
            "IDENTITY, TRANSFORMATION",
            "DIRECT IDENTITY; DIRECT TRANSFORMATION",
        ),
        ([("DIRECT", None, False)], "DIRECT", "DIRECT"),
    ],
)
def test_deprecated_transformation_keys_are_added(transformations, expected_type, description):
    made = [
        {"type": kind, "masking": masking} | ({"subtype": subtype} if subtype else {})
        for kind, subtype, masking in transformations
    ]
    inputs = [{"namespace": "s3://warehouse", "name": "a", "field": "x", "transformations": made}]
    output = dataset("b", columnLineage={"fields": {"x": {"inputFields": inputs}}})
    field = facets(forwarded(event(outputs=[output])), "b")["columnLineage"]["fields"]["x"]
    assert field["inputFields"][0]["transformations"] == made
    assert (field["transformationType"], field["transformationDescription"]) == (expected_type, description)


def test_deprecated_keys_of_the_emitter_are_kept():
    inputs = [{**source("a", "x"), "transformations": [{"type": "DIRECT", "description": "a + b"}]}]
    fields = {
        "x": {"inputFields": inputs},
        "y": {"inputFields": inputs, "transformationType": "MASKED", "transformationDescription": "hash"},
        "z": {"inputFields": []},
    }
    found = facets(forwarded(event(outputs=[dataset("b", columnLineage={"fields": fields})])), "b")["columnLineage"][
        "fields"
    ]
    assert found["x"]["transformationDescription"] == "a + b"
    assert found["y"] == fields["y"]
    assert found["z"] == {"inputFields": []}


def test_schemas_contain_the_columns_of_column_lineage():
    writer = event("START", 0, job="writer", run=9, outputs=[dataset("a", schema=schema("x", "y"))])
    output = dataset("b", schema=schema("x"), columnLineage=columns("x", "y", "z"))
    message = forwarded(event("START", 1, inputs=[dataset("a", schema=schema("x"))], outputs=[output]), writer)
    assert facets(message, "a")["schema"]["fields"] == [*schema("x", "y")["fields"], {"name": "z"}]
    assert names(facets(message, "b")["schema"]["fields"]) == ["x", "y", "z"]


def test_columns_of_column_lineage_are_the_schema_of_a_dataset_without_one():
    output = dataset("b", columnLineage=columns("x"))
    message = forwarded(event(inputs=[dataset("a")], outputs=[output]))
    for name in ("a", "b"):
        assert facets(message, name)["schema"]["fields"] == [{"name": "x"}]


def test_edges_of_the_lineage_facet_are_sent_as_column_lineage():
    target = {
        "inputs": [{"type": "DATASET", **source("a", "k", "FILTER", "INDIRECT")}],
        "fields": {"x": {"inputs": [{"type": "DATASET", **source("a", "y")}]}},
    }
    message = forwarded(event(inputs=[dataset("a")], outputs=[dataset("b", lineage=target)]))
    found = facets(message, "b")["columnLineage"]
    assert [(s["name"], s["field"]) for s in found["fields"]["x"]["inputFields"]] == [("a", "y")]
    assert found["fields"]["x"]["transformationType"] == "IDENTITY"
    assert [(s["name"], s["field"]) for s in found["dataset"]] == [("a", "k")]
    assert found["_schemaURL"].endswith("#/$defs/ColumnLineageDatasetFacet")


def test_job_events_are_completed():
    declared = event(None, 0, run=None, inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns("x"))])
    message = forwarded(
        event(None, 5, run=None, job_facets={"sql": {"query": "select 1"}}), declared, event_with_datasets()
    )
    assert edges(message) == (["a"], ["b"])
    assert set(message["job"]["facets"]) == {"sql", "jobType"}
    assert "eventType" not in message
    assert "run" not in message
    later = event(None, 9, run=None, outputs=[dataset("c")])
    assert names(forwarded(later, declared)["outputs"]) == ["c"]


def test_dataset_events_are_completed():
    described = dataset("b", documentation={"description": "text"}, columnLineage=columns("x"))
    message = forwarded(read(dataset_event(5, described)), event_with_datasets())
    assert set(message["dataset"]["facets"]) == {"documentation", "columnLineage", "schema", "dataSource"}
    assert message["dataset"]["facets"]["columnLineage"]["fields"]["x"]["transformationType"] == "IDENTITY"
    assert set(message) == {"dataset", "eventTime", "producer", "schemaURL"}


@pytest.mark.parametrize(
    ("spelling", "written"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T01:00:00.123456789+01:00", "2026-01-01T01:00:00.123456789+01:00"),
        ("2026-01-01 00:00:00,5Z", "2026-01-01T00:00:00.500000Z"),
        ("2026-01-01T01:00:00+0100", "2026-01-01T00:00:00.000000Z"),
    ],
)
def test_times_are_sent_unchanged_except_for_nonstandard_formats(spelling, written):
    assert forwarded(read({**body(), "eventTime": spelling}))["eventTime"] == written


def test_every_completed_recorded_event_is_valid():
    events = [read(json.loads(line)) for line in recorded_lines()]
    lineage = fold_events(events)
    graph = Graph(lineage)
    graph.refresh()
    again = LineageRecords()
    for one in events:
        message = enrich(one, lineage, graph)
        assert_complete(message)
        again.apply(read(message))
    assert set(again.jobs) == set(lineage.jobs)
