# SPDX-License-Identifier: Apache-2.0
"""A real lab, real rows, real lineage. The order matters: later tests build on what earlier ones did.

`make test` runs those that are not slow, from `up` to `down`; the slow ones get a lab of their own in `make test-all`.
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

from infra.errors import LabError
from infra.model.resources import Topic
from infra.namespaces import (
    ARCHIVE,
    ARCHIVE_BUCKET,
    CHECKPOINT_BUCKET,
    JOB_ORDERS_ETL,
    JOB_SUPPLIER_STATS,
    RAW_TABLES,
    WAREHOUSE_BUCKET,
)
from infra.project import PROJECT, PULUMI_STATE
from infra.provider.kind import Call
from infra.provider.kinds.topic import TopicKind
from infra.services.overview import features
from infra.targets.local.supervisor import ROOT_VARIABLE
from jobs.shop.orders import CURRENCIES, Mix, batch
from lineage.checks.contract import compare, load
from tests.openlineage_schemas import conformance_errors
from tests.page import screenshots
from tests.page.browser import visiting
from tests.smoke.drain import drain
from tests.smoke.lab_page import browser_of
from tests.smoke.sorted_orders import await_sorted

pytestmark = pytest.mark.smoke

STATS = "supplier_stats.overwrite_partitions_dynamic.lake_sales_supplier_stats"
KAFKA, WAREHOUSE = "kafka://kafka:9092", "s3://warehouse"


def fits(price):
    try:
        number = Decimal(price)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number) < 10**8


def run_jobs(lab):
    """Lets the ETL come to the end of the topic, and counts again what it made."""
    assert await_sorted(lab.places).differences == []
    ended = lab.lab("run", JOB_SUPPLIER_STATS)
    assert ended.status == 0, ended.text


def test_up_says_that_the_lineage_is_right_and_where_everything_is(lab):
    assert "as the contract says" in lab.first_up.text
    for endpoint in ("kafka", "connect", "schema_registry", "postgres", "s3", "iceberg_catalog", "lineage"):
        assert endpoint in lab.first_up.text


def test_lab_env_points_any_client_at_the_lab(lab):
    assert stat.S_IMODE((lab.root / "lab.env").stat().st_mode) == 0o600
    buckets = {bucket["Name"] for bucket in lab.places.s3().list_buckets()["Buckets"]}
    assert buckets == {ARCHIVE_BUCKET, CHECKPOINT_BUCKET, WAREHOUSE_BUCKET}
    assert lab.places.ask("SELECT current_database() AS name") == [{"name": "shop"}]
    assert {"orders-value", "bids-value"} <= set(lab.places.registry("/subjects"))
    assert {"orders_source", "orders_lake", "orders_archive"} <= set(lab.places.connect("/connectors"))


def test_credentials_are_in_no_state_and_no_argument_list(lab):
    state = list(PULUMI_STATE.rglob("*.json"))
    assert state
    own = [p for p in psutil.process_iter(["environ", "cmdline"]) if owned(p, lab)]
    assert len(own) >= 5
    for secret in (lab.environment["AWS_SECRET_ACCESS_KEY"], lab.environment["PGPASSWORD"]):
        assert all(secret not in path.read_text() for path in state)
        assert all(secret not in " ".join(p.info["cmdline"]) for p in own)
        for connector in lab.places.connect("/connectors"):
            assert secret not in json.dumps(lab.places.connect(f"/connectors/{connector}"))


def owned(process, lab):
    return (process.info["environ"] or {}).get(ROOT_VARIABLE) == str(lab.root)


def test_everything_listens_on_loopback_alone(lab):
    own = {p.pid for p in psutil.process_iter(["environ"]) if owned(p, lab)}
    listening = [c for c in psutil.net_connections("tcp") if c.pid in own and c.status == psutil.CONN_LISTEN]
    assert len(listening) >= 6
    hosts = {ip_address(c.laddr.ip.removeprefix("::ffff:")) for c in listening}
    assert all(host.is_loopback for host in hosts), hosts


def test_the_topics_of_another_lab_that_has_our_port_are_left_alone(lab):
    ours = Topic(bootstrap=lab.environment["LAB_KAFKA"], cluster="another", name="orders", partitions=3, config={})
    kind, call = TopicKind(), Call()
    assert kind.read(ours, call) is None
    kind.delete(ours, call)
    with pytest.raises(LabError, match="belongs to another lab"):
        kind.create(ours, call)
    assert next(lab.places.records("orders"))


def test_each_row_of_the_shop_is_everywhere_once(lab):
    arrived = drain(lab.places)
    for topic in ("orders", "bids"):
        assert arrived[topic].differences == []
        rows, records = lab.places.rows(topic), list(lab.places.records(topic))
        assert len(rows) >= 100
        assert all(record.value == rows[record.key] for record in records)
        raw = lab.table(RAW_TABLES[topic]).drop_columns(["kafka_topic", "kafka_partition", "kafka_offset"]).to_pylist()
        assert all(row == rows[row["order_id"]] for row in raw)
        for line in lab.places.archived(topic):
            row = rows[line["order_id"]]
            assert line.keys() == row.keys()
            assert all(line[name] == row[name] for name in row if name != "bid_time")


def test_a_duplicate_is_a_second_record_of_the_same_key(lab):
    """What the shop wrote before capture began came as it was then: one record for a row, however often written."""
    rows = lab.places.rows("orders")
    made = batch(Mix(), range(len(rows)), 0)
    assert rows.keys() == {order.order_id for order in made.first}
    counts = Counter(record.key for record in lab.places.records("orders"))
    twice = {key for key, count in counts.items() if count == 2}
    assert twice
    assert twice <= {order.order_id for order in made.again}
    assert set(counts.values()) == {1, 2}


@pytest.mark.slow
def test_each_order_of_the_shop_is_in_exactly_one_table_once(lab):
    run_jobs(lab)
    written = lab.places.rows("orders")
    sound, rejected = lab.ids("sales.orders"), lab.ids("sales.orders_rejected")
    assert sound.keys() | rejected.keys() == written.keys()
    assert sound.keys().isdisjoint(rejected)
    assert set(sound.values()) == set(rejected.values()) == {1}
    assert {key for key, order in written.items() if not fits(order["price"])} == set(rejected)


@pytest.mark.slow
def test_the_statistics_are_those_of_the_orders(lab):
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
def test_a_second_run_changes_no_count_and_leaves_the_same_graph(lab):
    tables = ("sales.orders", "sales.orders_rejected", "sales.supplier_stats")
    before, graph = [lab.table(table).num_rows for table in tables], lab.graph()
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0
    run_jobs(lab)
    assert [lab.table(table).num_rows for table in tables] == before
    after = lab.graph()
    assert structure(after) == structure(graph)


def columns_called(graph, field):
    """Job, input and output of each edge between columns of that name."""
    return {
        (edge["job"]["name"], edge["input"]["name"], edge["output"]["name"])
        for edge in graph["columns"]
        if edge["input"]["field"] == field == edge["output"]["field"]
    }


def structure(graph):
    """A graph without what a second run is meant to change: versions of data, and the state of a query without any."""
    changing = {"version", "state"}
    return json.loads(json.dumps(graph), object_hook=lambda o: {k: v for k, v in o.items() if k not in changing})


def test_the_graph_leads_from_the_topic_to_the_statistics(lab):
    answer = lab.api("/api/v1/lineage", nodeId=f"dataset:{KAFKA}:orders", depth=10)
    edges = {(e["origin"], e["destination"]) for node in answer["graph"] for e in node["outEdges"]}
    path = [
        f"dataset:{KAFKA}:orders",
        f"job:lineage-lab:{JOB_ORDERS_ETL}",
        f"dataset:{WAREHOUSE}:sales/orders",
        f"job:lineage-lab:{STATS}",
        f"dataset:{WAREHOUSE}:sales/supplier_stats",
    ]
    assert set(pairwise(path)) <= edges


def test_a_column_can_be_followed_upstream_to_the_topic(lab):
    node = f"datasetField:{WAREHOUSE}:sales/supplier_stats:total_price"
    answer = lab.api("/api/v1/column-lineage", nodeId=node, depth=10)
    nodes = {found["id"] for found in answer["graph"]}
    assert f"datasetField:{WAREHOUSE}:sales/orders:price" in nodes
    assert f"datasetField:{KAFKA}:orders:price" in nodes
    assert f"datasetField:{KAFKA}:orders:item" not in nodes


def test_verify_shows_what_departs_from_the_contract(lab, tmp_path):
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


def test_every_event_is_one_of_the_standard(lab):
    events = lab.api("/api/v1/events/lineage", limit=1000)["events"]
    assert len(events) > 20
    assert [error for event in events for error in conformance_errors(event)] == []


def test_a_poisonous_event_is_refused_by_name_and_nothing_breaks(lab):
    base = lab.environment["LAB_LINEAGE"]
    event = {
        "eventType": "START",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0190a0a0-0000-7000-8000-000000000000"},
        "job": {"namespace": "n", "name": "j"},
        "inputs": [],
        "outputs": [{"namespace": "", "name": "x"}],
    }
    refused = httpx.post(f"{base}/api/v1/lineage", json=event)
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["field"] == "outputs[0].namespace"
    broken = httpx.post(
        f"{base}/api/v1/lineage", content=b'{"eventType": ', headers={"content-type": "application/json"}
    )
    assert broken.status_code == 400
    names = [namespace["name"] for namespace in lab.api("/api/v1/namespaces")["namespaces"]]
    assert names
    assert all(names)


@pytest.mark.slow
def test_a_changed_transformation_changes_the_lineage_with_no_declaration_touched(lab, tmp_path):
    """A copy of the jobs counts prices where it summed them, by item where it went by supplier."""
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
    done = subprocess.run(["sh", str(copy)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    graph = lab.graph()
    job = "supplier_stats.overwrite_partitions_dynamic.lake_sales_supplier_stats_scratch"
    sources = column_sources(graph, job, "sales/supplier_stats_scratch")
    assert sources["supplier"] == {("item", "TRANSFORMATION")}
    assert column_sources(graph, STATS, "sales/supplier_stats")["supplier"] == {("supplier", "IDENTITY")}
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    assert {finding.job for finding in compare(contract, graph, features(lab.settings)).findings} == {job}


def column_sources(graph, job, dataset):
    """Output column -> {(input field, transformation)} of the direct edges of a job."""
    sources = defaultdict(set)
    for edge in graph["columns"]:
        if edge["job"]["name"] == job and edge["output"]["name"] == dataset and edge["type"] == "DIRECT":
            sources[edge["output"]["field"]].add((edge["input"]["field"], edge["subtype"]))
    return sources


@pytest.mark.slow
def test_a_failing_job_says_why_and_ends_with_1(lab):
    assert lab.lab("stop", "iceberg_catalog").status == 0
    failed = lab.lab("run", "supplier_stats")
    assert failed.status == 1
    assert "supplier_stats failed (exit status 1)" in failed.text
    assert "Connection refused" in failed.text
    assert lab.lab("start", "iceberg_catalog").status == 0


@pytest.mark.slow
def test_a_column_that_is_added_while_everything_runs_reaches_every_place(lab):
    versions = lab.places.registry("/subjects/orders-value/versions")
    assert lab.lab("start", "shop").status == 0
    until(lab, lambda: lab.supervisor.state("shop").running)
    pids = {state.name: state.pid for state in lab.supervisor.states() if state.running}
    before = datetime.now(UTC)
    lab.places.ask("ALTER TABLE orders ADD COLUMN currency text")
    until(lab, lambda: any(row["currency"] for row in lab.places.rows("orders").values()))
    until(lab, lambda: any(record.value.get("currency") for record in lab.places.records("orders")))
    until(lab, lambda: any(line.get("currency") for line in lab.places.archived("orders")))
    until(lab, lambda: "currency" in lab.table("raw.orders").column_names)
    assert {state.name: state.pid for state in lab.supervisor.states() if state.running} == pids
    assert len(lab.places.registry("/subjects/orders-value/versions")) == len(versions) + 1
    newest = json.loads(lab.places.registry("/subjects/orders-value/versions/latest")["schema"])
    assert "currency" in [field["name"] for field in newest["fields"]]
    assert lab.lab("stop", "shop").status == 0
    assert [each.differences for each in drain(lab.places).values()] == [[], []]
    written = {key: row["currency"] for key, row in lab.places.rows("orders").items()}
    assert set(written.values()) == {None, *CURRENCIES}
    assert {r.key: r.value.get("currency") for r in lab.places.records("orders")} == written
    raw = lab.table("raw.orders")
    assert dict(zip(*(raw[name].to_pylist() for name in ("order_id", "currency")), strict=True)) == written
    assert {line["order_id"]: line.get("currency") for line in lab.places.archived("orders")} == written
    run_jobs(lab)
    assert lab.ids("sales.orders").keys() | lab.ids("sales.orders_rejected").keys() == written.keys()
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    # Another test has run a changed copy of a job; and the contract does not know the new column.
    findings = compare(contract, lab.graph(), features(lab.settings)).findings
    assert [f.line() for f in findings if "scratch" not in f.job and "currency" not in f.line()] == []
    assert columns_called(lab.graph(), "currency") == {
        ("orders_source", "shop.public.orders", "orders"),
        ("orders_lake", "orders", "raw/orders"),
        ("orders_archive", "orders", "topics/orders"),
    }
    topic = lab.api(f"/api/v1/namespaces/{quote(KAFKA, safe='')}/datasets/orders")
    assert "currency" in [field["name"] for field in topic["fields"]]
    for place in ((KAFKA, "orders"), (WAREHOUSE, "raw/orders"), (ARCHIVE, "topics/orders")):
        older, newer = versions_around(lab, *place, "currency")
        assert made_at(older) < before < made_at(newer) < datetime.now(UTC), place
        assert older["version"] != newer["version"]


@pytest.mark.slow
def test_the_page_draws_what_the_new_column_changed(lab):
    """Here rather than with the page's other tests: every test before must find the shop's tables as they were."""
    places = ((KAFKA, "orders"), (WAREHOUSE, "raw/orders"), (ARCHIVE, "topics/orders"))
    before = min(made_at(versions_around(lab, *place, "currency")[1]) for place in places) - timedelta(seconds=1)
    nodes = [f"dataset:{namespace}:{name}" for namespace, name in places]
    with (
        browser_of(lab) as browser,
        visiting(browser, lab.environment["LAB_LINEAGE"]) as visit,
    ):
        visit.open(since=before.isoformat(), node=nodes[0])
        for node in nodes:
            assert visit.card(node).get_attribute("aria-label").endswith(", changed"), node
        line = visit.page.get_by_label("Details").locator(".diff .added").filter(has_text="orders#currency")
        line.first.wait_for()
        if screenshots.UPDATE:
            screenshots.take(visit, screenshots.DIFFERENCE)
        visit.open(view="changes", since=before.isoformat())
        row = visit.page.locator("tr.added").filter(has_text=f"{KAFKA}/orders#currency").first
        assert row.inner_text().startswith("added\tcolumn")


def versions_around(lab, namespace, name, column):
    """The last version of a dataset without a column, and the first one with it."""
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}/versions"
    versions = lab.api(path)["versions"][::-1]
    has_it = [column in [field["name"] for field in version["fields"]] for version in versions]
    assert has_it == sorted(has_it), f"{name}: once there, the column stays; {has_it}"
    first = has_it.index(True)
    assert first > 0, f"{name} has had the column in each of its versions"
    return versions[first - 1], versions[first]


def made_at(version):
    return datetime.fromisoformat(version["createdAt"])


@pytest.mark.slow
def test_a_killed_broker_is_healed_and_the_pipeline_goes_on_where_it_was(lab):
    assert lab.lab("start", "shop").status == 0
    broker = lab.supervisor.state("kafka").pid
    psutil.Process(broker).kill()
    until(lab, lambda: lab.supervisor.state("kafka").pid not in {0, broker})
    count = len(keys_when_it_answers(lab))
    until(lab, lambda: len(keys_when_it_answers(lab)) > count)


@pytest.mark.slow
def test_a_shop_that_is_killed_neither_loses_nor_skips_an_order(lab):
    for _ in range(3):
        pid = lab.supervisor.state("shop").pid
        assert pid > 0
        psutil.Process(pid).kill()
        until(lab, lambda killed=pid: lab.supervisor.state("shop").pid not in {0, killed})
        grown = len(lab.places.rows("orders")) + 20
        until(lab, lambda wanted=grown: len(lab.places.rows("orders")) >= wanted)
    assert lab.lab("stop", "shop").status == 0
    orders = lab.places.rows("orders").keys()
    assert orders == {order.order_id for order in batch(Mix(), range(len(orders)), 0).first}
    assert lab.places.rows("bids").keys() == orders
    assert [each.differences for each in drain(lab.places).values()] == [[], []]


def until(lab, true, seconds=180):
    """Waits until something holds; fails where it never does."""
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not true():
        assert time.monotonic() < deadline, lab.lab("status").text
        waiter.wait(0.5)


def keys_when_it_answers(lab):
    """The distinct orders in the topic; none while the broker is away."""
    try:
        return {record.key for record in lab.places.records("orders")}
    except KafkaException:
        return set()


@pytest.mark.slow
def test_a_second_up_repairs_what_is_stopped_and_changes_nothing_else(lab):
    lab.lab("stop", "object_store")
    lab.lab("stop", "shop")
    pids = {state.name: state.pid for state in lab.supervisor.states() if state.running}
    ended = lab.lab("up", "--no-pipeline")
    assert ended.status == 0, ended.text
    after = {state.name: state.pid for state in lab.supervisor.states() if state.running}
    assert after.items() >= pids.items()
    assert after.keys() - pids.keys() == {"object_store", "shop"}
    again = lab.lab("up", "--no-pipeline")
    assert "unchanged" in again.text
    assert "created" not in again.text
    assert "updated" not in again.text


def test_down_leaves_nothing_but_the_cache(lab, tmp_path):
    pids = {p.pid for p in psutil.process_iter(["environ"]) if owned(p, lab)}
    ports = {c.laddr.port for c in psutil.net_connections("tcp") if c.pid in pids and c.status == "LISTEN"}
    assert len(ports) >= 6
    kept = tmp_path / "kept"
    ended = lab.lab("down", "--export", str(kept))
    assert ended.status == 0, ended.text
    assert [p.info["cmdline"] for p in psutil.process_iter(["environ", "cmdline"]) if owned(p, lab)] == []
    assert ports.isdisjoint(c.laddr.port for c in psutil.net_connections("tcp") if c.status == "LISTEN")
    assert not lab.root.exists()
    assert json.loads((kept / "graph.json").read_text())["columns"]
    assert len((kept / "events.ndjson").read_text().splitlines()) > 20
    assert lab.lab("down").status == 0
