# SPDX-License-Identifier: Apache-2.0
"""Drift in the shop's database: a trigger changes what the shop writes, as a release of its application would."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from infra.cli.drift_variant import Drift
from infra.errors import LabError
from infra.namespaces import TOPIC_ORDERS
from infra.services.postgres import SHOP
from infra.services.shop.tables import SCHEMA

NEW_COLUMN = "list_price"
"""Column to which values move; a further drift adds `list_price_2`, and so on."""

SHARE = 0.3
"""Share of the revenue that drifts."""

SECONDS_PER_ORDER = 1
"""Limit of the wait for the shop, which writes 20 orders a second by default."""

_NAME = "replayed_drift"
"""Name of the trigger, its function, and the table with its counts."""

_VALID_PRICE = r"'^-?[0-9]{1,8}(\.[0-9]+)?$'"
_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
_TO_NEW_COLUMN = "NEW.{column} := NEW.price; NEW.price := NULL;"
_TO_RENAMED_SUPPLIER = "NEW.supplier := NEW.supplier || '-EU';"
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


@contextmanager
def shop_database(environment: Mapping[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """Open the shop's database, whose address and password are in `lab.env`.

    Raises:
        LabError: it rejects the connection.
    """
    host, port = environment["PGHOST"], environment["PGPORT"]
    try:
        connection = psycopg.connect(
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
    with connection:
        yield connection


def drift_for(connection: psycopg.Connection[Any], variant: Drift, orders: int) -> Drifted:
    """Drift until the shop has written `orders` orders. A new column stays in the table, the trigger does not.

    Raises:
        LabError: the shop does not write them in time.
    """
    _create_trigger(connection, variant)
    try:
        deadline, waiter = time.monotonic() + SECONDS_PER_ORDER * orders, threading.Event()
        while (found := _drifted(connection)).orders < orders:
            if time.monotonic() > deadline:
                raise LabError(f"the shop wrote {found.orders} of {orders} orders only; see: bin/lab logs shop")
            waiter.wait(1)
        return found
    finally:
        connection.execute(f"DROP TRIGGER {_NAME} ON {TOPIC_ORDERS}")
        connection.execute(f"DROP FUNCTION {_NAME}")
        connection.execute(f"DROP TABLE {_NAME}")


def _create_trigger(connection: psycopg.Connection[Any], variant: Drift) -> None:
    """Change the rows that the shop writes, as a release of its application would."""
    assignment = _TO_RENAMED_SUPPLIER if variant is Drift.RENAMED_SUPPLIER else _TO_CENTS
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
