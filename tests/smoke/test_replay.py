# SPDX-License-Identifier: Apache-2.0
"""Drift in a real lab: every job is green, the statistics are 30 % too low, and the lineage names the cause.

The lab is one of its own, as the drift adds a column that no contract has. All its commands run in the environment of a
user who works on other projects, too.
"""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import fmean
from urllib.parse import quote

import httpx
import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.cli.drifting_shop import NEW_COLUMN
from infra.cli.replay import METRIC
from infra.cli.stack import Stack
from infra.namespaces import (
    JOB_LINEAGE_EVENTS_LAKE,
    JOB_LINEAGE_HISTORY,
    JOB_NAMESPACE,
    JOB_ORDERS_ETL,
    JOB_PRICE_FORECAST,
    JOB_SUPPLIER_FEATURES,
    MODEL_PRICE_FORECAST,
    MODELS_BUCKET,
    MODELS_NAMESPACE,
    POSTGRES_NAMESPACE,
    TABLE_LINEAGE_CHAINS,
    TABLE_LINEAGE_COLUMN_REACH,
    TABLE_LINEAGE_EDGES,
    TABLE_LINEAGE_EVENTS,
    TABLE_SUPPLIER_FEATURES,
    TABLE_SUPPLIER_STATS,
    TOPIC_ORDERS,
)
from infra.project import PROJECT
from infra.toolchain import Artifacts
from jobs.models.feature_rows import FeatureRows, FeatureTableError
from lineagelab_sql.lake import Lake
from tests.page import screenshots
from tests.page.browser import chromium, visiting
from tests.smoke.delivery import await_delivery
from tests.smoke.expected_windows import parse_price
from tests.smoke.hostile_environment import hostile_environment
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack.polling import until
from tests.stack_files import SMOKE_REPLAY, path_of

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

ORDERS = 600


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    user = hostile_environment(tmp_path_factory.mktemp("user"))
    with LabUnderTest(SMOKE_REPLAY, user).configured() as under_test:
        result = under_test.lab("up")
        assert result.status == 0, result.text
        yield under_test


@pytest.fixture(scope="module")
def replayed(lab):
    """Replay the drift and stop the shop; return the ids of the orders before it, and the output."""
    before = set(lab.stores.rows(TOPIC_ORDERS))
    result = lab.lab("replay", "drift", "--orders", str(ORDERS))
    lab.lab("stop", "shop")
    assert result.status == 0, result.text
    await_delivery(lab.stores)
    return before, result.text


def test_drifted_orders_are_missing_in_the_statistics(lab, replayed):
    before, _ = replayed
    rows = lab.stores.rows(TOPIC_ORDERS)
    drifted = [parse_price(row[NEW_COLUMN]) for row in rows.values() if row[NEW_COLUMN] is not None]
    assert {key for key, row in rows.items() if row[NEW_COLUMN] is not None}.isdisjoint(before)
    assert len(drifted) > ORDERS / 10
    booked = sum((parse_price(row["price"]) or Decimal(0)) for row in rows.values())
    statistics = sum(row["total_price"] for row in lab.table(TABLE_SUPPLIER_STATS).to_pylist())
    # The shop wrote on while the statistics ran: they contain at most what is booked in `price`.
    assert 0 < statistics <= booked


def test_replay_reports_the_share(replayed):
    _, text = replayed
    share = float(text.partition("%, are missing in")[0].rpartition(" ")[2])
    assert 29 <= share <= 31


def test_every_job_is_green(lab, replayed):
    states = {
        job["name"]: job["latestRun"]["state"]
        for job in lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=100)["jobs"]
        if job["latestRun"]
    }
    assert [name for name, state in states.items() if state == "FAILED"] == []


def test_lineage_names_the_new_column_as_the_cause(lab, replayed, tmp_path):
    report = tmp_path / "cause.json"
    assert lab.lab("lineage", "cause", METRIC, "--since", "-30m", "--json", str(report)).status == 0
    causes = json.loads(report.read_text())["causes"]
    top = next(cause for cause in causes if NEW_COLUMN in cause["columns"])
    assert (top["kind"], top["node"]["name"]) == ("schema", TOPIC_ORDERS)
    assert NEW_COLUMN in replayed[1].partition("  1. schema of ")[2]


