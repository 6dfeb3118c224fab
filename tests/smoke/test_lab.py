# SPDX-License-Identifier: Apache-2.0
"""One real lab from `up` to `down`. Later tests depend on earlier ones.

`make test` runs the tests that are not slow; `make test-all` runs all of them in a separate lab.
"""

import json
import shutil
import stat
import subprocess
import threading
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from ipaddress import ip_address
from itertools import pairwise
from urllib.parse import quote

import httpx
import psutil
import pytest
from confluent_kafka import KafkaException

from infra import credentials
from infra.errors import LabError
from infra.model.resources import Topic
from infra.namespaces import (
    ARCHIVE_BUCKET,
    ARCHIVE_NAMESPACE,
    CHECKPOINT_BUCKET,
    JOB_ICEBERG_INGESTION,
    JOB_ORDERS_ETL,
    JOB_SUPPLIER_STATS,
    KAFKA_NAMESPACE,
    RAW_TABLES,
    WAREHOUSE_BUCKET,
    WAREHOUSE_NAMESPACE,
)
from infra.project import PROJECT, PULUMI_STATE
from infra.provider.kind import OperationContext
from infra.provider.kinds.topic import TopicKind
from infra.services.overview import enabled_features
from jobs.shop.orders import CURRENCIES, Mix, batch
from lineage.checks.contract import compare, load
from tests.openlineage_schemas import conformance_errors
from tests.page import screenshots
from tests.page.browser import visiting
from tests.smoke.delivery import await_delivery
from tests.smoke.etl_tables import await_etl
from tests.smoke.lab_page import lab_browser
from tests.stack.polling import HANGING_SECONDS

pytestmark = pytest.mark.smoke

STATS = "supplier_stats.overwrite_partitions_dynamic.lake_sales_supplier_stats"

INGEST_KEY = "LINEAGE_API_KEY"
"""Variable of `lab.env` with the key of emitters."""


def fits_decimal(price):
    try:
        number = Decimal(price)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number) < 10**8


def run_jobs(lab):
    """Wait until the ETL has processed the topic, then run the statistics job."""
    assert await_etl(lab.stores).differences == []
    result = lab.lab("run", JOB_SUPPLIER_STATS)
    assert result.status == 0, result.text


def test_up_reports_matching_lineage_and_all_endpoints(lab):
    assert "as the contract says" in lab.first_up.text
    for endpoint in ("kafka", "connect", "schema_registry", "postgres", "s3", "iceberg_catalog", "lineage"):
        assert endpoint in lab.first_up.text


def test_lab_env_configures_independent_clients(lab):
    assert stat.S_IMODE((lab.root / "lab.env").stat().st_mode) == 0o600
    buckets = {bucket["Name"] for bucket in lab.stores.s3().list_buckets()["Buckets"]}
    assert buckets == {ARCHIVE_BUCKET, CHECKPOINT_BUCKET, WAREHOUSE_BUCKET}
    assert lab.stores.query_database("SELECT current_database() AS name") == [{"name": "shop"}]
    assert {"orders-value", "bids-value"} <= set(lab.stores.registry("/subjects"))
    assert {"orders_source", "orders_lake", "orders_archive"} <= set(lab.stores.connect("/connectors"))


def test_credentials_are_absent_from_state_argv_and_connector_configs(lab):
    state = list(PULUMI_STATE.rglob("*.json"))
    assert state
    processes = lab.processes()
    assert len(processes) >= 5
    for secret in (lab.environment["AWS_SECRET_ACCESS_KEY"], lab.environment["PGPASSWORD"]):
        assert all(secret not in path.read_text() for path in state)
        assert all(secret not in " ".join(p.info["cmdline"]) for p in processes)
        for connector in lab.stores.connect("/connectors"):
            assert secret not in json.dumps(lab.stores.connect(f"/connectors/{connector}"))


def test_services_listen_only_on_loopback(lab):
    addresses = lab.listening_addresses()
    assert len(addresses) >= 6
    hosts = {ip_address(address.ip.removeprefix("::ffff:")) for address in addresses}
    assert all(host.is_loopback for host in hosts), hosts


