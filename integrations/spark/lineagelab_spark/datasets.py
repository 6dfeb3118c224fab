# SPDX-License-Identifier: Apache-2.0
"""Datasets of a plan's leaves, read from the JVM: the JSON of a plan omits options and tables."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from pyspark import SparkContext

from lineagelab_spark import jdbc_names
from lineagelab_spark.java import JavaObject, items, kind_of, option

_KAFKA_RELATION = "KafkaRelation"
_KAFKA_SOURCE = "kafka"
_KAFKA_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_JDBC_PROVIDER = "org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider"
_DELTA_PROVIDER = "org.apache.spark.sql.delta.sources.DeltaDataSource"
_ICEBERG_TABLES = {
    "org.apache.iceberg.spark.source.SparkTable",
    "org.apache.iceberg.spark.source.StagedSparkTable",
}
_ICEBERG_METADATA = "org.apache.iceberg.BaseMetadataTable"
_FILE_TABLES = {"ParquetTable", "CSVTable", "JsonTable", "OrcTable", "TextTable", "AvroTable"}
_DELTA_TABLES = {"DeltaTableV2", "StagedDeltaTableV2"}
_FILE = re.compile(r"\.(parquet|csv|tsv|json|jsonl|orc|avro|txt|gz|bz2|zst|snappy|lz4|xml)$", re.IGNORECASE)
_S3_SCHEMES = {"s3", "s3a", "s3n"}


@dataclass(frozen=True, order=True)
class Dataset:
    """Dataset with its OpenLineage name.

    Attributes:
        is_topic: the dataset is a Kafka topic; its columns are the fields of its decoded messages.
        alias: name of a table in its catalog (`lake.sales.orders`); empty for other datasets.
        alias_namespace: namespace of the alias; empty: that of the dataset.
    """

    namespace: str
    name: str
    is_topic: bool = field(default=False, compare=False)
    alias: str = field(default="", compare=False)
    alias_namespace: str = field(default="", compare=False)


@dataclass(frozen=True)
class Source:
    """Source that a leaf of a plan reads.

    Attributes:
        datasets: empty for constants.
        unnamed: description of inputs without a dataset name; empty if `datasets` is complete.
        pattern_at: namespace of the topics of a stream that a pattern selects; its progress names them.
    """

    datasets: tuple[Dataset, ...] = ()
    unnamed: str = ""
    pattern_at: str = ""

    def with_topics(self, topics: Iterable[str]) -> "Source":
        """Return the source of a pattern with the topics that it was seen to read, beside those known before."""
        named = {Dataset(self.pattern_at, topic, is_topic=True) for topic in topics}
        return replace(self, datasets=tuple(sorted(named.union(self.datasets))), unnamed="")


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
    return Source(tuple(Dataset(_cluster(servers), topic, is_topic=True) for topic in topics))


def _cluster(servers: str | None) -> str:
    """Return the namespace of the topics of a Kafka cluster: its first bootstrap server."""
    return f"kafka://{(servers or '').split(',')[0]}"


def of_leaf(leaf: JavaObject) -> Source:
    """Return the source of a leaf of a plan."""
    kind = kind_of(leaf)
    if kind == "LogicalRelation":
        return _of_relation(leaf.relation(), option(leaf.catalogTable()))
    if kind == "StreamingRelationV2":
        return _of_stream(leaf)
    if kind == "StreamingRelation":
        return _of_files(leaf.dataSource())
    if kind in {"DataSourceV2Relation", "StreamingDataSourceV2Relation"}:
        return of_table(leaf.table(), qualified_name(option(leaf.catalog()), option(leaf.identifier())))
    if kind == "HiveTableRelation":
        return Source((of_catalog_table(leaf.tableMeta()),))
    if kind in _WITHOUT_DATASET or (kind == "LogicalRDD" and _is_given_by_driver(leaf.rdd())):
        return Source()
    return Source(unnamed=f"a source of kind {kind}")


def of_catalog_table(table: JavaObject) -> Dataset:
    """Return the dataset at the location of a table of Spark's session catalog (`CatalogTable`)."""
    return with_hive_name(of_location(str(table.location().toString())), table)


def with_hive_name(dataset: Dataset, table: JavaObject | None) -> Dataset:
    """Return the dataset of a table of Spark's session catalog with the alias `database.table` at `hive://host:port`.

    Unchanged without a table, and where the catalog is not in a Hive metastore with an address.
    """
    if table is None or not (metastore := _hive_metastore()):
        return dataset
    identifier = table.identifier()
    return replace(dataset, alias=f"{identifier.database().get()}.{identifier.table()}", alias_namespace=metastore)


def _hive_metastore() -> str:
    """Return `hive://host:port` of the metastore of this driver; empty if there is none, or if it is embedded."""
    context = SparkContext._active_spark_context
    # Not `getConf`, which copies each property by a call to the JVM.
    if context is None or context._conf.get("spark.sql.catalogImplementation") != "hive":
        return ""
    uris = context._jsc.hadoopConfiguration().get("hive.metastore.uris")
    return f"hive://{urlsplit(uris.split(',')[0].strip()).netloc}" if uris else ""


