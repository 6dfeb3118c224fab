# SPDX-License-Identifier: Apache-2.0
"""`lab replay drift`: an upstream change that falsifies a number while every job stays green, and its cause."""

import os
import threading
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.drift_variant import Drift
from infra.cli.lineage_cause import Period, cause_of, run_events
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.errors import LabError
from infra.namespaces import CATALOG_NAME, JOB_ORDERS_ETL, JOB_SUPPLIER_STATS, TABLE_SUPPLIER_STATS
from infra.project import ENVIRONMENT_FILE
from infra.services.shop import writer
from infra.toolchain import Artifacts
from lineage.checks.cause import render_text
from lineage.checks.http_client import KEY_VARIABLE
from lineage.events.timestamps import format_time

METRIC = f"{CATALOG_NAME}.{TABLE_SUPPLIER_STATS}#total_price"
DEFAULT_ORDERS = 2000

EFFECTS = {
    Drift.NEW_COLUMN: f"are missing in {TABLE_SUPPLIER_STATS}",
    Drift.CENTS: "are in another unit",
    Drift.RENAMED_SUPPLIER: "are under another supplier",
}

PROCESSED_SECONDS = 240
"""Limit for `orders_etl` to have processed all orders; it reports every 30 s."""

BASELINE_NANOSECONDS = 86_400 * 10**9
STREAMING_WINDOW = "lineageLab_streamingWindow"
"""Facet with the progress of a streaming query."""

app = typer.Typer(name="replay", help="Replay incidents in a running lab.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def replay() -> None:
    """Replay incidents in a running lab."""


@app.command()
@command
def drift(
    variant: Annotated[
        Drift,
        typer.Option(
            help="new-column: 30 % of the revenue moves to a new nullable column; cents: 30 % of the prices are written"
            " in another unit; renamed-supplier: 30 % of the revenue is under another name of its supplier. No schema"
            " shows the last two.",
        ),
    ] = Drift.NEW_COLUMN,
    orders: Annotated[int, typer.Option(help="Orders that the shop writes meanwhile.", min=10)] = DEFAULT_ORDERS,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Falsify supplier_stats by a change upstream, and find the cause by the lineage."""
    lab = Stack(stack, Artifacts.open())
    if not lab.runtime.require_state(writer.NAME).running:
        raise LabError(f"the shop does not write: bin/lab start {writer.NAME} --stack {stack}")
    # Imported here, because it imports the driver of Postgres.
    from infra.cli.drifting_shop import SHARE, drift_for, shop_database

    with shop_database(credentials.read(lab.root / ENVIRONMENT_FILE)) as database:
        since = _now()
        out.print(f"the shop now writes {SHARE:.0%} of its revenue differently: {variant}")
        found = drift_for(database, variant, orders)
    share = f"{found.drifted:,.2f} of a revenue of {found.revenue:,.2f}, {found.share:.1%}"
    out.print(f"{found.orders} orders: {share}, {EFFECTS[variant]}")
    finding = explain(lab, since)
    out.print(render_text(finding), markup=False, end="")


def explain(lab: Stack, since: int) -> dict[str, Any]:
    """Run the statistics once all orders are processed, and search the cause.

    Args:
        lab: a running lab.
        since: time at which the number was right, ns since 1970.

    Returns:
        The answer of the service.

    Raises:
        LabError: the orders are not processed in time.
    """
    service, ended = lab.endpoints()["lineage"], _now()
    if key := lab.lineage_authorization().get("Authorization"):
        os.environ.setdefault(KEY_VARIABLE, key.removeprefix("Bearer "))
    out.print(f"waiting for {JOB_ORDERS_ETL} to process them, then {JOB_SUPPLIER_STATS}")
    _wait_until(lambda: _is_processed(service, ended), f"{JOB_ORDERS_ETL} to process all orders", PROCESSED_SECONDS)
    run_task(lab.runtime, JOB_SUPPLIER_STATS)
    return cause_of(service, METRIC, Period(max(0, since - BASELINE_NANOSECONDS), since, _now()))


def _is_processed(service: str, since: int) -> bool:
    """Return True if `orders_etl` reported after `since` that it has processed all records."""
    windows = [
        event["run"].get("facets", {}).get(STREAMING_WINDOW, {})
        for event in run_events(service, format_time(since), format_time(_now()))
        if event["job"]["name"] == JOB_ORDERS_ETL
    ]
    return any(window.get("offsetsBehindLatest") == 0 for window in windows)


def _wait_until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"waited {seconds:.0f} s for {what}; see: bin/lab status, bin/lab logs {JOB_ORDERS_ETL}")
        waiter.wait(1)


def _now() -> int:
    return time.time_ns()