def test_topics_of_another_cluster_at_the_same_port_are_not_touched(lab):
    ours = Topic(bootstrap=lab.environment["LAB_KAFKA"], cluster="another", name="orders", partitions=3, config={})
    kind, call = TopicKind(), OperationContext()
    assert kind.read(ours, call) is None
    kind.delete(ours, call)
    with pytest.raises(LabError, match="belongs to another lab"):
        kind.create(ours, call)
    assert next(lab.stores.records("orders"))


def test_each_shop_row_is_delivered_once_to_every_store(lab):
    deliveries = await_delivery(lab.stores)
    for topic in ("orders", "bids"):
        assert deliveries[topic].differences == []
        rows, records = lab.stores.rows(topic), list(lab.stores.records(topic))
        assert len(rows) >= 100
        assert all(record.value == rows[record.key] for record in records)
        raw = lab.table(RAW_TABLES[topic]).drop_columns(["kafka_topic", "kafka_partition", "kafka_offset"]).to_pylist()
        assert all(row == rows[row["order_id"]] for row in raw)
        for line in lab.stores.archived(topic):
            row = rows[line["order_id"]]
            assert line.keys() == row.keys()
            assert all(line[name] == row[name] for name in row if name != "bid_time")


def test_duplicate_order_is_a_second_record_with_the_same_key(lab):
    """Rows that were written twice before capture began have one record: the initial snapshot reads each row once."""
    rows = lab.stores.rows("orders")
    made = batch(Mix(), range(len(rows)), 0)
    assert rows.keys() == {order.order_id for order in made.first}
    counts = Counter(record.key for record in lab.stores.records("orders"))
    twice = {key for key, count in counts.items() if count == 2}
    assert twice
    assert twice <= {order.order_id for order in made.again}
    assert set(counts.values()) == {1, 2}


@pytest.mark.slow
def test_each_order_is_in_exactly_one_etl_table_once(lab):
    run_jobs(lab)
    written = lab.stores.rows("orders")
    accepted, rejected = lab.order_counts("sales.orders"), lab.order_counts("sales.orders_rejected")
    assert accepted.keys() | rejected.keys() == written.keys()
    assert accepted.keys().isdisjoint(rejected)
    assert set(accepted.values()) == set(rejected.values()) == {1}
    assert {key for key, order in written.items() if not fits_decimal(order["price"])} == set(rejected)


@pytest.mark.slow
def test_statistics_equal_the_orders(lab):
    expected = defaultdict(lambda: [Decimal(0), 0])
    for row in lab.table("sales.orders").to_pylist():
        hour = expected[row["supplier"], row["bid_time"].date(), row["bid_time"].hour]
        hour[0] += row["price"]
        hour[1] += 1
    rows = lab.table("sales.supplier_stats").to_pylist()
    found = {
        (row["supplier"], row["bid_date"], row["bid_hour"]): [row["total_price"], row["total_count"]] for row in rows
    }
    assert found == expected
    assert len(rows) == len(found)


@pytest.mark.slow
def test_second_run_keeps_row_counts_and_graph(lab):
    tables = ("sales.orders", "sales.orders_rejected", "sales.supplier_stats")
    before, graph = [lab.table(table).num_rows for table in tables], lab.graph()
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    run_jobs(lab)
    assert [lab.table(table).num_rows for table in tables] == before
    after = lab.graph()
    assert stable_parts(after) == stable_parts(graph)


def edges_of_column(graph, field):
    """Return job, input and output of each edge between columns of one name."""
    return {
        (edge["job"]["name"], edge["input"]["name"], edge["output"]["name"])
        for edge in graph["columns"]
        if edge["input"]["field"] == field == edge["output"]["field"]
    }


def stable_parts(graph):
    """Return a graph without dataset versions and job states, which a second run changes."""
    changing = {"version", "state"}
    return json.loads(json.dumps(graph), object_hook=lambda o: {k: v for k, v in o.items() if k not in changing})


