# SPDX-License-Identifier: Apache-2.0
"""Metadata files as events, and tags that follow column edges: rules, random graphs, the lab's own graph."""

import random
from collections import defaultdict

import pytest
import yaml
from lineage_client import JSON
from lineage_events import body, dataset, encode, schema, source
from test_lineage_api import get, post, with_client

from infra.project import PROJECT
from lineage.checks.contract import ContractError, load
from lineage.checks.metadata import (
    Described,
    Metadata,
    TaggedColumn,
    carried_tags,
    described_of_entry,
    load_metadata,
    metadata_events,
    metadata_file,
)
from lineage.checks.metadata.events import PRODUCER
from lineage.events import DatasetId, JobId
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET
from tests.openlineage_schemas import conformance_errors

TIME = "2026-01-01T00:10:00Z"
FILE = """
version: 1
namespace: lab
aliases: {lake: "s3://warehouse"}
datasets:
  - dataset: lake/orders
    description: All orders
    owners: [team-a, {name: ann, type: STEWARD}]
    tags: [gold, {key: retention, value: 30d}]
    columns:
      email: {description: Where the invoice goes, tags: [pii]}
jobs:
  - job: etl
    owners: [team-b]
"""


def column(text):
    name, field = text.split(".")
    return {"namespace": "db", "name": name, "field": field}


def edge(one, other, kind="DIRECT", subtype="IDENTITY", masking=False):
    job = {"namespace": "jobs", "name": f"{one}>{other}"}
    return {
        "job": job,
        "input": column(one),
        "output": column(other),
        "type": kind,
        "subtype": subtype,
        "masking": masking,
    }


def carried(tagged, *edges):
    """Return what columns get the tag: column -> distance, negative if it is aggregated."""
    name, field = tagged.split(".")
    found = carried_tags([TaggedColumn(DatasetId("db", name), field, "pii")], edges)
    return {f"{each.dataset.name}.{each.field}": each.distance * (-1 if each.aggregated else 1) for each in found}


def test_tags_follow_values_and_end_where_they_are_masked():
    edges = [
        edge("a.x", "b.x"),
        edge("b.x", "c.x", subtype="TRANSFORMATION"),
        edge("b.x", "c.hash", masking=True),
        edge("c.hash", "d.hash"),
        edge("b.x", "c.y", kind="INDIRECT", subtype="FILTER"),
        edge("a.other", "b.other"),
        edge("c.x", "d.x", kind=None, subtype=None),
    ]
    assert carried("a.x", *edges) == {"b.x": 1, "c.x": 2, "d.x": 3}


def test_an_aggregation_weakens_a_tag_unless_another_path_does_not_aggregate():
    total = edge("a.x", "b.total", subtype="AGGREGATION")
    assert carried("a.x", total, edge("b.total", "c.total")) == {"b.total": -1, "c.total": -2}
    longer = [edge("a.x", "m.x"), edge("m.x", "b.total")]
    assert carried("a.x", total, *longer) == {"m.x": 1, "b.total": 2}


def test_cycles_end_and_edges_of_whole_datasets_carry_nothing():
    whole = edge("a.x", "b.x")
    del whole["output"]["field"]
    assert carried("a.x", whole) == {}
    assert carried("a.x", edge("a.x", "b.x"), edge("b.x", "a.x"), edge("b.x", "b.y"), edge("b.y", "b.x")) == {
        "b.x": 1,
        "b.y": 2,
    }


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_agree_with_a_naive_search(seed):
    """All simple steps are repeated until nothing changes, instead of breadth first."""
    dice = random.Random(seed)
    names = [f"t{table}.c{number}" for table in range(6) for number in range(3)]
    edges = [
        edge(
            *dice.sample(names, 2),
            dice.choice(["DIRECT", "DIRECT", "INDIRECT"]),
            dice.choice(["IDENTITY", "AGGREGATION"]),
            dice.random() < 0.1,
        )
        for _ in range(30)
    ]
    start = dice.choice(names)
    weak, strong = set(), {start}
    for _ in names:
        for each in edges:
            if each["type"] == "INDIRECT" or each["masking"]:
                continue
            one, other = (f"{each[end]['name']}.{each[end]['field']}" for end in ("input", "output"))
            if one in strong and each["subtype"] != "AGGREGATION":
                strong.add(other)
            elif one in strong | weak:
                weak.add(other)
    found = carried(start, *edges)
    assert {name for name, distance in found.items() if distance > 0} == strong - {start}
    assert {name for name, distance in found.items() if distance < 0} == weak - strong