@pytest.mark.skipif(not screenshots.UPDATE, reason="screenshots are taken with UPDATE_SCREENSHOTS=1")
def test_take_the_screenshot_of_the_cause(lab, replayed):
    with chromium() as browser, visiting(browser, lab.environment["LAB_LINEAGE"], key=lab.read_key) as visit:
        since = (datetime.now(UTC) - timedelta(minutes=10)).isoformat()
        visit.open(**screenshots.CAUSE_ROUTE, **{"from": since})
        screenshots.take(visit, screenshots.CAUSE)


MEAN_PRICE = f"{MODELS_NAMESPACE}/{MODEL_PRICE_FORECAST}#mean_price"
LATEST_MODEL = f"{MODEL_PRICE_FORECAST}/latest.json"


@pytest.fixture(scope="module")
def trained(lab, replayed):
    """Train the forecast on all orders of a lab whose shop is stopped; return the output."""
    await_delivery(lab.stores)
    features = lab.lab("run", JOB_SUPPLIER_FEATURES)
    assert features.status == 0, features.text
    training = lab.lab("run", JOB_PRICE_FORECAST)
    assert training.status == 0, training.text
    return training.text


def latest_model(lab):
    return lab.stores.s3().get_object(Bucket=MODELS_BUCKET, Key=LATEST_MODEL)["Body"].read()


def test_a_model_has_the_version_and_the_values_of_the_snapshot_that_it_was_trained_on(lab, trained):
    card = json.loads(latest_model(lab))
    table = lab.stores.iceberg_table(TABLE_SUPPLIER_FEATURES)
    assert card["snapshot"] == table.current_snapshot().snapshot_id
    rows = [row for row in table.scan().to_arrow().to_pylist() if row["next_mean_price"] is not None]
    assert card["rows"] == len(rows)
    for name, profile in card["profiles"].items():
        values = [row[name] for row in rows]
        assert profile["mean"] == pytest.approx(fmean(values))
        assert (profile["minimum"], profile["maximum"]) == (min(values), max(values))
    versions = lab.api(
        f"/api/v1/namespaces/{quote(MODELS_NAMESPACE, safe='')}/datasets/{MODEL_PRICE_FORECAST}/versions"
    )
    newest = versions["versions"][0]
    assert newest["facets"]["version"]["datasetVersion"] == str(card["snapshot"])
    assert newest["createdByRun"]["id"] == card["run"]


def test_the_origin_of_a_feature_is_a_column_in_postgres(lab, trained):
    found = lab.lab("lineage", "origin", MEAN_PRICE)
    assert found.status == 0
    assert f"{POSTGRES_NAMESPACE}/shop.public.orders#price (DIRECT" in found.text
    reached = lab.lab("lineage", "impact", f"{POSTGRES_NAMESPACE}/shop.public.orders#price")
    assert f"{MODELS_NAMESPACE}/{MODEL_PRICE_FORECAST}#predicted_next_mean_price <-" in reached.text


def test_a_feature_table_that_does_not_exist_is_named_with_the_task_that_makes_it(lab, replayed):
    with (
        Lake.from_environment(lab.environment).connect(writable=False) as connection,
        pytest.raises(FeatureTableError, match=r"there is no table lake\.sales\.nothing: run `bin/lab run make` first"),
    ):
        FeatureRows.read(connection, "lake.sales.nothing", (), "make")


def test_training_after_a_broken_model_says_what_to_remove(lab, trained):
    kept = latest_model(lab)
    place = {"Bucket": MODELS_BUCKET, "Key": LATEST_MODEL}
    lab.stores.s3().put_object(**place, Body=b"not a card")
    try:
        refused = lab.lab("run", JOB_PRICE_FORECAST)
    finally:
        lab.stores.s3().put_object(**place, Body=kept)
    assert refused.status == 1
    assert f"{MODELS_NAMESPACE}/{LATEST_MODEL} is not the card of a model" in " ".join(refused.text.split())
    job = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB_PRICE_FORECAST}")
    assert job["latestRun"]["state"] == "FAILED"
    assert lab.lab("run", JOB_PRICE_FORECAST).status == 0


