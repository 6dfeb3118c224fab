# SPDX-License-Identifier: Apache-2.0
"""Lineage of the lab's connectors on real stores: Debezium Postgres, Iceberg sink, S3 archive."""

import re
import sys
from contextlib import ExitStack
from dataclasses import replace

import psycopg
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

from infra import credentials
from infra.catalog import LabSettings, build_lab
from infra.namespaces import ARCHIVE_NAMESPACE, KAFKA_NAMESPACE, POSTGRES_NAMESPACE, WAREHOUSE_NAMESPACE
from infra.provider.kind import OperationContext
from infra.services import iceberg_catalog, kafka, object_store, postgres, schema_registry
from infra.services.connect import connectors
from infra.services.connect import worker as connect
from infra.services.connect.connectors import DEAD_LETTER_PREFIX
from infra.services.properties import render_properties
from infra.targets.kinds import KINDS
from infra.targets.local.target import LocalTarget
from infra.toolchain import Artifacts
from infra.toolchain.pins import DEBEZIUM_JDBC
from infra.toolchain.progress import PlainProgress
from tests.connect.cluster import Cluster, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.event_history import columns, dataset, datasets, edges, notes, schema
from tests.connect.processes import all_running, credentials_of, launcher_of, local_site, running
from tests.connect.rest import Rest, until

pytestmark = pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform")

SOURCE, LAKE, SINK = "orders_source", "orders_lake", "orders_archive"
ROW = ("order_id", "item", "price", "supplier", "bid_time")
PLACE = {
    connectors.RECORD_TOPIC: {"orders/_topic"},
    connectors.RECORD_PARTITION: {"orders/_partition"},
    connectors.RECORD_OFFSET: {"orders/_offset"},
}


class Stores:
    """Running stores and registry, and the cluster of a worker."""

    def __init__(self, site, cluster):
        self.site = site
        self.cluster = cluster

    def config(self, name):
        """Return the configuration of a connector of the lab."""
        found = {connector.name: connector.config for connector in connectors.connectors(self.site)}
        return dict(found[name])

    def execute(self, statement):
        """Run a statement in the shop's database; return its rows, if it has any."""
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
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def order(self, key):
        row = f"'{key}', 'chair', '12.50', 'a', '2026-01-02 03:04:05.678'"
        self.execute(f"INSERT INTO orders (order_id, item, price, supplier, bid_time) VALUES ({row})")
        self.execute(f"INSERT INTO bids (order_id, price, supplier, bid_time) VALUES ('{key}', '1', 'b', '2026-01-02')")


@pytest.fixture(scope="module")
def stores(site, bootstrap, ports, tmp_path_factory, endpoint):
    """Stores and connectors as the lab renders them, on the broker of the other tests."""
    own = local_site(tmp_path_factory.mktemp("stores"), ports)
    own = replace(own, endpoints={**own.endpoints, kafka.NAME: site.endpoints[kafka.NAME]})
    settings = LabSettings(topic_partitions=1)
    rendered = LocalTarget(own, launcher_of(own), settings).render(build_lab(own, settings))

    def make(*kinds):
        for resource in rendered:
            if resource.kind in kinds:
                KINDS[resource.kind].create(resource.inputs, OperationContext())

    with ExitStack() as processes:
        first_ones = (
            postgres.postgres_service(own, settings),
            object_store.object_store_service(own, settings),
            schema_registry.schema_registry_service(own, settings),
            _worker(own, settings, endpoint),
        )
        processes.enter_context(all_running(first_ones, own))
        make("Bucket", "Database", "Subject")
        make("Table")
        processes.enter_context(running(iceberg_catalog.iceberg_catalog_service(own, settings), own))
        rest = Rest(own.address(connect.NAME, connect.REST.name).url)
        found = Stores(own, Cluster(bootstrap, rest, endpoint))
        found.cluster.topic(*(resource.inputs.name for resource in rendered if resource.kind == "Topic"))
        for connector in connectors.connectors(own):
            found.cluster.create(connector.name, dict(connector.config))
        found.order("one")
        yield found
        delete_and_verify(found.cluster)


def _worker(site, settings, endpoint):
    """Return the lab's worker with the endpoint as destination, and a foreign plugin.

    The last value of a repeated property applies.
    """
    service = connect.connect_service(site, settings)
    foreign = Artifacts.open()
    foreign.setup({DEBEZIUM_JDBC.name}, PlainProgress(sys.stderr))
    (path,) = re.findall(r"^plugin\.path=(.*)$", service.files[connect.CONFIG], re.MULTILINE)
    plugin_path = {"plugin.path": f"{path},{foreign.component(DEBEZIUM_JDBC.name)}"}
    own = {"transport.url": endpoint.url, "poll.interval.ms": 100, "interval.ms": 3_600_000, "state.topic": "stores"}
    added = render_properties({f"openlineage.{name}": value for name, value in own.items()} | plugin_path)
    return replace(service, files=service.files | {connect.CONFIG: service.files[connect.CONFIG] + added})


