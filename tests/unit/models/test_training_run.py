# SPDX-License-Identifier: Apache-2.0
"""Events of a training: its inputs, the model as output, versions, drift, and every end."""

import json

import pytest

from lineagelab_common.identifiers import ParentRun
from lineagelab_common.open_runs import OpenRuns, take_terminal_events
from lineagelab_scikit_learn import Dataset, FeatureProfile, Trained, Training, TrainingRun
from tests.openlineage_schemas import conformance_errors

TABLE, MODEL = Dataset("s3://lake", "sales/features"), Dataset("s3://models", "forecast")
TYPES = {"at": "timestamp", "mean": "double", "high": "double", "next": "double"}
PROFILE = FeatureProfile.of([1.0, 2.0, 3.0])


def training(**changes):
    values = {
        "table": TABLE,
        "version": "41",
        "types": TYPES,
        "features": ("mean", "high"),
        "target": "next",
        "model": MODEL,
        "filters": ("at",),
    }
    return Training(**{**values, **changes})


@pytest.fixture
def sent():
    events = []
    yield events
    assert [error for event in events for error in conformance_errors(event)] == []


def run(sent, **more):
    return TrainingRun(sent.append, "shop", "train", training(), "1.9.1", **more)


def edges(items):
    return {(item["field"], item["transformations"][0]["subtype"]) for item in items}


def test_a_model_has_its_columns_and_the_version_of_the_table(sent):
    with run(sent) as started:
        started.completed(Trained({"mean": PROFILE, "high": PROFILE}))
    start, end = sent
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert {event["run"]["runId"] for event in sent} == {started.run_id}
    (table,), (model,) = end["inputs"], end["outputs"]
    assert (table["namespace"], table["name"]) == (TABLE.namespace, TABLE.name)
    assert table["facets"]["version"]["datasetVersion"] == "41"
    assert table["inputFacets"]["dataQualityMetrics"].keys() == {"_producer", "_schemaURL", "columnMetrics"}
    assert table["inputFacets"]["dataQualityMetrics"]["columnMetrics"]["mean"]["max"] == 3.0
    assert "dataQualityAssertions" not in table["inputFacets"]
    assert (model["namespace"], model["name"]) == (MODEL.namespace, MODEL.name)
    assert model["facets"]["version"]["datasetVersion"] == "41"
    assert [each["name"] for each in model["facets"]["schema"]["fields"]] == ["mean", "high", "predicted_next"]
    columns = {name: edges(found["inputFields"]) for name, found in model["facets"]["columnLineage"]["fields"].items()}
    assert columns == {
        "mean": {("mean", "AGGREGATION")},
        "high": {("high", "AGGREGATION")},
        "predicted_next": {("mean", "AGGREGATION"), ("high", "AGGREGATION"), ("next", "AGGREGATION")},
    }
    rows = edges(model["facets"]["columnLineage"]["dataset"])
    assert rows == {(name, "FILTER") for name in ("mean", "high", "next", "at")}


def test_the_start_names_the_datasets_and_claims_no_version_of_the_model(sent):
    with run(sent) as started:
        (start,) = sent
        assert [each["name"] for each in (*start["inputs"], *start["outputs"])] == [TABLE.name, MODEL.name]
        assert start["outputs"][0]["facets"].keys() == {"columnLineage"}
        started.completed(Trained({"mean": PROFILE}))


def test_drift_is_an_assertion_about_the_feature(sent):
    profile = FeatureProfile.of([1.0, 2.0, 3.0] * 20)
    drifts = {"mean": profile.drift([1.0, 2.0, 3.0] * 5), "high": profile.drift([900.0] * 50)}
    with run(sent) as started:
        started.completed(Trained({"mean": PROFILE, "high": PROFILE}, drifts))
    found = {
        each["column"]: (each["success"], each["severity"])
        for each in sent[-1]["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    }
    assert found == {"mean": (True, "warn"), "high": (False, "warn")}


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [
        (ValueError("too few rows"), "FAIL", "ValueError: too few rows"),
        (KeyboardInterrupt(), "ABORT", None),
        (None, "FAIL", "the training ended without a model"),
    ],
    ids=["exception", "interrupt", "no model"],
)
def test_a_training_without_a_model_does_not_complete(sent, error, state, message):
    def body():
        with run(sent):
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            body()
    else:
        body()
    end = sent[-1]
    assert end["eventType"] == state
    assert end["run"]["facets"].get("errorMessage", {}).get("message") == message
    assert "version" not in end["outputs"][0]["facets"]


def test_the_next_training_ends_the_run_of_one_that_was_killed(sent, tmp_path):
    file = tmp_path / "open_runs.json"
    killed = run(sent, open_runs=OpenRuns(file))
    killed.__enter__()
    (ending,) = take_terminal_events(file, "ABORT", "", "2026-11-27T00:00:00.000Z")
    sent.append(ending)
    assert (ending["eventType"], ending["run"]["runId"]) == ("ABORT", killed.run_id)
    with run(sent, open_runs=OpenRuns(file)) as later:
        later.completed(Trained({"mean": PROFILE}))
    assert json.loads(file.read_text()) == {}


def test_a_training_below_another_run_names_it(sent):
    parent = ParentRun.parse("shop/nightly/01a21a42-65e4-7f3b-a9f0-4d621c4c6691")
    with run(sent, parent=parent) as started:
        started.completed(Trained({"mean": PROFILE}))
    assert {event["run"]["facets"]["parent"]["job"]["name"] for event in sent} == {"nightly"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ("mean", "low")}, "sales/features has no column low"),
        ({"target": "later"}, "sales/features has no column later"),
        ({"filters": ("day",)}, "sales/features has no column day"),
        ({"features": ()}, "must be some columns, and not the target"),
        ({"features": ("mean", "next")}, "must be some columns, and not the target"),
    ],
)
def test_a_training_on_columns_that_are_not_there_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        training(**changes)
