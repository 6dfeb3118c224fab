# SPDX-License-Identifier: Apache-2.0
"""Route of the cause of a wrong number: that of the seeded incidents, and requests that cannot be answered."""

import json
from uuid import NAMESPACE_URL, uuid5

import pytest
from lineage_client import JSON
from lineage_events import encode, facet
from test_lineage_api import get, with_client

from lineage.api import routes_cause
from lineage.checks.cause import find_cause, render_json
from lineage.events import JobId
from lineage.events.timestamps import parse_time
from tests.unit.lineage.incidents import KINDS, SINCE, UNTIL, incident

PERIOD = {"since": SINCE.isoformat(), "until": UNTIL.isoformat()}


async def send(client, events):
    body = encode([complete(event) for event in events])
    answer = await client.post("/api/v1/lineage/batch", content=body, headers=JSON)
    assert answer.status_code == 200, answer.text[:1000]


def complete(event):
    """Return an event of an incident with what the standard requires: the incidents have only what a cause needs."""
    changed = json.loads(json.dumps(event))
    for owner in (changed["run"], changed["job"], *changed["inputs"], *changed["outputs"]):
        for kind in ("facets", "inputFacets", "outputFacets"):
            if kind in owner:
                owner[kind] = {name: facet(**content) for name, content in owner[kind].items()}
    changed["run"]["runId"] = str(uuid5(NAMESPACE_URL, event["run"]["runId"]))
    return {"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent", **changed}


def node_of(found):
    start = found.origin["start"]
    return f"datasetField:{start['namespace']}:{start['name']}:{start['field']}"


@pytest.mark.parametrize("kind", [*KINDS, "control"])
def test_cause_of_an_incident_is_that_of_the_command(tmp_path, kind):
    found = incident(kind, 2)

    async def scenario(client):
        await send(client, found.events)
        return await get(client, "/cause", nodeId=node_of(found), **PERIOD)

    answer = with_client(tmp_path, scenario)
    assert answer["events"] > 0
    expected = find_cause([found.origin], found.events, parse_time(PERIOD["since"]), parse_time(PERIOD["until"]))
    assert answer["explained"] is (expected.cause is not None)
    likely = [(cause["kind"], cause["node"], cause["at"]) for cause in answer["causes"][: answer["likely"]]]
    rendered = render_json(expected)
    assert likely == [(each["kind"], each["node"], each["at"]) for each in rendered["causes"][: rendered["likely"]]]


def test_period_that_ends_before_it_begins_is_refused(tmp_path):
    found = incident("control", 1)

    async def scenario(client):
        await send(client, found.events)
        for wrong in ({"since": PERIOD["until"], "until": PERIOD["since"]}, {**PERIOD, "baseline": PERIOD["until"]}):
            answer = await get(client, "/cause", 400, nodeId=node_of(found), **wrong)
            assert answer["error"]["details"]["field"] == "since"
        answer = await get(client, "/cause", 400, nodeId=node_of(found), since="yesterday")
        assert answer["error"]["details"]["field"] == "since"
        await get(client, "/cause", 404, nodeId="dataset:db:nowhere", **PERIOD)

    with_client(tmp_path, scenario)


def test_a_job_has_no_cause(tmp_path):
    found = incident("control", 1)
    job = JobId(found.events[0]["job"]["namespace"], found.events[0]["job"]["name"])

    async def scenario(client):
        await send(client, found.events)
        answer = await get(client, "/cause", 400, nodeId=f"job:{job.namespace}:{job.name}", **PERIOD)
        assert answer["error"]["details"]["field"] == "nodeId"

    with_client(tmp_path, scenario)


def test_period_with_too_many_events_is_refused(tmp_path, monkeypatch):
    found = incident("control", 1)
    monkeypatch.setattr(routes_cause, "MAX_EVENTS", 10)

    async def scenario(client):
        await send(client, found.events)
        answer = await get(client, "/cause", 422, nodeId=node_of(found), **PERIOD)
        assert answer["error"]["details"] == {"field": "since", "limit": 10}

    with_client(tmp_path, scenario)


def test_node_younger_than_the_period_has_its_present_origin(tmp_path):
    found = incident("column removed", 1)
    recent = [event for event in found.events if parse_time(event["eventTime"]) > parse_time(PERIOD["since"])]

    async def scenario(client):
        await send(client, recent)
        return await get(client, "/cause", nodeId=node_of(found), **PERIOD)

    assert with_client(tmp_path, scenario)["events"] > 0
