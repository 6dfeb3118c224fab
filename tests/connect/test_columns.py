# SPDX-License-Identifier: Apache-2.0
"""Column lineage by perturbation: changing an input field changes exactly the output columns that events declare."""

import itertools
import json

import boto3
import pytest

from infra import credentials
from infra.catalog import LabSettings
from infra.model.resources import Bucket
from infra.provider.kind import OperationContext
from infra.provider.kinds.bucket import BucketKind
from infra.services import object_store
from tests.connect.cluster import struct, with_lineage
from tests.connect.event_history import columns, names, notes, schema
from tests.connect.processes import credentials_of, running
from tests.connect.rest import until

BUCKET = "columns"

KAFKA_TRANSFORMS = "org.apache.kafka.connect.transforms"
FIELDS = {"id": "1", "first": "a", "last": "b", "city": "c", "amount": "10", "note": "n"}
CHANGED = {field: str(int(value) + 1) if value.isdigit() else f"{value}!" for field, value in FIELDS.items()}

RENAME = ("rename", "ReplaceField$Value", {"renames": "first:given,last:family", "exclude": "note"})
SWAP = ("swap", "ReplaceField$Value", {"renames": "given:family,family:given"})
MASK = ("mask", "MaskField$Value", {"fields": "city", "replacement": "x"})
CAST = ("cast", "Cast$Value", {"spec": "amount:int64"})
HOIST = ("hoist", "HoistField$Value", {"field": "row"})
FLATTEN = ("flatten", "Flatten$Value", {"delimiter": "_"})
EXTRACT = ("extract", "ExtractField$Value", {"field": "row"})
INSERT = ("insert", "InsertField$Value", {"static.field": "origin", "static.value": "test"})
KEY = ("key", "ValueToKey", {"fields": "id"})

CHAINS = {
    "nothing": (),
    "rename and drop": (RENAME,),
    "rename, then swap": (RENAME, SWAP),
    "swap before there is what it swaps": (SWAP, RENAME),
    "mask, cast, insert": (MASK, CAST, INSERT),
    "hoist, then flatten": (HOIST, FLATTEN, RENAME),
    "hoist and extract": (HOIST, EXTRACT, MASK),
    "key of a renamed row": (KEY, RENAME),
}


class Store:
    """Bucket for archive sinks."""

    def __init__(self, site):
        self._url = site.address(object_store.NAME, object_store.S3.name).url
        self._credentials = credentials_of(site.root)

    def secrets(self):
        return credentials.read(self._credentials).values()

    def make(self):
        inputs = Bucket(endpoint=self._url, name=BUCKET, credentials=str(self._credentials))
        BucketKind().create(inputs, OperationContext())

    def sink(self, topic):
        keys = credentials.read(self._credentials)
        return {
            "connector.class": "dev.lineagelab.archive.S3ArchiveSinkConnector",
            "tasks.max": 1,
            "topics": topic,
            "consumer.override.auto.offset.reset": "earliest",
            "s3.bucket.name": BUCKET,
            "s3.region": credentials.S3_REGION,
            "store.url": self._url,
            "aws.access.key.id": keys[credentials.S3_ACCESS_KEY],
            "aws.secret.access.key": keys[credentials.S3_SECRET_KEY],
            "format.class": "JsonFormat",
            "flush.size": len(FIELDS) + 1,
        }

    def rows(self, topic):
        """Return the rows of a topic's objects in the order of their offsets."""
        keys = credentials.read(self._credentials)
        client = boto3.client(
            "s3",
            endpoint_url=self._url,
            aws_access_key_id=keys[credentials.S3_ACCESS_KEY],
            aws_secret_access_key=keys[credentials.S3_SECRET_KEY],
            region_name=credentials.S3_REGION,
        )
        found = client.list_objects_v2(Bucket=BUCKET, Prefix=f"topics/{topic}/").get("Contents", [])
        objects = sorted(item["Key"] for item in found if "/_log/" not in item["Key"])
        texts = [client.get_object(Bucket=BUCKET, Key=key)["Body"].read().decode() for key in objects]
        return [json.loads(line) for text in texts for line in text.splitlines()]


@pytest.fixture(scope="module")
def store(site):
    with running(object_store.object_store_service(site, LabSettings()), site):
        made = Store(site)
        made.make()
        yield made


