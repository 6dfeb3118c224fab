# SPDX-License-Identifier: Apache-2.0
"""The checkpoint of a query that reads one topic: which topic its offsets are of.

Spark keeps offsets by the topic's name. Read on from them in a topic that was deleted and made again, it skips what
is there before them, without a word.
"""

import json
from dataclasses import asdict

from pyspark.sql import SparkSession

from jobs.spark.kafka import REMEDY, TopicIdentity
from jobs.spark.runtime import JobError
from lineagelab_spark.java import JavaObject

_FILE = "topic.json"


def claim(spark: SparkSession, location: str, name: str, found: TopicIdentity) -> None:
    """Notes in a new checkpoint which topic it is for, and checks it in an old one.

    Args:
        spark: the session.
        location: the folder of the checkpoint, of any file system that Hadoop knows.
        name: the topic's name, for people.
        found: the topic that is there now.

    Raises:
        JobError: the checkpoint is another topic's.
    """
    jvm: JavaObject = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(location, _FILE)
    files: JavaObject = path.getFileSystem(spark._jsc.hadoopConfiguration())
    noted = _read(jvm, files, path) if files.exists(path) else None
    if noted is None:
        _write(jvm, files, path, json.dumps(asdict(found)))
    elif noted != asdict(found):
        raise JobError(
            f"cannot go on from the checkpoint {location}: it has offsets of another topic {name!r} ({noted}) than "
            f"the one that is there now ({asdict(found)}); the topic was made anew, or Kafka was. {REMEDY}"
        )


def _read(jvm: JavaObject, files: JavaObject, path: JavaObject) -> dict[str, str] | None:
    """What is noted; None where a crash left half of it."""
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