def of_options(provider: str, options: JavaObject) -> Source:
    """Return the sink of `DataFrameWriter.save` for the class name and the options of its data source."""
    if provider == _JDBC_PROVIDER:
        return _of_jdbc(option(options.get("url")) or "", option(options.get("dbtable")) or "")
    if provider == _KAFKA_PROVIDER:
        servers, topic = (option(options.get(name)) for name in ("kafka.bootstrap.servers", "topic"))
        if servers and topic:
            return Source((Dataset(_cluster(servers), topic, is_topic=True),))
        return Source(unnamed="Kafka topics that the rows name: option `topic` is not set")
    if provider == _DELTA_PROVIDER:
        path = option(options.get("path"))
        return Source((of_location(path),)) if path else Source(unnamed="a table of Delta Lake without a path")
    return Source(unnamed=f"data source {provider}")


def qualified_name(catalog: JavaObject | None, identifier: JavaObject | None) -> str:
    """Return `catalog.namespace.name` of a table in a catalog; empty for a table that is in none."""
    if catalog is None or identifier is None:
        return ""
    return ".".join([str(catalog.name()), *identifier.namespace(), str(identifier.name())])


def _of_relation(relation: JavaObject, table: JavaObject | None) -> Source:
    """Return the source of a relation of Spark's first data source interface, which may be a table of its catalog."""
    kind = kind_of(relation)
    if kind == _KAFKA_RELATION:
        return of_topics(_kafka_relation_options(relation))
    if kind == "HadoopFsRelation":
        if table is not None:
            return Source((of_catalog_table(table),))
        return Source(tuple(dict.fromkeys(map(_of_root, items(relation.location().rootPaths())))))
    if kind == "JDBCRelation":
        given = relation.jdbcOptions()
        return _of_jdbc(str(given.url()), str(given.tableOrQuery()))
    return Source(unnamed=f"a relation of kind {kind}")


def _of_root(path: JavaObject) -> Dataset:
    """Return the dataset of a path that was read: a folder, or the folder of a file."""
    name = str(path.getName())
    return of_location(str((path.getParent() if _FILE.search(name) else path).toString()))


def _of_jdbc(url: str, table: str) -> Source:
    found = jdbc_names.table_name(url, table)
    if found is None:
        # Not the URL: drivers accept credentials in any part of it.
        return Source(unnamed=f"a query, or an unknown database, behind {':'.join(url.split(':')[:2])}")
    return Source((Dataset(*found),))


def _of_stream(relation: JavaObject) -> Source:
    name = relation.sourceName()
    if name == _KAFKA_SOURCE:
        options = {option: relation.extraOptions().get(option) for option in _KAFKA_OPTIONS}
        found = of_topics(options)
        return replace(found, pattern_at=_cluster(options["kafka.bootstrap.servers"])) if found.unnamed else found
    return Source() if name in _GENERATORS else of_table(relation.table())


def _of_files(source: JavaObject) -> Source:
    """Return the source of a stream of files in a folder."""
    path = source.options().get("path")
    return Source((of_location(path.get()),)) if path.isDefined() else Source(unnamed=f"stream {source.className()}")


_KAFKA_OPTIONS = ("kafka.bootstrap.servers", "subscribe", "assign")

_GENERATORS = {"rate", "rate-micro-batch"}

_DRIVER_ROWS = {"ParallelCollectionRDD", "EmptyRDD"}

_WITHOUT_DATASET = {"LocalRelation", "Range", "OneRowRelation", "CTERelationRef", "UnionLoopRef"}


def _kafka_relation_options(relation: JavaObject) -> dict[str, str | None]:
    """Read the private field with the options of the batch source: nothing else has the servers."""
    field = relation.getClass().getDeclaredField("sourceOptions")
    field.setAccessible(True)
    options = field.get(relation)
    found = {name: options.get(name) for name in _KAFKA_OPTIONS}
    return {name: option.get() if option.isDefined() else None for name, option in found.items()}


def of_table(table: JavaObject, alias: str = "") -> Source:
    """Return the dataset of a table of a connector, or of a catalog, where it is named `alias`.

    An Iceberg metadata table (`orders.snapshots`) has the location of its data table, but other columns.
    """
    kind = kind_of(table)
    if kind == "RowLevelOperationTable":
        return of_table(table.table(), alias)
    iceberg = iceberg_table(table)
    if iceberg is not None:
        return Source((replace(of_location(iceberg.location()), alias=alias),))
    if kind == "V1Table":
        return Source((of_catalog_table(table.catalogTable()),))
    if kind in _DELTA_TABLES:
        return Source((_of_delta(table, alias),))
    if kind in _FILE_TABLES:
        return Source(tuple(dict.fromkeys(of_location(str(path)) for path in items(table.paths()))))
    return Source(unnamed=f"table {table.name()}, which is not an Iceberg data table")


def _of_delta(table: JavaObject, alias: str) -> Dataset:
    found = replace(of_location(str(table.path().toString())), alias=alias)
    return with_hive_name(found, option(table.catalogTable()) if kind_of(table) == "DeltaTableV2" else None)


def iceberg_table(table: JavaObject) -> JavaObject | None:
    """Return Iceberg's table of a `SparkTable`; None for tables of other connectors and for metadata tables."""
    if table.getClass().getName() not in _ICEBERG_TABLES or _is_metadata(table.table()):
        return None
    return table.table()


def _is_given_by_driver(rdd: JavaObject) -> bool:
    """Return True for rows of `createDataFrame`; checkpoints and RDDs of files have other roots."""
    while rdd.dependencies().size() == 1:
        rdd = rdd.dependencies().apply(0).rdd()
    return kind_of(rdd) in _DRIVER_ROWS


def _is_metadata(table: JavaObject) -> bool:
    java_class = table.getClass()
    while java_class is not None and java_class.getName() != _ICEBERG_METADATA:
        java_class = java_class.getSuperclass()
    return java_class is not None
