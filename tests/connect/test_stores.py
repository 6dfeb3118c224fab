# SPDX-License-Identifier: Apache-2.0
"""The lab's own worker and connectors: Debezium Postgres, the Iceberg sink, the S3 archive, for real."""

from contextlib import ExitStack
from dataclasses import replace

import psycopg
import pytest

from infra import credentials
from infra.catalog import lab
from infra.namespaces import ARCHIVE, KAFKA, POSTGRES, WAREHOUSE
from infra.provider.kind import Call
from infra.services import iceberg_catalog, kafka, object_store, postgres, schema_registry
from infra.services.connect import connectors
from infra.services.connect import worker as connect
from infra.services.properties import properties
from infra.settings import Settings
from infra.targets.kinds import KINDS
from infra.targets.local.target import LocalTarget
from infra.toolchain import Artifacts
from tests.connect.cluster import Cluster
from tests.connect.conftest import take_away
from tests.connect.processes import all_running, credentials_of, launcher_of, local_site, running
from tests.connect.rest import Rest
from tests.connect.stories import columns, dataset, datasets, edges, schema

pytestmark = pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform")

SOURCE, LAKE, SINK = "orders_source", "orders_lake", "orders_archive"
ROW = ("order_id", "item", "price", "supplier", "bid_time")
PLACE = {
    connectors.RECORD_TOPIC: {"orders/_topic"},
    connectors.RECORD_PARTITION: {"orders/_partition"},
    connectors.RECORD_OFFSET: {"orders/_offset"},
}


class Stores:
    """Databases, buckets and a registry that are running, and a worker."""

    def __init__(self, site, cluster):
        self.site = site
        self.cluster = cluster

    def ask(self, statement):
        server = self.site.address(postgres.NAME, postgres.SQL.name)
        password = credentials.read(credentials_of(self.site.root))[credentials.POSTGRES_PASSWORD]
        with psycopg.connect(
            host=server.host,
            port=server.port,
            user=postgres.USER,
            password=password,
            dbname=postgres.SHOP,
            autocommit=True,
        ) as connection:
            connection.execute(statement)

    def order(self, key):
        row = f"'{key}', 'chair', '12.50', 'a', '2026-01-02 03:04:05.678'"
        self.ask(f"INSERT INTO orders (order_id, item, price, supplier, bid_time) VALUES ({row})")
        self.ask(f"INSERT INTO bids (order_id, price, supplier, bid_time) VALUES ('{key}', '1', 'b', '2026-01-02')")


@pytest.fixture(scope="module")
def stores(site, bootstrap, ports, tmp_path_factory, endpoint):
    """Everything as the lab renders it, but for the broker, which is the other tests'."""
    own = local_site(tmp_path_factory.mktemp("stores"), ports)
    own = replace(own, endpoints={**own.endpoints, kafka.NAME: site.endpoints[kafka.NAME]})
    settings = Settings(topic_partitions=1)
    rendered = LocalTarget(own, launcher_of(own), settings).render(lab(own, settings))

    def make(*kinds):
        for resource in rendered:
            if resource.kind in kinds:
                KINDS[resource.kind].create(resource.inputs, Call())

    with ExitStack() as processes:
        first_ones = (
            postgres.postgres(own),
            object_store.object_store(own, settings),
            schema_registry.schema_registry(own, settings),
            _worker(own, settings, endpoint),
        )
        processes.enter_context(all_running(first_ones, own))
        make("Bucket", "Database", "Subject")
        make("Table")
        processes.enter_context(running(iceberg_catalog.iceberg_catalog(own, settings), own))
        rest = Rest(own.address(connect.NAME, connect.REST.name).url)
        found = Stores(own, Cluster(bootstrap, rest, endpoint))
        found.cluster.topic(*(resource.inputs.topic for resource in rendered if resource.kind == "Topic"))
        for connector in connectors.connectors(own):
            found.cluster.create(connector.name, dict(connector.config))
        found.order("one")
        yield found
        take_away(found.cluster)


