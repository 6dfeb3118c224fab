# SPDX-License-Identifier: Apache-2.0
"""Jars of the user as Flink jobs."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.model import FlinkJob
from infra.services.flink.jobs import COLUMNS_FILE, JAR_LAUNCHER, JAR_PLANNER_MAIN
from infra.user_files import JAR_FOLDER, JarFiles, UserFileError, UserFiles, read_user_files
from tests.unit.infra.test_services import FakeSite

SERVICE = "# lab: service\n# needs: topic/orders\n# main: com.example.Orders\n\n--topic orders\n"
TASK = "# lab: task\n--once\n"
COLUMNS = '{"inputs": ["kafka/orders"], "outputs": {}}'


def build(jars, **settings):
    return build_lab(FakeSite(), LabSettings(**settings), UserFiles(jars=jars))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / JAR_FOLDER
    made.mkdir(parents=True)
    return made


def read(tmp_path):
    return read_user_files(tmp_path).jars


def test_a_service_has_a_launcher_with_the_jar_and_its_arguments():
    lab = build({"my_orders": JarFiles(SERVICE)})
    launcher = lab.service("my_orders")
    assert launcher.run.module == JAR_LAUNCHER
    assert launcher.run.args == (
        *("--arguments", FakeSite().file("my_orders", "my_orders.args")),
        *("--main", "com.example.Orders", "my_orders"),
    )
    assert launcher.run.reads == ("jobs/flink/jars/my_orders.jar",)
    assert launcher.env["FLINK_JOB_JAR"] == FakeSite().project_file("jobs/flink/jars/my_orders.jar")
    assert launcher.files == {"my_orders.args": SERVICE}
    assert "topic/orders" in launcher.needs
    assert "my_orders" in [part.name for part in lab.parts if isinstance(part, FlinkJob)]


def test_a_task_runs_to_completion_and_declared_columns_are_passed():
    lab = build({"once": JarFiles(TASK, COLUMNS)})
    (task,) = (task for task in lab.tasks if task.name == "once")
    assert task.files == {"once.args": TASK, COLUMNS_FILE: COLUMNS}
    assert task.run.args[:4] == (
        *("--arguments", FakeSite().file("once", "once.args")),
        *("--columns", FakeSite().file("once", COLUMNS_FILE)),
    )
    assert task.run.args[4:6] == ("--dataset-namespace", "kafka=kafka://kafka:9092")
    assert task.run.args[-1] == "once"
    assert not [part for part in lab.parts if isinstance(part, FlinkJob) and part.name == "once"]


def test_the_planner_can_derive_columns():
    (task,) = (
        task for task in build({"once": JarFiles("# lab: task\n# lineage: planner\n")}).tasks if task.name == "once"
    )
    assert task.env["FLINK_JAR_LINEAGE"].endswith(JAR_PLANNER_MAIN)
    assert task.run.java
    (listener,) = (task for task in build({"once": JarFiles(TASK)}).tasks if task.name == "once")
    assert "FLINK_JAR_LINEAGE" not in listener.env
    assert task.memory_mib > listener.memory_mib


def test_without_flink_there_are_no_jobs_of_jars():
    lab = build({"once": JarFiles(TASK)}, flink=False)
    assert "once" not in [task.name for task in lab.tasks]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Orders", SERVICE, "jobs/flink/jars/Orders.jar: the file name is the job's name"),
        ("orders_etl", SERVICE, "jobs/flink/jars/orders_etl.jar: the lab already has a part orders_etl"),
        ("a", "--topic orders\n", "jobs/flink/jars/a.args: the first line must be `# lab: service` or `# lab: task`"),
        ("a", "# lab: servise\n", "a.args, line 1: lab: expected service or task, not 'servise'"),
        ("a", "# lab: task\n# main: a b\n", "a.args, line 2: main: 'a b' is no name of a class"),
        ("a", "# lab: task\n# lineage: own\n", "a.args, line 2: lineage: expected listener or planner, not 'own'"),
        (
            "a",
            "# lab: task\n# memory: 1\n",
            "a.args, line 2: unknown key memory. Known keys: lab, needs, cluster, main, lineage",
        ),
        ("a", "# lab: task\n# cluster: own\n", "a.args, line 2: cluster: expected session or application, not 'own'"),
        ("a", "# lab: task\n# needs: topic/order\n", "line 2: needs: unknown part 'topic/order'; did you mean"),
    ],
)
def test_an_invalid_header_is_rejected_with_the_reason(name, text, message):
    with pytest.raises(UserFileError) as error:
        build({name: JarFiles(text)})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"inputs": [', "jobs/flink/jars/once.columns.json is not valid JSON: Expecting value: line 1 column 13"),
        ("[]", "jobs/flink/jars/once.columns.json must be a JSON object of `inputs` and `outputs`"),
        ('{"inputs": []}', "jobs/flink/jars/once.columns.json must be a JSON object of `inputs` and `outputs`"),
    ],
)
def test_declared_columns_in_no_valid_form_are_rejected(text, message):
    with pytest.raises(UserFileError) as error:
        build({"once": JarFiles(TASK, text)})
    assert message in str(error.value)


def test_the_files_of_jars_are_read(tmp_path, folder):
    assert read(tmp_path) == {}
    for name in ("one", "other"):
        (folder / f"{name}.jar").touch()
        (folder / f"{name}.args").write_text(TASK)
    (folder / "one.columns.json").write_text("{}")
    assert read(tmp_path) == {"one": JarFiles(TASK, "{}"), "other": JarFiles(TASK)}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("a.jar", "jobs/flink/jars/a.jar has no header: create a.args beside it"),
        ("a.args", "jobs/flink/jars/a.args has no jar: copy it to jobs/flink/jars/a.jar"),
        ("a.columns.json", "jobs/flink/jars/a.columns.json has no jar: copy it to jobs/flink/jars/a.jar"),
    ],
)
def test_incomplete_files_of_a_jar_are_rejected(tmp_path, folder, file, message):
    (folder / file).write_text("{}")
    with pytest.raises(UserFileError, match=message):
        read(tmp_path)