def is_complete(event):
    """Return whether an event has schemas of its topics, dead letters excepted, and column lineage of its outputs."""
    topics = [
        (side, known)
        for side in ("inputs", "outputs")
        for known in event[side]
        if known["namespace"] == KAFKA_NAMESPACE and not known["name"].startswith(DEAD_LETTER_PREFIX)
    ]
    return (
        len(event["inputs"]) == 2 <= len(event["outputs"])
        and all("schema" in known["facets"] for _, known in topics)
        and all("columnLineage" in known["facets"] for known in event["outputs"])
    )


def dead_letters(sink):
    return {(topic, DEAD_LETTER_PREFIX + sink) for topic in ("orders", "bids")}


def test_postgres_to_kafka(stores):
    event = stores.cluster.await_event(SOURCE, "with all schemas and columns", is_complete)
    assert datasets(event, "inputs") == {
        (POSTGRES_NAMESPACE, "shop.public.orders"),
        (POSTGRES_NAMESPACE, "shop.public.bids"),
    }
    assert datasets(event, "outputs") == {(KAFKA_NAMESPACE, "orders"), (KAFKA_NAMESPACE, "bids")}
    assert edges(event) == {("shop.public.orders", "orders"), ("shop.public.bids", "bids")}
    assert list(schema(event, "outputs", "orders")) == [*ROW, "_key"]
    found = columns(event, "orders")
    assert {column: found[column] for column in ROW} == {column: {f"shop.public.orders/{column}"} for column in ROW}


def test_kafka_to_iceberg(stores):
    event = stores.cluster.await_event(LAKE, "with all schemas and columns", is_complete)
    assert datasets(event, "inputs") == {(KAFKA_NAMESPACE, "orders"), (KAFKA_NAMESPACE, "bids")}
    tables = {(WAREHOUSE_NAMESPACE, "raw/orders"), (WAREHOUSE_NAMESPACE, "raw/bids")}
    assert datasets(event, "outputs") == {*tables, (KAFKA_NAMESPACE, DEAD_LETTER_PREFIX + LAKE)}
    assert edges(event) == {("orders", "raw/orders"), ("bids", "raw/bids"), *dead_letters(LAKE)}
    links = dataset(event, "outputs", "raw/orders")["facets"]["symlinks"]["identifiers"]
    assert "raw.orders" in {link["name"].removeprefix("lake.") for link in links}
    found = columns(event, "raw/orders")
    assert found == {column: {f"orders/{column}"} for column in ROW} | PLACE
    assert stores.cluster.history(LAKE).transitions() == ["1 START"], "restarted tasks keep the run"


def test_kafka_to_the_archive(stores):
    event = stores.cluster.await_event(SINK, "with all schemas and columns", is_complete)
    assert datasets(event, "inputs") == {(KAFKA_NAMESPACE, "orders"), (KAFKA_NAMESPACE, "bids")}
    folders = {(ARCHIVE_NAMESPACE, "topics/orders"), (ARCHIVE_NAMESPACE, "topics/bids")}
    assert datasets(event, "outputs") == {*folders, (KAFKA_NAMESPACE, DEAD_LETTER_PREFIX + SINK)}
    assert edges(event) == {("orders", "topics/orders"), ("bids", "topics/bids"), *dead_letters(SINK)}


@pytest.fixture(scope="module")
def catalog(stores):
    """PyIceberg's client of the catalog, with a table `fixed.part` that has some columns of the topic."""
    found = RestCatalog(
        "lake",
        uri=stores.site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        warehouse=f"{WAREHOUSE_NAMESPACE}/",
        **object_store_properties(stores.site),
    )
    found.create_namespace("fixed")
    names = enumerate(("order_id", "Item", "extra"), 1)
    schema = Schema(*(NestedField(number, name, StringType(), required=False) for number, name in names))
    found.create_table("fixed.part", schema)
    return found


def object_store_properties(site):
    secrets = credentials.read(credentials_of(site.root))
    return {
        "s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        "s3.access-key-id": secrets[credentials.S3_ACCESS_KEY],
        "s3.secret-access-key": secrets[credentials.S3_SECRET_KEY],
        "s3.region": credentials.S3_REGION,
    }


