# SPDX-License-Identifier: Apache-2.0
"""What the figures of Flink are measured with."""

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
from lineagelab_flink.script import script
from tests.bench.figures import Figures
from tests.bench.flink_cost import Turn, at_once, costs, crossed, tell, tell_pair
from tests.bench.flink_fresh import has_rows
from tests.bench.flink_job import LINEAGE, Launch, to_the_end
from tests.bench.flink_place import FlinkPlace, in_folder, without_listener
from tests.bench.flink_registry import running_registry
from tests.bench.spark_place import Place

ON, OFF = True, False


def turn(speaks, taskmanager, jobmanager=1.0, gateway=1.0, launcher=1.0, rows=10):
    return Turn(speaks, taskmanager, jobmanager, gateway, launcher, wall=2.0, rows=rows)


@pytest.fixture
def cluster(tmp_path):
    """One that is not started."""
    return FlinkPlace(Place(tmp_path, Artifacts.open(), {(lineage.NAME, lineage.API.name): 24099}))


@pytest.mark.parametrize("name", [JOBMANAGER, TASKMANAGER, GATEWAY])
def test_without_its_listener_a_cluster_differs_in_nothing_else(cluster, name):
    config = cluster.place.part(name).files[CONFIG].splitlines()
    left_out = [line for line in config if line not in without_listener("\n".join(config)).splitlines()]
    assert [line.partition(":")[0] for line in left_out] == list(flink_lineage_settings(""))


def test_a_configuration_that_says_nothing_of_lineage_is_not_measured_against_itself():
    with pytest.raises(ValueError, match="has not all of them"):
        without_listener("rest.port: 8084\n")


def test_checkpoints_and_savepoints_go_to_the_folder(cluster, tmp_path):
    config = in_folder(cluster.place.part(JOBMANAGER).files[CONFIG], tmp_path)
    told = dict(line.split(": ", 1) for line in config.splitlines())
    assert json.loads(told["execution.checkpointing.dir"]) == tmp_path.as_uri()
    assert json.loads(told["execution.checkpointing.savepoint-dir"]) == f"{tmp_path.as_uri()}/savepoints"
    assert CHECKPOINT_FOLDER not in config


def test_a_configuration_whose_checkpoints_are_elsewhere_is_refused(tmp_path):
    with pytest.raises(ValueError, match="are to be moved"):
        in_folder("rest.port: 8084\n", tmp_path)


def test_the_labs_job_reads_to_the_end_and_is_the_same_otherwise():
    text = (PROJECT / FLINK_FOLDER / f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}").read_text()
    bounded = to_the_end(text)
    added = [line.strip() for line in bounded.splitlines() if line not in text.splitlines()]
    assert added == ["'scan.bounded.mode' = 'latest-offset',"]
    values = dict.fromkeys(("KAFKA_BOOTSTRAP", "SCHEMA_REGISTRY_URL"), "there")
    job = f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}"
    assert script([(job, bounded)], values).job.text == script([(job, text)], values).job.text


def test_a_job_that_would_never_end_is_not_waited_for():
    with pytest.raises(ValueError, match="one source"):
        to_the_end("INSERT INTO a SELECT * FROM b;")


@pytest.mark.parametrize("speaks", [ON, OFF])
def test_a_launcher_without_lineage_is_told_of_none(cluster, tmp_path, speaks):
    launch = Launch(cluster, tmp_path / "turn", bounded=True, lineage=speaks)
    task = launch.task()
    assert [name for name in LINEAGE if name in task.env] == (list(LINEAGE) if speaks else [])
    assert task.env["FLINK_URL"] == cluster.place.site.address(JOBMANAGER, JOBMANAGER_REST.name).url
    assert task.env["FLINK_STATE"].startswith(str(tmp_path / "turn"))
    assert launch.warehouse.as_uri() in task.files["catalog.sql"]


def test_what_two_clusters_differ_by_is_not_taken_for_lineage():
    # One TaskManager takes twice what the other does; lineage takes a tenth.
    first = [(turn(ON, 11.0, 0.0), turn(OFF, 20.0, 0.0))]
    second = [(turn(ON, 22.0, 0.0), turn(OFF, 10.0, 0.0))]
    (with_lineage,), (without,) = crossed(first, second)
    assert with_lineage / without == pytest.approx(1.1)


def test_what_lineage_takes_is_told_of_each_process_that_sees_no_row():
    rounds = [(turn(ON, seconds, 1.5, 1.25, 4.0), turn(OFF, seconds)) for seconds in (10.0, 12.0)]
    ratio, *parts, of_a_million = costs(550_000, rounds, rounds)
    assert "n = 2" in ratio
    means = {part.split(" more of ")[1].split(":")[0]: part.split(": ")[1].split(",")[0] for part in parts}
    assert means == {"JobManager": "0.500", "gateway": "0.250", "launcher and planner": "3.000"}
    # Off, a turn takes 11 + 1 s or 13 s: 12 s in the middle, and half a second of them is lineage.
    assert f"is a ratio of {1 + 0.5 / (12 / 0.55):.3f}" in of_a_million


def test_what_a_pair_takes_is_told_for_a_million_records():
    figures = Figures()
    tell_pair(figures, 500_000, turn(ON, 5.0), turn(OFF, 4.0))
    told = {name: figure.values for name, figure in figures.by_name.items()}
    per_million = "CPU of TaskManager and JobManager per 1,000,000 records"
    assert told[f"{JOB_ICEBERG_INGESTION}, lineage on: {per_million}"] == [pytest.approx(12.0)]
    assert told[f"{JOB_ICEBERG_INGESTION}, lineage off: {per_million}"] == [pytest.approx(10.0)]
    assert told[f"{JOB_ICEBERG_INGESTION}, lineage on: CPU of TaskManager in a job's life"] == [5.0]


def test_a_round_has_one_ratio():
    figures = Figures()
    tell(figures, 100, [(turn(ON, 5.0), turn(OFF, 4.0))], [(turn(ON, 5.0), turn(OFF, 4.0))])
    ratio = figures.by_name[f"{JOB_ICEBERG_INGESTION}, on / off: CPU of TaskManager and JobManager"]
    assert ratio.values == [pytest.approx(1.2)]


def test_turns_that_have_not_done_the_same_are_not_compared():
    with pytest.raises(RuntimeError, match=r"\[9, 10\] rows"):
        tell(Figures(), 100, [(turn(ON, 5.0, rows=9), turn(OFF, 4.0))], [(turn(ON, 5.0), turn(OFF, 4.0))])


def test_a_table_that_is_not_there_yet_has_no_rows(tmp_path):
    assert not has_rows(tmp_path)


def test_whoever_runs_at_once_is_waited_for_and_the_first_failure_is_told():
    ended = []

    def fail():
        raise RuntimeError("the first")

    with pytest.raises(RuntimeError, match="the first"):
        at_once(fail, lambda: ended.append("the second"))
    assert ended == ["the second"]


def test_the_registry_answers_as_flinks_client_asks():
    with running_registry({7: "{}"}) as port:
        url = f"http://127.0.0.1:{port}/apis/ccompat/v7/schemas/ids"
        known = httpx.get(f"{url}/7?fetchMaxId=false&subject=", trust_env=False)
        assert (known.status_code, known.json()) == (200, {"schema": "{}"})
        assert httpx.get(f"{url}/8", trust_env=False).json()["error_code"] == 40403
