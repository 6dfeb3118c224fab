# SPDX-License-Identifier: Apache-2.0
"""Lineage of the lab's dbt models by truth: other values of an input column change the outputs that name it alone."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import pytest
from dbt_command import JOB, MODELS, SOURCES, DbtProject

from tests.fast_part import fast_part

ROWS = 16
TRIALS = 8
"""Times that each input column is filled with other values."""

_NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def random_value(kind, column, chance):
    kind = kind.lower()
    if column == "reason":
        return chance.choice(["supplier is empty", "bid_time is more than 60 s before the record"])
    if kind.startswith("decimal"):
        return Decimal(chance.randrange(1, 900)) / 100
    if kind.startswith("timestamp"):
        return _NOON + timedelta(hours=chance.randrange(1440), minutes=chance.randrange(60))
    if kind == "date":
        return date(2026, 11, 20) + timedelta(days=chance.randrange(60))
    if kind == "boolean":
        return chance.random() < 0.5
    if kind in ("integer", "bigint"):
        return chance.randrange(24)
    return chance.choice("abcdefghijklmnop")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The project, its complete runs by model, and the columns of all tables."""
    project = DbtProject(tmp_path_factory.mktemp("truth"))
    chance = random.Random(0)
    with project.connected() as connection:
        for table, columns in SOURCES.items():
            fill(connection, table, columns, values_of(columns, chance))
        # Keys of the sources' tests.
        connection.execute("UPDATE lake.sales.orders SET order_id = 'o' || rowid")
    made = project.run("build")
    assert made.status == 0, made.text
    return project, {model: made.of(f"{JOB}.{model}")[1] for model in MODELS}


def values_of(columns, chance):
    return {name: [random_value(kind, name, chance) for _ in range(ROWS)] for name, kind in columns.items()}


def fill(connection, table, columns, values):
    connection.execute(f"DELETE FROM {table}")
    places = ", ".join("?" for _ in columns)
    rows = list(zip(*(values[name] for name in columns), strict=True))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)


def result(connection, query):
    """Return output column -> bag of its values."""
    found = connection.execute(query)
    names = [name for name, *_ in found.description]
    rows = found.fetchall()
    return {name: Counter(map(repr, column)) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def named(event):
    """Return output column -> columns (`table`, `column`) that the event names for it, and those for all rows."""
    (output,) = event["outputs"]
    facet = output["facets"]["columnLineage"]
    assert "unknownFields" not in facet

    def columns(fields):
        return {(each["name"], each["field"]) for each in fields}

    return {name: columns(entry["inputFields"]) for name, entry in facet["fields"].items()}, columns(facet["dataset"])


@pytest.mark.parametrize("model", fast_part(MODELS))
def test_an_input_column_changes_the_outputs_that_name_it_and_no_other(built, model):
    project, events = built
    query = project.compiled(model)
    inputs = {
        each["name"]: {field["name"]: field["type"] for field in each["facets"]["schema"]["fields"]}
        for each in events[model]["inputs"]
    }
    claimed, of_rows = named(events[model])
    chance = random.Random(model)
    affected = {name: set() for name in claimed}
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "SET TimeZone = 'UTC'; ATTACH ':memory:' AS lake; CREATE SCHEMA lake.sales; CREATE SCHEMA lake.marts"
        )
        for table, columns in inputs.items():
            definitions = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            connection.execute(f"CREATE TABLE {table} ({definitions})")
        for _ in range(TRIALS):
            tables = {table: values_of(columns, chance) for table, columns in inputs.items()}
            for table, columns in inputs.items():
                fill(connection, table, columns, tables[table])
            before = result(connection, query)
            assert set(before) == set(claimed)
            for table, columns in inputs.items():
                for column, kind in columns.items():
                    other = [random_value(kind, column, chance) for _ in range(ROWS)]
                    fill(connection, table, columns, {**tables[table], column: other})
                    after = result(connection, query)
                    for name in claimed:
                        if before[name] != after[name]:
                            affected[name].add((table, column))
                fill(connection, table, columns, tables[table])
    for name, columns in claimed.items():
        assert columns <= affected[name] <= columns | of_rows, name
    # A column that decides about rows need not change each output: a day without orders has no other `late`.
    assert of_rows <= set().union(*affected.values())
