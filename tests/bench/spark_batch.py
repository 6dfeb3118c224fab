# SPDX-License-Identifier: Apache-2.0
"""Usage of the batch job from start to end: run by the lab, and by plain `spark-submit`.

Both run alternately, in a new process each time. They read the same table, overwrite the same days of another, and
report their lineage to a lineage service: the lab by `lineagelab_spark`, plain `spark-submit` by OpenLineage's agent.
"""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from infra.model import Task
from infra.namespaces import JOB_SUPPLIER_STATS, TABLE_ORDERS, TABLE_SUPPLIER_STATS, spark_lineage_settings
from infra.project import PROJECT
from infra.services import lineage
from infra.services.spark.driver import PROPERTIES
from infra.toolchain import Artifacts
from jobs.shop.orders import SUPPLIERS
from tests.bench import spark_orders
from tests.bench.expected_runs import expect_ended_runs
from tests.bench.figures import Figures, Goal, format_number
from tests.bench.measured_process import ProcessUsage, run_measured
from tests.bench.partial_lab import PartialLab, count_rows, process_environment, spark_program, with_folder_catalog
from tests.bench.service_process import running_service

ROWS = 8_000
TOTALS = len(SUPPLIERS) * spark_orders.DAYS * 24
RATIO = Goal(0.4)
LAB, PLAIN = "run by the lab", "plain spark-submit"
_SHARED_SETTINGS = ("spark.sql.catalog.", "spark.sql.extensions")


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Run both alternately; the order changes with each round."""
    with running_service(folder / "lineage") as service:
        lab = PartialLab(folder, Artifacts.open(), {(lineage.NAME, lineage.API.name): service.port})
        warehouse = folder / "warehouse"
        job = with_folder_catalog(lab.part(JOB_SUPPLIER_STATS), warehouse)
        _fill_orders(lab, job, warehouse)
        commands = {LAB: _lab_command(lab, job), PLAIN: _plain_command(lab, job)}
        usages: dict[str, list[ProcessUsage]] = {LAB: [], PLAIN: []}
        for number in range(rounds):
            for way in (LAB, PLAIN) if number % 2 else (PLAIN, LAB):
                with expect_ended_runs(service.url, JOB_SUPPLIER_STATS, 1):
                    usages[way].append(run_measured(*commands[way], folder / "batch.log"))
                if (found := count_rows(warehouse, TABLE_SUPPLIER_STATS)) != TOTALS:
                    raise RuntimeError(f"{JOB_SUPPLIER_STATS}, {way}, wrote {found} rows instead of {TOTALS}")
                _add_usage(figures, way, usages[way][-1])
            _add_ratios(figures, usages[LAB][-1], usages[PLAIN][-1])
    wall, cpu = (_ratio_of_medians(usages, measured) for measured in ("wall_seconds", "cpu_seconds"))
    figures.remark(
        f"batch: {ROWS:,} rows to {TOTALS}, ratio of medians: "
        f"wall time {format_number(wall)}, CPU time {format_number(cpu)}"
    )


def spark_submit_command(lab: PartialLab, job: Task) -> list[str]:
    """Return the `spark-submit` command of the job, with no settings but those of catalog, jars and agent."""
    shared = [line for line in job.files[PROPERTIES].splitlines() if line.startswith(_SHARED_SETTINGS)]
    agent = spark_lineage_settings(job.env["LINEAGE_URL"], columns=True)
    settings = [*shared, *(f"{name}={value}" for name, value in agent.items())]
    return [
        str(lab.artifacts.python("spark").with_name("spark-submit")),
        *("--jars", ",".join(map(str, lab.jars))),
        *(word for setting in settings for word in ("--conf", setting)),
        str(PROJECT / "jobs" / "spark" / f"{JOB_SUPPLIER_STATS}.py"),
    ]


def _lab_command(lab: PartialLab, job: Task) -> tuple[list[str], Mapping[str, str]]:
    return ["sh", str(lab.write_script(job))], process_environment()


def _plain_command(lab: PartialLab, job: Task) -> tuple[list[str], Mapping[str, str]]:
    scratch = lab.folder / "plain"
    scratch.mkdir()
    environment = {
        "JAVA_HOME": str(lab.artifacts.java().parent.parent),
        "PYSPARK_PYTHON": str(lab.artifacts.python("spark")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(scratch),
        "LINEAGE_URL": job.env["LINEAGE_URL"],
    }
    return spark_submit_command(lab, job), process_environment() | environment


def _fill_orders(lab: PartialLab, job: Task, warehouse: Path) -> None:
    fill = replace(job, run=spark_program("tests.bench.spark_orders", str(ROWS)))
    run_measured(["sh", str(lab.write_script(fill))], process_environment(), lab.folder / "fill.log")
    if (found := count_rows(warehouse, TABLE_ORDERS)) != ROWS:
        raise RuntimeError(f"{TABLE_ORDERS} has {found} rows instead of {ROWS}")


def _add_usage(figures: Figures, way: str, usage: ProcessUsage) -> None:
    figures.add(f"{JOB_SUPPLIER_STATS}, {way}: wall", "s", usage.wall_seconds)
    figures.add(f"{JOB_SUPPLIER_STATS}, {way}: CPU", "s", usage.cpu_seconds)


def _add_ratios(figures: Figures, ours: ProcessUsage, plain: ProcessUsage) -> None:
    name = f"{JOB_SUPPLIER_STATS}, {LAB} / {PLAIN}"
    figures.add(f"{name}: wall", "ratio", ours.wall_seconds / plain.wall_seconds, RATIO)
    figures.add(f"{name}: CPU", "ratio", ours.cpu_seconds / plain.cpu_seconds, RATIO)


def _ratio_of_medians(usages: Mapping[str, list[ProcessUsage]], measured: str) -> float:
    ours, plain = (statistics.median(getattr(usage, measured) for usage in usages[way]) for way in (LAB, PLAIN))
    return ours / plain
