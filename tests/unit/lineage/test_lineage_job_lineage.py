# SPDX-License-Identifier: Apache-2.0
"""Current lineage of a job: datasets, edges, columns and removed edges."""

from lineage_events import NAMESPACE, dataset, dataset_event, event, facet, read, run_id, schema, source

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, derive_job_lineage, fold_events
from lineage.graph.run_record import RunRecord
from lineage.marquez import Catalog

JOB = JobId(NAMESPACE, "job")


def table(name):
    return DatasetId("s3://warehouse", name)


def view(*events):
    return derive_job_lineage(fold_events(events).jobs[JOB])


def names(datasets):
    return sorted(item.name for item in datasets)


def flows(found):
    return sorted((flow.source.name, flow.output.name) for flow in found.flows)


def columns(found):
    return sorted(
        (edge.output.name, edge.field or "*", edge.source.name, edge.source_field, edge.subtype)
        for edge in found.columns
    )


def lineage(**fields):
    return {"fields": {name: {"inputFields": sources} for name, sources in fields.items()}}


def test_datasets_of_a_run_accumulate_and_an_empty_event_changes_nothing():
    found = view(
        event("START", 0, inputs=[dataset("a")]),
        event("RUNNING", 1, outputs=[dataset("b")]),
        event("RUNNING", 2),
        event("ABORT", 3),
    )
    assert names(found.inputs) == ["a"]
    assert names(found.outputs) == ["b"]


def test_latest_complete_run_with_datasets_defines_the_current_edges():
    found = view(
        event("COMPLETE", 0, inputs=[dataset("a"), dataset("b")], outputs=[dataset("out")]),
        event("COMPLETE", 10, run=2, inputs=[dataset("a")], outputs=[dataset("out2")]),
        event("COMPLETE", 20, run=3),
    )
    assert names(found.inputs) == ["a"]
    assert names(found.outputs) == ["out2"]
    gone = [(edge.direction, edge.dataset.name, edge.since, edge.reason, edge.run) for edge in found.vanished]
    since = event("START", 10).order.time
    assert gone == [
        ("input", "b", since, "a later run does not name it", run_id(2)),
        ("output", "out", since, "a later run does not name it", run_id(2)),
    ]


def test_restored_edge_is_current():
    found = view(
        event("COMPLETE", 0, inputs=[dataset("a")]),
        event("COMPLETE", 10, run=2, inputs=[dataset("b")]),
        event("COMPLETE", 20, run=3, inputs=[dataset("a")]),
    )
    assert [(edge.dataset.name, edge.since) for edge in found.vanished] == [("b", event("START", 20).order.time)]


def test_late_event_of_an_old_run_does_not_restore_its_edges():
    found = view(
        event("START", 0, inputs=[dataset("a")]),
        event("COMPLETE", 10, run=2, inputs=[dataset("b")]),
        event("RUNNING", 20, inputs=[dataset("a")]),
    )
    assert names(found.inputs) == ["b"]


def test_job_event_applies_to_all_runs():
    declared = event(None, 5, run=None, inputs=[dataset("a")], outputs=[dataset("out")])
    assert names(view(declared).inputs) == ["a"]
    found = view(declared, event("START", 10, outputs=[dataset("out")]))
    assert (names(found.inputs), names(found.outputs), found.vanished) == (["a"], ["out"], ())


def test_job_event_applies_until_a_later_complete_run_replaces_it():
    declared = event(None, 5, run=None, inputs=[dataset("a")], outputs=[dataset("out")])
    first = event("START", 0, inputs=[dataset("b")], outputs=[dataset("out")])
    second = event("COMPLETE", 10, run=2, inputs=[dataset("b")], outputs=[dataset("out")])
    third = event("COMPLETE", 20, run=3, inputs=[dataset("b")], outputs=[dataset("out")])
    assert names(view(declared, first).inputs) == ["a", "b"]
    for events in ([declared, second], [declared, first, second], [third, second, declared, first]):
        found = view(*events)
        assert (names(found.inputs), names(found.outputs)) == (["b"], ["out"])
        gone = [(edge.direction, edge.dataset.name, edge.since, edge.reason) for edge in found.vanished]
        assert gone == [("input", "a", second.order.time, "a later run does not name it")]


def test_replaced_declaration_removes_its_columns():
    first = dataset("out", columnLineage=lineage(c=[source("a", "x")]))
    entries = {"entries": [_entry("out", "a")]}
    old = event(None, 0, run=None, inputs=[dataset("a")], outputs=[first], job_facets={"lineage": entries})
    new = event(None, 1, run=None, inputs=[dataset("b")], outputs=[dataset("out")])
    found = view(old, new)
    assert (names(found.inputs), flows(found), columns(found)) == (["b"], [("b", "out")], [])
    assert [edge.dataset.name for edge in found.vanished] == ["a"]


