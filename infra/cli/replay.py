# SPDX-License-Identifier: Apache-2.0
"""`lab replay drift`: an upstream change that falsifies a number while every job stays green, and its cause."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import psycopg
import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.lineage_cause import Period, cause_of, run_events
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.errors import LabError
from infra.namespaces import CATALOG_NAME, JOB_ORDERS_ETL, JOB_SUPPLIER_STATS, TABLE_SUPPLIER_STATS, TOPIC_ORDERS
from infra.project import ENVIRONMENT_FILE
from infra.services.postgres import SHOP
from infra.services.shop import writer
from infra.services.shop.tables import SCHEMA
from infra.toolchain import Artifacts
from lineage.checks.cause import Finding, render_text
from lineage.checks.http_client import KEY_VARIABLE
from lineage.events.timestamps import format_time

METRIC = f"{CATALOG_NAME}.{TABLE_SUPPLIER_STATS}#total_price"
NEW_COLUMN = "list_price"
"""Column to which values move; a further replay adds `list_price_2`, and so on."""

SHARE = 0.3
"""Share of the revenue that drifts."""

DEFAULT_ORDERS = 2000

PROCESSED_SECONDS = 240
"""Limit for `orders_etl` to have processed all orders; it reports every 30 s."""

BASELINE_NANOSECONDS = 86_400 * 10**9
STREAMING_WINDOW = "lineageLab_streamingWindow"
"""Facet with the progress of a streaming query."""

_NAME = "replayed_drift"
"""Name of the trigger, its function, and the table with its counts."""
_VALID_PRICE = r"'^-?[0-9]{1,8}(\.[0-9]+)?$'"


class Drift(StrEnum):
    """Variants of the drift."""

    NEW_COLUMN = "new-column"
    CENTS = "cents"


_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
_TO_NEW_COLUMN = "NEW.{column} := NEW.price; NEW.price := NULL;"
_TO_CENTS = "NEW.price := round(NEW.price::numeric * 100)::text;"


@dataclass(frozen=True)
class Drifted:
    """Orders since the drift began, with their revenue, and the revenue of those that drifted."""

    orders: int
    revenue: float
    drifted: float

    @property
    def share(self) -> float:
        """Share of the revenue that drifted."""
        return self.drifted / self.revenue if self.revenue else 0.0


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
            " in another unit, which no schema shows."
        ),
    ] = Drift.NEW_COLUMN,
    orders: Annotated[int, typer.Option(help="Orders that the shop writes meanwhile.", min=10)] = DEFAULT_ORDERS,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Falsify supplier_stats by a change upstream, and find the cause by the lineage."""
    lab = Stack(stack, Artifacts.open())
    if not lab.runtime.require_state(writer.NAME).running:
        raise LabError(f"the shop does not write: bin/lab start {writer.NAME} --stack {stack}")
    with _connect(lab) as connection:
        since = _now()
        out.print(f"the shop now writes {SHARE:.0%} of its revenue differently: {variant}")
        found = _drift(connection, variant, orders)
    effect = f"are missing in {TABLE_SUPPLIER_STATS}" if variant is Drift.NEW_COLUMN else "are in another unit"
    out.print(
        f"{found.orders} orders: {found.drifted:,.2f} of a revenue of {found.revenue:,.2f}, {found.share:.1%}, {effect}"
    )
    finding = _explain(lab, since)
    out.print(render_text(finding), markup=False, end="")


def _drift(connection: psycopg.Connection[Any], variant: Drift, orders: int) -> Drifted:
    """Drift until the shop has written `orders` orders. A new column stays in the table, the trigger does not."""
    _create_trigger(connection, variant)
    try:
        _wait_until(lambda: _drifted(connection).orders >= orders, "the shop to write orders", orders)
        return _drifted(connection)
    finally:
        connection.execute(f"DROP TRIGGER {_NAME} ON {TOPIC_ORDERS}")
        connection.execute(f"DROP FUNCTION {_NAME}")
        connection.execute(f"DROP TABLE {_NAME}")


def _create_trigger(connection: psycopg.Connection[Any], variant: Drift) -> None:
    """Change the rows that the shop writes, as a release of its application would."""
    assignment = _TO_CENTS
    if variant is Drift.NEW_COLUMN:
        column = _new_column(connection)
        assignment = _TO_NEW_COLUMN.format(column=column)
        connection.execute(f"ALTER TABLE {TOPIC_ORDERS} ADD COLUMN {column} text")
    connection.execute(f"CREATE TABLE {_NAME} AS SELECT 0 AS orders, 0::numeric AS revenue, 0::numeric AS drifted")
    connection.execute(
        f"CREATE FUNCTION {_NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE drifts boolean; BEGIN"
        f" IF NEW.price !~ {_VALID_PRICE} THEN RETURN NEW; END IF;"
        f" UPDATE {_NAME} SET orders = orders + 1, revenue = revenue + NEW.price::numeric"
        f" RETURNING drifted < {SHARE} * revenue INTO drifts;"
        f" IF drifts THEN UPDATE {_NAME} SET drifted = drifted + NEW.price::numeric; {assignment} END IF;"
        " RETURN NEW; END $$"
    )
    connection.execute(
        f"CREATE TRIGGER {_NAME} BEFORE INSERT ON {TOPIC_ORDERS} FOR EACH ROW EXECUTE FUNCTION {_NAME}()"
    )


def _new_column(connection: psycopg.Connection[Any]) -> str:
    """Return a name that no column of the table has."""
    known = {name for (name,) in connection.execute(_COLUMNS, (SCHEMA, TOPIC_ORDERS))}
    names = (NEW_COLUMN, *(f"{NEW_COLUMN}_{number}" for number in range(2, len(known) + 3)))
    return next(name for name in names if name not in known)


def _drifted(connection: psycopg.Connection[Any]) -> Drifted:
    row = connection.execute(f"SELECT orders, revenue, drifted FROM {_NAME}").fetchone()
    assert row is not None
    return Drifted(row[0], float(row[1]), float(row[2]))


def _explain(lab: Stack, since: int) -> Finding:
    """Run the statistics once all orders are processed, and search the cause."""
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


def _connect(lab: Stack) -> psycopg.Connection[Any]:
    """Connect to the shop's database.

    Raises:
        LabError: it rejects the connection.
    """
    environment = credentials.read(lab.root / ENVIRONMENT_FILE)
    host, port = environment["PGHOST"], environment["PGPORT"]
    try:
        return psycopg.connect(
            host=host,
            port=port,
            user=environment["PGUSER"],
            password=environment["PGPASSWORD"],
            dbname=SHOP,
            autocommit=True,
        )
    except psycopg.OperationalError as error:
        place = f"{host}:{port}"
        raise LabError(f"could not connect to database {SHOP} at {place}: {error}; see: bin/lab status") from error


def _wait_until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"waited {seconds:.0f} s for {what}; see: bin/lab status, bin/lab logs {JOB_ORDERS_ETL}")
        waiter.wait(1)


def _now() -> int:
    return time.time_ns()
