# SPDX-License-Identifier: Apache-2.0
"""Datasets of a plan's leaves, read from the JVM: the JSON of a plan omits options and tables."""

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
    """Dataset with its OpenLineage name.

    Attributes:
        is_topic: the dataset is a Kafka topic; its columns are the fields of its decoded messages.
    """

    namespace: str
    name: str
    is_topic: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Source:
    """Source that a leaf of a plan reads.

    Attributes:
        datasets: empty for constants.
        unnamed: description of inputs without a dataset name; empty if `datasets` is complete.
    """

    datasets: tuple[Dataset, ...] = ()
    unnamed: str = ""


def of_location(location: str) -> Dataset:
    """Return the dataset at a table's location.

    `s3a://bucket/a/b` becomes `a/b` in namespace `s3://bucket`; a local path is in namespace `file`.
    """
    parts = urlsplit(location)
    if parts.scheme in _S3_SCHEMES:
        return Dataset(f"s3://{parts.netloc}", parts.path.strip("/"))
    if parts.scheme in {"", "file"}:
        return Dataset("file", parts.path.rstrip("/"))
    return Dataset(f"{parts.scheme}://{parts.netloc}", parts.path.strip("/"))


def of_topics(options: dict[str, str | None]) -> Source:
    """Return the topics that a Kafka source with these options reads; the first bootstrap server names the cluster.

    Topics that match a pattern are not known before the query runs.
    """
    servers = options["kafka.bootstrap.servers"] or ""
    if options["subscribe"]:
        topics = [topic.strip() for topic in options["subscribe"].split(",")]
    elif options["assign"]:
        topics = list(json.loads(options["assign"]))
    else:
        return Source(unnamed=f"a topic pattern at {servers}")
    return Source(tuple(Dataset(f"kafka://{servers.split(',')[0]}", topic, is_topic=True) for topic in topics))


def of_leaf(leaf: JavaObject) -> Source:
    """Return the source of a leaf of a plan."""
    kind = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == _KAFKA_RELATION:
        return of_topics(_kafka_relation_options(leaf.relation()))
    if kind == "StreamingRelationV2":
        return _of_stream(leaf)
    if kind == "StreamingRelation":
        return _of_files(leaf.dataSource())
    if kind in {"DataSourceV2Relation", "StreamingDataSourceV2Relation"}:
        return _of_table(leaf.table())
    if kind in _WITHOUT_DATASET or (kind == "LogicalRDD" and _is_given_by_driver(leaf.rdd())):
        return Source()
    return Source(unnamed=f"a source of kind {kind}")


def _of_stream(relation: JavaObject) -> Source:
    name = relation.sourceName()
    if name == _KAFKA_SOURCE:
        return of_topics({option: relation.extraOptions().get(option) for option in _KAFKA_OPTIONS})
    return Source() if name in _GENERATORS else _of_table(relation.table())


def _of_files(source: JavaObject) -> Source:
    """Return the source of a stream of files in a folder."""
    path = source.options().get("path")
    return Source((of_location(path.get()),)) if path.isDefined() else Source(unnamed=f"stream {source.className()}")


_KAFKA_OPTIONS = ("kafka.bootstrap.servers", "subscribe", "assign")

_GENERATORS = {"rate", "rate-micro-batch"}

_DRIVER_ROWS = {"ParallelCollectionRDD", "EmptyRDD"}

_WITHOUT_DATASET = {"LocalRelation", "Range", "OneRowRelation", "CTERelationRef"}


def _kafka_relation_options(relation: JavaObject) -> dict[str, str | None]:
    """Read the private field with the options of the batch source: nothing else has the servers."""
    field = relation.getClass().getDeclaredField("sourceOptions")
    field.setAccessible(True)
    options = field.get(relation)
    found = {name: options.get(name) for name in _KAFKA_OPTIONS}
    return {name: option.get() if option.isDefined() else None for name, option in found.items()}


def _of_table(table: JavaObject) -> Source:
    """Return the dataset of an Iceberg `SparkTable`; tables of other connectors have no location.

    A metadata table (`orders.snapshots`) has the location of its data table, but other columns.
    """
    if table.getClass().getName() != _ICEBERG_TABLE or _is_metadata(table.table()):
        return Source(unnamed=f"table {table.name()}, which is not an Iceberg data table")
    return Source((of_location(table.table().location()),))


def _is_given_by_driver(rdd: JavaObject) -> bool:
    """Return True for rows of `createDataFrame`; checkpoints and RDDs of files have other roots."""
    while rdd.dependencies().size() == 1:
        rdd = rdd.dependencies().apply(0).rdd()
    return rdd.getClass().getSimpleName() in _DRIVER_ROWS


def _is_metadata(table: JavaObject) -> bool:
    java_class = table.getClass()
    while java_class is not None and java_class.getName() != _ICEBERG_METADATA:
        java_class = java_class.getSuperclass()
    return java_class is not None