def test_tags_of_the_lab_follow_its_contract():
    """The table is written by hand from the specification of the pipeline."""
    edges = []
    for job in load((PROJECT / "jobs" / "lineage_contract.yaml").read_text()).jobs:
        for output in job.outputs:
            for field, sources in (output.columns or {}).items():
                for found, kinds in sources.items():
                    for kind in kinds:
                        row = edge("a.x", "b.x", kind.type, kind.subtype, kind.masking)
                        row["input"] = {**found.dataset._asdict(), "field": found.field}
                        row["output"] = {**output.dataset._asdict(), "field": field}
                        edges.append(row)
    shop = TaggedColumn(DatasetId("postgres://postgres:5432", "shop.public.orders"), "price", "unit")
    found = defaultdict(set)
    for each in carried_tags([shop], edges):
        found[each.aggregated].add(f"{each.dataset.name}.{each.field}")
    values = {
        "orders.price",
        "dlq.orders_lake.price",
        "dlq.orders_archive.price",
        "raw/orders.price",
        "topics/orders.price",
        "sales/orders.price",
        "sales/orders_rejected.price",
        "sales/enriched_orders.price",
        "live/orders.price",
        "marts/fct_orders.price",
    }
    assert values <= found[False]
    sums = {"sales/supplier_stats.total_price", "live/supplier_stats.total_price", "supplier-windows.total_price"}
    assert sums <= found[True]
    assert {name for name in found[False] if "total" in name or "revenue" in name} == set()
    assert not any(name.endswith((".item", ".supplier", ".order_id")) for name in found[False] | found[True])


def test_a_file_is_an_event_for_each_node_that_conforms_to_the_standard():
    events = metadata_events(load_metadata(FILE), TIME)
    assert [error for event in events for error in conformance_errors(event)] == []
    orders, etl = events
    facets = orders["dataset"]["facets"]
    assert facets["documentation"]["description"] == "All orders"
    assert facets["ownership"]["owners"] == [
        {"name": "team-a", "type": "MAINTAINER"},
        {"name": "ann", "type": "STEWARD"},
    ]
    assert [tuple(tag.values()) for tag in facets["tags"]["tags"]] == [
        ("gold", "true", "METADATA"),
        ("retention", "30d", "METADATA"),
        ("pii", "true", "METADATA", "email"),
    ]
    assert etl["job"]["facets"]["tags"]["_deleted"] is True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("version: 1", "version: 2"), "'2' is unknown"),
        (("lake/orders", "sea/orders"), "'sea' is not an alias"),
        (("namespace: lab", "x: lab"), "x: unknown key"),
        (("namespace: lab\n", ""), "requires the key `namespace`"),
        (("email: {description: Where the invoice goes, tags: [pii]}", "email: [pii]"), "must be a mapping"),
        (("  - job: etl", "  - job: etl\n  - job: etl"), "lab/etl is described twice"),
        (("owners: [team-b]", "owners: [{type: x}]"), "key 'name' is missing"),
        ((FILE, "["), "not YAML"),
    ],
)
def test_mistakes_are_named_with_their_line(change, message):
    with pytest.raises(ContractError, match=r"line|not YAML") as raised:
        load_metadata(FILE.replace(*change))
    assert message in str(raised.value)