def _worker(site, settings, endpoint):
    """The lab's worker, but that events go to the endpoint. A property that is there twice has its last value."""
    service = connect.connect(site, settings)
    own = {"transport.url": endpoint.url, "poll.interval.ms": 100, "interval.ms": 3_600_000, "state.topic": "stores"}
    added = properties({f"openlineage.{name}": value for name, value in own.items()})
    return replace(service, files=service.files | {connect.CONFIG: service.files[connect.CONFIG] + added})


def whole(event):
    """Whether an event has the schemas of all of its Kafka topics and says columns of all of its outputs."""
    topics = [(side, known) for side in ("inputs", "outputs") for known in event[side] if known["namespace"] == KAFKA]
    return (
        len(event["inputs"]) == len(event["outputs"]) == 2
        and all("schema" in known["facets"] for _, known in topics)
        and all("columnLineage" in known["facets"] for known in event["outputs"])
    )


def test_postgres_to_kafka(stores):
    told = stores.cluster.await_event(SOURCE, "with all", whole)
    assert datasets(told, "inputs") == {(POSTGRES, "shop.public.orders"), (POSTGRES, "shop.public.bids")}
    assert datasets(told, "outputs") == {(KAFKA, "orders"), (KAFKA, "bids")}
    assert edges(told) == {("shop.public.orders", "orders"), ("shop.public.bids", "bids")}
    assert list(schema(told, "outputs", "orders")) == [*ROW, "_key"]
    found = columns(told, "orders")
    assert {column: found[column] for column in ROW} == {column: {f"shop.public.orders/{column}"} for column in ROW}


def test_kafka_to_iceberg(stores):
    told = stores.cluster.await_event(LAKE, "with all", whole)
    assert datasets(told, "inputs") == {(KAFKA, "orders"), (KAFKA, "bids")}
    assert datasets(told, "outputs") == {(WAREHOUSE, "raw/orders"), (WAREHOUSE, "raw/bids")}
    assert edges(told) == {("orders", "raw/orders"), ("bids", "raw/bids")}
    links = dataset(told, "outputs", "raw/orders")["facets"]["symlinks"]["identifiers"]
    assert "raw.orders" in {link["name"].removeprefix("lake.") for link in links}
    found = columns(told, "raw/orders")
    assert found == {column: {f"orders/{column}"} for column in ROW} | PLACE
    assert stores.cluster.story(LAKE).told() == ["1 START"], "its tasks start twice, the run once"


def test_kafka_to_the_archive(stores):
    told = stores.cluster.await_event(SINK, "with all", whole)
    assert datasets(told, "inputs") == {(KAFKA, "orders"), (KAFKA, "bids")}
    assert datasets(told, "outputs") == {(ARCHIVE, "topics/orders"), (ARCHIVE, "topics/bids")}
    assert edges(told) == {("orders", "topics/orders"), ("bids", "topics/bids")}


def test_a_column_that_is_added_in_postgres_shows_in_every_place(stores):
    for name in (SOURCE, LAKE, SINK):
        stores.cluster.await_event(name, "with all", whole)
    stores.ask("ALTER TABLE orders ADD COLUMN currency text")
    stores.order("two")
    stores.ask("UPDATE orders SET currency = 'EUR'")
    source = stores.cluster.await_event(SOURCE, "with it", lambda e: "currency" in columns(e, "orders"))
    assert columns(source, "orders")["currency"] == {"shop.public.orders/currency"}
    lake = stores.cluster.await_event(LAKE, "with it", lambda e: "currency" in columns(e, "raw/orders"))
    assert columns(lake, "raw/orders")["currency"] == {"orders/currency"}
    for name in (SOURCE, LAKE, SINK):
        assert stores.cluster.story(name).told() == ["1 START"]


def test_no_credential_is_told(stores):
    values = credentials.read(credentials_of(stores.site.root)).values()
    text = str([event for name in (SOURCE, LAKE, SINK) for event in stores.cluster.story(name).events])
    assert not [value for value in values if value in text]
