# SPDX-License-Identifier: Apache-2.0
"""PyFlink programs of the user as Flink jobs."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.model import FlinkJob
from infra.services.flink.jobs import COLUMNS_FILE, PYTHON_LAUNCHER
from infra.services.flink.settings import JOBMANAGER, PYTHON_ENVIRONMENT, TASKMANAGER, python_jar
from infra.user_files import PROGRAM_FOLDER, ProgramFiles, UserFileError, UserFiles, read_user_files
from tests.unit.infra.test_services import FakeSite

SERVICE = (
    "# lab: service\n# needs: topic/orders\n# arguments: --title 'all orders' --to ${KAFKA_BOOTSTRAP}\n\nimport sys\n"
)
TASK = "# lab: task\n# lineage: listener\n"
COLUMNS = '{"inputs": ["kafka/orders"], "outputs": {}}'


def build(programs, **settings):
    return build_lab(FakeSite(), LabSettings(**{"flink_python": True, **settings}), UserFiles(programs=programs))


def test_a_service_has_a_launcher_with_the_program_and_its_arguments():
    lab = build({"my_orders": ProgramFiles(SERVICE)})
    launcher = lab.service("my_orders")
    assert launcher.run.module == PYTHON_LAUNCHER
    file = FakeSite().project_file("jobs/flink/python/my_orders.py")
    assert launcher.run.args == (file, "--title", "all orders", "--to", "${KAFKA_BOOTSTRAP}")
    assert launcher.run.reads == ("jobs/flink/python/my_orders.py",)
    assert launcher.env["FLINK_PYTHON"] == FakeSite().python(PYTHON_ENVIRONMENT)
    assert python_jar(FakeSite()) in launcher.env["FLINK_PYTHON_GATEWAY"]
    assert launcher.env["OPENLINEAGE_CONFIG"] in launcher.secret_files
    assert "topic/orders" in launcher.needs
    assert "my_orders" in [part.name for part in lab.parts if isinstance(part, FlinkJob)]


def test_the_cluster_has_flinks_python_jar():
    with_python, without = build({}), build({}, flink_python=False)
    for name in (JOBMANAGER, TASKMANAGER):
        assert python_jar(FakeSite()) in with_python.service(name).run.class_path.split(":")
        assert python_jar(FakeSite()) not in without.service(name).run.class_path.split(":")
    assert with_python.service(TASKMANAGER).memory_mib > without.service(TASKMANAGER).memory_mib


def test_a_task_runs_to_completion_and_the_listener_can_report_it():
    lab = build({"once": ProgramFiles(TASK)})
    (task,) = (task for task in lab.tasks if task.name == "once")
    assert task.run.args == ("--listener", FakeSite().project_file("jobs/flink/python/once.py"))
    assert task.env["OPENLINEAGE_CONFIG"] in task.secret_files
    assert not [part for part in lab.parts if isinstance(part, FlinkJob) and part.name == "once"]


def test_declared_columns_are_passed():
    (task,) = (task for task in build({"once": ProgramFiles(TASK, COLUMNS)}).tasks if task.name == "once")
    assert task.files == {COLUMNS_FILE: COLUMNS}
    assert task.run.args[:2] == ("--columns", FakeSite().file("once", COLUMNS_FILE))


def test_files_without_header_are_modules_of_all_programs():
    lab = build({"helpers": ProgramFiles("import sys\n"), "once": ProgramFiles(TASK)})
    assert "helpers" not in [task.name for task in lab.tasks]
    (task,) = (task for task in lab.tasks if task.name == "once")
    assert task.run.args[1:3] == ("--module", FakeSite().project_file("jobs/flink/python/helpers.py"))
    assert task.run.reads == ("jobs/flink/python/once.py", "jobs/flink/python/helpers.py")


def test_without_flink_there_are_no_jobs_of_programs():
    assert "once" not in [task.name for task in build({"once": ProgramFiles(TASK)}, flink=False).tasks]


def test_a_lab_without_pyflink_says_how_to_have_it():
    with pytest.raises(UserFileError, match=r"once\.py needs PyFlink, .* set lineage-lab:flinkPython: true"):
        build({"once": ProgramFiles(TASK)}, flink_python=False)
    build({"helpers": ProgramFiles("import sys\n")}, flink_python=False)


def test_pyflink_is_installed_for_labs_with_the_setting():
    assert PYTHON_ENVIRONMENT in required_artifacts(LabSettings(flink_python=True))
    for settings in (LabSettings(), LabSettings(flink_python=True, flink=False)):
        assert PYTHON_ENVIRONMENT not in required_artifacts(settings)


def test_launchers_and_every_jvm_of_the_cluster_have_pyflink():
    """The cluster's class path has Flink's Python jar, and TaskManagers start Python."""
    files = UserFiles(programs={"mine": ProgramFiles(SERVICE)})
    found = build_lab(FakeSite(), LabSettings(flink_python=True), files)
    for name in ("mine", "flink_jobmanager", "flink_taskmanager", "flink_sql_gateway"):
        assert found.service(name).run.packages == (PYTHON_ENVIRONMENT,)
    plain = build_lab(FakeSite(), LabSettings())
    assert plain.service("flink_taskmanager").run.packages == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Orders", SERVICE, "jobs/flink/python/Orders.py: the file name is the job's name"),
        ("orders_etl", SERVICE, "jobs/flink/python/orders_etl.py: the lab already has a part orders_etl"),
        ("a", "# lab: servise\n", "a.py, line 1: lab: expected service or task, not 'servise'"),
        ("a", "# lab: task\n# lineage: own\n", "a.py, line 2: lineage: expected planner or listener, not 'own'"),
        ("a", "# lab: task\n# arguments: 'b\n", "a.py, line 2: arguments: no closing quotation: 'b"),
        (
            "a",
            "# lab: task\n# memory: 1\n",
            "a.py, line 2: unknown key memory. Known keys: lab, needs, cluster, arguments, lin",
        ),
        ("a", "# lab: task\n# needs: topic/order\n", "line 2: needs: unknown part 'topic/order'; did you mean"),
    ],
)
def test_an_invalid_header_is_rejected_with_the_reason(name, text, message):
    with pytest.raises(UserFileError) as error:
        build({name: ProgramFiles(text)})
    assert message in str(error.value)


def test_declared_columns_in_no_valid_form_are_rejected():
    with pytest.raises(UserFileError, match=r"jobs/flink/python/once\.columns\.json must be a JSON object"):
        build({"once": ProgramFiles(TASK, "[]")})


def test_the_files_of_programs_are_read(tmp_path):
    assert read_user_files(tmp_path).programs == {}
    folder = tmp_path / PROGRAM_FOLDER
    folder.mkdir(parents=True)
    for name in ("one", "other"):
        (folder / f"{name}.py").write_text(TASK)
    (folder / "one.columns.json").write_text("{}")
    assert read_user_files(tmp_path).programs == {"one": ProgramFiles(TASK, "{}"), "other": ProgramFiles(TASK)}
    (folder / "other.py").rename(folder / "another.py")
    (folder / "one.py").unlink()
    with pytest.raises(UserFileError, match=r"one\.columns\.json has no program: create jobs/flink/python/one\.py"):
        read_user_files(tmp_path)
