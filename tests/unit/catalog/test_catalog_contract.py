# SPDX-License-Identifier: Apache-2.0
"""Each kind of catalog: Glue as moto implements it, a real Hive Metastore, Iceberg tables in that metastore."""

import itertools
import threading
import time

import boto3
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError
from hive_metastore.ttypes import (
    Database,
    FieldSchema,
    LockState,
    SerDeInfo,
    ShowLocksRequest,
    StorageDescriptor,
)
from hive_metastore.ttypes import Table as HiveTable
from metastore_process import running_metastore
from moto import mock_aws
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from lineagelab_catalog.changes import changes_of
from lineagelab_catalog.facts import Facts, TableFacts, dataset_of_location
from lineagelab_catalog.glue_tables import GlueTables
from lineagelab_catalog.hive_tables import Connection, HiveTables
from lineagelab_catalog.iceberg_tables import IcebergTables
from lineagelab_catalog.publish import publish
from lineagelab_catalog.tables import CatalogError

PREFIX = "lineage-lab."
OWNERS = '[{"name":"Größe"}]'
COLUMNS = Schema(NestedField(1, "id", LongType(), required=False))


def comment_in_metastore(uri, name, text):
    with Connection(uri) as client:
        found = client.get_table("sales", name)
        found.parameters["comment"] = text
        client.alter_table("sales", name, found)


