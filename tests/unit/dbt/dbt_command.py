# SPDX-License-Identifier: Apache-2.0
"""The lab's dbt project on a DuckDB file in place of the lake, run by the real dbt in its environment."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from infra.project import PROJECT, python_path
from infra.services.dbt.task import FOLDER
from infra.toolchain import Artifacts, venvs
from tests.connect.endpoint import listening

JOB = "dbt_build"
MODELS = ("fct_orders", "dim_days", "dim_suppliers", "revenue_by_supplier_and_hour", "order_quality_by_day")
PROFILE = """
lineage_lab:
  target: lake
  outputs:
    lake: {{type: duckdb, path: "{path}", schema: main, threads: 1}}
"""

SOURCES = {
    "lake.sales.orders": {
        "order_id": "VARCHAR",
        "item": "VARCHAR",
        "price": "DECIMAL(10, 2)",
        "supplier": "VARCHAR",
        "bid_time": "TIMESTAMPTZ",
    },
    "lake.sales.orders_rejected": {
        "order_id": "VARCHAR",
        "reason": "VARCHAR",
        "kafka_timestamp": "TIMESTAMPTZ",
    },
}


@dataclass(frozen=True)
class Built:
    """Outcome of a dbt command: exit status, output, and the events of the command."""

    status: int
    text: str
    events: list[dict]

    def of(self, job: str) -> list[dict]:
        """Return the events of a job, in order."""
        return [event for event in self.events if event["job"]["name"] == job]

    def types(self, job: str) -> list[str]:
        return [event["eventType"] for event in self.of(job)]

    @property
    def jobs(self) -> set[str]:
        return {event["job"]["name"] for event in self.events}


@dataclass(frozen=True)
class DbtProject:
    """The project on the file `lake.duckdb` of a folder; its catalog is named as the lake's."""

    folder: Path
    python: Path = field(default_factory=lambda: Path(Artifacts.open().python(venvs.DBT.name)))

    def __post_init__(self) -> None:
        (self.folder / "profiles.yml").write_text(PROFILE.format(path=self.file))
        with self.connected() as connection:
            connection.execute("CREATE SCHEMA IF NOT EXISTS lake.sales")
            for table, columns in SOURCES.items():
                connection.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, columns.items()))})")

    @property
    def file(self) -> Path:
        return self.folder / "lake.duckdb"

    def connected(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(str(self.file))
        connection.execute("SET TimeZone = 'UTC'")
        return connection

    def execute(self, *statements: str) -> list[tuple]:
        """Run SQL; return the rows of the last statement."""
        with self.connected() as connection:
            for statement in statements:
                connection.execute(statement)
            return connection.fetchall()

    def run(self, *words: str, **environment: str) -> Built:
        """Run `lineagelab-dbt WORDS`."""
        with listening() as endpoint:
            variables = {
                "PYTHONPATH": python_path(PROJECT),
                "LAKE_CATALOG": "lake",
                "DBT_PROJECT_DIR": str(PROJECT / FOLDER),
                "DBT_PROFILES_DIR": str(self.folder),
                "DBT_TARGET_PATH": str(self.target),
                "DBT_LOG_PATH": str(self.folder / "logs"),
                "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
                "DBT_USE_COLORS": "false",
                "DBT_JOB_NAME": JOB,
                "OPENLINEAGE_NAMESPACE": "test",
                "OPENLINEAGE_URL": endpoint.url,
                **environment,
            }
            inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            done = subprocess.run(
                [self.python, "-m", "lineagelab_dbt", *words],
                env=inherited | variables,
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            return Built(done.returncode, done.stdout + done.stderr, endpoint.events)

    @property
    def target(self) -> Path:
        return self.folder / "target"

    def compiled(self, model: str) -> str:
        """Return the SQL of a model as dbt ran it."""
        (path,) = (self.target / "compiled").rglob(f"{model}.sql")
        return path.read_text()