def chain(steps):
    config = {"transforms": ",".join(alias for alias, _, _ in steps)} if steps else {}
    for alias, kind, options in steps:
        config[f"transforms.{alias}.type"] = f"{KAFKA_TRANSFORMS}.{kind}"
        config |= {f"transforms.{alias}.{option}": value for option, value in options.items()}
    return config


def records():
    """Return the base record, and one record per field with that field changed."""
    return [struct(FIELDS), *(struct(FIELDS | {field: CHANGED[field]}) for field in FIELDS)]


def flat(value, above=""):
    """Return value by column path."""
    if not isinstance(value, dict):
        return {above: value}
    inner = (flat(found, f"{above}.{name}" if above else name) for name, found in value.items())
    return dict(itertools.chain.from_iterable(part.items() for part in inner))


def changed_columns(rows):
    """Return the input fields that each output column changes with, given the rows of `records`."""
    before, *after = (flat(row) for row in rows)
    return {
        column: {field for field, row in zip(FIELDS, after, strict=True) if row.get(column) != before[column]}
        for column in before
    }


def declared_columns(event, topic):
    """Return the input fields that each output column depends on according to an event."""
    wanted = {f"{topic}/{field}": field for field in FIELDS}
    found = columns(event, f"topics/{topic}")
    return {column: {wanted[source] for source in sources & wanted.keys()} for column, sources in found.items()}


@pytest.mark.parametrize("steps", CHAINS.values(), ids=CHAINS.keys())
def test_declared_columns_are_those_that_change(cluster, store, name, steps):
    cluster.topic(name)
    cluster.produce(name, records())
    cluster.create(name, with_lineage(store.sink(name) | chain(steps)))
    # Before the first record, events have only columns that the configuration names; the schema has all.
    event = cluster.await_event(name, "with all columns", lambda event: schema(event, "outputs", f"topics/{name}"))
    until(lambda: len(store.rows(name)) == len(FIELDS) + 1, "all records")
    changed = {column: fields for column, fields in changed_columns(store.rows(name)).items() if fields}
    declared = {column: fields for column, fields in declared_columns(event, name).items() if fields}
    masked = {column for column, fields in declared.items() if fields == {"city"} and MASK in steps}
    assert changed == {column: fields for column, fields in declared.items() if column not in masked}


def test_unsupported_transform_is_noted_and_hides_columns(cluster, store, name):
    unknown = "dev.lineagelab.testing.ReversedNamesTransform"
    cluster.topic(name)
    cluster.produce(name, records())
    odd = {"transforms": "odd", "transforms.odd.type": unknown}
    cluster.create(name, with_lineage(store.sink(name) | odd))
    # Before the first record, an event says "*"; with its schema it names the columns.
    event = cluster.await_event(
        name,
        "with a note on the transform and the columns",
        lambda event: unknown in str(notes(event)) and schema(event, "outputs", f"topics/{name}"),
    )
    until(lambda: [row["di"] for row in store.rows(name)][:1] == ["1"], "reversed column names")
    assert names(event, "inputs") == {name}
    (output,) = event["outputs"]
    assert output["name"] == f"topics/{name}", "the sink names the folder by the topic that it reads"
    assert output["facets"]["columnLineage"]["fields"] == {}
    assert set(output["facets"]["columnLineage"]["unknownFields"]) == {field[::-1] for field in FIELDS}


def test_columns_follow_a_changed_chain(cluster, store, name):
    output = f"topics/{name}"
    cluster.topic(name)

    def await_columns(description, matches):
        """Produce records until the event arrives: only those processed by the new chain lead to it."""

        def found():
            cluster.produce(name, records())
            return next((event for event in cluster.history(name).events if matches(columns(event, output))), None)

        return columns(until(found, f"columns {description}"), output)

    cluster.create(name, with_lineage(store.sink(name) | chain((RENAME,))))
    await_columns("renamed", lambda found: found.get("given") == {f"{name}/first"})
    cluster.rest.configure(name, with_lineage(store.sink(name) | chain((RENAME, SWAP))))
    await_columns("swapped", lambda found: found.get("given") == {f"{name}/last"})
    cluster.rest.configure(name, with_lineage(store.sink(name)))
    found = await_columns("as they were", lambda found: found.get("note") == {f"{name}/note"})
    assert found.keys() == FIELDS.keys()
    assert cluster.history(name).transitions() == ["1 START"], "the datasets did not change"
    text = str(cluster.history(name).events)
    assert not [secret for secret in store.secrets() if secret in text], (
        "secrets are in the configuration in clear text"
    )