def test_metadata_survives_events_that_lack_it_and_goes_with_the_file(tmp_path):
    """A writer's own tags stay beside those of the file."""
    own = dataset("orders", tags={"tags": [{"key": "raw", "value": "true", "source": "EMITTER"}]})
    lineage = {"columnLineage": {"fields": {"mail": {"inputFields": [source("orders", "email")]}}}}
    write = body("COMPLETE", 0, outputs=[own])
    again = body("COMPLETE", 900, run=2, outputs=[dataset("orders")])
    read = body("COMPLETE", 950, run=3, job="mart", inputs=[dataset("orders")], outputs=[dataset("mart", **lineage)])

    async def summary(client):
        (found,) = [row for row in (await get(client, "/summaries"))["datasets"] if row["name"] == "orders"]
        return found

    async def scenario(client):
        for event in (write, *metadata_events(load_metadata(FILE), TIME), again, read):
            answer = await post(client, event)
            assert answer.status_code < 300, answer.text
        found = await summary(client)
        assert (found["owners"], found["tags"]) == (["ann", "team-a"], ["gold", "raw", "retention"])
        assert (found["description"], found["columnTags"]) == ("All orders", {"email": ["pii"]})
        tagged = TaggedColumn(DatasetId("s3://warehouse", "orders"), "email", "pii")
        (carried_tag,) = carried_tags([tagged], (await get(client, "/graph"))["columns"])
        assert (carried_tag.dataset.name, carried_tag.field) == ("mart", "mail")
        shorter = load_metadata(FILE.split("    description")[0])
        for event in metadata_events(shorter, "2026-01-01T01:00:00Z"):
            await post(client, event)
        found = await summary(client)
        assert (found["owners"], found["tags"], found["columnTags"]) == ([], ["raw"], {})

    with_client(tmp_path, scenario)


ORDERS = "dataset:s3://warehouse:orders"
WRITE = body("COMPLETE", 0, outputs=[dataset("orders", schema=schema("email"))])


async def stated(client, node=ORDERS):
    return await client.get("/api/v1/metadata", params={"nodeId": node})


async def state(client, entry, node=ORDERS, **headers):
    content = entry if isinstance(entry, bytes) else encode(entry)
    return await client.put("/api/v1/metadata", params={"nodeId": node}, content=content, headers=JSON | headers)