def test_a_drifted_feature_is_the_cause_of_another_model(lab, trained, tmp_path):
    """Prices in another unit are in no schema, so the statistics have no cause; the last model's profile has one."""
    assert "has drifted" not in lab.lab("run", JOB_PRICE_FORECAST).text
    since = datetime.now(UTC).isoformat()
    with lab.running_shop():
        drift = lab.lab("replay", "drift", "--variant", "cents", "--orders", "400")
    assert drift.status == 0
    assert "explains it: the data themselves changed" in drift.text
    await_delivery(lab.stores)
    assert lab.lab("run", JOB_SUPPLIER_FEATURES).status == 0
    training = lab.lab("run", JOB_PRICE_FORECAST)
    assert training.status == 0
    assert "mean_price has drifted since the last model" in training.text
    report = tmp_path / "cause.json"
    assert lab.lab("lineage", "cause", MEAN_PRICE, "--since", since, "--json", str(report)).status == 0
    found = json.loads(report.read_text())
    assert found["likely"]
    top = found["causes"][0]
    assert (top["kind"], top["node"]["name"]) == ("quality", TABLE_SUPPLIER_FEATURES.replace(".", "/"))
    assert "mean_price" in top["columns"]


def test_every_event_is_in_the_lake_once_though_service_and_sink_end(lab, replayed):
    psutil.Process(lab.supervisor.require_state("lineage").pid).kill()
    until(lambda: published(lab)["published"] > 0)
    restart = f"{lab.environment['LAB_CONNECT']}/connectors/{JOB_LINEAGE_EVENTS_LAKE}/restart?includeTasks=true"
    httpx.post(restart, timeout=60, trust_env=False).raise_for_status()
    through = lab.api("/api/v1/stats")["logged"]
    until(lambda: len(lab.table(TABLE_LINEAGE_EVENTS)) >= through)
    table = lab.table(TABLE_LINEAGE_EVENTS)
    positions = sorted(table["position"].to_pylist())
    assert positions == list(range(1, len(positions) + 1))
    assert len(set(table["event_hash"].to_pylist())) == len(positions)
    stored = {row["run_id"]: json.loads(row["event"])["job"]["name"] for row in table.to_pylist() if row["run_id"]}
    runs = lab.api(f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{JOB_ORDERS_ETL}/runs")["runs"]
    assert {stored[run["id"]] for run in runs} == {JOB_ORDERS_ETL}
    assert JOB_LINEAGE_EVENTS_LAKE not in table["job_name"].to_pylist()


def test_the_graph_of_the_events_in_the_lake_is_that_of_the_service(lab, replayed):
    before = lineage_edges(lab)
    result = lab.lab("run", JOB_LINEAGE_HISTORY)
    assert result.status == 0, result.text
    rows = lab.table(TABLE_LINEAGE_EDGES).to_pylist()
    names = ("job_name", "direction", "dataset_namespace", "dataset_name")
    found = {tuple(row[name] for name in names) for row in rows}
    assert len(found) == len(rows)
    assert without_history(found) == without_history(before)


def test_chains_and_reach_lead_from_postgres_to_the_statistics(lab):
    """By the tables of the run of the test before."""
    statistics = f"/{TABLE_SUPPLIER_STATS.replace('.', '/')}"
    (chain,) = [row for row in lab.table(TABLE_LINEAGE_CHAINS).to_pylist() if f"/{row['dataset_name']}" == statistics]
    nodes = [(node["kind"], node["name"]) for node in chain["chain"]]
    assert [kind for kind, _ in nodes] == ["dataset", *["job", "dataset"] * chain["jobs"]]
    assert chain["chain"][0]["namespace"] == POSTGRES_NAMESPACE
    assert nodes.index(("dataset", TOPIC_ORDERS)) < len(nodes) - 3
    reach = [row for row in lab.table(TABLE_LINEAGE_COLUMN_REACH).to_pylist() if row["output_field"] == "total_price"]
    jobs = {row["input_field"]: row["jobs"] for row in reach if row["input_namespace"] == POSTGRES_NAMESPACE}
    assert jobs["price"] >= 3


def test_the_columns_of_the_history_are_known_themselves(lab):
    """The job's table functions take and give columns; a column without edges would be a gap in the graph."""
    columns = lab.graph()["columns"]
    for table in (TABLE_LINEAGE_EDGES, TABLE_LINEAGE_COLUMN_REACH, TABLE_LINEAGE_CHAINS):
        written = table.replace(".", "/")
        found = {edge["output"]["field"] for edge in columns if edge["output"]["name"] == written}
        assert found == set(lab.table(table).column_names), table


def published(lab):
    """Return the progress of publishing; nothing while the service starts."""
    try:
        return lab.api("/api/v1/stats")["publish"]
    except httpx.HTTPError:
        return {"published": 0}


def lineage_edges(lab):
    """Return the edges between jobs and datasets by the lineage service."""
    names = [(edge["job"], edge["direction"], edge["dataset"]) for edge in lab.graph()["edges"]]
    return {(job["name"], direction, data["namespace"], data["name"]) for job, direction, data in names}


def without_history(edges):
    """Return edges without those of the job that reads the history."""
    return {edge for edge in edges if not edge[0].startswith(JOB_LINEAGE_HISTORY)}


def test_a_drift_of_the_data_alone_blames_nothing(lab, replayed):
    with lab.running_shop():
        result = lab.lab("replay", "drift", "--variant", "renamed-supplier", "--orders", "100")
    assert result.status == 0, result.text
    assert "explains it: the data themselves changed" in result.text


def test_the_environment_of_other_projects_changes_nothing(lab, replayed):
    assert lab.lab("status").status == 0
    assert not (lab.user.folder.parent.parent / "elsewhere").exists(), "the user's own backend has no state of the lab"
    assert not (lab.user.folder.parent.parent / "home").exists()


def test_another_target_in_the_configuration_is_refused_and_the_lab_runs_on(lab, replayed):
    file, running = path_of(lab.stack), {process.pid for process in lab.processes()}
    configured = file.read_text()
    assert "config:\n" in configured
    file.write_text(configured.replace("config:\n", "config:\n  lineage-lab:target: docker\n", 1))
    try:
        refused = lab.lab("up")
        stack = Stack(lab.stack, Artifacts.open())
        preview = subprocess.run(
            ["pulumi", "preview", "--stack", lab.stack, "--non-interactive"],
            cwd=PROJECT,
            env=stack.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        status = lab.lab("status")
    finally:
        file.write_text(configured)
    assert refused.status == 1
    for text in (refused.text, preview.stdout + preview.stderr):
        assert f"the lab of stack {lab.stack} runs on target local, its configuration says docker" in " ".join(
            text.split()
        )
    assert preview.returncode != 0
    assert status.status == 0, status.text
    assert {process.pid for process in lab.processes()} >= running


def drop_unread_records(lab, partition):
    """Delete all records of a partition; return how many of them `orders_etl`, which is stopped, has not read."""
    kafka = {"bootstrap.servers": lab.environment["LAB_KAFKA"]}
    consumer = Consumer({**kafka, "group.id": "dropped"})
    place = TopicPartition(TOPIC_ORDERS, partition)
    before = consumer.get_watermark_offsets(place, timeout=60)[1]
    with lab.running_shop():
        until(lambda: consumer.get_watermark_offsets(place, timeout=60)[1] > before + 20)
    dropped = consumer.get_watermark_offsets(place, timeout=60)[1] - before
    consumer.close()
    admin = AdminClient(kafka)
    (deletion,) = admin.delete_records([TopicPartition(TOPIC_ORDERS, partition, -1)]).values()
    deletion.result(60)
    return dropped


def test_a_dropped_partition_is_named_by_the_run_that_cannot_read_it(lab, replayed, tmp_path):
    """`orders_etl` refuses to continue without the records."""
    report = tmp_path / "cause.json"
    assert lab.lab("stop", JOB_ORDERS_ETL).status == 0
    since = datetime.now(UTC).isoformat()
    assert drop_unread_records(lab, 0) > 20
    assert lab.lab("start", JOB_ORDERS_ETL).status == 0

    def likely_cause():
        assert lab.lab("lineage", "cause", METRIC, "--since", since, "--json", str(report)).status == 0
        found = json.loads(report.read_text())
        return found["causes"][0] if found["likely"] else None

    cause = until(likely_cause)
    assert (cause["kind"], cause["node"]["name"]) == ("failed run", JOB_ORDERS_ETL)
    assert "Some data may have been lost" in cause["summary"]
    assert f"topic partition {TOPIC_ORDERS}-0" in cause["summary"]
    assert "\n" not in cause["summary"]


def test_an_updated_checkout_removes_the_lab_without_the_network(lab, replayed, tmp_path, monkeypatch):
    """The last test. The cache has Pulumi and the kit's packages with other keys, as before an update of the pins."""
    artifacts, nowhere = Artifacts.open(), "http://127.0.0.1:1"
    for folder in (artifacts.binary_dir("pulumi"), artifacts.python("kit").parents[1]):
        earlier = tmp_path / folder.parent.name / f"{folder.name.partition('-')[0]}-0123456789ab"
        earlier.parent.mkdir()
        earlier.symlink_to(folder)
    for name in ("PIP_INDEX_URL", "GOPROXY", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path))
    removed = lab.lab("down")
    assert removed.status == 0, removed.text
    assert "the packages of this checkout are not installed" in removed.text
    assert lab.processes() == []
    assert not lab.root.exists()