def test_declared_columns_apply_to_later_runs_except_removed_sources():
    sources = [source("a", "x"), source("b", "x")]
    described = dataset("out", columnLineage=lineage(c=sources), schema=schema("c"))
    declared = event(None, 0, run=None, inputs=[dataset("a"), dataset("b")], outputs=[described])
    same = event("START", 5, inputs=[dataset("a"), dataset("b")], outputs=[dataset("out")])
    fewer = event("COMPLETE", 10, run=2, inputs=[dataset("b"), dataset("new")], outputs=[dataset("out")])
    assert columns(view(declared, same)) == columns(view(declared))
    found = view(declared, same, fewer)
    assert columns(found) == [("out", "c", "b", "x", "IDENTITY")]
    assert flows(found) == [("b", "out"), ("new", "out")]


def test_declared_lineage_facet_does_not_keep_removed_sources():
    entries = {"entries": [_entry("out", "a", "b")]}
    datasets = {"inputs": [dataset("a"), dataset("b")], "outputs": [dataset("out")]}
    declared = event(None, 0, run=None, job_facets={"lineage": entries}, **datasets)
    found = view(declared, event("COMPLETE", 10, inputs=[dataset("b")], outputs=[dataset("out")]))
    assert flows(found) == [("b", "out")]


def test_lineage_entries_of_one_target_are_merged():
    entries = [_entry("x", "a"), _entry("y", "b"), _entry("x", "b")]
    for entry, name in zip(entries, ("a", None, "b"), strict=True):
        if name:
            column = {**entry["inputs"][0], "field": name}
            entry["fields"] = {"c": {"inputs": [column]}, name: {"inputs": [column]}}
    datasets = {"inputs": [dataset("a"), dataset("b")], "outputs": [dataset("x"), dataset("y")]}
    found = view(event(job_facets={"lineage": {"entries": entries}}, **datasets))
    assert flows(found) == [("a", "x"), ("b", "x"), ("b", "y")]
    assert [edge[:4] for edge in columns(found)] == [
        ("x", "a", "a", "a"),
        ("x", "b", "b", "b"),
        ("x", "c", "a", "a"),
        ("x", "c", "b", "b"),
    ]


def test_reading_a_job_does_not_scan_its_history(monkeypatch):
    made = [event("COMPLETE", i, run=i, inputs=[dataset("a" if i else "old")]) for i in range(200)]
    state = fold_events(made)
    graph = Graph(state)
    looked_at = []
    place = RunRecord.place.fget

    def counted(run):
        looked_at.append(run)
        return place(run)

    monkeypatch.setattr(RunRecord, "place", property(counted))
    graph.refresh()
    assert Catalog(state, graph, 0).job(JOB)["latestRuns"][0]["id"] == run_id(199)
    assert [edge.dataset.name for edge in graph.job_lineages[JOB].vanished] == ["old"]
    assert len(looked_at) < 10


def test_empty_job_event_removes_nothing_and_a_new_declaration_replaces_the_old():
    old = event(None, 0, run=None, inputs=[dataset("a")])
    assert names(view(old, event(None, 1, run=None)).inputs) == ["a"]
    found = view(old, event(None, 1, run=None, inputs=[dataset("b")]))
    assert names(found.inputs) == ["b"]
    assert [edge.dataset.name for edge in found.vanished] == ["a"]


def test_declared_columns_appear_on_the_edges_of_runs():
    from_plan = dataset("out", columnLineage=lineage(total=[source("in", "price", "AGGREGATION")]))
    agent = [
        event(state, 10 + i, inputs=[dataset("in")], outputs=[dataset("out")])
        for i, state in enumerate(("START", "COMPLETE"))
    ]
    for second in (0, 10.5, 20):
        declared = event(None, second, run=None, outputs=[from_plan])
        assert columns(view(declared, *agent)) == [("out", "total", "in", "price", "AGGREGATION")]


def test_later_column_lineage_replaces_the_earlier():
    mine = dataset("out", columnLineage=lineage(total=[source("in", "price", "AGGREGATION")]))
    agents = dataset("out", columnLineage=lineage(total=[source("in", "price", "TRANSFORMATION")]))
    run = event("START", 10, inputs=[dataset("in")], outputs=[agents])
    before, after = (event(None, second, run=None, outputs=[mine]) for second in (5, 15))
    assert columns(view(run, before))[0][-1] == "TRANSFORMATION"
    assert columns(view(run, after))[0][-1] == "AGGREGATION"


def test_whole_dataset_dependencies_and_masking_are_distinct():
    masked = source("in", "mail", "TRANSFORMATION")
    masked["transformations"][0]["masking"] = True
    two = source("in", "price")
    two["transformations"].append({"type": "INDIRECT", "subtype": "CONDITIONAL"})
    found = view(
        event(
            outputs=[
                dataset(
                    "out",
                    columnLineage={
                        **lineage(mail=[masked], price=[two]),
                        "dataset": [source("in", "day", "FILTER", "INDIRECT")],
                    },
                )
            ],
            inputs=[dataset("in")],
        )
    )
    assert columns(found) == [
        ("out", "*", "in", "day", "FILTER"),
        ("out", "mail", "in", "mail", "TRANSFORMATION"),
        ("out", "price", "in", "price", "CONDITIONAL"),
        ("out", "price", "in", "price", "IDENTITY"),
    ]
    assert {edge.field: edge.masking for edge in found.columns} == {None: False, "mail": True, "price": False}


