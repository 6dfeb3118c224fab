# SPDX-License-Identifier: Apache-2.0
"""Column lineage of random queries by truth: an input column that is not named changes no output column."""

import random
from collections import Counter

import duckdb
import pytest
from random_queries import ROWS, TABLES, RandomQueries, random_value

from lineagelab_sql import Statement
from lineagelab_sql.dependencies import IDENTITY
from tests.fast_part import fast_part

QUERIES_PER_SEED = 15
TRIALS = 3
"""Times that each input column is filled with other values."""
SEEDS = range(8)


def fill(connection, table, columns, chance):
    """Replace the rows of a table by random ones; return them as columns."""
    values = {
        name: list(range(ROWS)) if name == "id" else [random_value(kind, chance) for _ in range(ROWS)]
        for name, kind in columns.items()
    }
    write(connection, table, values)
    return values


def write(connection, table, values):
    # As text: DuckDB tries to import pandas for each value of a parameter.
    lists = ", ".join(
        f"unnest(CAST([{', '.join(map(literal, values[name]))}] AS {kind}[])) AS {name}"
        for name, kind in TABLES[table].items()
    )
    connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT {lists}")


def literal(value):
    """Return a value as SQL text."""
    return "NULL" if value is None else repr(value)


def result(connection, query):
    """Return the bag of values of each output column."""
    rows = connection.execute(query).fetchall()
    return [Counter(map(repr, values)) for values in zip(*rows, strict=True)] if rows else []


def connected():
    return duckdb.connect(":memory:", config={"threads": "1"})


@pytest.mark.parametrize("seed", fast_part(SEEDS, 2))
def test_only_columns_that_the_lineage_names_change_an_output(seed):
    chance, queries, connection = random.Random(seed), RandomQueries(seed), connected()
    named = effective = 0
    for _ in range(QUERIES_PER_SEED):
        query = queries.query()
        tables = {table: fill(connection, table, kinds, chance) for table, kinds in TABLES.items()}
        try:
            names = [name for name, *_ in connection.execute(query).description]
        except duckdb.InternalException:  # a fault of the engine, which closes its database
            connection = connected()
            continue
        found = Statement.parse(query).lineage(TABLES, names)
        assert found.unknown == {}, query
        assert list(found.columns) == names
        before = result(connection, query)
        affected = changed_outputs(connection, query, names, tables, chance)
        for index, name in enumerate(names):
            depends = {(each.table, each.column) for each in found.columns[name] | found.rows}
            assert affected[name] <= depends, (query, name, affected[name] - depends)
            if before:
                named += len(depends)
                effective += len(affected[name])
                assert_identity(found.columns[name], tables, before[index], query)
    # The rest is a matter of the values: a condition that holds for all rows, a maximum that another row has too.
    assert effective > 0.25 * named


def changed_outputs(connection, query, names, tables, chance):
    """Return output column -> input columns whose values change it."""
    affected = {name: set() for name in names}
    nothing = [Counter()] * len(names)
    before = result(connection, query) or nothing
    for table, kinds in TABLES.items():
        for column, kind in kinds.items():
            for _ in range(TRIALS):
                write(connection, table, {**tables[table], column: [random_value(kind, chance) for _ in range(ROWS)]})
                after = result(connection, query) or nothing
                for name, old, new in zip(names, before, after, strict=True):
                    if old != new:
                        affected[name].add((table, column))
            write(connection, table, tables[table])
    return affected


def assert_identity(dependencies, tables, values, query):
    """Assert that a column which only passes a column on has no other values."""
    if len(dependencies) == 1 and next(iter(dependencies)).subtype == IDENTITY:
        (source,) = dependencies
        assert set(values) <= {repr(value) for value in (*tables[source.table][source.column], None)}, query
