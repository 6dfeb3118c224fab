# SPDX-License-Identifier: Apache-2.0
"""Jobs of the user in application mode: their launchers start a JobManager and a TaskManager."""

import shlex
from dataclasses import replace

import pytest
import yaml

from infra.catalog import LabSettings, build_lab
from infra.credentials import KAFKA_FLINK_PASSWORD
from infra.model import FlinkJob
from infra.services.flink.cluster import APPLICATION_MAIN, CONFIG, LOGGING, OWN_COMPONENTS, TASKMANAGER_MAIN
from infra.services.flink.settings import CHECKPOINT_FOLDER, COMPONENT
from infra.settings import TLS
from infra.user_files import JarFiles, ProgramFiles, UserFiles
from tests.unit.infra.rendered_labs import LOCAL_SITE
from tests.unit.infra.test_services import FakeSite

SESSION_SERVICES = {"flink_jobmanager", "flink_taskmanager", "flink_sql_gateway"}
SQL = "INSERT INTO b SELECT * FROM a;\n"


def build(kind, header, site=None, **settings):
    files = {
        "sql": lambda: UserFiles(flink={"mine.sql": header.replace("#", "--") + SQL}),
        "jar": lambda: UserFiles(jars={"mine": JarFiles(header)}),
        "python": lambda: UserFiles(programs={"mine": ProgramFiles(header)}),
    }
    return build_lab(site or FakeSite(), LabSettings(flink_python=kind == "python", **settings), files[kind]())


@pytest.fixture(params=["sql", "jar", "python"])
def kind(request):
    return request.param


def test_the_launcher_has_the_commands_of_its_cluster_and_no_address_of_another(kind):
    lab = build(kind, "# lab: service\n# needs: topic/orders\n# cluster: application\n\n")
    launcher, ordinary = lab.service("mine"), build(kind, "# lab: service\n\n").service("mine")
    assert not {name for name in launcher.env if name in {"FLINK_URL", "FLINK_SQL_GATEWAY_URL"}}
    jobmanager, taskmanager = (shlex.split(launcher.env[name]) for name in ("FLINK_JOBMANAGER", "FLINK_TASKMANAGER"))
    assert APPLICATION_MAIN in jobmanager
    assert TASKMANAGER_MAIN in taskmanager
    for command in (jobmanager, taskmanager):
        path = command[command.index("-cp") + 1]
        assert f"{FakeSite().component(COMPONENT)}/lib/*" in path
        assert ("flink-python" in path) == (kind == "python")
    assert launcher.env["FLINK_CHECKPOINTS"] == CHECKPOINT_FOLDER
    assert {CONFIG, LOGGING} <= set(launcher.files)
    options = yaml.safe_load(launcher.files[CONFIG])
    assert options["execution.checkpointing.dir"] == CHECKPOINT_FOLDER
    assert not {"jobmanager.rpc.address", "rest.address", "rest.port", "taskmanager.data.port"} & set(options)
    assert {COMPONENT, *OWN_COMPONENTS} <= set(launcher.run.components)
    assert launcher.run.java
    assert "topic/orders" in launcher.needs
    assert not SESSION_SERVICES & set(launcher.needs)
    assert launcher.memory_mib > ordinary.memory_mib + 1000


def test_only_the_launcher_reaches_the_cluster_so_that_its_notes_say_how_the_job_does(kind):
    jobs = {
        cluster: next(
            part
            for part in build(kind, f"# lab: service\n# cluster: {cluster}\n\n").parts
            if isinstance(part, FlinkJob) and part.name == "mine"
        )
        for cluster in ("application", "session")
    }
    assert (jobs["application"].rest, jobs["application"].cluster) == ("", "")
    assert jobs["session"].rest
    assert jobs["session"].cluster
    assert jobs["application"].notes == jobs["session"].notes


def test_a_task_has_a_cluster_of_its_own_too(kind):
    lab = build(kind, "# lab: task\n# cluster: application\n\n")
    (task,) = (task for task in lab.tasks if task.name == "mine")
    assert "FLINK_JOBMANAGER" in task.env
    assert not SESSION_SERVICES & set(task.needs)


def test_its_jvms_log_in_to_a_kafka_with_tls(kind):
    site = replace(LOCAL_SITE, tls=True)
    launcher = build(kind, "# lab: service\n# cluster: application\n\n", site, security=TLS).service("mine")
    (login,) = (path for path in launcher.secret_files if path.endswith(".jaas"))
    assert f"-Djava.security.auth.login.config={login}" in shlex.split(launcher.env["FLINK_TASKMANAGER"])
    assert launcher.secrets["KAFKA_PASSWORD"] == KAFKA_FLINK_PASSWORD
    assert "kafka_acls/flink" in launcher.needs