def test_a_sink_without_the_transform_has_the_columns_of_the_registry(stores):
    with_it = stores.cluster.await_event(LAKE, "with all schemas and columns", is_complete)
    lake = stores.config(LAKE)
    others = [name for name in lake["transforms"].split(",") if name != "lineage"]
    own = {name: value for name, value in lake.items() if not name.startswith("transforms.lineage.")}
    stores.cluster.create("plain", own | {"transforms": ",".join(others)})
    event = stores.cluster.await_event("plain", "with all schemas and columns", is_complete)
    for table in ("raw/orders", "raw/bids"):
        assert columns(event, table) == columns(with_it, table) != {}
    for topic in ("orders", "bids"):
        fields = [name for name in schema(with_it, "inputs", topic) if name in schema(event, "inputs", topic)]
        assert fields == list(schema(event, "inputs", topic))
        assert any(f"'{topic}' are those of its latest schema" in note for note in notes(event))
    assert edges(event) == edges(with_it)


def test_a_source_without_the_transform_has_the_columns_of_the_registry(stores):
    """Debezium captures tables by a pattern: their names are in the schemas of the topics that the worker has seen."""
    with_it = stores.cluster.await_event(SOURCE, "with all schemas and columns", is_complete)
    source = stores.config(SOURCE)
    others = [name for name in source["transforms"].split(",") if name != "lineage"]
    own = {name: value for name, value in source.items() if not name.startswith("transforms.lineage.")}
    stores.cluster.topic("plain.orders", "plain.bids")
    plain = {
        "transforms": ",".join(others),
        "transforms.topic.replacement": "plain.$1",
        "table.include.list": r"public\.(orders|bids)",
        "slot.name": "plain",
        "publication.name": "plain",
        "snapshot.mode": "initial",
    }
    stores.cluster.create("pattern", own | plain)
    event = stores.cluster.await_event("pattern", "with all schemas and columns", is_complete)
    assert datasets(event, "inputs") == datasets(with_it, "inputs")
    assert edges(event) == {("shop.public.orders", "plain.orders"), ("shop.public.bids", "plain.bids")}
    for topic in ("orders", "bids"):
        wanted = {name: found for name, found in columns(with_it, topic).items() if name != "_key"}
        found = columns(event, f"plain.{topic}")
        assert {name: found[name] for name in wanted} == wanted != {}
        assert any(f"'plain.{topic}' are those of its latest schema" in note for note in notes(event))
    stores.cluster.rest.delete("pattern")


def create_fixed_sink(stores, name, table, **options):
    """Create a copy of the lab's Iceberg sink that neither creates nor changes its only table."""
    own = {
        "topics": "orders",
        "iceberg.tables": table,
        "iceberg.tables.auto-create-enabled": False,
        "iceberg.tables.evolve-schema-enabled": False,
    }
    copied = {option: value for option, value in stores.config(LAKE).items() if "route" not in option}
    stores.cluster.create(name, copied | own | options)


def rows_of(catalog, table):
    return catalog.load_table(table).scan().to_arrow().to_pylist()


def test_an_iceberg_sink_fills_only_columns_that_its_table_has(stores, catalog):
    create_fixed_sink(stores, "exact", "fixed.part")
    event = stores.cluster.await_event("exact", "with columns", lambda found: columns(found, "fixed/part"))
    assert columns(event, "fixed/part") == {"order_id": {"orders/order_id"}}
    until(lambda: rows_of(catalog, "fixed.part"), "rows")
    assert {(row["Item"], row["extra"]) for row in rows_of(catalog, "fixed.part")} == {(None, None)}
    stores.cluster.rest.delete("exact")

    create_fixed_sink(stores, "inexact", "fixed.part", **{"iceberg.tables.schema-case-insensitive": True})
    event = stores.cluster.await_event("inexact", "with columns", lambda found: columns(found, "fixed/part"))
    assert columns(event, "fixed/part") == {"order_id": {"orders/order_id"}, "Item": {"orders/item"}}
    until(lambda: {row["Item"] for row in rows_of(catalog, "fixed.part")} == {None, "chair"}, "rows of both sinks")

    with catalog.load_table("fixed.part").update_schema() as update:
        update.add_column("supplier", StringType())
    stores.cluster.await_event(
        "inexact", "with the new column", lambda found: "supplier" in columns(found, "fixed/part")
    )


def test_a_table_that_does_not_exist_has_no_edges(stores, catalog):
    create_fixed_sink(stores, "nowhere", "fixed.none")
    event = stores.cluster.await_event("nowhere", "of the failure", lambda found: found["eventType"] == "FAIL")
    assert datasets(event, "outputs") == {(KAFKA_NAMESPACE, DEAD_LETTER_PREFIX + LAKE)}
    assert edges(event) == {("orders", DEAD_LETTER_PREFIX + LAKE)}
    named = [dataset["name"] for found in stores.cluster.history("nowhere").events for dataset in found["outputs"]]
    assert "fixed/none" not in named


