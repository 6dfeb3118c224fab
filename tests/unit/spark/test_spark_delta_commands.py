# SPDX-License-Identifier: Apache-2.0
"""Commands of Delta Lake as queries, from the JSON that Spark 4.1 with Delta Lake 4.1 gives, shortened."""

import json

import pytest

from lineagelab_spark.delta_commands import PACKAGE, as_query
from lineagelab_spark.plan import derive
from tests.unit.spark.lineage_dsl import columns, rows


def node(kind, children=0, **fields):
    return {"class": f"org.apache.spark.{kind}", "num-children": children, **fields}


def attribute(name, number):
    return [node("AttributeReference", name=name, exprId={"id": number, "jvmId": "j"}, dataType="integer")]


def relation(**attributes):
    return [node("LogicalRelation", output=[attribute(name, number) for name, number in attributes.items()])]


def alias(name, plan):
    return [node("SubqueryAlias", 1, identifier={"name": name}, child=0), *plan]


def clause(name, condition, *actions):
    """Return a clause; an action is (column, expression)."""
    made = [
        part
        for column, expression in actions
        for part in (node("DeltaMergeAction", 1, targetColNameParts=f"[{column}]", expr=0), *expression)
    ]
    first = {"condition": condition} if condition else {}
    count = len(actions) + bool(condition)
    return [node(f"DeltaMergeInto{name}Clause", count, **first), *(condition or ()), *made]


def command(name, **fields):
    return [{"class": f"{PACKAGE}{name}", "num-children": 0, **fields}]


SOURCE = alias("s", relation(id=1, more=2, other=3))
TARGET = alias("t", relation(id=4, total=5))
IS_SAME = [node("EqualTo", 2, left=0, right=1), *attribute("id", 1), *attribute("id", 4)]
SUM = [node("Add", 2, left=0, right=1), *attribute("more", 2), *attribute("total", 5)]


def is_set(name, number):
    return [node("IsNotNull", 1, child=0), *attribute(name, number)]


def lineage(plan):
    return derive(json.dumps(as_query(plan)))


def test_merge_has_values_and_conditions_of_all_clauses():
    made = lineage(
        command(
            "MergeIntoCommand",
            source=SOURCE,
            target=TARGET,
            condition=IS_SAME,
            matchedClauses=[
                clause("MatchedUpdate", is_set("other", 3), ("id", attribute("id", 4)), ("total", SUM)),
                clause("MatchedDelete", None),
            ],
            notMatchedClauses=[clause("NotMatchedInsert", None, ("total", attribute("more", 2)))],
            notMatchedBySourceClauses=[clause("NotMatchedBySourceDelete", is_set("total", 5))],
        )
    )

    assert columns(made) == {
        "id": {"1.id IDENTITY"},
        "total": {"more TRANSFORMATION", "1.total TRANSFORMATION"},
    }
    assert rows(made) == {"id JOIN", "1.id JOIN", "other FILTER", "1.total FILTER"}
    assert made.unknown == frozenset()


def test_merge_that_sets_a_field_leaves_columns_unknown():
    update = clause("MatchedUpdate", None, ("id", attribute("id", 1)), ("total, part", attribute("more", 2)))

    made = lineage(
        command("MergeIntoCommand", source=SOURCE, target=TARGET, condition=IS_SAME, matchedClauses=[update])
    )

    assert columns(made)["id"] == {"id IDENTITY"}
    assert made.unknown_columns == {"total": {"reference to a field of total"}}


@pytest.mark.parametrize("name", ["UpdateCommand", "DeleteCommand"])
def test_changed_rows_are_those_of_the_condition(name):
    made = lineage(command(name, target=TARGET, condition=is_set("total", 5)))

    assert columns(made) == {"id": {"id IDENTITY"}, "total": {"total IDENTITY"}}
    assert rows(made) == {"total FILTER"}


def test_delete_without_condition_is_of_all_rows():
    assert rows(lineage(command("DeleteCommand", target=TARGET))) == set()


def test_other_plans_stay():
    assert as_query(TARGET) == TARGET
