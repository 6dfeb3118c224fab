# SPDX-License-Identifier: Apache-2.0
"""Column lineage of the trained model, by truth: a changed column changes exactly the fields that the graph names."""

import json
import os
import random
import subprocess

import pytest

from infra.project import PROJECT, python_path
from infra.toolchain import Artifacts, venvs

FEATURES = ("mean_price", "price_deviation", "min_price", "max_price")
TARGET, TIME = "next_mean_price", "last_order_at"
ROWS = 60


def table(seed=1):
    chance = random.Random(seed)
    columns = {name: [chance.uniform(1, 1000) for _ in range(ROWS)] for name in (*FEATURES, TARGET)}
    texts = {name: [chance.choice(("alder", "birch")) for _ in range(ROWS)] for name in ("supplier", "first_order_at")}
    return columns | texts | {TIME: list(range(ROWS))}


def trained(*tables):
    """Return what the models hold that are trained on the tables."""
    done = subprocess.run(
        [Artifacts.open().python(venvs.MODELS.name), "-m", "tests.unit.models.trained_models"],
        input=json.dumps(tables),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": python_path(PROJECT)},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def changed(column, value):
    """Return the table with another value of a column in one row."""
    found = table()
    return found | {column: [value, *found[column][1:]]}


def fields_with_another_content(before, after):
    return {name for name, content in before["fields"].items() if after["fields"][name] != content}


@pytest.fixture(scope="module")
def models():
    """Model before, and by column the models after a change of a value, and after a value became null."""
    columns = list(table())
    values = {name: "cedar" if isinstance(table()[name][0], str) else 1234.5 for name in columns}
    before, *after = trained(
        table(), *(changed(name, values[name]) for name in columns), *(changed(name, None) for name in columns)
    )
    return (
        before,
        dict(zip(columns, after[: len(columns)], strict=True)),
        dict(zip(columns, after[len(columns) :], strict=True)),
    )


def named(items):
    return {item["field"] for item in items}


def test_a_changed_value_changes_exactly_the_fields_that_have_an_edge_from_its_column(models):
    before, by_value, _ = models
    claimed = {name: named(found["inputFields"]) for name, found in before["event"]["columnLineage"]["fields"].items()}
    assert claimed.keys() == before["fields"].keys()
    for column, after in by_value.items():
        expected = {name for name, origins in claimed.items() if column in origins}
        assert fields_with_another_content(before, after) == expected, column


def test_a_null_removes_a_row_exactly_where_the_graph_says_that_the_column_decides(models):
    before, _, by_null = models
    deciding = named(before["event"]["columnLineage"]["dataset"])
    assert {column for column, after in by_null.items() if after["rows"] == before["rows"] - 1} == deciding
    assert {column for column, after in by_null.items() if after["rows"] == before["rows"]} == table().keys() - deciding


def test_too_few_rows_give_no_model(models):
    few = {name: values[:19] for name, values in table().items()}
    assert trained(few) == [{"error": "19 rows are too few: a model needs 20"}]


def test_training_is_repeatable(models):
    assert trained(table()) == [models[0]]