def test_metadata_is_edited_beside_that_of_other_producers(tmp_path):
    """An emitter's clock is a day ahead: the edit counts all the same."""
    own = dataset("orders", schema=schema("email"), tags={"tags": [{"key": "raw", "value": "true", "source": "E"}]})
    late = body("COMPLETE", 0, outputs=[own]) | {"eventTime": "2199-01-01T00:00:00Z"}

    async def scenario(client):
        for event in (late, *metadata_events(load_metadata(FILE), TIME)):
            assert (await post(client, event)).status_code < 300
        before = await stated(client)
        entry = before.json()["entry"]
        assert entry == {
            "description": "All orders",
            "owners": [{"name": "team-a", "type": "MAINTAINER"}, {"name": "ann", "type": "STEWARD"}],
            "tags": [{"key": "gold", "value": "true"}, {"key": "retention", "value": "30d"}],
            "columns": {"email": {"description": "Where the invoice goes", "tags": [{"key": "pii", "value": "true"}]}},
        }
        edited = {"description": " Edited ", "owners": [], "tags": [{"key": "silver"}], "columns": {"email": {}}}
        answer = await state(client, edited, **{"if-match": before.headers["etag"]})
        assert (answer.status_code, answer.json()["entry"]["description"]) == (200, "Edited")
        found = await get(client, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/orders")
        assert (found["description"], found["tags"]) == ("Edited", ["raw", "silver"])
        assert [(field["tags"], field["description"]) for field in found["fields"]] == [([], None)]
        conflict = await state(client, edited, **{"if-match": before.headers["etag"]})
        assert (conflict.status_code, conflict.json()["error"]["code"]) == (412, "changed_meanwhile")
        events = (await get(client, "/stats"))["logged"]
        assert (await state(client, edited)).status_code == 200
        assert (await get(client, "/stats"))["logged"] == events > 3, "equal metadata is no event"

    with_client(tmp_path, scenario)


def test_descriptions_of_columns_are_shown_with_the_schema(tmp_path):
    async def scenario(client):
        for event in (WRITE, *metadata_events(load_metadata(FILE), TIME)):
            await post(client, event)
        found = await get(client, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/orders")
        assert [field["description"] for field in found["fields"]] == ["Where the invoice goes"]
        assert await get(client, "/schema-breaks") == {"breaks": []}, "a description is no change of the schema"

    with_client(tmp_path, scenario)


@pytest.mark.parametrize(
    ("entry", "node", "status", "words"),
    [
        ({"owner": []}, ORDERS, 400, "owner"),
        ({"tags": [{"key": ""}]}, ORDERS, 400, "tags.0.key"),
        ({"owners": ["team"]}, ORDERS, 400, "owners.0"),
        (b"[", ORDERS, 400, "JSON"),
        ({}, "dataset:s3://warehouse:other", 404, "other"),
        ({}, "datasetField:s3://warehouse:orders:email", 400, "names a column"),
        ({"columns": {"a": {}}}, "job:lab:etl", 400, "has no columns"),
    ],
)
def test_metadata_that_cannot_be_stated_is_refused(tmp_path, entry, node, status, words):
    async def scenario(client):
        await post(client, WRITE)
        await post(client, body("COMPLETE", 1, run=2, job="etl") | {"job": {"namespace": "lab", "name": "etl"}})
        answer = await state(client, entry, node)
        assert (answer.status_code, words in answer.json()["error"]["message"]) == (status, True), answer.text

    with_client(tmp_path, scenario)


def test_metadata_requires_the_admin_key(tmp_path):
    async def scenario(client):
        await post(client, WRITE)
        del client.headers["authorization"]
        assert (await state(client, {})).status_code == 401
        assert (await stated(client)).status_code == 200

    with_client(tmp_path, scenario)


def test_what_is_stated_is_a_file_that_states_it_again(tmp_path):
    described = load_metadata(FILE)

    async def scenario(client):
        await post(client, WRITE)
        await post(client, body("COMPLETE", 1, run=2, job="etl") | {"job": {"namespace": "lab", "name": "etl"}})
        for event in metadata_events(described, TIME):
            await post(client, event)
        rows = (await get(client, "/metadata/all"))["nodes"]
        kinds = {"dataset": DatasetId, "job": JobId}
        found = [
            described_of_entry(kinds[row["nodeId"].split(":")[0]](row["namespace"], row["name"]), row["entry"])
            for row in rows
        ]
        assert tuple(found) == described.described
        assert load_metadata(yaml.safe_dump(metadata_file(Metadata(tuple(found))))) == described

    with_client(tmp_path, scenario)


def test_jobs_of_several_namespaces_are_no_file():
    with pytest.raises(ValueError, match="several namespaces, a, b"):
        metadata_file(Metadata((Described(JobId("a", "x"), "one"), Described(JobId("b", "x"), "two"))))


JUNK = [None, 7, "x", [], [7], [{}], [{"name": 7, "key": 7}], {"a": 1}]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_of_an_emitter_that_claims_to_be_the_file_breaks_no_answer(tmp_path, junk):
    names = {"documentation": "description", "ownership": "owners", "tags": "tags", COLUMN_DESCRIPTIONS_FACET: "fields"}
    own = {"_producer": PRODUCER, "_schemaURL": "https://example.org/x"}
    facets = {name: {**own, key: junk} for name, key in names.items()}
    written = dataset("orders", schema=schema("email"))
    written["facets"] |= facets

    async def scenario(client):
        await post(client, body("COMPLETE", 0, outputs=[written]))
        assert (await stated(client)).json()["entry"]["owners"] == []
        await get(client, "/metadata/all")
        found = await get(client, "/namespaces/s3%3A%2F%2Fwarehouse/datasets/orders")
        assert [field["name"] for field in found["fields"]] == ["email"]
        assert (await state(client, {"description": "mended"})).status_code == 200
        assert (await stated(client)).json()["entry"]["description"] == "mended"

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("producer", [None, 7, True, [], ["x"], {}, {"a": [1]}])
def test_a_producer_that_is_no_text_breaks_no_answer(tmp_path, producer):
    facets = {"tags": {"tags": [{"key": "PII"}]}, "ownership": {"owners": [{"name": "ann"}]}, "documentation": {}}
    written = dataset("orders", schema=schema("email"))
    written["facets"] |= {name: {**facet, "_producer": producer, "_schemaURL": "x"} for name, facet in facets.items()}

    async def scenario(client):
        await post(client, body("COMPLETE", 0, outputs=[written]))
        assert (await get(client, "/metadata/all"))["nodes"] == []
        assert (await stated(client)).json()["entry"]["owners"] == []
        assert (await state(client, {"description": "mended"})).status_code == 200
        assert [row["entry"]["description"] for row in (await get(client, "/metadata/all"))["nodes"]] == ["mended"]

    with_client(tmp_path, scenario)
