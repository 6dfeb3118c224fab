# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the dashboard: time of a tile's query, and of the build of the marts, with many orders in the lake.

Run by `make bench`; alone by `bin/lab bench --only dashboard`. The orders are appended to the tables of a real lab,
whose shop and `orders_etl` are stopped: 30 days, 40 suppliers, one rejected order per 20.
"""

import argparse
import os
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from infra import credentials
from infra.cli.stack import Stack
from infra.namespaces import JOB_DBT_BUILD, JOB_ORDERS_ETL, TABLE_ORDERS, TABLE_ORDERS_REJECTED
from infra.project import ENVIRONMENT_FILE
from infra.services.shop import writer
from infra.toolchain import Artifacts
from jobs.dashboard.board import Board
from jobs.dashboard.tile import tiles
from lineagelab_sql.lake import Lake
from tests.bench.figures import Figures, Goal, format_number, percentile_95, print_figures
from tests.bench.lifecycle import lab_command, measure_command, reset_stack, user_environment
from tests.stack_files import BENCH, CONFIG, stack_file

ORDERS = 10_000_000
ORDERS_PER_APPEND = 1_000_000
ORDERS_PER_REJECTED = 20
DAYS = 30
SUPPLIERS = 40
REFRESHES = 30
TILE_GOAL = Goal(1.0)

_ACCEPTED = """
SELECT 'bench-' || i AS order_id, 'item ' || i % 1000 AS item, (i % 20000 / 100.0)::DECIMAL(10, 2) AS price,
       'supplier ' || i % {suppliers} AS supplier, TIMESTAMPTZ '{begin}' + to_milliseconds(i * {step}) AS bid_time
FROM range({first}, {last}) AS orders(i)
"""
_REJECTED = """
SELECT 'bench-' || i AS order_id,
       CASE WHEN i % 3 = 0 THEN 'bid_time is more than 1 day late' ELSE 'price is no number' END AS reason,
       'item ' || i % 1000 AS item, 'free' AS price, 'supplier ' || i % {suppliers} AS supplier,
       0::BIGINT AS bid_time_ms, 0::INTEGER AS kafka_partition, i AS kafka_offset,
       TIMESTAMPTZ '{begin}' + to_milliseconds(i * {step}) AS kafka_timestamp
FROM range({first}, {last}) AS orders(i) WHERE i % {share} = 0
"""


def fill(lake: Lake, orders: int) -> None:
    """Append orders to the tables of accepted and of rejected ones; columns that the rows lack are null."""
    begin = (datetime.now(UTC) - timedelta(days=DAYS)).isoformat()
    step = DAYS * 86_400_000 // orders
    with closing(lake.connect(writable=True)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for table, query in ((TABLE_ORDERS, _ACCEPTED), (TABLE_ORDERS_REJECTED, _REJECTED)):
            for first in range(0, orders, ORDERS_PER_APPEND):
                rows = query.format(
                    first=first,
                    last=min(orders, first + ORDERS_PER_APPEND),
                    begin=begin,
                    step=step,
                    suppliers=SUPPLIERS,
                    share=ORDERS_PER_REJECTED,
                )
                connection.execute(f"INSERT INTO {lake.name}.{table} BY NAME {rows}")


def measure(figures: Figures, lab: Stack, orders: int) -> None:
    """Fill the lake of a running lab, build the marts, and refresh every tile."""
    environment = user_environment()
    for name in (writer.NAME, JOB_ORDERS_ETL):
        measure_command(figures, f"stop {name}", lab_command(BENCH, "stop", name), environment)
    lake = Lake.from_environment(credentials.read(lab.root / ENVIRONMENT_FILE))
    began = time.monotonic()
    fill(lake, orders)
    figures.add(f"{orders:,} orders appended", "s", time.monotonic() - began)
    measure_command(figures, "build of the marts", lab_command(BENCH, "run", JOB_DBT_BUILD), environment)
    with closing(lake.connect(writable=False)) as connection:
        (built,) = connection.execute(f"SELECT sum(orders) FROM {lake.name}.marts.dim_suppliers").fetchone() or (0,)
    assert built >= orders, f"the marts have {built} of {orders} orders"
    board = Board(lake, tiles(), lambda event: None)
    began = time.monotonic()
    assert board.refresh_all(), "a tile has no content"
    figures.add("first refresh of all tiles, with the connection", "s", time.monotonic() - began)
    for tile in board.tiles:
        seconds = []
        for _ in range(REFRESHES):
            began = time.monotonic()
            shown = board.refresh(tile)
            seconds.append(time.monotonic() - began)
            assert shown.table is not None, f"{tile.name}: {shown.error}"
            assert shown.table.num_rows > 0, tile.name
            figures.add(f"tile {tile.name}", "s", seconds[-1])
        figures.add(f"tile {tile.name}: p95", "s", percentile_95(seconds), TILE_GOAL)


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1, help="labs")
    parser.add_argument("--orders", type=int, default=ORDERS, help=f"orders in the lake, by default {ORDERS:,}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    figures = Figures()
    with stack_file(BENCH, {**CONFIG[BENCH], "dashboard": "true"}):
        try:
            for _ in range(given.rounds):
                reset_stack(BENCH)
                measure_command(figures, "up to verified graph, warm", lab_command(BENCH, "up"), user_environment())
                measure(figures, Stack(BENCH, Artifacts.open()), given.orders)
        finally:
            reset_stack(BENCH)
    print_figures(figures, given.json, f"{os.cpu_count()} CPUs, load {format_number(os.getloadavg()[0])} at the end")


if __name__ == "__main__":
    main()