@pytest.mark.parametrize(
    ("table", "options", "added"),
    [
        ("plain_orders", {}, {}),
        (
            "keyed_orders",
            {
                "primary.key.mode": "record_key",
                "insert.mode": "upsert",
                "transforms": "lineage,key",
                "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
                "transforms.key.fields": "order_id",
            },
            {},
        ),
        (
            "some_orders",
            {"primary.key.mode": "kafka", "field.include.list": "orders:order_id,orders:price"},
            {
                "__connect_topic": {"orders/_topic"},
                "__connect_partition": {"orders/_partition"},
                "__connect_offset": {"orders/_offset"},
            },
        ),
        ("fewer_orders", {"field.exclude.list": "orders:item"}, {}),
    ],
)
def test_debezium_to_a_table(stores, table, options, added):
    """The columns in the lineage are those of the table that the sink creates."""
    server = stores.site.address(postgres.NAME, postgres.SQL.name)
    secret = stores.config(SOURCE)["database.password"]
    sink = {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "topics": "orders",
        "connection.url": f"jdbc:postgresql://{server}/{postgres.SHOP}",
        "connection.username": postgres.USER,
        "connection.password": secret,
        "schema.evolution": "basic",
        "collection.name.format": table.replace("orders", "${topic}"),
    }
    stores.cluster.create(table, with_lineage(sink) | options)
    name = f"shop.public.{table}"
    until(lambda: stores.execute(f"SELECT to_regclass('public.{table}')") != [(None,)], f"table {table}")
    rows = stores.execute(f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'")
    created = {column for (column,) in rows}
    # Before the first record the columns of the key may be known, and no others.
    event = stores.cluster.await_event(
        table, f"with the columns {created}", lambda found: set(columns(found, name)) == created
    )
    assert datasets(event, "outputs") == {(POSTGRES_NAMESPACE, name)}
    found = columns(event, name)
    assert found == {column: {f"orders/{column}"} for column in found if column not in added} | added
    stores.cluster.rest.delete(table)


def test_an_outbox_becomes_the_events_of_each_topic(stores):
    stores.execute(
        "CREATE TABLE outbox (id text PRIMARY KEY, aggregatetype text NOT NULL, aggregateid text NOT NULL, "
        "type text, payload text, tenant text)"
    )
    topics = ("outbox.event.order", "outbox.event.bid")
    stores.cluster.topic(*topics)
    plain = {name: value for name, value in stores.config(SOURCE).items() if not name.startswith("transforms")}
    outbox = {
        "table.include.list": "public.outbox",
        "slot.name": "outbox",
        "publication.name": "outbox",
        "transforms": "outbox",
        "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter",
        "transforms.outbox.table.fields.additional.placement": "tenant:envelope:who,type:header",
    }
    stores.cluster.create("outbox", with_lineage(plain | outbox))
    for number, kind in enumerate(("order", "bid")):
        stores.execute(f"INSERT INTO outbox VALUES ('{number}', '{kind}', 'a{number}', 'made', '{{}}', 't')")
    event = stores.cluster.await_event(
        "outbox", "with the columns of both topics", lambda found: all(columns(found, topic) for topic in topics)
    )
    assert edges(event) == {("shop.public.outbox", topic) for topic in topics}
    for topic in topics:
        assert columns(event, topic) == {
            "_key": {"shop.public.outbox/aggregateid"},
            "payload": {"shop.public.outbox/payload"},
            "who": {"shop.public.outbox/tenant"},
        }
    stores.cluster.rest.delete("outbox")


def test_column_added_in_postgres_reaches_every_store(stores):
    for name in (SOURCE, LAKE, SINK):
        stores.cluster.await_event(name, "with all schemas and columns", is_complete)
    stores.execute("ALTER TABLE orders ADD COLUMN currency text")
    stores.order("two")
    stores.execute("UPDATE orders SET currency = 'EUR'")
    source = stores.cluster.await_event(SOURCE, "with the new column", lambda e: "currency" in columns(e, "orders"))
    assert columns(source, "orders")["currency"] == {"shop.public.orders/currency"}
    lake = stores.cluster.await_event(LAKE, "with the new column", lambda e: "currency" in columns(e, "raw/orders"))
    assert columns(lake, "raw/orders")["currency"] == {"orders/currency"}
    for name in (SOURCE, LAKE, SINK):
        assert stores.cluster.history(name).transitions() == ["1 START"]


def test_events_contain_no_credentials(stores):
    values = credentials.read(credentials_of(stores.site.root)).values()
    text = str([event for name in (SOURCE, LAKE, SINK) for event in stores.cluster.history(name).events])
    assert not [value for value in values if value in text]
