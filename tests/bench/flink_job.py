# SPDX-License-Identifier: Apache-2.0
"""SQL job `iceberg_ingestion`, run by its launcher, with the catalog `lake` in a folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from infra.model import Python, Task
from infra.namespaces import CATALOG_NAME, JOB_ICEBERG_INGESTION
from infra.project import PROJECT
from infra.services.flink.jobs import SqlJob, sql_task
from infra.user_files import FLINK_FOLDER, FLINK_SUFFIX
from lineagelab_flink.launch_sql import PRELUDE
from tests.bench.flink_cluster import FlinkCluster
from tests.bench.measured_process import ProcessUsage, run_measured
from tests.bench.partial_lab import process_environment

JOB_TIMEOUT = 600
LINEAGE_VARIABLES = ("LINEAGE_URL", "FLINK_SQL_LINEAGE")
"""Environment variables without which a launcher emits no lineage and runs no planner."""

_FROM_START = "'scan.startup.mode' = 'earliest-offset',"
_BOUNDED = f"{_FROM_START}\n  'scan.bounded.mode' = 'latest-offset',"


@dataclass(frozen=True)
class JobLaunch:
    """One launch of the job on a cluster; `folder` contains its tables, the launcher's state and its log.

    Attributes:
        bounded: the job reads the existing records and ends; otherwise it runs until stopped, as in the lab.
        lineage: the launcher reports the job's lineage.
    """

    cluster: FlinkCluster
    folder: Path
    bounded: bool
    lineage: bool

    @property
    def warehouse(self) -> Path:
        """Return the folder of the tables."""
        return self.folder / "warehouse"

    def run(self) -> ProcessUsage:
        """Run a bounded job to its end and return the usage of launcher and planner.

        Raises:
            RuntimeError: the job failed; the message has the end of the launcher's log.
            subprocess.TimeoutExpired: the job did not end in time.
        """
        return run_measured(self._write_command(), process_environment(), self.folder / "launcher.log", JOB_TIMEOUT)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start the launcher and yield its process; at the end it stops the job with a savepoint."""
        words = self._write_command()
        with (self.folder / "launcher.log").open("wb") as log:
            process = subprocess.Popen(words, env=process_environment(), stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(JOB_TIMEOUT)

    def task(self) -> Task:
        """Return the launcher's task as the lab renders it, with the files and settings of this launch."""
        text = (PROJECT / FLINK_FOLDER / f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}").read_text(encoding="utf-8")
        job = SqlJob(JOB_ICEBERG_INGESTION, bounded_sql(text) if self.bounded else text, continuous=not self.bounded)
        task = sql_task(job, self.cluster.lab.site, {PRELUDE: create_catalog_statement(self.warehouse)})
        assert isinstance(task.run, Python)
        env = {name: value for name, value in task.env.items() if self.lineage or name not in LINEAGE_VARIABLES}
        own = {
            "FLINK_STATE": str(self.folder / "state.json"),
            "LINEAGE_OPEN_RUNS": str(self.folder / "undelivered.json"),
        }
        return replace(task, run=replace(task.run, args=("--once", *task.run.args)), env={**env, **own})

    def _write_command(self) -> list[str]:
        self.folder.mkdir(parents=True)
        return ["sh", str(self.cluster.lab.write_script(self.task()))]


def bounded_sql(sql: str) -> str:
    """Return the job's SQL with its source bounded by the end of the topic.

    Raises:
        ValueError: the job does not have exactly one source that reads from the start.
    """
    if sql.count(_FROM_START) != 1:
        raise ValueError(f"{JOB_ICEBERG_INGESTION} must have exactly one source with {_FROM_START}")
    return sql.replace(_FROM_START, _BOUNDED)


def create_catalog_statement(warehouse: Path) -> str:
    """Return the SQL statement that creates the catalog `lake` in a folder."""
    return (
        f"CREATE CATALOG {CATALOG_NAME} WITH "
        f"('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{warehouse.as_uri()}');\n"
    )
