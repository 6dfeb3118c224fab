# SPDX-License-Identifier: Apache-2.0
"""The batch job as the lab runs it, and as plain `spark-submit` does: what each takes from start to end.

Both are new processes each time, take turns, read one table, replace the same days of another, and say so to a
lineage service of their own, by the agent and by themselves.
"""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from infra.model import Python, Task
from infra.namespaces import JOB_SUPPLIER_STATS, TABLE_ORDERS, TABLE_SUPPLIER_STATS
from infra.project import PROJECT
from infra.services import lineage
from infra.services.spark.driver import PROPERTIES
from infra.toolchain import Artifacts
from jobs.shop.orders import SUPPLIERS
from tests.bench import spark_orders
from tests.bench.figures import Figures, Goal, shown
from tests.bench.service_process import running_service
from tests.bench.spark_events import Heard
from tests.bench.spark_place import Place, inherited, on_folder, rows
from tests.bench.spark_process import Usage, run

ROWS = 8_000
TOTALS = len(SUPPLIERS) * spark_orders.DAYS * 24
RATIO = Goal(0.4)
LAB, PLAIN = "as the lab runs it", "plain spark-submit"
_SAME_FOR_BOTH = ("spark.sql.catalog.", "spark.sql.extensions", "spark.extraListeners", "spark.openlineage.")


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Rounds of both ways; which is first changes from round to round."""
    with running_service(folder / "lineage") as service:
        place = Place(folder, Artifacts.open(), {(lineage.NAME, lineage.API.name): service.port})
        warehouse = folder / "warehouse"
        job = on_folder(place.part(JOB_SUPPLIER_STATS), warehouse)
        _fill(place, job, warehouse)
        commands = {LAB: _as_the_lab(place, job), PLAIN: _as_plain_spark(place, job)}
        taken: dict[str, list[Usage]] = {LAB: [], PLAIN: []}
        for number in range(rounds):
            for way in (LAB, PLAIN) if number % 2 else (PLAIN, LAB):
                with Heard(service.url).expect(JOB_SUPPLIER_STATS, ends=1):
                    taken[way].append(run(*commands[way], folder / "batch.log"))
                if (found := rows(warehouse, TABLE_SUPPLIER_STATS)) != TOTALS:
                    raise RuntimeError(f"{JOB_SUPPLIER_STATS}, {way}, was to write {TOTALS} rows and wrote {found}")
                _tell(figures, way, taken[way][-1])
            _tell_ratios(figures, taken[LAB][-1], taken[PLAIN][-1])
    wall, cpu = (_ratio_of_medians(taken, measured) for measured in ("wall_seconds", "cpu_seconds"))
    figures.remark(
        f"batch: {ROWS:,} rows to {TOTALS}, ratio of the medians {shown(wall)} of wall and {shown(cpu)} of CPU time"
    )


def plain_words(place: Place, job: Task) -> list[str]:
    """The job by `spark-submit` with nothing set but catalog, agent and jars."""
    settings = [line for line in job.files[PROPERTIES].splitlines() if line.startswith(_SAME_FOR_BOTH)]
    return [
        str(place.artifacts.python("spark").with_name("spark-submit")),
        *("--jars", ",".join(map(str, place.jars))),
        *(word for setting in settings for word in ("--conf", setting)),
        str(PROJECT / "jobs" / "spark" / f"{JOB_SUPPLIER_STATS}.py"),
    ]


def _as_the_lab(place: Place, job: Task) -> tuple[list[str], Mapping[str, str]]:
    return ["sh", str(place.script(job))], inherited()


def _as_plain_spark(place: Place, job: Task) -> tuple[list[str], Mapping[str, str]]:
    scratch = place.folder / "plain"
    scratch.mkdir()
    environment = {
        "JAVA_HOME": str(place.artifacts.java().parent.parent),
        "PYSPARK_PYTHON": str(place.artifacts.python("spark")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(scratch),
        "LINEAGE_URL": job.env["LINEAGE_URL"],
    }
    return plain_words(place, job), inherited() | environment


def _fill(place: Place, job: Task, warehouse: Path) -> None:
    fill = replace(job, run=Python("tests.bench.spark_orders", (str(ROWS),), (), "spark"))
    run(["sh", str(place.script(fill))], inherited(), place.folder / "fill.log")
    if (found := rows(warehouse, TABLE_ORDERS)) != ROWS:
        raise RuntimeError(f"{TABLE_ORDERS} was to have {ROWS} rows and has {found}")


def _tell(figures: Figures, way: str, usage: Usage) -> None:
    figures.add(f"{JOB_SUPPLIER_STATS}, {way}: wall", "s", usage.wall_seconds)
    figures.add(f"{JOB_SUPPLIER_STATS}, {way}: CPU", "s", usage.cpu_seconds)


def _tell_ratios(figures: Figures, ours: Usage, plain: Usage) -> None:
    name = f"{JOB_SUPPLIER_STATS}, {LAB} / {PLAIN}"
    figures.add(f"{name}: wall", "ratio", ours.wall_seconds / plain.wall_seconds, RATIO)
    figures.add(f"{name}: CPU", "ratio", ours.cpu_seconds / plain.cpu_seconds, RATIO)


def _ratio_of_medians(taken: Mapping[str, list[Usage]], measured: str) -> float:
    ours, plain = (statistics.median(getattr(usage, measured) for usage in taken[way]) for way in (LAB, PLAIN))
    return ours / plain
