# SPDX-License-Identifier: Apache-2.0
"""Events of the lab's Spark jobs: run events of the agent, and job events with columns from recorded plans."""

import json
from pathlib import Path
from typing import Any

from lineage_events import at, facet

from lineagelab_spark import events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.plan import derive

PLANS = Path(__file__).resolve().parents[1] / "spark" / "plans"
JOB_NAMESPACE = "lineage-lab"
ORDERS = Dataset("kafka://kafka:9092", "orders", is_topic=True)
SALES = Dataset("s3://warehouse", "sales/orders")
STATS = Dataset("s3://warehouse", "sales/supplier_stats")
SALES_FIELDS = [("order_id", "string"), ("price", "decimal(10,2)"), ("supplier", "string"), ("bid_time", "timestamp")]
STATS_FIELDS = [("supplier", "string"), ("bid_date", "date"), ("bid_hour", "int"), ("total_price", "decimal(12,2)")]


def pipeline(rounds: int) -> list[dict[str, Any]]:
    """Return the events of `rounds` runs of both jobs; the last `orders_etl` sends COMPLETE after FAIL."""
    made: list[dict[str, Any]] = []
    for number in range(rounds):
        etl = events.job_name("orders_etl", "overwrite_by_expression", "lake.sales.orders")
        stats = events.job_name("supplier_stats", "overwrite_partitions_dynamic", "lake.sales.supplier_stats")
        failed = number == rounds - 1
        made += _application(number * 2, "orders_etl", etl, _columns("orders_etl_accepted", ORDERS, SALES), failed)
        made += _application(number * 2 + 1, "supplier_stats", stats, _columns("supplier_stats", SALES, STATS), False)
    return made


def _columns(plan: str, source: Dataset, target: Dataset) -> events.Datasets:
    lineage = derive((PLANS / f"{plan}.json").read_text(encoding="utf-8"))
    fields = SALES_FIELDS if target is SALES else STATS_FIELDS
    return events.describe(lineage, [(source,)] * len(lineage.leaves), events.Sink(target, fields), complete=True)


def _application(number: int, name: str, write: str, columns: events.Datasets, failed: bool) -> list[dict[str, Any]]:
    """Return the events of one application: its run around one write, and the job event with the columns."""
    second = number * 20.0
    application, action = f"a{number:03d}", f"b{number:03d}"
    about = json.loads(json.dumps(events.job_event(JOB_NAMESPACE, write, "BATCH", columns)))
    about["eventTime"] = at(second + 2)
    bare = [{key: dataset[key] for key in ("namespace", "name")} for dataset in about["inputs"]]
    written = [{**dataset, "facets": {"schema": dataset["facets"]["schema"]}} for dataset in about["outputs"]]
    parent = {"parent": facet(run={"runId": _uuid(application)}, job={"namespace": JOB_NAMESPACE, "name": name})}
    ends = ["FAIL", "COMPLETE"] if failed else ["COMPLETE"]
    return [
        _event("START", second, application, name),
        _event("START", second + 1, action, write, parent, bare, written),
        about,
        *(_event(end, second + 3 + step, action, write, parent, bare, written) for step, end in enumerate(ends)),
        _event("COMPLETE", second + 9, application, name),
    ]


def _event(
    event_type: str,
    second: float,
    run: str,
    job: str,
    run_facets: dict[str, Any] | None = None,
    inputs: list[dict[str, Any]] | None = None,
    outputs: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    kind = facet(processingType="BATCH", integration="SPARK", jobType="SQL_JOB")
    return {
        "eventTime": at(second),
        "eventType": event_type,
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": _uuid(run), "facets": run_facets or {}},
        "job": {"namespace": JOB_NAMESPACE, "name": job, "facets": {"jobType": kind}},
        "inputs": inputs or [],
        "outputs": outputs or [],
    }


def _uuid(short: str) -> str:
    return f"00000000-0000-7000-8000-{short:0>12}"
