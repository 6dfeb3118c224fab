# SPDX-License-Identifier: Apache-2.0
"""Runs of the real dbt, reported as events: models, tests, failures and interruptions."""

import pytest
from dbt_command import JOB, MODELS, DbtProject

from tests.openlineage_schemas import conformance_errors

ORDERS = """
INSERT INTO lake.sales.orders SELECT 'o' || i, 'saw', i + 0.5, 's' || i % 3, TIMESTAMPTZ '2026-11-01 10:00:00+00'
    + to_hours(i) FROM range(40) AS t(i)
"""
REJECTED = """
INSERT INTO lake.sales.orders_rejected VALUES ('r1', 'supplier is empty', '2026-11-02 10:00:00+00'),
    ('r2', 'bid_time is more than 3600 s before the record', '2026-12-02 10:00:00+00')
"""


def filled(folder):
    project = DbtProject(folder)
    project.execute(ORDERS, REJECTED)
    return project


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    project = filled(tmp_path_factory.mktemp("dbt"))
    made = project.run("build")
    assert made.status == 0, made.text
    return made


@pytest.fixture
def project(tmp_path):
    return filled(tmp_path)


def test_every_event_conforms_to_the_standard(built):
    assert [error for event in built.events for error in conformance_errors(event)] == []


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_a_run_below_that_of_the_command(built, model):
    command = built.of(JOB)
    assert [event["eventType"] for event in command] == ["START", "COMPLETE"]
    assert built.types(f"{JOB}.{model}") == ["START", "COMPLETE"]
    start, complete = built.of(f"{JOB}.{model}")
    assert start["run"]["runId"] == complete["run"]["runId"]
    parent = complete["run"]["facets"]["parent"]
    assert (parent["run"]["runId"], parent["job"]["name"]) == (command[0]["run"]["runId"], JOB)
    assert complete["job"]["facets"]["sql"]["query"].lstrip().startswith(("select", "with"))


def test_a_run_names_its_tables_from_the_start(built):
    start, complete = built.of(f"{JOB}.order_quality_by_day")

    def names(event, side):
        return {each["name"] for each in event[side]}

    assert names(start, "outputs") == {"lake.marts.order_quality_by_day"}
    # Ephemeral models are not tables: what they read is read by the model.
    assert names(start, "inputs") == {"lake.marts.dim_days", "lake.marts.fct_orders", "lake.sales.orders_rejected"}
    assert [names(complete, side) for side in ("inputs", "outputs")] == [
        names(start, side) for side in ("inputs", "outputs")
    ]


def test_schemas_are_those_of_the_tables(built):
    (output,) = built.of(f"{JOB}.dim_days")[1]["outputs"]
    fields = {each["name"]: each["type"] for each in output["facets"]["schema"]["fields"]}
    assert fields == {"day": "date", "weekday": "integer", "is_weekend": "boolean"}


def test_the_tests_of_a_table_are_one_run_with_their_results(built):
    start, complete = built.of(f"{JOB}.fct_orders.test")
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["eventTime"] <= complete["eventTime"]
    (tested,) = complete["inputs"]
    assert tested["name"] == "lake.marts.fct_orders"
    results = tested["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert all(each["success"] for each in results)
    assert {(each["assertion"], each.get("column")) for each in results} == {
        ("not_null", "order_id"),
        ("unique", "order_id"),
        ("not_null", "supplier"),
        ("relationships", "supplier"),
        ("not_null", "order_date"),
        ("relationships", "order_date"),
    }


def test_a_test_of_its_own_is_a_run_over_all_its_tables(built):
    (_, complete) = built.of(f"{JOB}.revenue_is_that_of_the_orders")
    assert {each["name"] for each in complete["inputs"]} == {
        "lake.marts.fct_orders",
        "lake.marts.revenue_by_supplier_and_hour",
    }


def test_a_failed_test_fails_its_run_and_skips_what_depends_on_the_table(project):
    project.execute("INSERT INTO lake.sales.orders VALUES ('o1', 'saw', 1, 's1', '2026-11-01 10:00:00+00')")
    made = project.run("build")
    assert made.status == 1
    assert made.types(f"{JOB}.sales_orders.test") == ["START", "FAIL"]
    failed = made.of(f"{JOB}.sales_orders.test")[1]
    (tested,) = failed["inputs"]
    results = {each["assertion"]: each for each in tested["inputFacets"]["dataQualityAssertions"]["assertions"]}
    assert (results["unique"]["success"], results["unique"]["column"]) == (False, "order_id")
    assert results["not_null"]["success"] is True
    assert "source_unique_sales_orders_order_id: Got 1 result" in failed["run"]["facets"]["errorMessage"]["message"]
    assert made.jobs == {JOB, f"{JOB}.sales_orders.test"}  # a model that was skipped has no run
    command = made.of(JOB)[1]
    assert command["eventType"] == "FAIL"
    assert "source_unique_sales_orders_order_id" in command["run"]["facets"]["errorMessage"]["message"]


def test_a_failed_model_fails_its_run_with_the_message_of_the_engine(project):
    project.execute("ALTER TABLE lake.sales.orders DROP COLUMN item")
    made = project.run("build")
    assert made.status == 1
    assert made.types(f"{JOB}.fct_orders") == ["START", "FAIL"]
    failed = made.of(f"{JOB}.fct_orders")[1]
    assert '"item" not found' in failed["run"]["facets"]["errorMessage"]["message"]
    assert [each["name"] for each in failed["outputs"]] == ["lake.marts.fct_orders"]
    assert made.types(f"{JOB}.dim_days") == []


@pytest.mark.slow
def test_a_build_is_repeatable_and_follows_changed_columns(project):
    assert project.run("run").status == 0
    before = project.execute("SELECT * FROM lake.marts.fct_orders ORDER BY ALL")
    project.execute("ALTER TABLE lake.marts.fct_orders ADD COLUMN former INTEGER", "DROP TABLE lake.marts.dim_days")
    again = project.run("run")
    assert again.status == 0, again.text
    assert project.execute("SELECT * FROM lake.marts.fct_orders ORDER BY ALL") == before
    assert len(before) == 40


def test_a_command_that_cannot_run_fails_with_dbts_message(project):
    made = project.run("build", "--select", "fct_orders", "--no-such-option")
    assert made.status == 2
    assert "No such option" in made.text
    assert made.types(JOB) == ["START", "FAIL"]


def test_commands_that_execute_no_nodes_are_not_reported(project):
    made = project.run("parse")
    assert (made.status, made.events) == (0, [])


@pytest.mark.slow
def test_undelivered_events_are_sent_by_the_next_command(project):
    spool = {"LINEAGE_SPOOL": str(project.folder / "unsent.json")}
    first = project.run("run", "--select", "fct_orders", OPENLINEAGE_URL="http://127.0.0.1:9", **spool)
    assert first.status == 0
    assert first.events == []
    second = project.run("run", "--select", "dim_suppliers", **spool)
    assert second.types(f"{JOB}.fct_orders") == ["START", "COMPLETE"]
    assert second.types(JOB) == ["START", "COMPLETE", "START", "COMPLETE"]