def test_graph_connects_the_topic_with_the_statistics(lab):
    answer = lab.api("/api/v1/lineage", nodeId=f"dataset:{KAFKA_NAMESPACE}:orders", depth=10)
    edges = {(e["origin"], e["destination"]) for node in answer["graph"] for e in node["outEdges"]}
    path = [
        f"dataset:{KAFKA_NAMESPACE}:orders",
        f"job:lineage-lab:{JOB_ORDERS_ETL}",
        f"dataset:{WAREHOUSE_NAMESPACE}:sales/orders",
        f"job:lineage-lab:{STATS}",
        f"dataset:{WAREHOUSE_NAMESPACE}:sales/supplier_stats",
    ]
    assert set(pairwise(path)) <= edges


def test_column_lineage_reaches_the_topic_upstream(lab):
    node = f"datasetField:{WAREHOUSE_NAMESPACE}:sales/supplier_stats:total_price"
    answer = lab.api("/api/v1/column-lineage", nodeId=node, depth=10)
    nodes = {found["id"] for found in answer["graph"]}
    assert f"datasetField:{WAREHOUSE_NAMESPACE}:sales/orders:price" in nodes
    assert f"datasetField:{KAFKA_NAMESPACE}:orders:price" in nodes
    assert f"datasetField:{KAFKA_NAMESPACE}:orders:item" not in nodes


def test_verify_reports_deviations_from_the_contract(lab, tmp_path):
    assert lab.lab("verify").status == 0
    contract = tmp_path / "contract.yaml"
    text = (PROJECT / "jobs" / "lineage_contract.yaml").read_text()
    assert "total_price:" in text
    contract.write_text(text.replace("total_price:", "total_prize:"))
    json_file, junit_file = tmp_path / "r.json", tmp_path / "r.xml"
    failed = lab.lab("verify", "--contract", str(contract), "--json", str(json_file), "--junit", str(junit_file))
    assert failed.status == 1
    assert "missing" in failed.text
    assert "unexpected" in failed.text
    assert "total_prize" in failed.text
    assert json.loads(json_file.read_text())["ok"] is False
    assert "<failure" in junit_file.read_text()


def test_every_event_conforms_to_the_standard(lab):
    events = lab.api("/api/v1/events/lineage", limit=1000)["events"]
    assert len(events) > 20
    assert [error for event in events for error in conformance_errors(event)] == []


def test_invalid_event_is_rejected_with_the_field_name(lab):
    base = lab.environment["LAB_LINEAGE"]
    event = {
        "eventType": "START",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0190a0a0-0000-7000-8000-000000000000"},
        "job": {"namespace": "n", "name": "j"},
        "inputs": [],
        "outputs": [{"namespace": "s3://warehouse", "name": ""}],
    }
    headers = {"authorization": f"Bearer {lab.environment[INGEST_KEY]}"}
    refused = httpx.post(f"{base}/api/v1/lineage", json=event, headers=headers)
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["field"] == "outputs[0].name"
    broken = httpx.post(
        f"{base}/api/v1/lineage", content=b'{"eventType": ', headers={"content-type": "application/json", **headers}
    )
    assert broken.status_code == 400
    names = [namespace["name"] for namespace in lab.api("/api/v1/namespaces")["namespaces"]]
    assert names
    assert all(names)


