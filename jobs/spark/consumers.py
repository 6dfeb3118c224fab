# SPDX-License-Identifier: Apache-2.0
"""Consumers of Iceberg tables that continue from saved state, and what they still need of a table.

A stopped consumer is only visible by its state in the folder of checkpoints. `read` collects it once for all tables:

- A Spark query that reads a table resumes from the snapshot in its offset log, and needs all later ones.
- A Flink job that reads a table has the snapshot's id in its checkpoint or savepoint, as eight bytes.
- A Flink sink has rows in files that its checkpoint lists in a manifest, until it has committed them. They belong to no
  snapshot, so they look like orphans.

A consumer whose state is elsewhere keeps what it needs by a tag or branch of the table.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from lineagelab_spark.java import JavaObject

MAX_STATE_BYTES = 4 * 1024 * 1024
"""Limit above which a state file is not searched. Positions and lists of files are small; larger files have rows."""

RESUMED_BATCHES = 2
"""Entries of Spark's offset log that a restart uses: the last batch, which may be repeated, and its start."""

_OFFSETS = re.compile(r"(?P<checkpoint>.+?)(?P<source>/sources/\d+)?/offsets/(?P<batch>\d+)")
_SPARK_SNAPSHOT = re.compile(rb'"snapshot_id"\s*:\s*(-?\d+)')
_FLINK_METADATA = "/_metadata"
_SPARK_METADATA = "/metadata"
_MANIFEST = rb"/metadata/([\x21-\x2e\x30-\x7e]{1,300}?\.avro)"


@dataclass(frozen=True)
class StateFile:
    """File in the folder of checkpoints."""

    path: str
    length: int


@dataclass(frozen=True)
class ConsumerState:
    """Saved state of a consumer.

    Attributes:
        name: folder of the state.
        snapshots: ids of snapshots in text, of any table.
        content: further bytes, which may have snapshot ids as eight bytes, and paths of manifests.
    """

    name: str
    snapshots: frozenset[int] = frozenset()
    content: bytes = b""

    def needs(self, snapshot_id: int) -> bool:
        """Return True if the consumer resumes from a snapshot."""
        return snapshot_id in self.snapshots or snapshot_id.to_bytes(8, "big", signed=True) in self.content

    def has_query(self, query_id: str) -> bool:
        """Return True if this is the checkpoint of a Spark query."""
        return query_id.encode() in self.content

    def manifests(self, location: str) -> frozenset[str]:
        """Return the names of manifests in a table's folder `metadata` that the state lists.

        Args:
            location: folder of the table, as a URL. Engines spell its scheme differently.
        """
        folder = re.escape(location.partition(":")[2].strip("/")).encode()
        return frozenset(name.decode("ascii") for name in re.findall(folder + _MANIFEST, self.content))


@dataclass(frozen=True)
class Hold:
    """Limit of what may be removed, and its cause.

    Attributes:
        before: removal is limited to what is older, epoch milliseconds.
        consumer: name of the consumer, for the log.
    """

    before: int
    consumer: str


def oldest_needed(
    snapshots: Iterable[tuple[int, int]], references: Iterable[tuple[str, int]], states: Iterable[ConsumerState]
) -> Hold | None:
    """Return the oldest snapshot that a consumer resumes from; None if there is none.

    Args:
        snapshots: id and time of each snapshot of the table, in epoch milliseconds.
        references: name and snapshot id of each tag, and of each branch but the main one.
        states: states of all consumers.
    """
    times = dict(snapshots)
    holds = [Hold(times[number], f"reference {name}") for name, number in references if number in times]
    for state in states:
        holds += [Hold(time, state.name) for number, time in times.items() if state.needs(number)]
    return min(holds, key=lambda hold: hold.before, default=None)


def needed_files(files: Iterable[StateFile]) -> dict[str, list[StateFile]]:
    """Return the files to read, by folder: query id and last offsets of Spark, all but large files of Flink."""
    every = list(files)
    paths = {file.path: file for file in every}
    logs: defaultdict[str, list[tuple[int, StateFile]]] = defaultdict(list)
    for file in every:
        if found := _OFFSETS.fullmatch(file.path):
            # The start of a source comes before its batches, and is not needed after the first two.
            number = -1 if found["source"] else int(found["batch"])
            logs[found["checkpoint"]].append((number, file))
    spark: dict[str, list[StateFile]] = {}
    for name, entries in logs.items():
        batches = sorted({number for number, _ in entries})[-RESUMED_BATCHES:]
        spark[name] = [file for number, file in entries if number in batches]
        spark[name] += [paths[name + _SPARK_METADATA]] if name + _SPARK_METADATA in paths else []
    folders = {file.path.removesuffix(_FLINK_METADATA) for file in every if file.path.endswith(_FLINK_METADATA)}
    flink: defaultdict[str, list[StateFile]] = defaultdict(list)
    for file in every:
        folder = file.path.rpartition("/")[0]
        if folder in folders and file.length <= MAX_STATE_BYTES:
            flink[folder].append(file)
    return {**spark, **flink}


def read(spark: SparkSession, folder: str) -> list[ConsumerState]:
    """Return the states in a folder of checkpoints, on any file system that Hadoop supports.

    Raises:
        Py4JJavaError: the folder cannot be read.
    """
    jvm: JavaObject = spark._jvm
    root = jvm.org.apache.hadoop.fs.Path(folder)
    store = root.getFileSystem(spark._jsc.hadoopConfiguration())
    states = []
    for name, files in needed_files(_listed(store, root)).items():
        content = b"".join(_read(jvm, store, file) for file in files)
        ids = frozenset(int(found) for found in _SPARK_SNAPSHOT.findall(content))
        states.append(ConsumerState(name, ids, content))
    return states


def oldest_pending(spark: SparkSession, location: str, states: Iterable[ConsumerState]) -> Hold | None:
    """Return the time of the oldest manifest that a Flink sink has not committed yet; None if there is none.

    The sink deletes a manifest once it has committed its files.

    Raises:
        Py4JJavaError: the object store cannot be read.
    """
    jvm: JavaObject = spark._jvm
    holds = []
    for state in states:
        for manifest in sorted(state.manifests(location)):
            path = jvm.org.apache.hadoop.fs.Path(f"{_hadoop(location)}/metadata/{manifest}")
            store = path.getFileSystem(spark._jsc.hadoopConfiguration())
            if store.exists(path):
                holds.append(Hold(int(store.getFileStatus(path).getModificationTime()), state.name))
    return min(holds, key=lambda hold: hold.before, default=None)


def time_of(milliseconds: int) -> datetime:
    """Return a time in epoch milliseconds."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _listed(store: JavaObject, root: JavaObject) -> Iterator[StateFile]:
    if not store.exists(root):
        return
    files = store.listFiles(root, True)
    while files.hasNext():
        status = files.next()
        yield StateFile(str(status.getPath().toString()), int(status.getLen()))


def _read(jvm: JavaObject, store: JavaObject, file: StateFile) -> bytes:
    """Return the bytes of a file; none if its owner has replaced it since the listing."""
    path = jvm.org.apache.hadoop.fs.Path(file.path)
    if not store.exists(path):
        return b""
    stream = store.open(path)
    try:
        return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
    finally:
        stream.close()


def _hadoop(url: str) -> str:
    """Return the URL in Hadoop's scheme of S3."""
    return re.sub(r"^s3n?://", "s3a://", url)