class Glue:
    """Tables of Glue that are no Iceberg tables."""

    def __init__(self, folder):
        self.folder = folder
        self.client = boto3.client("glue", region_name="us-east-1")
        self.client.create_database(DatabaseInput={"Name": "sales"})
        self.catalog = GlueTables(self.client, "glue")
        self.extra = {"classification": "parquet"}

    def make(self, name):
        location = f"{self.folder}/{name}"
        storage = {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": location}
        table = {"Name": name, "StorageDescriptor": storage, "Parameters": self.extra, "Owner": "hadoop"}
        self.client.create_table(DatabaseName="sales", TableInput=table)
        return location

    def read(self, name):
        found = self.client.get_table(DatabaseName="sales", Name=name)["Table"]
        assert found["StorageDescriptor"]["Columns"] == [{"Name": "id", "Type": "bigint"}]
        assert found["Owner"] == "hadoop"
        return found["Parameters"], found.get("Description", "")

    def set_comment(self, name, text):
        table = {"Name": name, "Description": text, "Parameters": self.read(name)[0], "Owner": "hadoop"}
        found = self.client.get_table(DatabaseName="sales", Name=name)["Table"]
        table["StorageDescriptor"] = found["StorageDescriptor"]
        self.client.update_table(DatabaseName="sales", TableInput=table)


class Hive:
    """Tables of a metastore that are no Iceberg tables."""

    def __init__(self, folder, uri):
        self.folder, self.uri = folder, uri
        self.catalog = HiveTables(uri)
        self.extra = {"EXTERNAL": "TRUE"}

    def make(self, name):
        location = f"file:{self.folder}/{name}"
        storage = StorageDescriptor(
            cols=[FieldSchema("id", "bigint", "the key")],
            location=location,
            inputFormat="org.apache.hadoop.mapred.TextInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            serdeInfo=SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        )
        table = HiveTable(
            tableName=name, dbName="sales", owner="ann", sd=storage, parameters=self.extra, tableType="EXTERNAL_TABLE"
        )
        with Connection(self.uri) as client:
            client.create_table(table)
        return location

    def read(self, name):
        with Connection(self.uri) as client:
            found = client.get_table("sales", name)
        assert [(column.name, column.comment) for column in found.sd.cols] == [("id", "the key")]
        parameters = dict(found.parameters)
        return parameters, parameters.pop("comment", "")

    def set_comment(self, name, text):
        comment_in_metastore(self.uri, name, text)


class Iceberg:
    """Iceberg tables in a metastore, as PyIceberg changes them."""

    def __init__(self, folder, uri):
        self.folder, self.uri = folder, uri
        self.pyiceberg = HiveCatalog("hive", uri=uri)
        self.catalog = IcebergTables(HiveCatalog("hive", uri=uri), "hive")
        self.extra = {"owner": "ann"}

    def make(self, name):
        location = f"file:{self.folder}/{name}"
        return self.pyiceberg.create_table(f"sales.{name}", COLUMNS, location, properties=self.extra).location()

    def read(self, name):
        properties = dict(self.pyiceberg.load_table(f"sales.{name}").properties)
        return properties, properties.pop("comment", "")

    def set_comment(self, name, text):
        with self.pyiceberg.load_table(f"sales.{name}").transaction() as transaction:
            transaction.set_properties(comment=text)

    def append(self, name, value):
        rows = pa.table({"id": pa.array([value], pa.int64())})
        self.pyiceberg.load_table(f"sales.{name}").append(rows)

    def rows(self, name):
        return sorted(self.pyiceberg.load_table(f"sales.{name}").scan().to_arrow()["id"].to_pylist())


class IcebergInHive(Iceberg):
    """The same tables, of which only the metastore's parameters are changed."""

    def __init__(self, folder, uri):
        super().__init__(folder, uri)
        self.catalog, self.uri = HiveTables(uri), uri

    def read(self, name):
        with Connection(self.uri) as client:
            parameters = dict(client.get_table("sales", name).parameters)
        assert parameters["table_type"] == "ICEBERG"
        return parameters, parameters.pop("comment", "")

    def set_comment(self, name, text):
        comment_in_metastore(self.uri, name, text)


@pytest.fixture(scope="module")
def metastore(tmp_path_factory):
    with running_metastore(tmp_path_factory.mktemp("metastore")) as uri:
        yield uri


@pytest.fixture
def uri(metastore, tmp_path):
    """URI of the metastore, with an empty database `sales`."""
    with Connection(metastore) as client:
        client.create_database(Database(name="sales", locationUri=f"file:{tmp_path}/sales"))
    yield metastore
    with Connection(metastore) as client:
        client.drop_database("sales", deleteData=True, cascade=True)


@pytest.fixture(params=[Glue, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (Hive, Iceberg, IcebergInHive))])
def backend(request, tmp_path, monkeypatch):
    """A catalog with an empty database `sales`."""
    if request.param is Glue:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        with mock_aws():
            yield Glue(tmp_path)
    else:
        yield request.param(tmp_path, request.getfixturevalue("uri"))


def facts(*tables):
    return Facts(PREFIX, tables)


def about(location, comment="All orders", **properties):
    stated = {f"{PREFIX}{key}": text for key, text in properties.items()}
    namespace, name = dataset_of_location(location)
    return TableFacts(namespace, name, (), comment, stated)


def own(properties):
    return {key: text for key, text in properties.items() if key.startswith(PREFIX) and not key.endswith("own-comment")}


def test_facts_are_written_once_and_go_again(backend):
    location, other = backend.make("orders"), backend.make("other")
    before = backend.read("other")
    stated = about(location, owners=OWNERS, tags="{}")
    planned = publish(backend.catalog, facts(stated), dry_run=True)
    assert (planned.updated, planned.unknown) == (["sales.orders"], ["sales.other"])
    assert own(backend.read("orders")[0]) == {}
    first = publish(backend.catalog, facts(stated))
    assert (first.updated, first.failed) == (["sales.orders"], {})
    properties, comment = backend.read("orders")
    assert (own(properties), comment) == (dict(stated.properties), "All orders")
    assert properties.items() >= backend.extra.items()
    again = publish(backend.catalog, facts(stated))
    assert (again.updated, again.unchanged) == ([], ["sales.orders"])
    assert backend.read("orders") == (properties, comment)
    fewer = publish(backend.catalog, facts(about(location, comment="", tags="{}")))
    assert fewer.updated == ["sales.orders"]
    properties, comment = backend.read("orders")
    assert (own(properties), comment) == ({f"{PREFIX}tags": "{}"}, "")
    assert properties.items() >= backend.extra.items()
    assert backend.read("other") == before, other


def test_a_comment_of_somebody_else_stays(backend):
    location = backend.make("orders")
    backend.set_comment("orders", "by hand")
    assert publish(backend.catalog, facts(about(location))).updated == []
    assert backend.read("orders")[1] == "by hand"
    publish(backend.catalog, facts(about(location, owners=OWNERS)))
    assert backend.read("orders")[1] == "by hand"


def test_a_table_is_found_by_the_name_that_events_give_it(backend):
    backend.make("orders")
    by_name = TableFacts("x", "y", ("sales.orders",), "", {f"{PREFIX}owners": OWNERS})
    assert publish(backend.catalog, facts(by_name)).updated == ["sales.orders"]


def test_a_table_that_is_gone_is_a_failure_of_that_table_only(backend, monkeypatch):
    location = backend.make("orders")
    labels = list(backend.catalog.labels())
    gone = [*labels, "sales.gone"]
    identifiers = getattr(backend.catalog, "_identifiers", {})
    identifiers["sales.gone"] = ("sales", "gone")
    monkeypatch.setattr(backend.catalog, "labels", lambda: iter(gone))
    report = publish(backend.catalog, facts(about(location)))
    assert (report.updated, list(report.failed)) == (["sales.orders"], ["sales.gone"])
    assert "gone" in report.failed["sales.gone"]


@pytest.mark.parametrize(
    ("conflicts", "code", "attempts"),
    [(2, "ConcurrentModificationException", 3), (99, "ConcurrentModificationException", 5), (99, "AccessDenied", 1)],
)
def test_a_change_is_repeated_after_conflicts_only(tmp_path, monkeypatch, conflicts, code, attempts):
    calls = []

    def change(**content):
        calls.append(content)
        if len(calls) <= conflicts:
            raise ClientError({"Error": {"Code": code}}, "UpdateTable")

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        glue = Glue(tmp_path)
        location = glue.make("orders")
        monkeypatch.setattr(glue.client, "update_table", change)
        report = publish(glue.catalog, facts(about(location)))
    assert len(calls) == attempts
    assert (report.updated == ["sales.orders"], code in report.failed.get("sales.orders", "")) == (
        (True, False) if attempts == 3 else (False, True)
    )


@pytest.mark.parametrize("kind", [HiveTables, lambda uri: IcebergTables(HiveCatalog("hive", uri=uri), "hive")])
def test_a_catalog_that_does_not_respond_is_said(kind):
    with pytest.raises(CatalogError, match=r"127\.0\.0\.1"):
        list(kind("thrift://127.0.0.1:1").labels())


def changed_by(backend, location, between):
    """Change a table; `between(n)` is called when its state is read for the n-th time, before the change is made."""
    calls = itertools.count(1)

    def changes(table):
        between(next(calls))
        return changes_of(about(location, tags="{}"), PREFIX, table.properties, table.comment)

    assert list(backend.catalog.labels()) == ["sales.orders"]
    assert backend.catalog.update("sales.orders", changes)
    assert own(backend.read("orders")[0]) == {f"{PREFIX}tags": "{}"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Iceberg, IcebergInHive])
