# SPDX-License-Identifier: Apache-2.0
"""Topic identity of a query's checkpoint.

Spark stores offsets by topic name. If the topic was deleted and recreated, resuming from old offsets silently skips
the records before them.
"""

import json
from dataclasses import asdict

from pyspark.sql import SparkSession

from jobs.spark.kafka import REMEDY, TopicIdentity
from jobs.spark.runtime import JobError
from lineagelab_spark.java import JavaObject

_FILE = "topic.json"


def claim(spark: SparkSession, location: str, name: str, found: TopicIdentity) -> None:
    """Store the topic's identity in a new checkpoint, or verify it in an existing one.

    Args:
        spark: session of the driver.
        location: checkpoint folder, on any file system that Hadoop supports.
        name: topic name, for error messages.
        found: identity of the current topic.

    Raises:
        JobError: the checkpoint belongs to another topic.
    """
    jvm: JavaObject = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(location, _FILE)
    files: JavaObject = path.getFileSystem(spark._jsc.hadoopConfiguration())
    stored = _read(jvm, files, path) if files.exists(path) else None
    if stored is None:
        _write(jvm, files, path, json.dumps(asdict(found)))
    elif stored != asdict(found):
        raise JobError(
            f"cannot resume from checkpoint {location}: its offsets belong to another topic {name!r} ({stored}) "
            f"than the present one ({asdict(found)}); the topic or the Kafka cluster was recreated. {REMEDY}"
        )


def _read(jvm: JavaObject, files: JavaObject, path: JavaObject) -> dict[str, str] | None:
    """Return the stored identity; None if a crash left the file incomplete."""
    stream = files.open(path)
    try:
        text = jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()
    try:
        return dict(json.loads(text))
    except (json.JSONDecodeError, TypeError, ValueError):
        return None


def _write(jvm: JavaObject, files: JavaObject, path: JavaObject, text: str) -> None:
    stream = files.create(path, True)
    try:
        jvm.org.apache.commons.io.IOUtils.write(text, stream, "UTF-8")
    finally:
        stream.close()