@pytest.mark.slow
def test_changed_transformation_changes_the_lineage_without_declarations(lab, tmp_path):
    """Run a copy of the job that aggregates by upper-case item instead of supplier."""
    for package in ("jobs", "infra"):
        shutil.copytree(PROJECT / package, tmp_path / package, ignore=shutil.ignore_patterns("toolchain"))
    transformation = tmp_path / "jobs" / "spark" / "transformations" / "supplier_totals.py"
    text = transformation.read_text()
    assert '"supplier",' in text
    transformation.write_text(text.replace('"supplier",', 'F.upper("item").alias("supplier"),'))
    script = (lab.root / "services" / "supplier_stats" / "run").read_text()
    assert f"PYTHONPATH={PROJECT}" in script
    copy = tmp_path / "run"
    target = "lake.sales.supplier_stats_scratch"
    copy.write_text(
        script.replace(f"PYTHONPATH={PROJECT}", f"PYTHONPATH={tmp_path}").rstrip() + f" --target {target}\n"
    )
    completed = subprocess.run(["sh", str(copy)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    graph = lab.graph()
    job = "supplier_stats.overwrite_partitions_dynamic.lake_sales_supplier_stats_scratch"
    sources = column_sources(graph, job, "sales/supplier_stats_scratch")
    assert sources["supplier"] == {("item", "TRANSFORMATION")}
    assert column_sources(graph, STATS, "sales/supplier_stats")["supplier"] == {("supplier", "IDENTITY")}
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    report = compare(contract, graph, enabled_features(lab.settings))
    assert (report.findings, [finding.job for finding in report.unlisted]) == ((), [job])


def column_sources(graph, job, dataset):
    """Return the sources of each output column, {(input field, transformation)}, from the direct edges of a job."""
    sources = defaultdict(set)
    for edge in graph["columns"]:
        if edge["job"]["name"] == job and edge["output"]["name"] == dataset and edge["type"] == "DIRECT":
            sources[edge["output"]["field"]].add((edge["input"]["field"], edge["subtype"]))
    return sources


@pytest.mark.slow
def test_failed_job_reports_the_cause_and_exits_with_1(lab):
    """Rows that arrive meanwhile are in the lake once the catalog is back, though the Iceberg sink has failed."""
    with lab.running_shop():
        assert lab.lab("stop", "iceberg_catalog").status == 0
        failed = lab.lab("run", "supplier_stats")
    assert failed.status == 1
    assert "supplier_stats failed (exit status 1)" in failed.text
    assert "Connection refused" in failed.text
    assert lab.lab("start", "iceberg_catalog").status == 0
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    for name, about in lab.stores.connect("/connectors?expand=status").items():
        states = [about["status"]["connector"]["state"], *(task["state"] for task in about["status"]["tasks"])]
        assert set(states) == {"RUNNING"}, name


@pytest.mark.slow
def test_column_added_at_run_time_reaches_every_store(lab):
    versions = lab.stores.registry("/subjects/orders-value/versions")
    with lab.running_shop():
        until(lab, lambda: lab.supervisor.state("shop").running)
        pids = {state.name: state.pid for state in lab.supervisor.states() if state.running}
        before = datetime.now(UTC)
        lab.stores.query_database("ALTER TABLE orders ADD COLUMN currency text")
        until(lab, lambda: any(row["currency"] for row in lab.stores.rows("orders").values()))
        until(lab, lambda: any(record.value.get("currency") for record in lab.stores.records("orders")))
        until(lab, lambda: any(line.get("currency") for line in lab.stores.archived("orders")))
        until(lab, lambda: "currency" in lab.table("raw.orders").column_names)
        assert {state.name: state.pid for state in lab.supervisor.states() if state.running} == pids
        assert len(lab.stores.registry("/subjects/orders-value/versions")) == len(versions) + 1
        newest = json.loads(lab.stores.registry("/subjects/orders-value/versions/latest")["schema"])
        assert "currency" in [field["name"] for field in newest["fields"]]
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    written = {key: row["currency"] for key, row in lab.stores.rows("orders").items()}
    assert set(written.values()) == {None, *CURRENCIES}
    assert {r.key: r.value.get("currency") for r in lab.stores.records("orders")} == written
    raw = lab.table("raw.orders")
    assert dict(zip(*(raw[name].to_pylist() for name in ("order_id", "currency")), strict=True)) == written
    assert {line["order_id"]: line.get("currency") for line in lab.stores.archived("orders")} == written
    run_jobs(lab)
    assert lab.order_counts("sales.orders").keys() | lab.order_counts("sales.orders_rejected").keys() == written.keys()
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    # Another test has run a modified copy of a job, and the contract does not contain the new column.
    findings = compare(contract, lab.graph(), enabled_features(lab.settings)).findings
    assert [f.line() for f in findings if "scratch" not in f.job and "currency" not in f.line()] == []
    assert edges_of_column(lab.graph(), "currency") == {
        ("orders_source", "shop.public.orders", "orders"),
        ("orders_lake", "orders", "raw/orders"),
        ("orders_lake", "orders", "dlq.orders_lake"),
        ("orders_archive", "orders", "topics/orders"),
        ("orders_archive", "orders", "dlq.orders_archive"),
    }
    topic = lab.api(f"/api/v1/namespaces/{quote(KAFKA_NAMESPACE, safe='')}/datasets/orders")
    assert "currency" in [field["name"] for field in topic["fields"]]
    for place in (
        (KAFKA_NAMESPACE, "orders"),
        (WAREHOUSE_NAMESPACE, "raw/orders"),
        (ARCHIVE_NAMESPACE, "topics/orders"),
    ):
        older, newer = versions_around(lab, *place, "currency")
        assert created_at(older) < before < created_at(newer) < datetime.now(UTC), place
        assert older["version"] != newer["version"]


def test_lineage_requires_a_key_of_the_right_scope(lab):
    """Every emitter of the lab has sent its events with a key: the contract holds."""
    base = lab.environment["LAB_LINEAGE"]
    keys = {name: lab.environment[name] for name in (credentials.LINEAGE_READ_KEY, INGEST_KEY)}
    statuses = {}
    for name, key in {"": "", **keys}.items():
        headers = {"authorization": f"Bearer {key}"} if key else {}
        graph = httpx.get(f"{base}/api/v1/graph", headers=headers)
        event = httpx.post(f"{base}/api/v1/lineage", json={}, headers=headers)
        statuses[name] = graph.status_code, event.status_code
    read, ingest = keys
    assert statuses == {"": (401, 401), read: (200, 403), ingest: (403, 422)}
    stats = lab.api("/api/v1/stats")
    assert (stats["unapplied"], stats["deadLetters"]) == ([], {})


def test_maintenance_commands_use_the_admin_key_of_the_lab(lab):
    before = lab.graph()
    rebuilt = lab.lab("lineage", "rebuild")
    assert (rebuilt.status, rebuilt.text.splitlines()[-1].endswith("; it is unchanged")) == (0, True), rebuilt.text
    compacted = lab.lab("lineage", "compact", "-1h")
    assert compacted.status == 0, compacted.text
    assert lab.graph() == before


@pytest.mark.slow
def test_page_shows_the_change_made_by_the_new_column(lab):
    """Placed in this file because the tests of the page expect the shop's original columns."""
    places = ((KAFKA_NAMESPACE, "orders"), (WAREHOUSE_NAMESPACE, "raw/orders"), (ARCHIVE_NAMESPACE, "topics/orders"))
    before = min(created_at(versions_around(lab, *place, "currency")[1]) for place in places) - timedelta(seconds=1)
    nodes = [f"dataset:{namespace}:{name}" for namespace, name in places]
    with (
        lab_browser(lab) as browser,
        visiting(browser, lab.environment["LAB_LINEAGE"], key=lab.read_key) as visit,
    ):
        visit.open(since=before.isoformat(), node=nodes[0])
        for node in nodes:
            assert visit.card(node).get_attribute("aria-label").endswith(", changed"), node
        line = visit.page.get_by_label("Details").locator(".diff .added").filter(has_text="orders#currency")
        line.first.wait_for()
        if screenshots.UPDATE:
            screenshots.take(visit, screenshots.DIFFERENCE)
        visit.open(view="changes", since=before.isoformat())
        row = visit.page.locator("tr.added").filter(has_text=f"{KAFKA_NAMESPACE}/orders#currency").first
        assert row.inner_text().startswith("added\tcolumn")


def versions_around(lab, namespace, name, column):
    """Return the last version of a dataset without a column and the first one with it."""
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}/versions"
    versions = lab.api(path)["versions"][::-1]
    has_it = [column in [field["name"] for field in version["fields"]] for version in versions]
    assert has_it == sorted(has_it), f"{name}: a later version lacks the column: {has_it}"
    first = has_it.index(True)
    assert first > 0, f"{name}: every version has the column"
    return versions[first - 1], versions[first]


def created_at(version):
    return datetime.fromisoformat(version["createdAt"])


@pytest.mark.slow
def test_killed_broker_is_restarted_and_the_pipeline_resumes(lab):
    with lab.running_shop():
        broker = lab.supervisor.state("kafka").pid
        psutil.Process(broker).kill()
        until(lab, lambda: lab.supervisor.state("kafka").pid not in {0, broker})
        count = len(order_ids_in_topic(lab))
        until(lab, lambda: len(order_ids_in_topic(lab)) > count)


@pytest.mark.slow
def test_killed_shop_neither_loses_nor_skips_an_order(lab):
    with lab.running_shop():
        for _ in range(3):
            pid = lab.supervisor.state("shop").pid
            assert pid > 0
            psutil.Process(pid).kill()
            until(lab, lambda killed=pid: lab.supervisor.state("shop").pid not in {0, killed})
            grown = len(lab.stores.rows("orders")) + 20
            until(lab, lambda expected=grown: len(lab.stores.rows("orders")) >= expected)
    orders = lab.stores.rows("orders").keys()
    assert orders == {order.order_id for order in batch(Mix(), range(len(orders)), 0).first}
    assert lab.stores.rows("bids").keys() == orders
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]


