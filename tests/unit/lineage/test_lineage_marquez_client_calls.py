# SPDX-License-Identifier: Apache-2.0
"""Every public method of Marquez's Python client, called against a service process."""

import inspect

import pytest
from test_lineage_process import service

FOOD, ORDERS, ETL = "food", "public.orders", "etl"


def keys(text):
    return set(text.split())


NAMESPACE = keys("name createdAt updatedAt ownerName description")
SOURCE = keys("type name createdAt updatedAt connectionUrl description")
DATASET = keys("id type name physicalName createdAt updatedAt namespace sourceName fields tags lastModifiedAt")
DATASET |= keys("description facets deleted columnLineage lastLifecycleState currentVersion")
VERSION = keys("id type name physicalName createdAt version namespace sourceName fields tags lifecycleState")
VERSION |= keys("description createdByRun facets currentSchemaVersion")
JOB = keys("id type name simpleName parentJobName createdAt updatedAt namespace inputs outputs location description")
JOB |= keys("latestRun latestRuns facets tags currentVersion labels")
RUN = keys("id createdAt updatedAt nominalStartTime nominalEndTime state startedAt endedAt durationMs args jobVersion")
RUN |= keys("facets inputDatasetVersions outputDatasetVersions")


def calls():
    """Return arguments and required keys of the answer by method, in an order in which each can succeed."""
    from marquez_client.models import DatasetId, DatasetType, JobType

    fields = [{"name": "id", "type": "INTEGER"}]
    inputs = [DatasetId(FOOD, ORDERS)]
    column = (FOOD, ORDERS, "id")
    return {
        "create_namespace": ((FOOD, "me", "meals"), NAMESPACE),
        "get_namespace": ((FOOD,), NAMESPACE),
        "list_namespaces": ((), {"namespaces"}),
        "create_source": (("shop", "POSTGRESQL", "postgresql://db:5432/shop", "orders"), SOURCE),
        "get_source": (("shop",), SOURCE),
        "list_sources": ((), {"sources"}),
        "create_tag": (("PII", "personal"), {"name", "description"}),
        "list_tags": ((), {"tags"}),
        "create_dataset": (
            (FOOD, ORDERS, DatasetType.DB_TABLE, ORDERS, "shop", "all orders", None, None, fields),
            DATASET,
        ),
        "tag_dataset": ((FOOD, ORDERS, "PII"), DATASET),
        "tag_dataset_field": ((*column, "PII"), DATASET),
        "get_dataset": ((FOOD, ORDERS), DATASET),
        "list_datasets": ((FOOD,), {"datasets", "totalCount"}),
        "list_dataset_versions": ((FOOD, ORDERS), {"versions", "totalCount"}),
        "get_dataset_version": ((FOOD, ORDERS, "VERSION"), VERSION),
        "create_job": ((FOOD, ETL, JobType.BATCH, None, inputs, [], "totals"), JOB),
        "get_job": ((FOOD, ETL), JOB),
        "list_jobs": ((FOOD,), {"jobs", "totalCount"}),
        "create_job_run": ((FOOD, ETL), RUN),
        "get_job_run": (("RUN",), RUN),
        "list_job_runs": ((FOOD, ETL), {"runs", "totalCount"}),
        "mark_job_run_as_started": (("RUN",), RUN),
        "mark_job_run_as_completed": (("RUN",), RUN),
        "mark_job_run_as_aborted": (("RUN",), RUN),
        "mark_job_run_as_failed": (("RUN",), RUN),
        "get_column_lineage_by_dataset": ((FOOD, ORDERS), {"graph"}),
        "get_column_lineage_by_dataset_field": (column, {"graph"}),
        "get_column_lineage_by_job": ((FOOD, ETL), {"graph"}),
        "list_events": ((), {"events", "totalCount"}),
    }


def public_methods(client):
    """Return the names of all public methods of a client."""
    return {name for name, _ in inspect.getmembers(client, inspect.isroutine) if not name.startswith("_")}


@pytest.mark.filterwarnings("ignore:.* is (deprecated|unsupported) as of:DeprecationWarning")
def test_every_method_of_the_client_is_answered(tmp_path):
    found = pytest.importorskip("marquez_client", reason="marquez-python is not installed")
    expected = calls()
    assert public_methods(found.MarquezClient) == expected.keys()
    answers = {}
    with service(tmp_path) as (_, url):
        client = found.MarquezClient(url)
        for name, (arguments, required) in expected.items():
            known = {
                "RUN": answers.get("create_job_run", {}).get("id"),
                "VERSION": answers.get("get_dataset", {}).get("currentVersion"),
            }
            called = [known.get(value, value) if isinstance(value, str) else value for value in arguments]
            answers[name] = getattr(client, name)(*called)
            assert required <= answers[name].keys(), name
    assert answers["get_dataset"]["tags"] == ["PII"]
    assert [field["tags"] for field in answers["get_dataset"]["fields"]] == [["PII"]]
    assert answers["get_dataset_version"] == answers["list_dataset_versions"]["versions"][0]
    # FAIL wins over the other ends.
    marks = ("started", "completed", "aborted", "failed")
    states = [answers[f"mark_job_run_as_{mark}"]["state"] for mark in marks]
    assert states == ["RUNNING", "COMPLETED", "ABORTED", "FAILED"]
