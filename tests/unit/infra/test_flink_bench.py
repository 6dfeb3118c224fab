# SPDX-License-Identifier: Apache-2.0
"""Tools of the Flink benchmarks: configuration, job, and arithmetic of the figures."""

import json

import httpx
import pytest

from infra.namespaces import JOB_ICEBERG_INGESTION, flink_lineage_settings
from infra.project import PROJECT
from infra.services import lineage
from infra.services.flink.cluster import CONFIG
from infra.services.flink.settings import CHECKPOINT_FOLDER, GATEWAY, JOBMANAGER, JOBMANAGER_REST, TASKMANAGER
from infra.toolchain import Artifacts
from infra.user_files import FLINK_FOLDER, FLINK_SUFFIX
from lineagelab_flink.script import PLACEHOLDERS, script
from tests.bench.figures import Figures
from tests.bench.flink_cluster import FlinkCluster, with_checkpoints_in, without_listener
from tests.bench.flink_job import LINEAGE_VARIABLES, JobLaunch, bounded_sql
from tests.bench.flink_overhead import (
    FlinkTrial,
    add_pair,
    add_ratios,
    cost_remarks,
    mean_cluster_costs,
    run_concurrently,
)
from tests.bench.flink_startup import has_rows
from tests.bench.partial_lab import PartialLab
from tests.unit.spark.fake_registry import FakeRegistry

ON, OFF = True, False


def trial(lineage, taskmanager, jobmanager=1.0, gateway=1.0, launcher=1.0, rows=10):
    return FlinkTrial(lineage, taskmanager, jobmanager, gateway, launcher, wall=2.0, rows=rows)


@pytest.fixture
def cluster(tmp_path):
    """Cluster that is not started."""
    return FlinkCluster(PartialLab(tmp_path, Artifacts.open(), {(lineage.NAME, lineage.API.name): 24099}))


@pytest.mark.parametrize("name", [JOBMANAGER, TASKMANAGER, GATEWAY])
def test_without_listener_removes_only_the_settings_of_the_listener(cluster, name):
    config = cluster.lab.part(name).files[CONFIG].splitlines()
    removed = [line for line in config if line not in without_listener("\n".join(config)).splitlines()]
    assert [line.partition(":")[0] for line in removed] == list(flink_lineage_settings(""))


def test_without_listener_rejects_a_configuration_without_lineage():
    with pytest.raises(ValueError, match="does not contain all settings of the lineage listener"):
        without_listener("rest.port: 8084\n")


def test_checkpoints_and_savepoints_are_moved_to_the_folder(cluster, tmp_path):
    config = with_checkpoints_in(cluster.lab.part(JOBMANAGER).files[CONFIG], tmp_path)
    settings = dict(line.split(": ", 1) for line in config.splitlines())
    assert json.loads(settings["execution.checkpointing.dir"]) == tmp_path.as_uri()
    assert json.loads(settings["execution.checkpointing.savepoint-dir"]) == f"{tmp_path.as_uri()}/savepoints"
    assert CHECKPOINT_FOLDER not in config


def test_a_configuration_with_another_checkpoint_folder_is_rejected(tmp_path):
    with pytest.raises(ValueError, match="cannot move the checkpoints"):
        with_checkpoints_in("rest.port: 8084\n", tmp_path)


def test_bounded_sql_only_adds_the_bound_of_the_source():
    text = (PROJECT / FLINK_FOLDER / f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}").read_text()
    bounded = bounded_sql(text)
    added = [line.strip() for line in bounded.splitlines() if line not in text.splitlines()]
    assert added == ["'scan.bounded.mode' = 'latest-offset',"]
    values = dict.fromkeys(PLACEHOLDERS, "there")
    job = f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}"
    assert script([(job, bounded)], values).job.text == script([(job, text)], values).job.text


def test_bounded_sql_rejects_a_job_without_a_matching_source():
    with pytest.raises(ValueError, match="exactly one source"):
        bounded_sql("INSERT INTO a SELECT * FROM b;")