def until(lab, true):
    """Wait until a condition holds; fail with `lab status` at the timeout."""
    deadline, waiter = time.monotonic() + HANGING_SECONDS, threading.Event()
    while not true():
        assert time.monotonic() < deadline, lab.lab("status").text
        waiter.wait(0.5)


def order_ids_in_topic(lab):
    """Return the distinct order ids in the topic; none while the broker is unavailable."""
    try:
        return {record.key for record in lab.stores.records("orders")}
    except KafkaException:
        return set()


@pytest.mark.slow
def test_second_up_starts_stopped_services_and_changes_nothing_else(lab):
    lab.lab("stop", "object_store")
    lab.lab("stop", "shop")
    pids = {state.name: state.pid for state in lab.supervisor.states() if state.running}
    try:
        result = lab.lab("up", "--no-pipeline")
        assert result.status == 0, result.text
        after = {state.name: state.pid for state in lab.supervisor.states() if state.running}
        assert after.items() >= pids.items()
        # The Flink job that writes to the object store may have failed without it; its launcher then submits it again.
        assert after.keys() - pids.keys() - {JOB_ICEBERG_INGESTION} == {"object_store", "shop"}
        again = lab.lab("up", "--no-pipeline")
        assert "unchanged" in again.text
        assert "created" not in again.text
        assert "updated" not in again.text
    finally:
        # `up` started the shop; the next tests wait until every order was delivered.
        stopped = lab.lab("stop", "shop")
    assert stopped.status == 0, stopped.text


def assert_every_run_has_ended(exported):
    """Assert that an export contains a terminal event of each run: jobs end before the events are exported."""
    events = [json.loads(line) for line in exported.read_text().splitlines()]
    ended = {event["run"]["runId"] for event in events if event["eventType"] in {"COMPLETE", "FAIL", "ABORT"}}
    open_runs = {event["run"]["runId"]: event["job"]["name"] for event in events if event["run"]["runId"] not in ended}
    assert len(events) > 20
    assert open_runs == {}


def test_down_removes_processes_ports_and_state(lab, tmp_path):
    ports = {address.port for address in lab.listening_addresses()}
    assert len(ports) >= 6
    kept = tmp_path / "kept"
    result = lab.lab("down", "--export", str(kept))
    assert result.status == 0, result.text
    assert [process.info["cmdline"] for process in lab.processes()] == []
    assert ports.isdisjoint(c.laddr.port for c in psutil.net_connections("tcp") if c.status == "LISTEN")
    assert not lab.root.exists()
    assert json.loads((kept / "graph.json").read_text())["columns"]
    assert_every_run_has_ended(kept / "events.ndjson")
    assert lab.lab("down").status == 0
