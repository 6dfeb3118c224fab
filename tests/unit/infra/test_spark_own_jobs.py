# SPDX-License-Identifier: Apache-2.0
"""Spark jobs of the user's own: what a file's header may say, and what is said of one that cannot be used."""

import pytest

from infra.catalog import LabSettings, lab
from infra.project import PROJECT
from infra.user_files import UserFileError, UserFiles, read_user_files
from tests.unit.infra.test_services import ElsewhereSite

BODY = "\nfrom pyspark.sql import SparkSession\n# lab: service\n"


def lab_with(text, name="mine.py", **settings):
    return lab(ElsewhereSite(), LabSettings(**settings), UserFiles(spark={name: text}))


def task(header, **settings):
    (found,) = [task for task in lab_with(header + BODY, **settings).tasks if task.name == "mine"]
    return found


def refusal(header, name="mine.py"):
    with pytest.raises(UserFileError) as refused:
        lab_with(header + BODY, name)
    assert str(refused.value).startswith(f"jobs/spark/{name}")
    return str(refused.value)


def spark_properties(part):
    return dict(line.split("=", 1) for line in part.files["spark.properties"].splitlines())


def test_a_task_is_launched_with_the_agent_on_and_under_its_files_name():
    found = task("# lab: task\n")
    assert found.run.module == "lineagelab_spark.launch"
    assert found.run.args == ("--application", "mine", "jobs.spark.mine")
    properties = spark_properties(found)
    assert properties["spark.app.name"] == "mine"
    assert properties["spark.openlineage.facets.columnLineage.disabled"] == "false"
    assert properties["spark.extraListeners"].endswith("OpenLineageSparkListener")
    assert found.secrets.keys() == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert found.env["LINEAGE_URL"] == "http://lineage:5000"


def test_a_service_speaks_for_itself_and_leaves_a_core():
    found = lab_with("# lab: service\n", spark_master="local[4]").service("mine")
    assert found.run.args == ("jobs.spark.mine",)
    properties = spark_properties(found)
    assert "spark.extraListeners" not in properties
    assert properties["spark.master"] == "local[3]"
    assert found.env["CHECKPOINTS"] == "s3a://checkpoints"


def test_who_speaks_of_it_can_be_chosen():
    assert task("# lab: task\n# lineage: own\n").run.args == ("jobs.spark.mine",)
    both = task("# lab: task\n# lineage: both\n")
    assert spark_properties(both)["spark.openlineage.facets.columnLineage.disabled"] == "true"
    service = lab_with("# lab: service\n# lineage: agent\n").service("mine")
    assert service.run.args == ("--application", "mine", "jobs.spark.mine")
    assert "LINEAGE_URL" not in task("# lab: task\n# lineage: off\n").env


def test_what_it_needs_is_waited_for_beside_catalog_buckets_and_lineage():
    needs = task("# lab: task\n# needs: topic/orders, schema_registry\n").needs
    assert {"topic/orders", "schema_registry", "iceberg_catalog", "lineage", "bucket/warehouse"} <= set(needs)


def test_its_memory_is_the_heap_and_what_a_driver_takes_beside_it():
    found = task("# lab: task\n# memory: 1200 MiB\n")
    assert found.memory_mib == 1200
    assert spark_properties(found)["spark.driver.memory"] == "800m"
    assert task("# lab: task\n").memory_mib == 768 + 400


@pytest.mark.parametrize(
    "before",
    ["", "\ufeff", "#!/usr/bin/env python3\n", "# SPDX-License-Identifier: Apache-2.0\n", "\n\n# Mine: the best.\n\n"],
)
def test_comments_and_blank_lines_may_come_before_the_header(before):
    assert task(f"{before}# lab: task\n").name == "mine"


@pytest.mark.parametrize("text", ["", "import os\n# lab: task\n", '"""lab: task"""\n', "# label: x\n", "# needs: y\n"])
def test_a_file_without_a_header_is_a_module_like_any_other(text):
    assert lab_with(text) == lab(ElsewhereSite(), LabSettings())


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("# lab: tsk\n", ", line 1: lab: task or service is expected, not 'tsk'"),
        ("# lab\n", ", line 1: '# lab' is no `# key: value`"),
        ("# Lab: task\n", ", line 1: Lab is not understood here; did you mean lab?"),
        ("# lab: task\n# lab: task\n", ", line 2: lab is there more than once"),
        ("# x\n# lab: task\n# ned: topic/orders\n", ", line 3: ned is not understood here; did you mean needs?"),
        ("# lab: task\n# A remark of mine.\n", ", line 2: '# A remark of mine.' is no `# key: value`; leave a line"),
        (
            "# lab: task\n# needs: topic/order\n",
            ", line 2: needs: the lab has no 'topic/order'; did you mean topic/orders?",
        ),
        ("# lab: task\n# needs: kafka,, lineage\n", ", line 2: needs: the lab has no ''"),
        ("# lab: task\n# needs: supplier_stats\n", ", line 2: needs: the lab has no 'supplier_stats'"),
        ("# lab: task\n# memory: 1200\n", ", line 2: memory: 912 MiB or more is expected, not '1200'"),
        ("# lab: task\n# memory: 911 MiB\n", ", line 2: memory: 912 MiB or more is expected"),
        ("# lab: task\n# lineage: on\n", ", line 2: lineage: agent or both or own or off is expected, not 'on'"),
    ],
)
def test_a_header_that_makes_no_sense_is_named_with_its_line(header, said):
    assert said in refusal(header)


@pytest.mark.parametrize("name", ["My.py", "my-job.py", "1st.py", "import.py", "a.b.py", "ä.py", "_x.py"])
def test_a_file_whose_name_is_no_modules_is_refused(name):
    assert "the file's name is the job's" in refusal("# lab: task\n", name)


@pytest.mark.parametrize("name", ["kafka", "supplier_stats", "orders_etl", "maintenance", "marquez", "spark_master"])
def test_a_name_that_the_lab_has_is_refused(name):
    assert f"the lab has a {name} already" in refusal("# lab: task\n", f"{name}.py")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "jobs" / "spark").mkdir(parents=True)
    (tmp_path / "jobs" / "spark" / "odd.py").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/spark/odd\.py cannot be read"):
        read_user_files(tmp_path)
    assert read_user_files(tmp_path / "nowhere").spark == {}


def test_no_module_of_the_labs_own_has_a_header():
    assert lab(ElsewhereSite(), LabSettings(), UserFiles(spark=read_user_files(PROJECT).spark)) == lab(
        ElsewhereSite(), LabSettings()
    )