@pytest.mark.parametrize("lineage_on", [ON, OFF])
def test_only_a_launcher_with_lineage_has_the_lineage_variables(cluster, tmp_path, lineage_on):
    launch = JobLaunch(cluster, tmp_path / "trial", bounded=True, lineage=lineage_on)
    task = launch.task()
    expected = list(LINEAGE_VARIABLES) if lineage_on else []
    assert [name for name in LINEAGE_VARIABLES if name in task.env] == expected
    assert task.env["FLINK_URL"] == cluster.lab.site.address(JOBMANAGER, JOBMANAGER_REST.name).url
    assert task.env["FLINK_STATE"].startswith(str(tmp_path / "trial"))
    assert launch.warehouse.as_uri() in task.files["catalog.sql"]


def test_swapping_roles_cancels_the_difference_between_two_clusters():
    # One TaskManager uses twice the CPU time of the other; lineage adds a tenth.
    first = [(trial(ON, 11.0, 0.0), trial(OFF, 20.0, 0.0))]
    second = [(trial(ON, 22.0, 0.0), trial(OFF, 10.0, 0.0))]
    (with_lineage,), (without,) = mean_cluster_costs(first, second)
    assert with_lineage / without == pytest.approx(1.1)


def test_cost_remarks_give_the_added_cpu_time_of_each_process():
    rounds = [(trial(ON, seconds, 1.5, 1.25, 4.0), trial(OFF, seconds)) for seconds in (10.0, 12.0)]
    ratio, *parts, per_million = cost_remarks(550_000, rounds, rounds)
    assert "n = 2" in ratio
    means = {part.split(" adds to ")[1].split(":")[0]: part.split(": ")[1].split(",")[0] for part in parts}
    assert means == {"JobManager": "0.500", "gateway": "0.250", "launcher and planner": "3.000"}
    # Without lineage, trials take 11 s and 13 s: 12 s in the median, to which lineage adds half a second.
    assert f"ratio {1 + 0.5 / (12 / 0.55):.3f}" in per_million


def test_add_pair_scales_to_a_million_records():
    figures = Figures()
    add_pair(figures, 500_000, trial(ON, 5.0), trial(OFF, 4.0))
    values = {name: figure.values for name, figure in figures.by_name.items()}
    label = "CPU of TaskManager and JobManager per 1,000,000 records"
    assert values[f"{JOB_ICEBERG_INGESTION}, lineage on: {label}"] == [pytest.approx(12.0)]
    assert values[f"{JOB_ICEBERG_INGESTION}, lineage off: {label}"] == [pytest.approx(10.0)]
    assert values[f"{JOB_ICEBERG_INGESTION}, lineage on: CPU of TaskManager per job"] == [5.0]


def test_each_round_has_one_ratio():
    figures = Figures()
    add_ratios(figures, 100, [(trial(ON, 5.0), trial(OFF, 4.0))], [(trial(ON, 5.0), trial(OFF, 4.0))])
    ratio = figures.by_name[f"{JOB_ICEBERG_INGESTION}, on / off: CPU of TaskManager and JobManager"]
    assert ratio.values == [pytest.approx(1.2)]


def test_trials_with_different_row_counts_are_rejected():
    with pytest.raises(RuntimeError, match=r"different numbers of rows: \[9, 10\]"):
        add_ratios(Figures(), 100, [(trial(ON, 5.0, rows=9), trial(OFF, 4.0))], [(trial(ON, 5.0), trial(OFF, 4.0))])


def test_a_table_that_does_not_exist_has_no_rows(tmp_path):
    assert not has_rows(tmp_path)


def test_run_concurrently_waits_for_all_tasks_and_raises_the_first_error():
    ended = []

    def fail():
        raise RuntimeError("the first")

    with pytest.raises(RuntimeError, match="the first"):
        run_concurrently(fail, lambda: ended.append("the second"))
    assert ended == ["the second"]


def test_the_fake_registry_ignores_the_query_of_flinks_client():
    with FakeRegistry({7: "{}"}) as registry:
        url = f"{registry.url}/schemas/ids"
        known = httpx.get(f"{url}/7?fetchMaxId=false&subject=", trust_env=False)
        assert (known.status_code, known.json()) == (200, {"schema": "{}"})
        assert httpx.get(f"{url}/8", trust_env=False).json()["error_code"] == 40403
