# SPDX-License-Identifier: Apache-2.0
"""Schema changes that can break readers: single cases, any order of events, archived statements, and the route."""

import random

import pytest
from lineage_events import body, dataset, read
from test_lineage_api import get, post, with_client

from lineage.graph import LineageRecords, fold_events
from lineage.graph.dataset_statements import MAX_LOADED
from lineage.graph.schema_breaks import SchemaBreaks


def write(minute, columns, job="writer", version=None, read_only=False):
    """Return a COMPLETE of a run that writes a table with these columns (name -> type)."""
    facets = {"schema": {"fields": [{"name": name, "type": kind} for name, kind in columns.items()]}}
    if version is not None:
        facets["version"] = {"datasetVersion": version}
    sides = {"inputs" if read_only else "outputs": [dataset("t", **facets)]}
    return body("COMPLETE", 60 * minute, run=minute + (100 if job == "other" else 0), job=job, **sides)


def breaks_of(*events):
    lineage = fold_events([read(event) for event in events])
    found = SchemaBreaks(lineage)
    for _ in found.steps():
        pass
    return [
        (row["since"][14:16], row["removed"], [tuple(each.values()) for each in row["retyped"]]) for row in found.rows()
    ]


AB, A, ABC, A_TEXT = {"a": "int", "b": "int"}, {"a": "int"}, {"a": "int", "b": "int", "c": "int"}, {"a": "text"}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([write(1, AB)], []),
        ([write(1, A), write(2, AB)], []),
        ([write(1, AB), write(2, A)], [("02", ["b"], [])]),
        ([write(1, A), write(2, A_TEXT)], [("02", [], [("a", "int", "text")])]),
        ([write(1, AB), write(2, A), write(3, AB)], []),
        ([write(1, AB, version="1"), write(2, A, version="2"), write(3, A, version="3")], [("02", ["b"], [])]),
        ([write(1, AB, version="1"), write(2, A, version="2"), write(3, ABC, version="3")], []),
        ([write(1, A), write(2, {"a": ""})], []),
        ([write(1, A), write(2, A_TEXT, job="other")], []),
        ([write(1, AB), write(2, A, read_only=True)], []),
    ],
)
def test_break_is_a_removed_or_retyped_column_of_one_writer(events, expected):
    assert breaks_of(*events) == expected
    random.Random(len(events)).shuffle(events)
    assert breaks_of(*events) == expected


def test_nested_columns_are_named_by_path():
    def nested(minute, *inner):
        event = write(minute, {})
        fields = [{"name": "address", "type": "struct", "fields": [{"name": name, "type": "text"} for name in inner]}]
        event["outputs"][0]["facets"]["schema"]["fields"] = fields
        return event

    assert breaks_of(nested(1, "city", "zip"), nested(2, "city")) == [("02", ["address.zip"], [])]


def test_break_is_reported_after_many_commits_until_the_columns_are_back(tmp_path):
    """Older statements of columns are in the archive then."""

    async def scenario(client):
        await post(client, write(0, AB, version="0"))
        assert (await get(client, "/schema-breaks"))["breaks"] == []
        for minute in range(1, 3 * MAX_LOADED):
            await post(client, write(minute, A, version=str(minute)))
            (found,) = (await get(client, "/schema-breaks"))["breaks"]
            assert (found["since"], found["removed"]) == ("2026-01-01T00:01:00.000000Z", ["b"])
        assert found["job"] == {"namespace": found["job"]["namespace"], "name": "writer"}
        await post(client, write(40, ABC, version="40"))
        assert (await get(client, "/schema-breaks"))["breaks"] == []
        # A service that starts again reads the former columns from the archive.

    with_client(tmp_path, scenario)

    async def later(client):
        assert (await get(client, "/schema-breaks"))["breaks"] == []
        await post(client, write(41, A, version="41"))
        (found,) = (await get(client, "/schema-breaks"))["breaks"]
        assert (found["since"], found["removed"]) == ("2026-01-01T00:41:00.000000Z", ["b", "c"])

    with_client(tmp_path, later)


@pytest.mark.parametrize("seed", range(12))
def test_kept_breaks_equal_those_of_the_records_if_events_arrive_late(seed):
    """The columns stay those of the latest statement, but the change before it may be another one."""
    chance = random.Random(seed)
    lineage = LineageRecords()
    kept = SchemaBreaks(lineage)
    minutes = chance.sample(range(1, 59), 30)
    for minute in minutes:
        columns = {name: "int" for name in "abc" if chance.random() < 0.6}
        lineage.apply(read(write(minute, columns, job=chance.choice(("writer", "other")))))
        found = []
        for breaks in (kept, SchemaBreaks(lineage)):
            for _ in breaks.steps():
                pass
            found.append(breaks.rows())
        assert found[0] == found[1]
