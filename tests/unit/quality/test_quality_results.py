# SPDX-License-Identifier: Apache-2.0
"""Results of Great Expectations 1.24, recorded from a data frame of four rows, as facets and runs."""

import json
from pathlib import Path

import pytest

from infra.cli.query import SUITES
from lineagelab_great_expectations import CheckRun, Dataset, read_results
from lineagelab_great_expectations.suites import SuiteError, read_suites
from tests.openlineage_schemas import conformance_errors

RESULT = json.loads(Path(__file__).with_name("validation_result.json").read_text())
PASSED = {"success": True, "results": [row for row in RESULT["results"] if row["success"]]}
ORDERS = Dataset("s3://lake", "orders")


def events_of(block=lambda run: run.record(RESULT), error=None):
    """Return the events of a check."""
    sent = []
    run = CheckRun(sent.append, "shop", "check.orders", ORDERS, "1.24.1")
    if error is None:
        with run:
            block(run)
    else:
        with pytest.raises(error), run:
            block(run)
    return sent


def test_each_expectation_is_an_assertion():
    found = {each.label: each for each in read_results(RESULT).results}
    assert {label: (each.success, each.severity) for label, each in found.items()} == {
        "expect_column_values_to_not_be_null of a": (False, "error"),
        "expect_column_values_to_be_unique of a": (False, "error"),
        "expect_column_values_to_be_between of b": (False, "warn"),
        "expect_table_row_count_to_be_between": (True, "error"),
        "expect_column_values_to_be_in_set of zz": (None, "error"),
        "expect_column_pair_values_a_to_be_greater_than_b of b, a": (False, "error"),
        "expect_compound_columns_to_be_unique of a, b": (True, "error"),
        "expect_column_mean_to_be_between of b": (False, "error"),
    }
    assert found["expect_column_values_to_be_unique of a"].message == "2 of 4 rows"
    assert found["expect_column_mean_to_be_between of b"].message == "observed 101.5"
    assert (
        found["expect_column_values_to_be_in_set of zz"].message
        == 'Error: The column "zz" in BatchData does not exist.'
    )
    assertions = {(row["assertion"], row.get("column")): row["success"] for row in read_results(RESULT).assertions}
    assert assertions[("expect_column_values_to_not_be_null", "a")] is False
    assert assertions[("expect_compound_columns_to_be_unique(a, b)", None)] is True
    assert ("expect_column_values_to_be_in_set", "zz") not in assertions, "what was not evaluated is no result"


def test_metrics_are_what_was_counted():
    assert read_results(RESULT).metrics == {
        "rowCount": 4,
        "columnMetrics": {"a": {"nullCount": 1}, "b": {"nullCount": 0}},
    }
    assert read_results({"results": []}).metrics == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "x", True])
def test_an_observed_value_that_is_no_number_is_no_metric(value):
    row = {
        "success": True,
        "expectation_config": {"type": "expect_column_max_to_be_between", "kwargs": {"column": "a"}},
        "result": {"observed_value": value},
    }
    assert read_results({"results": [row]}).metrics == {}


def test_no_value_of_a_row_is_in_an_event():
    # Without ids and times of the run, in which any digits occur.
    content = [(event["inputs"], event["run"]["facets"], event["job"]) for event in events_of()]
    assert "400" not in json.dumps(content), "a partial list of unexpected values"


def test_events_conform_and_say_what_is_broken():
    start, end = events_of()
    assert [error for event in (start, end) for error in conformance_errors(event)] == []
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert start["run"]["runId"] == end["run"]["runId"]
    message = end["run"]["facets"]["errorMessage"]["message"]
    assert "expect_column_values_to_not_be_null of a: 1 of 4 rows" in message
    assert "expect_column_values_to_be_between of b" not in message, "a warning breaks nothing"
    (checked,) = end["inputs"]
    assert (checked["namespace"], checked["name"]) == ("s3://lake", "orders")
    assert checked["inputFacets"]["dataQualityMetrics"]["rowCount"] == 4


def test_a_check_that_passes_is_complete():
    assert [event["eventType"] for event in events_of(lambda run: run.record(PASSED))] == ["START", "COMPLETE"]


@pytest.mark.parametrize(
    ("error", "event_type", "message"),
    [(ZeroDivisionError, "FAIL", "ZeroDivisionError: no"), (KeyboardInterrupt, "ABORT", None)],
)
def test_a_check_that_is_interrupted_ends_its_run(error, event_type, message):
    def block(run):
        raise error("no")

    end = events_of(block, error)[-1]
    assert end["eventType"] == event_type
    assert end["run"]["facets"].get("errorMessage", {}).get("message") == message
    assert "inputFacets" not in end["inputs"][0]


def test_a_check_without_a_result_fails():
    end = events_of(lambda run: None)[-1]
    assert end["run"]["facets"]["errorMessage"]["message"] == "the check ended without a result"


@pytest.mark.parametrize("junk", [{}, {"results": [1]}, {"results": [{"success": True}]}, {"results": None}])
def test_junk_is_no_validation_result(junk):
    with pytest.raises(ValueError, match="not a validation result"):
        read_results(junk)


def test_the_suites_of_the_lab_name_the_columns_that_they_need():
    suites = {suite.table: suite for suite in read_suites(SUITES)}
    assert suites["sales.orders"].columns == ["order_id", "supplier", "price"]


@pytest.mark.parametrize(
    ("expectation", "columns"),
    [
        ({"type": "expect_compound_columns_to_be_unique", "kwargs": {"column_list": ["a", "b"]}}, ["a", "b"]),
        ({"type": "expect_column_pair_values_to_be_equal", "kwargs": {"column_A": "a", "column_B": "b"}}, ["a", "b"]),
        ({"type": "expect_table_column_count_to_equal", "kwargs": {"value": 3}}, None),
        ({"type": "expect_table_row_count_to_equal", "kwargs": {"value": 3}}, None),
        ({"type": "expect_column_values_to_be_unique", "kwargs": {"column": "a", "row_condition": "b > 1"}}, None),
    ],
)
def test_columns_that_a_suite_needs(tmp_path, expectation, columns):
    (tmp_path / "t.json").write_text(json.dumps({"expectations": [expectation]}))
    (suite,) = read_suites(tmp_path)
    assert suite.columns == columns


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        (None, (), "has no suite; write one to"),
        ("{}", ("other",), "has no suite other; it has: t"),
        ("[", (), "is not a suite"),
        ('{"expectations": []}', (), "has no expectation"),
        ('{"expectations": [{"kwargs": {}}]}', (), "'type'"),
        ('{"expectations": [{"type": "x", "kwargs": []}]}', (), "`kwargs`"),
    ],
)
def test_suites_that_cannot_be_used_are_named(tmp_path, text, names, words):
    if text is not None:
        (tmp_path / "t.json").write_text(text)
    with pytest.raises(SuiteError) as raised:
        read_suites(tmp_path, names)
    assert words in str(raised.value)
    assert str(tmp_path) in str(raised.value)
