# SPDX-License-Identifier: Apache-2.0
"""Destinations of writes that are not tables of a catalog, in the spelling of Spark SQL.

- ``parquet.`/data/orders` ``: files in a folder, also `csv`, `json`, `orc`, `text`, `avro`
- ``delta.`/data/orders` ``: a table of Delta Lake in a folder
- ``jdbc.`jdbc:postgresql://db/shop`.orders``: a table behind a JDBC URL
"""

import re

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import datasets, jdbc_names
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.description import Sink
from lineagelab_spark.java import JavaObject

FILE_FORMATS = ("avro", "csv", "delta", "json", "orc", "parquet", "text")

_FILES = re.compile(rf"(?:{'|'.join(FILE_FORMATS)})\.`([^`]+)`")
_JDBC = re.compile(r"jdbc\.`(jdbc:[^`]+)`\.(.+)")


def files(file_format: str, path: str) -> str:
    """Return the destination of files in a folder."""
    return f"{file_format}.`{path}`"


def sink(spark: SparkSession, destination: str, frame: DataFrame) -> Sink | None:
    """Return the dataset and the columns of a destination to which a frame is written; None for a table's name.

    Raises:
        ValueError: the destination has no dataset name.
    """
    fields = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    if found := _FILES.fullmatch(destination):
        return Sink(datasets.of_location(_qualified(spark, found[1])), fields)
    if found := _JDBC.fullmatch(destination):
        name = jdbc_names.table_name(found[1], found[2])
        if name is None:  # not the URL: it may have credentials
            kind = ":".join(found[1].split(":")[:2])
            raise ValueError(f"cannot name the dataset that is written: a query, or an unknown database, behind {kind}")
        return Sink(Dataset(*name), fields)
    return None


def _qualified(spark: SparkSession, text: str) -> str:
    """Return a path with its file system, as Spark resolves it."""
    jvm: JavaObject = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(text)
    file_system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    return str(file_system.makeQualified(path).toString())
