# SPDX-License-Identifier: Apache-2.0
"""Start of an executor in a pod that a driver created."""

from pathlib import Path

import pytest

from jobs.spark.launch_executor import executor_command

POD = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@10.0.0.7:41000",
    "SPARK_EXECUTOR_ID": "2",
    "SPARK_EXECUTOR_CORES": "1",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.8",
    "SPARK_EXECUTOR_POD_NAME": "supplier-stats-exec-2",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_MEMORY": "512m",
}


def test_command_has_the_java_options_in_order_and_the_drivers_jars_first():
    options = {f"SPARK_JAVA_OPT_{n}": f"-Dn={n}" for n in (10, 2, 0)}
    command = executor_command("/java", Path("/spark"), {**POD, **options, "SPARK_CLASSPATH": "/more/*"})
    assert command[:6] == ["/java", "-Dn=0", "-Dn=2", "-Dn=10", "-Xms512m", "-Xmx512m"]
    assert command[command.index("-cp") + 1] == "/more/*:/spark/jars/*"
    assert command[command.index("--driver-url") + 1] == POD["SPARK_DRIVER_URL"]
    assert command[command.index("--podName") + 1] == "supplier-stats-exec-2"


def test_missing_variables_are_named():
    with pytest.raises(SystemExit, match=r"SPARK_EXECUTOR_ID, SPARK_EXECUTOR_MEMORY not set; a Spark driver sets them"):
        executor_command(
            "/java",
            Path("/spark"),
            {k: v for k, v in POD.items() if k not in {"SPARK_EXECUTOR_ID", "SPARK_EXECUTOR_MEMORY"}},
        )