def test_deprecated_transformation_types_are_understood():
    bare = {"namespace": "s3://warehouse", "name": "in", "field": "x"}
    fields = {
        name: {"inputFields": [bare], "transformationType": kind}
        for name, kind in (("a", "IDENTITY"), ("b", "MASKED"), ("c", None))
    }
    found = view(event(outputs=[dataset("out", columnLineage={"fields": fields})]))
    assert {edge.field: (edge.type, edge.subtype, edge.masking) for edge in found.columns} == {
        "a": ("DIRECT", "IDENTITY", False),
        "b": ("DIRECT", "TRANSFORMATION", True),
        "c": (None, None, False),
    }


def test_without_facets_every_input_connects_to_every_output():
    found = view(event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("x"), dataset("y")]))
    assert flows(found) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def _entry(name, *inputs):
    sources = [{"namespace": "s3://warehouse", "name": item, "type": "DATASET"} for item in inputs]
    return {"namespace": "s3://warehouse", "name": name, "type": "DATASET", "inputs": sources}


def test_job_lineage_facet_selects_the_edges():
    datasets = {"inputs": [dataset("a"), dataset("b")], "outputs": [dataset("x"), dataset("y"), dataset("z")]}
    entries = [_entry("x", "a"), _entry("y", "b"), _entry("z")]
    found = view(event(job_facets={"lineage": {"entries": entries}}, **datasets))
    assert flows(found) == [("a", "x"), ("b", "y")]


def test_dataset_lineage_facet_supersedes_its_column_lineage():
    entry = _entry("x", "a")
    entry["fields"] = {"c": {"inputs": [{**entry["inputs"][0], "field": "c", "transformations": []}]}}
    output = dataset("x", columnLineage=lineage(c=[source("b", "c")]))
    output["facets"]["lineage"] = facet(inputs=entry["inputs"], fields=entry["fields"])
    found = view(event(inputs=[dataset("a"), dataset("b")], outputs=[output]))
    assert flows(found) == [("a", "x")]
    assert columns(found) == [("x", "c", "a", "c", None)]


def test_column_lineage_selects_the_edges_and_other_inputs_connect_to_all():
    outputs = [
        dataset("x", columnLineage=lineage(c=[source("a", "c")])),
        dataset("y", columnLineage=lineage(c=[source("b", "c")], n=[])),
    ]
    inputs = [dataset("a"), dataset("b"), dataset("counted")]
    found = view(event(inputs=inputs, outputs=outputs))
    assert flows(found) == [("a", "x"), ("b", "y"), ("counted", "x"), ("counted", "y")]


def test_deleted_facet_is_removed():
    output = dataset("out", columnLineage=lineage(c=[source("in", "c")]))
    deleted = {**dataset("out"), "facets": {"columnLineage": {**facet(), "_deleted": True}}}
    assert columns(view(event("START", 0, outputs=[output]), event("RUNNING", 1, outputs=[deleted]))) == []


def test_writer_schema_precedes_reader_schema():
    state = fold_events(
        [
            event("START", 0, outputs=[dataset("t", schema=schema("a", "b"))]),
            event("START", 9, run=2, job="reader", inputs=[dataset("t", schema=schema("a"))]),
            event("START", 9, run=2, job="reader", inputs=[dataset("u", schema=schema("c"))]),
        ]
    )
    assert [field["name"] for field in state.datasets[table("t")].fields()] == ["a", "b"]
    assert [field["name"] for field in state.datasets[table("u")].fields()] == ["c"]


def test_dataset_event_describes_a_dataset_without_a_job():
    state = fold_events([read(dataset_event(0, dataset("t", schema=schema("a"))))])
    assert [field["name"] for field in state.datasets[table("t")].fields()] == ["a"]
    assert not state.jobs


def test_equal_facets_of_many_runs_are_stored_once():
    events = [event("START", i, run=i, outputs=[dataset("t", schema=schema("a"))]) for i in range(3)]
    runs = fold_events(events).jobs[JOB].runs.values()
    assert len({id(run.outputs[table("t")].get("schema")) for run in runs}) == 1


def test_shared_facets_distinguish_true_from_1():
    first = event("START", 0, outputs=[dataset("t", custom={"flag": True})])
    second = event("START", 1, run=2, outputs=[dataset("t", custom={"flag": 1})])
    runs = fold_events([first, second]).jobs[JOB].runs
    flags = [run.outputs[table("t")].get("custom")["flag"] for run in runs.values()]
    assert [type(flag) for flag in flags] == [bool, int]
