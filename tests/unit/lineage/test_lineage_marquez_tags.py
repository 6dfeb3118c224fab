# SPDX-License-Identifier: Apache-2.0
"""Tags that requests add: a standard facet of their own producer, merged with those of other producers."""

from lineage_events import NAMESPACE, body, dataset, schema
from test_lineage_api import get, post, with_client
from test_lineage_marquez_writes import ETL, ORDERS, PRODUCER, TABLE, stored_bodies, write, writing

GOLD = {"tags": [{"key": "GOLD", "value": "1"}]}


def row(key, **field):
    return {"key": key, **field, "value": "true", "source": "USER"}


def own_tags(folder):
    """Return the content of the `tags` facets of all events of requests."""
    events = [event for event in stored_bodies(folder) if event["producer"] == PRODUCER]
    return [(event.get("dataset") or event.get("job"))["facets"].get("tags") for event in events]


def test_requests_state_the_standard_facet(tmp_path):
    async def scenario(client):
        await write(client, "POST", f"{ORDERS}/tags/new")
        await write(client, "POST", f"{ORDERS}/fields/id/tags/key")
        await write(client, "POST", f"{ETL}/tags/daily")
        await write(client, "DELETE", f"{ORDERS}/tags/new")

    writing(tmp_path, scenario)
    facets = own_tags(tmp_path)
    assert [facet["tags"] for facet in facets] == [
        [row("new")],
        [row("KEY", field="id"), row("new")],
        [row("daily")],
        [row("KEY", field="id")],
    ]
    assert {facet["_producer"] for facet in facets} == {PRODUCER}
    definitions = [facet["_schemaURL"].rpartition("/")[2] for facet in facets]
    assert definitions == ["TagsDatasetFacet", "TagsDatasetFacet", "TagsJobFacet", "TagsDatasetFacet"]


def test_dataset_that_a_request_describes_states_its_tags_in_the_standard_facet(tmp_path):
    async def scenario(client):
        fields = [{"name": "id", "type": "INT", "tags": ["key"]}]
        await write(client, "PUT", ORDERS, content={**TABLE, "fields": fields, "tags": ["new"]})

    writing(tmp_path, scenario)
    assert own_tags(tmp_path)[-1]["tags"] == [row("KEY", field="id"), row("new")]


def test_tags_of_requests_and_of_emitters_are_merged(tmp_path):
    async def scenario(client):
        await write(client, "POST", f"{ORDERS}/tags/new")
        facets = (await get(client, ORDERS))["facets"]
        assert {found["key"] for found in facets["tags"]["tags"]} == {"GOLD", "PII", "new"}
        # An emitter that states other tags replaces its own, none of the requests.
        await post(client, body("START", 50, run=3, job="etl", outputs=[dataset("sales/orders", tags={"tags": []})]))
        assert (await get(client, ORDERS))["tags"] == ["new"]
        # A request that takes its own tag back leaves those of emitters.
        await post(client, body("START", 51, run=3, job="etl", outputs=[dataset("sales/orders", tags=GOLD)]))
        assert (await write(client, "DELETE", f"{ORDERS}/tags/new"))["tags"] == ["GOLD"]

    writing(tmp_path, scenario)


def test_tags_that_only_a_reader_states_are_listed(tmp_path):
    async def scenario(client):
        await post(client, body("START", 0, run=5, job="reader", inputs=[dataset("read", tags=GOLD)]))
        path = "/namespaces/s3%3A%2F%2Fwarehouse/datasets/read"
        assert (await get(client, path))["tags"] == ["GOLD"]
        assert [tag["name"] for tag in (await get(client, "/tags"))["tags"]] == ["GOLD"]

    with_client(tmp_path, scenario)


def test_tags_of_columns_and_of_jobs_are_those_of_their_facets(tmp_path):
    async def scenario(client):
        tags = {"tags": [{"key": "PII", "value": "yes", "field": "price"}, {"key": "T1", "value": "1"}]}
        output = dataset("sales/orders", schema=schema("id", "price"), tags=tags)
        event = body("START", 60, run=6, job="tagged", outputs=[output], job_facets={"tags": GOLD})
        assert (await post(client, event)).status_code == 201
        found = await get(client, ORDERS)
        assert (found["tags"], [field["tags"] for field in found["fields"]]) == (["T1"], [[], ["PII"]])
        (version, *_) = (await get(client, f"{ORDERS}/versions"))["versions"]
        assert [field["tags"] for field in version["fields"]] == [[], ["PII"]]
        assert (await get(client, f"/namespaces/{NAMESPACE}/jobs/tagged"))["tags"] == ["GOLD"]

    with_client(tmp_path, scenario)


def test_run_has_the_tags_of_its_facet(tmp_path):
    async def scenario(client):
        event = body("START", 0, run=7, job="run", run_facets={"tags": GOLD})
        await post(client, event)
        run = (await get(client, f"/namespaces/{NAMESPACE}/jobs/run"))["latestRun"]
        assert run["facets"]["tags"]["tags"] == GOLD["tags"]

    with_client(tmp_path, scenario)
