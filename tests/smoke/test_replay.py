# SPDX-License-Identifier: Apache-2.0
"""Drift in a real lab: every job is green, the statistics are 30 % too low, and the lineage names the cause.

The lab is one of its own, as the drift adds a column that no contract has. All its commands run in the environment of a
user who works on other projects, too.
"""

import json
import subprocess
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra.cli.drifting_shop import NEW_COLUMN
from infra.cli.replay import METRIC
from infra.cli.stack import Stack
from infra.namespaces import JOB_NAMESPACE, JOB_ORDERS_ETL, TABLE_SUPPLIER_STATS, TOPIC_ORDERS
from infra.project import PROJECT
from infra.toolchain import Artifacts
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


@pytest.mark.parametrize("variant", ["cents", "renamed-supplier"])
def test_a_drift_of_the_data_alone_blames_nothing(lab, replayed, variant):
    assert lab.lab("start", "shop").status == 0
    while not lab.supervisor.require_state("shop").running:
        time.sleep(0.2)
    result = lab.lab("replay", "drift", "--variant", variant, "--orders", "100")
    assert lab.lab("stop", "shop").status == 0
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
