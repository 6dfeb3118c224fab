# SPDX-License-Identifier: Apache-2.0
"""User-defined Spark jobs: headers, validation and error messages."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.project import PROJECT
from infra.services.spark import driver
from infra.services.spark.submission import Submission
from infra.user_files import UserFileError, UserFiles, read_user_files
from lineagelab_spark.driver_settings import PROFILE_ROWS
from tests.unit.infra.test_services import FakeSite

BODY = "\nfrom pyspark.sql import SparkSession\n# lab: service\n"


def lab_with(text, name="mine.py", **settings):
    return build_lab(FakeSite(), LabSettings(**settings), UserFiles(spark={name: text}))


def task(header, **settings):
    (found,) = [task for task in lab_with(header + BODY, **settings).tasks if task.name == "mine"]
    return found


def error_of(header, name="mine.py"):
    with pytest.raises(UserFileError) as raised:
        lab_with(header + BODY, name)
    assert str(raised.value).startswith(f"jobs/spark/{name}")
    return str(raised.value)


def spark_properties(part):
    return dict(line.split("=", 1) for line in part.files["spark.properties"].splitlines())


def test_task_is_observed_and_has_name_of_file():
    found = task("# lab: task\n")
    assert found.run.module == "lineagelab_spark.launch"
    assert found.run.args == ("--application", "mine", "--observe", "jobs.spark.mine")
    assert "lineagelab_spark.observed" in found.run.uses
    properties = spark_properties(found)
    assert properties["spark.app.name"] == "mine"
    assert "spark.extraListeners" not in properties
    assert found.secrets.keys() == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "LINEAGE_API_KEY"}
    assert not [name for name in found.env if name.startswith("OPENLINEAGE__")]
    assert found.run.components == ("spark",)
    assert found.env["LINEAGE_URL"] == "http://lineage:5000"


def test_service_emits_own_lineage_and_leaves_one_core():
    found = lab_with("# lab: service\n", spark_master="local[4]").service("mine")
    assert found.run.args == ("jobs.spark.mine",)
    properties = spark_properties(found)
    assert "spark.extraListeners" not in properties
    assert properties["spark.master"] == "local[3]"
    assert found.env["CHECKPOINTS"] == "s3a://checkpoints"


def test_choose_lineage_emitter():
    agent = task("# lab: task\n# lineage: agent\n")
    assert agent.run.args == ("--application", "mine", "jobs.spark.mine")
    assert spark_properties(agent)["spark.extraListeners"].endswith("OpenLineageSparkListener")
    assert spark_properties(agent)["spark.openlineage.facets.columnLineage.disabled"] == "false"
    both = task("# lab: task\n# lineage: both\n")
    assert spark_properties(both)["spark.openlineage.facets.columnLineage.disabled"] == "true"
    service = lab_with("# lab: service\n# lineage: agent\n").service("mine")
    assert service.run.args == ("--application", "mine", "jobs.spark.mine")
    assert "LINEAGE_URL" not in task("# lab: task\n# lineage: off\n").env


def test_agent_keeps_events_until_they_are_accepted():
    found = task("# lab: task\n# lineage: agent\n")
    properties = spark_properties(found)
    transport = {
        key.removeprefix("spark.openlineage.transport."): value
        for key, value in properties.items()
        if key.startswith("spark.openlineage.transport.")
    }
    assert transport == {
        "type": "spool",
        "directory": "/tmp/mine/unsent-events",
        "transport.type": "http",
        "transport.url": "http://lineage:5000",
        "transport.timeoutInMillis": "2000",
    }
    assert properties["spark.jars"] == "/opt/spool-transport/spool-transport.jar"
    assert found.run.components == ("spark", "spool-transport")
    assert "OPENLINEAGE__TRANSPORT__TRANSPORT__AUTH__API_KEY" in found.secrets


def test_jars_of_the_user_are_added_to_that_of_the_agent():
    conf = "spark.jars=/mine/a.jar,/mine/b.jar"
    agent = spark_properties(task("# lab: task\n# lineage: agent\n", spark_conf=conf))
    assert agent["spark.jars"] == "/mine/a.jar,/mine/b.jar,/opt/spool-transport/spool-transport.jar"
    assert spark_properties(task("# lab: task\n", spark_conf=conf))["spark.jars"] == "/mine/a.jar,/mine/b.jar"


def test_exported_agent_sends_each_event_once():
    """The jar of the transport, and its folder, are on this machine."""
    conf = "spark.jars=/mine/a.jar"
    submitted = Submission.of(task("# lab: task\n# lineage: agent\n", spark_conf=conf))
    assert submitted.properties["spark.jars"] == "/mine/a.jar"
    transport = {k: v for k, v in submitted.properties.items() if k.startswith("spark.openlineage.transport.")}
    assert transport == {
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": "http://lineage:5000",
        "spark.openlineage.transport.timeoutInMillis": "2000",
    }
    assert {k: v for k, v in submitted.variables.items() if k.startswith("OPENLINEAGE__")} == {
        "OPENLINEAGE__TRANSPORT__TYPE": "http",
        "OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key",
    }


def test_needs_extend_common_needs():
    needs = task("# lab: task\n# needs: topic/orders, schema_registry\n").needs
    assert {"topic/orders", "schema_registry", "iceberg_catalog", "lineage", "bucket/warehouse"} <= set(needs)


def test_memory_is_heap_plus_overhead():
    found = task("# lab: task\n# memory: 1200 MiB\n")
    assert found.memory_mib == 1200
    assert spark_properties(found)["spark.driver.memory"] == "800m"
    assert task("# lab: task\n").memory_mib == 768 + 400


@pytest.mark.parametrize(
    "before",
    ["", "\ufeff", "#!/usr/bin/env python3\n", "# SPDX-License-Identifier: Apache-2.0\n", "\n\n# Mine: the best.\n\n"],
)
def test_accept_comments_before_header(before):
    assert task(f"{before}# lab: task\n").name == "mine"


@pytest.mark.parametrize("text", ["", "import os\n# lab: task\n", '"""lab: task"""\n', "# label: x\n", "# needs: y\n"])
def test_ignore_file_without_header(text):
    assert lab_with(text) == build_lab(FakeSite(), LabSettings())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("# lab: tsk\n", ", line 1: lab: expected task or service, not 'tsk'"),
        ("# lab\n", ", line 1: expected `# key: value`, not '# lab'"),
        ("# Lab: task\n", ", line 1: unknown key Lab; did you mean lab?"),
        ("# lab: task\n# lab: task\n", ", line 2: duplicate key lab"),
        ("# x\n# lab: task\n# ned: topic/orders\n", ", line 3: unknown key ned; did you mean needs?"),
        (
            "# lab: task\n# A remark of mine.\n",
            ", line 2: expected `# key: value`, not '# A remark of mine.'; end the header",
        ),
        (
            "# lab: task\n# needs: topic/order\n",
            ", line 2: needs: unknown part 'topic/order'; did you mean topic/orders?",
        ),
        ("# lab: task\n# needs: kafka,, lineage\n", ", line 2: needs: unknown part ''"),
        ("# lab: task\n# needs: supplier_stats\n", ", line 2: needs: unknown part 'supplier_stats'"),
        ("# lab: task\n# memory: 1200\n", ", line 2: memory: expected at least 912 MiB, not '1200'"),
        ("# lab: task\n# memory: 911 MiB\n", ", line 2: memory: expected at least 912 MiB"),
        ("# lab: task\n# lineage: on\n", ", line 2: lineage: expected agent or both or own or off, not 'on'"),
    ],
)
def test_report_line_of_invalid_header(header, message):
    assert message in error_of(header)


@pytest.mark.parametrize("name", ["My.py", "my-job.py", "1st.py", "import.py", "a.b.py", "ä.py", "_x.py"])
def test_reject_invalid_module_name(name):
    assert "the file name is the job's name" in error_of("# lab: task\n", name)


@pytest.mark.parametrize("name", ["kafka", "supplier_stats", "orders_etl", "maintenance", "marquez", "spark_master"])
def test_reject_name_of_existing_part(name):
    assert f"the lab already has a part {name}" in error_of("# lab: task\n", f"{name}.py")


def test_report_path_of_unreadable_file(tmp_path):
    (tmp_path / "jobs" / "spark").mkdir(parents=True)
    (tmp_path / "jobs" / "spark" / "odd.py").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/spark/odd\.py cannot be read"):
        read_user_files(tmp_path)
    assert read_user_files(tmp_path / "nowhere").spark == {}


def test_modules_of_the_lab_have_no_header():
    assert build_lab(FakeSite(), LabSettings(), UserFiles(spark=read_user_files(PROJECT).spark)) == build_lab(
        FakeSite(), LabSettings()
    )


def test_an_observed_batch_job_profiles_its_tables_where_the_setting_says_so():
    assert task("# lab: task\n", profile_rows=500).env[PROFILE_ROWS] == "500"
    assert PROFILE_ROWS not in task("# lab: task\n").env
    assert PROFILE_ROWS not in task("# lab: task\n# lineage: agent\n", profile_rows=500).env
    assert driver.PROFILE_ROWS == PROFILE_ROWS
