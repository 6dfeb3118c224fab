# SPDX-License-Identifier: Apache-2.0
"""Which dataset each leaf of a plan is. The JSON of a plan leaves out options and tables: Spark is asked."""

import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lineagelab_spark.java import JavaObject

_KAFKA_RELATION = "KafkaRelation"
_KAFKA_SOURCE = "kafka"
_ICEBERG_TABLE = "org.apache.iceberg.spark.source.SparkTable"
_ICEBERG_METADATA = "org.apache.iceberg.BaseMetadataTable"
_S3_SCHEMES = {"s3", "s3a", "s3n"}


@dataclass(frozen=True, order=True)
class Dataset:
    """A dataset as OpenLineage names it.

    Attributes:
        is_topic: a Kafka topic, whose columns are what its messages decode to.
    """

    namespace: str
    name: str
    is_topic: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Source:
    """What a leaf of a plan reads.

    Attributes:
        datasets: none for constants.
        unnamed: what else it reads, for people; empty where `datasets` are all.
    """

    datasets: tuple[Dataset, ...] = ()
    unnamed: str = ""


def of_location(location: str) -> Dataset:
    """The dataset at a table's location: `s3a://bucket/a/b` is `a/b` in `s3://bucket`, a path is in `file`."""
    parts = urlsplit(location)
    if parts.scheme in _S3_SCHEMES:
        return Dataset(f"s3://{parts.netloc}", parts.path.strip("/"))
    if parts.scheme in {"", "file"}:
        return Dataset("file", parts.path.rstrip("/"))
    return Dataset(f"{parts.scheme}://{parts.netloc}", parts.path.strip("/"))


def of_topics(options: dict[str, str | None]) -> Source:
    """The topics that a Kafka source with these options reads; the first bootstrap server names the cluster.

    The topics of a pattern are not known before it runs.
    """
    servers = options["kafka.bootstrap.servers"] or ""
    if options["subscribe"]:
        topics = [topic.strip() for topic in options["subscribe"].split(",")]
    elif options["assign"]:
        topics = list(json.loads(options["assign"]))
    else:
        return Source(unnamed=f"a pattern of topics at {servers}")
    return Source(tuple(Dataset(f"kafka://{servers.split(',')[0]}", topic, is_topic=True) for topic in topics))


def of_leaf(leaf: JavaObject) -> Source:
    """The source of a leaf of a plan."""
    kind = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == _KAFKA_RELATION:
        return of_topics(_kafka_relation_options(leaf.relation()))
    if kind == "StreamingRelationV2":
        return _of_stream(leaf)
    if kind == "StreamingRelation":
        return _of_files(leaf.dataSource())
    if kind in {"DataSourceV2Relation", "StreamingDataSourceV2Relation"}:
        return _of_table(leaf.table())
    if kind in _WITHOUT_DATASET:
        return Source()
    return Source(unnamed=f"a source of kind {kind}")


def _of_stream(relation: JavaObject) -> Source:
    name = relation.sourceName()
    if name == _KAFKA_SOURCE:
        return of_topics({option: relation.extraOptions().get(option) for option in _KAFKA_OPTIONS})
    return Source() if name in _GENERATORS else _of_table(relation.table())


def _of_files(source: JavaObject) -> Source:
    """A folder of files that Spark watches."""
    path = source.options().get("path")
    return Source((of_location(path.get()),)) if path.isDefined() else Source(unnamed=f"stream {source.className()}")


_KAFKA_OPTIONS = ("kafka.bootstrap.servers", "subscribe", "assign")

_GENERATORS = {"rate", "rate-micro-batch"}

_WITHOUT_DATASET = {"LocalRelation", "Range", "OneRowRelation", "CTERelationRef"}


def _kafka_relation_options(relation: JavaObject) -> dict[str, str | None]:
    """The batch source keeps its options in a private field, and nothing else has the servers."""
    field = relation.getClass().getDeclaredField("sourceOptions")
    field.setAccessible(True)
    options = field.get(relation)
    found = {name: options.get(name) for name in _KAFKA_OPTIONS}
    return {name: option.get() if option.isDefined() else None for name, option in found.items()}


def _of_table(table: JavaObject) -> Source:
    """Iceberg's `SparkTable`; other connectors' tables have no location.

    A metadata table (`orders.snapshots`) has the location of its table, whose columns it does not have.
    """
    if table.getClass().getName() != _ICEBERG_TABLE or _is_metadata(table.table()):
        return Source(unnamed=f"table {table.name()}, which is not an Iceberg table of data")
    return Source((of_location(table.table().location()),))


def _is_metadata(table: JavaObject) -> bool:
    java_class = table.getClass()
    while java_class is not None and java_class.getName() != _ICEBERG_METADATA:
        java_class = java_class.getSuperclass()
    return java_class is not None