def test_a_commit_after_the_table_was_read_is_kept(kind, uri, tmp_path):
    backend = kind(tmp_path, uri)
    location = backend.make("orders")
    changed_by(backend, location, lambda call: backend.append("orders", call) if call == 1 else None)
    assert backend.rows("orders") == [1]


@pytest.mark.slow
def test_a_commit_waits_until_the_parameters_are_changed(uri, tmp_path):
    """The second reading is that under the lock; a commit that begins then would be lost without it."""
    backend = IcebergInHive(tmp_path, uri)
    location = backend.make("orders")
    writer = threading.Thread(target=backend.append, args=("orders", 7))

    def commit_begins(call):
        if call == 2:
            writer.start()
            assert waits_for_lock(uri), "the writer did not wait"

    changed_by(backend, location, commit_begins)
    writer.join()
    assert backend.rows("orders") == [7]
    assert own(backend.read("orders")[0]) == {f"{PREFIX}tags": "{}"}


def waits_for_lock(uri, seconds=60):
    """Return whether somebody waits for a lock of the metastore within a time."""
    deadline = time.monotonic() + seconds
    with Connection(uri) as client:
        while time.monotonic() < deadline:
            if any(lock.state == LockState.WAITING for lock in client.show_locks(ShowLocksRequest()).locks):
                return True
    return False
