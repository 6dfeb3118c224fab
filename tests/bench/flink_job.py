# SPDX-License-Identifier: Apache-2.0
"""The lab's SQL job `iceberg_ingestion` as its launcher runs it, with a lake that is a folder."""

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
from tests.bench.flink_place import FlinkPlace
from tests.bench.spark_place import inherited
from tests.bench.spark_process import Usage, run

SECONDS = 600
LINEAGE = ("LINEAGE_URL", "FLINK_SQL_LINEAGE")
"""Variables without which a launcher says nothing, and asks no planner."""

_FROM_THE_START = "'scan.startup.mode' = 'earliest-offset',"
_TO_THE_END = f"{_FROM_THE_START}\n  'scan.bounded.mode' = 'latest-offset',"


@dataclass(frozen=True)
class Launch:
    """One launch of the job on a cluster. `folder` is its own: tables, what the launcher remembers, its log.

    Attributes:
        bounded: reads what is there and ends; otherwise runs on, as in the lab.
        lineage: whether the launcher speaks of it.
    """

    cluster: FlinkPlace
    folder: Path
    bounded: bool
    lineage: bool

    @property
    def warehouse(self) -> Path:
        """The folder of the tables."""
        return self.folder / "warehouse"

    def run(self) -> Usage:
        """Runs a bounded job to its end; what launcher and planner have taken.

        Raises:
            RuntimeError: it failed; the text has the end of the launcher's log.
            subprocess.TimeoutExpired: it did not end in time.
        """
        return run(self._words(), inherited(), self.folder / "launcher.log", SECONDS)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """The launcher, started just now; at the end it is asked to stop, and cancels the job with a savepoint."""
        words = self._words()
        with (self.folder / "launcher.log").open("wb") as log:
            process = subprocess.Popen(words, env=inherited(), stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(SECONDS)

    def task(self) -> Task:
        """The launcher as the lab renders it, with what is the launch's own."""
        text = (PROJECT / FLINK_FOLDER / f"{JOB_ICEBERG_INGESTION}{FLINK_SUFFIX}").read_text(encoding="utf-8")
        job = SqlJob(JOB_ICEBERG_INGESTION, to_the_end(text) if self.bounded else text, continuous=not self.bounded)
        task = sql_task(job, self.cluster.place.site, {PRELUDE: catalog_in(self.warehouse)})
        assert isinstance(task.run, Python)
        env = {name: value for name, value in task.env.items() if self.lineage or name not in LINEAGE}
        own = {
            "FLINK_STATE": str(self.folder / "state.json"),
            "LINEAGE_OPEN_RUNS": str(self.folder / "undelivered.json"),
        }
        return replace(task, run=replace(task.run, args=("--once", *task.run.args)), env={**env, **own})

    def _words(self) -> list[str]:
        self.folder.mkdir(parents=True)
        return ["sh", str(self.cluster.place.script(self.task()))]


def to_the_end(sql: str) -> str:
    """The job, made to read what is there and to end.

    Raises:
        ValueError: it has not one source that reads from the start.
    """
    if sql.count(_FROM_THE_START) != 1:
        raise ValueError(f"{JOB_ICEBERG_INGESTION} was to have one source with {_FROM_THE_START}")
    return sql.replace(_FROM_THE_START, _TO_THE_END)


def catalog_in(warehouse: Path) -> str:
    """The statement that makes a folder the catalog `lake`."""
    return (
        f"CREATE CATALOG {CATALOG_NAME} WITH "
        f"('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{warehouse.as_uri()}');\n"
    )
