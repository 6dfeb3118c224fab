# SPDX-License-Identifier: Apache-2.0
"""Service without HTTP: stores events durably and keeps the graph current.

One event loop owns the graph; the writer thread owns the disk. An event is acknowledged after it is committed and
applied to the graph: senders read their own writes.
"""

import asyncio
import hashlib
import logging
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from lineage.change_feed import ChangeFeed
from lineage.egress import KafkaEgress
from lineage.events import (
    DatasetId,
    Event,
    EventError,
    InvalidEvent,
    JsonObject,
    Original,
    canonical_json,
    event_of,
    parse_json,
    read_original,
    validate_event,
)
from lineage.events.batch import split_array
from lineage.events.own_facets import EntryKind
from lineage.events.refused_end import RefusedEnd, refused_end
from lineage.forward import Forwarder
from lineage.graph import Graph, LineageRecords, export_steps
from lineage.graph.export_rows import ExportRows
from lineage.graph.node_names import NodeNames
from lineage.ingress import KafkaIngress
from lineage.instance_role import InstanceRole
from lineage.metrics.emitter_queues import EmitterQueues
from lineage.metrics.event_delays import EventDelays, Stage
from lineage.metrics.ingest_metrics import IngestMetrics
from lineage.retired_records import RetiredRecords, free_in_slices
from lineage.rules import Rules, TableName, canonical_event
from lineage.rules.event_reader import EventReader
from lineage.rules.location_events import location_events
from lineage.rules.table_locations import RETRY, TableLocations
from lineage.settings import Settings
from lineage.store import (
    Batch,
    DeadLetterKind,
    EventQuery,
    EventWriter,
    QueueFull,
    RefusedLetter,
    StoreError,
    StoreFull,
    StoreUnusable,
    events_per_seal,
)
from lineage.store.as_of_queries import AsOfQueries
from lineage.store.event_store import EventStore
from lineage.store.horizons import Horizons
from lineage.store.offsets import Offsets
from lineage.store.packed_answer import PackedAnswer, PackedText
from lineage.store.projection import STATE_POSITION, Projection
from lineage.store.query_processes import QueryProcesses
from lineage.store.reading_progress import ReadingProgress
from lineage.store.rows import StoredEvent
from lineage.store.state_file import new_state
from lineage.threads import run_to_end

logger = logging.getLogger(__name__)

_EVENTS_PER_STEP = 25
"""Events read or applied between two yields to the event loop: about 10 ms."""

_MAX_TOUCHED = 100
"""Changed jobs whose lineage the next read may have to derive while single events arrive: 10 to 40 ms."""

_BYTES_PER_STEP = 256 * 1024
"""Bytes of events read between two yields to the event loop; a larger event is read in a thread."""

_MAX_EXPORT_ATTEMPTS = 3
"""Attempts at an export that is restarted because an event arrived during it."""

_MAX_UNLOCATED = 1_000
"""Maximum number of tables without a location that are looked up again."""

_MAX_OMITTED = 1_000
"""Maximum number of datasets without a namespace that are logged."""

_MAX_APPLY_ATTEMPTS, _APPLY_PAUSE = 200, 0.01
"""Waits, and seconds of each, until events that are stored are in the graph."""

_LOOKUPS_PER_ROUND = 16
"""Tables that are looked up again at once."""

_SEALING_PAUSE = 0.01
"""Seconds between two segments."""

_CHECKPOINT_SHARE = 20
"""Minimum duration of the pause in durations of the last checkpoint: bounds the time that checkpoints take."""

_RELEASE_PAUSE = 0.25
"""Seconds between two checks of whether records that were not used lately shall leave memory.

One request may read all records, some thousand per second.
"""

_RELEASED_PER_CHECK = 4000
"""Jobs, and datasets, of one check: some milliseconds, also if none can leave memory before the next checkpoint."""

_MAX_TAIL = 500
"""Events after the last checkpoint that a query of the past reads: 0.2 s."""

_PARALLEL_PAST_ANSWERS = 2
"""Answers about nodes at past times that are computed at once: two are compared with each other."""

_RUNS_PER_SLICE = 500
"""Runs removed from the log between two pauses."""

_COMPACTION_PAUSE = 0.05
"""Seconds between two slices of compaction, which is not urgent."""


@dataclass
class BatchResult:
    """Result of a batch: numbers of events stored and stored before; index and cause of each refused one."""

    received: int = 0
    stored: int = 0
    duplicates: int = 0
    refused: list[tuple[int, EventError]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _ReadEvent:
    """Event that can be stored: as it came, and its body under canonical names. `tables` were resolved for these."""

    original: Original
    body: JsonObject
    tables: dict[TableName, DatasetId]
    locations: dict[DatasetId, DatasetId]


@dataclass(frozen=True, slots=True)
class _Pending:
    """Submitted events and their sender, who waits for the `stored` flags."""

    events: list[_ReadEvent]
    done: asyncio.Future[list[bool]]


@dataclass(frozen=True)
class Rebuilt:
    """Result of a rebuild: whether the graph equals the previous one, and its duration."""

    equal: bool
    events: int
    seconds: float


class Service:
    """Rules, log and graph behind the API. Create it in the event loop that uses it; end it with `close`.

    `state` is the projection of the log at creation, under the names of `locations` and rules. With `progress` it is
    not built yet: until the service has done that (`wait_until_ready`), it stores events and answers nothing.
    """

    def __init__(
        self,
        log: EventStore,
        rules: Rules,
        locations: TableLocations,
        settings: Settings,
        state: Projection,
        progress: ReadingProgress | None = None,
    ) -> None:
        self.log = log
        self.refused: Counter[str] = Counter()
        self.accepted = 0
        self.duplicates = 0
        self.clamped = 0
        self.stored = 0
        self.change_feed = ChangeFeed(settings.max_listeners)
        self.ingest_metrics = IngestMetrics(time.time())
        self.delays = EventDelays()
        self.emitter_queues = EmitterQueues()
        self.delays.registry.register(self.emitter_queues)
        self.locations = locations
        self.reader = EventReader(rules)
        self._query_processes = QueryProcesses(log)
        self.past_graphs = AsOfQueries(log, settings.rules, self._state_path, self._query_processes)
        # Of their own: a whole graph may take minutes, and all memory that one query may take.
        self._past_answers = AsOfQueries(
            log, settings.rules, self._state_path, self._query_processes, _PARALLEL_PAST_ANSWERS
        )
        self._settings = settings
        self._max_event_bytes = settings.max_event_bytes
        self._state = state
        self._maintenance = asyncio.Lock()
        self._applying = asyncio.Lock()
        self._saving = asyncio.Lock()
        self._receiving = asyncio.Lock()
        self._received = 0
        self._progress = progress
        self._ready = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._written: asyncio.Queue[Batch[_Pending]] = asyncio.Queue()
        self._writer: EventWriter[_Pending] = EventWriter(
            log, settings.queue_size, settings.queue_bytes, self._on_batch
        )
        self._unsealed = asyncio.Event()
        self._checkpoint_needed = asyncio.Event()
        self._unlocated: dict[TableName, DatasetId] = {}
        self._omitted: set[tuple[str, str]] = set()
        self._retiring: set[asyncio.Task[None]] = set()
        self._tasks = [
            asyncio.create_task(self._apply_committed()),
            asyncio.create_task(self._seal_segments()),
        ]
        self.forwarder: Forwarder | None = None
        self.ingress: KafkaIngress | None = None
        self.egress: KafkaEgress | None = None
        self._retention: asyncio.Task[None] | None = None
        self._role: InstanceRole | None = None
        if progress is None:
            self._become_ready()
        else:
            self._tasks.append(asyncio.create_task(self._build_first_state(progress)))

    @property
    def starting(self) -> str | None:
        """Return the progress of a service that is not ready yet."""
        return None if self._progress is None else self._progress.text(self.position, time.monotonic())

    async def wait_until_ready(self) -> None:
        """Wait until the graph can be read."""
        await self._ready.wait()

    def _become_ready(self) -> None:
        """Start what needs the graph."""
        self._progress = None
        self._tasks += [
            asyncio.create_task(self._locate_tables()),
            asyncio.create_task(self._save_periodically()),
            asyncio.create_task(self._release_periodically()),
        ]
        if self.log.writes:
            self._start_writing()
        if self.log.lease is not None:
            self._role = InstanceRole(self, self.log, self.log.lease)
        self._ready.set()

    async def _build_first_state(self, progress: ReadingProgress) -> None:
        """Build the state from a long log; events that arrive meanwhile are stored, and read from the log, too."""
        try:
            await self._read_long_log(progress)
            async with self._receiving:
                # What was stored since; further events wait.
                for _ in self._state.catch_up(self._received):
                    await asyncio.sleep(0)
                self._become_ready()
        except Exception:
            logger.critical("the graph cannot be made from the log: the service stops", exc_info=True)
            signal.raise_signal(signal.SIGTERM)
            return
        logger.info("the graph is made, up to event %d", self.position)
        await self._save_state()

    async def _read_long_log(self, progress: ReadingProgress) -> None:
        saves = True
        for _ in self._state.build():
            await asyncio.sleep(0)
            if self._state.restoring:
                continue
            if (line := progress.report(self.position, time.monotonic())) is not None:
                logger.info(line)
            if saves and self._state.needs_checkpoint:
                # Without checkpoints, all records stay in memory.
                saves = await self._save_state()

    @property
    def lineage(self) -> LineageRecords:
        """Return the records of all jobs, runs and datasets."""
        return self._state.lineage

    @property
    def graph(self) -> Graph:
        """Return the graph over the records; refresh it before reading."""
        return self._state.graph

    @property
    def position(self) -> int:
        """Return the number of the event of the log up to which all are applied."""
        return self._state.position

    @property
    def waiting(self) -> int:
        """Return the number of events that wait for their commit."""
        return self._writer.waiting

    async def ingest(self, data: bytes) -> bool:
        """Store one event; on return it is on disk and in the graph. Return False if it was stored before.

        Raises:
            EventError: the event must not be stored.
            QueueFull, StoreFull, StoreError: it cannot be stored now; nothing was written.
        """
        read = (await self._read_events([data]))[0]
        if isinstance(read, EventError):
            await self.keep_ends([(data, str(read))])
            raise read
        return (await self._submit_events([read]))[0]

    async def ingest_batch(self, data: bytes) -> BatchResult:
        """Store a JSON array of events; on return all valid ones are on disk and in the graph.

        Raises:
            BatchTooLong: there are more than `MAX_BATCH_EVENTS`; nothing was stored.
            EventError: the bytes are not a JSON array; nothing was stored.
            QueueFull, StoreFull, StoreError: they cannot be stored now; nothing was written.
        """
        return await self._ingest_all(split_array(data), {})

    async def ingest_records(self, contents: Sequence[bytes], offsets: Offsets) -> list[tuple[int, EventError]]:
        """Store events that were read from Kafka, and in the same transaction the offsets after them.

        Returns index and cause of each refused event.

        Raises:
            QueueFull, StoreFull, StoreError: they cannot be stored now; nothing was written.
        """
        return (await self._ingest_all(contents, offsets)).refused

    async def _ingest_all(self, contents: Sequence[bytes], offsets: Offsets) -> BatchResult:
        result = BatchResult(received=len(contents))
        events: list[_ReadEvent] = []
        for index, read in enumerate(await self._read_events(contents)):
            if isinstance(read, EventError):
                result.refused.append((index, read))
            else:
                events.append(read)
        # Before the offsets of a topic, which must not be ahead of what is stored.
        await self.keep_ends((contents[index], str(error)) for index, error in result.refused)
        flags = await self._submit_events(events, offsets) if events or offsets else []
        result.stored = sum(flags)
        result.duplicates = len(flags) - result.stored
        await free_in_slices(events)
        return result

    async def keep_ends(self, refused: Iterable[tuple[bytes, str]]) -> None:
        """Store the ends of runs whose terminal events are refused, and these as dead letters with the cause.

        Idempotent. Events that do not state the end of a run are skipped.

        Raises:
            QueueFull, StoreFull, StoreError: they cannot be stored now.
        """
        found = [(end, error) for data, error in refused if (end := refused_end(data)) is not None]
        ends: list[_ReadEvent] = []
        letters: list[RefusedLetter] = []
        for end, error in found:
            read = self._read_event(end.replacement(self._time_of_end(end)))
            if isinstance(read, _ReadEvent):
                ends.append(read)
                letters.append(RefusedLetter(end.hash, error, end.data))
        if ends:
            await self._submit_events(ends)
            await asyncio.to_thread(self.log.dead_letters.park_refused, letters)

    def _time_of_end(self, end: RefusedEnd) -> int:
        """Return the time (ns) of an end; without a readable one, that of the run's last event.

        So the event has the same time if it is sent again.
        """
        if end.time is not None:
            return end.time
        if self._progress is not None:
            # Its record may not be read yet.
            bodies, _ = self.log.run_events(EventQuery(run=end.run, limit=1))
            return read_original(bodies[0]).time if bodies else time.time_ns()
        run = self.lineage.run(end.run)
        return run.span.last.time if run else time.time_ns()

    def defects(self) -> list[dict[str, str]]:
        """Return events (`hash`) missing in the graph and jobs (`job`) with outdated lineage, each with `error`."""
        events = [{"hash": digest.hex(), "error": error} for digest, (_, error) in self._state.unapplied.items()]
        failed = sorted(self.graph.failed.items())
        return [*events, *({"job": f"{job.namespace}/{job.name}", "error": error} for job, error in failed)]

    def canonical_dataset(self, dataset: DatasetId) -> DatasetId:
        """Return the node that any name of a dataset leads to, under the naming rules and all events."""
        return self._node_names().dataset(*dataset)

    def under_canonical_names(self, event: bytes) -> bytes:
        """Return a stored event with the names of the graph's nodes; unchanged if the naming rules refuse it."""
        try:
            return canonical_json(canonical_event(validate_event(parse_json(event)).body, self._node_names()))
        except EventError:
            return event

    def _node_names(self) -> NodeNames:
        return NodeNames(self.lineage, self.reader.names())

    async def replay(self, trouble: DeadLetterKind, content_hash: bytes) -> bool:
        """Retry a dead letter; return True if it succeeded and was released.

        Raises:
            StoreError: the release could not be stored.
        """
        if trouble is DeadLetterKind.FORWARD:
            done = self.forwarder is not None and await self.forwarder.replay(content_hash)
        elif trouble is DeadLetterKind.REFUSED:
            done = await self._retry_refused(content_hash)
        else:
            done = self._state.replay(content_hash)
        if done:
            self.log.dead_letters.release(trouble, content_hash)
        return done

    async def _retry_refused(self, content_hash: bytes) -> bool:
        """Ingest a refused event again, which changed rules or limits may admit."""
        data = await asyncio.to_thread(self.log.dead_letters.refused, content_hash)
        read = self._read_event(data) if data is not None else None
        if not isinstance(read, _ReadEvent):
            return False
        await self._submit_events([read])
        return True

    async def rebuild(self) -> Rebuilt:
        """Rebuild the graph from the log, with compaction by another instance paused; see `_rebuild`."""
        await asyncio.to_thread(self.log.pause_compaction)
        try:
            return await self._rebuild()
        finally:
            await asyncio.to_thread(self.log.resume_compaction)

    async def _rebuild(self) -> Rebuilt:
        """Rebuild the graph from the log beside the one in use, then replace it.

        Raises:
            StoreError, StoreUnusable: the log cannot be read, or the new state not be saved; the graph in use is kept.
        """
        async with self._maintenance:
            began = time.monotonic()
            file = await run_to_end(new_state, self._settings.data, self.reader.rules, self.log.identity)
            building = Projection(self.log, self.reader, file)
            previous: Projection = building
            try:
                await self._build(building)
                async with self._saving, self._applying:
                    # Events that arrived since; further ones wait.
                    for _ in building.catch_up(self._state.position):
                        await asyncio.sleep(0)
                    building.check_changes()
                    equal = await self._equals_current_graph(building)
                    building.position = max(building.position, self._state.position)
                    self._state, previous = building, self._state
            finally:
                # Of a rebuild that failed, the state that it began.
                if previous.state is not None:
                    previous.state.delete()
                self._retire(previous)
            await self._save_state()
            return Rebuilt(equal, building.applied, time.monotonic() - began)

    async def _build(self, building: Projection) -> None:
        """Build a projection from the log, with checkpoints, of which copies stay for past graphs."""
        for _ in building.build():
            await asyncio.sleep(0)
            if not building.restoring and building.needs_checkpoint:
                try:
                    for _ in building.save():
                        await asyncio.sleep(0)
                    await run_to_end(building.commit)
                except sqlite3.Error as error:
                    raise StoreError(f"the state of the rebuilt graph cannot be saved: {error}") from error
                for _ in building.release():
                    await asyncio.sleep(0)
        # It may have read events that are stored, and not in the graph in use yet: the two are compared.
        for _ in range(_MAX_APPLY_ATTEMPTS):
            if self._state.position >= building.position or not self.log.writes:
                return
            await asyncio.sleep(_APPLY_PAUSE)

    def _retire(self, projection: Projection) -> None:
        """Free the records of a projection that is not in use any more, while the service runs on."""
        task = asyncio.create_task(RetiredRecords(projection).free())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def apply_ahead(self, event: Event) -> None:
        """Apply an event of the log that may not have been applied yet; idempotent."""
        async with self._applying:
            self.lineage.apply(event)

    async def compact(self, horizons: Horizons) -> int:
        """Move events before their horizon into snapshots.

        Returns the number of removed events.

        Raises:
            StoreError: the log cannot be written.
        """
        removed = 0
        self.log.check_writes()
        async with self._maintenance:
            await self._save_state()
            while count := await run_to_end(self.log.compact, self.reader, horizons):
                removed += count
                await asyncio.sleep(_COMPACTION_PAUSE)
            await self._forget_runs(horizons)
        for queries in (self.past_graphs, self._past_answers):
            queries.clear()
        return removed

    async def _forget_runs(self, horizons: Horizons) -> None:
        """Remove old runs from the state, then from the log: without their events the state could not read them."""
        async with self._saving, self._applying:
            for _ in self._state.forget_runs(horizons):
                await asyncio.sleep(0)
        if not self._state.is_committed and not await self._save_state():
            return
        forgotten = self._state.forgotten_runs()
        if not forgotten:
            return
        for start in range(0, len(forgotten), _RUNS_PER_SLICE):
            await run_to_end(self.log.forget_runs, forgotten[start : start + _RUNS_PER_SLICE])
            await asyncio.sleep(_COMPACTION_PAUSE)
        self._state.clear_forgotten_runs()
        logger.info("retention removed %d runs", len(forgotten))

    async def follow(self, events: Sequence[StoredEvent]) -> None:
        """Apply events that another instance has stored."""
        async with self._applying:
            for count, stored in enumerate(events, start=1):
                self._apply_stored(stored)
                self._state.position = stored.seq
                if count % _EVENTS_PER_STEP == 0:
                    await asyncio.sleep(0)
        if self._state.needs_checkpoint:
            self._checkpoint_needed.set()
        while self.graph.refresh_some(_EVENTS_PER_STEP):
            await asyncio.sleep(0)

    async def catch_up(self) -> None:
        """Rebuild from the log, of which events that were not applied have been compacted."""
        through = await asyncio.to_thread(self.log.compacted_through)
        await self.rebuild()
        self._state.position = max(self._state.position, through)

    async def start_writing(self) -> None:
        """Start what only the writing instance does: retention, forwarding, reading from and publishing to Kafka."""
        self._start_writing()

    def _start_writing(self) -> None:
        settings = self._settings
        if settings.forward_to:
            self.forwarder = Forwarder(
                self, self.log, self.reader, settings.forward_to, settings.forward_key, delays=self.delays
            )
        # Before retention starts: it does not compact events that a registered reader has not read.
        if settings.publish is not None:
            self.egress = KafkaEgress(self.log, self.reader, settings.publish, settings.max_event_bytes)
        readers = [reader.position for reader in (self.forwarder, self.egress) if reader is not None]
        self.log.keep_positions([STATE_POSITION, *readers])
        if self.forwarder is not None:
            self.forwarder.start()
        if self.egress is not None:
            self.egress.start()
        if settings.kafka is not None:
            self.ingress = KafkaIngress(self, self.log, settings.kafka)
            self.ingress.start(self._loop)
        ages = [age for age in (settings.retain, *settings.retain_namespaces.values()) if age is not None]
        if ages:
            self._retention = asyncio.create_task(self._compact_periodically(min(ages)))

    async def stop_writing(self) -> None:
        """Stop what only the writing instance does."""
        ingress, self.ingress = self.ingress, None
        if ingress is not None:
            await ingress.close()
        forwarder, self.forwarder = self.forwarder, None
        if forwarder is not None:
            await forwarder.close()
        egress, self.egress = self.egress, None
        if egress is not None:
            await asyncio.to_thread(egress.close)
        retention, self._retention = self._retention, None
        if retention is not None:
            retention.cancel()
            await asyncio.gather(retention, return_exceptions=True)

    async def close(self) -> None:
        """Write queued events, answer their senders, close the log."""
        self.change_feed.close()
        if self._role is not None:
            await self._role.close()
        await self.stop_writing()
        await asyncio.to_thread(self._writer.close)
        await asyncio.sleep(0)
        await self._written.join()
        tasks = [*self._tasks, *self._retiring]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._query_processes.close()
        await self.locations.close()
        if not self._state.restoring:
            await self._save_state()
        if self._state.state is not None:
            self._state.state.close()
        self.log.close()

    async def export(self) -> PackedAnswer:
        """Return a consistent graph export (see `lineage.graph.export`), built cooperatively."""
        rows = await self._export_rows()
        packing = PackedText(rows.size)
        for block in rows.blocks():
            packing.add(block)
            await asyncio.sleep(0)
        return packing.answer()

    async def _export_rows(self) -> ExportRows:
        """Return the rows of a consistent graph export."""
        for _ in range(_MAX_EXPORT_ATTEMPTS):
            state, applied, rows = self._state, self._state.applied, ExportRows()
            for _ in export_steps(state.lineage, state.graph, rows):
                await asyncio.sleep(0)
                if state.applied != applied:
                    break
            else:
                return rows
        # Events arrive continuously: they wait for these rows, and the event loop does not.
        async with self._applying:
            return await _rows_of(self._state)

    async def answer_as_of(self, at: int, answer: str, node: str, depth: int | None) -> PackedAnswer:
        """Return an answer about a node as of time `at` (ns); see `AsOfQueries.about_node`.

        A query reads all events after the last checkpoint, so that one is made if there are many.
        """
        state = self._state.state
        if state is not None and self.position - (state.position or 0) > _MAX_TAIL:
            await self._save_state()
        return await self._past_answers.about_node(at, answer, node, depth)

    def counts(self) -> JsonObject:
        """Return counts since the start; see `/api/v1/stats`."""
        return {
            "accepted": self.accepted,
            "stored": self.stored,
            "duplicates": self.duplicates,
            "clamped": self.clamped,
            "refused": dict(sorted(self.refused.items())),
            "waiting": self.waiting,
            "listeners": self.change_feed.listeners,
            "unapplied": self.defects(),
            "instance": self._instance_status(),
            "forward": self.forwarder.status() if self.forwarder else None,
            "kafka": self.ingress.status() if self.ingress else None,
            "publish": self.egress.status() if self.egress else None,
        }

    def _instance_status(self) -> JsonObject | None:
        lease = self.log.lease
        if lease is None:
            return None
        return {"name": lease.instance, "writes": self.log.writes, "writer": lease.holder or None}

    async def _equals_current_graph(self, other: Projection) -> bool:
        try:
            return await _digest_of_export(self._state) == await _digest_of_export(other)
        except Exception:
            # Rebuilding repairs a graph that cannot be exported.
            logger.exception("the graph in use cannot be compared with the rebuilt one")
            return False

    async def _read_events(self, contents: Sequence[bytes]) -> list[_ReadEvent | EventError]:
        """Return each event or its error; look up all named tables in their catalogs concurrently.

        Raises:
            NotWriter: another instance writes the log.
        """
        self.log.check_writes()
        read: list[_ReadEvent | EventError] = []
        tables: dict[TableName, DatasetId] = {}
        pending = 0
        for content in contents:
            large = _BYTES_PER_STEP < len(content) <= self._max_event_bytes
            found = await asyncio.to_thread(self._read_event, content) if large else self._read_event(content)
            read.append(found)
            if isinstance(found, _ReadEvent):
                tables.update(found.tables)
            pending += max(len(content), _BYTES_PER_STEP // _EVENTS_PER_STEP)
            if pending >= _BYTES_PER_STEP:
                pending = 0
                await asyncio.sleep(0)
        if tables:
            await self._look_up(tables)
        return read

    async def _look_up(self, tables: dict[TableName, DatasetId]) -> None:
        """Look tables up in their catalogs where that is due, and store locations that differ from the known ones."""
        if self._progress is not None:
            # Known locations are not read yet.
            self._unlocated |= dict(islice(tables.items(), _MAX_UNLOCATED - len(self._unlocated)))
            return
        due = set(self.locations.due(tables))
        if not due:
            return
        await self.locations.find(due)
        answered = {table: alias for table, alias in tables.items() if table in due}
        for table, alias in answered.items():
            if table in self.locations.known:
                self._unlocated.pop(table, None)
            elif len(self._unlocated) < _MAX_UNLOCATED:
                self._unlocated[table] = alias
        entries = {key: entry.content for key, entry in self.lineage.catalog.items() if key.kind is EntryKind.TABLE}
        found = location_events(self.reader.rules, self.locations.known, answered, entries, time.time_ns())
        events = [event for data in found if isinstance(event := self._read_event(data), _ReadEvent)]
        if events:
            await self._submit_events(events)

    async def _locate_tables(self) -> None:
        """Look up tables again of which the catalog was down, or did not have them yet, when an event named them."""
        while True:
            await asyncio.sleep(RETRY)
            tables = dict(list(self._unlocated.items())[:_LOOKUPS_PER_ROUND])
            if not tables:
                continue
            for table in tables:
                # To the end of the queue.
                self._unlocated[table] = self._unlocated.pop(table)
            try:
                await self._look_up(tables)
            except (QueueFull, StoreFull, StoreError) as error:
                logger.warning("locations of tables cannot be stored now (%s); they are looked up again", error)

    def _read_event(self, content: bytes) -> _ReadEvent | EventError:
        if len(content) > self._max_event_bytes:
            return InvalidEvent("", f"an event may have {self._max_event_bytes} bytes, not {len(content)}")
        names = self.reader.names()
        try:
            original = read_original(content)
            body = canonical_event(original.body, names)
            self._report_omitted(body, names.omitted)
            return _ReadEvent(original, body, names.tables, names.locations)
        except EventError as error:
            return error

    def _report_omitted(self, body: JsonObject, datasets: set[str]) -> None:
        """Log the datasets that are left out of an event, once for each job."""
        job = (body.get("job") or {}).get("name", "")
        for dataset in datasets:
            if (job, dataset) not in self._omitted and len(self._omitted) < _MAX_OMITTED:
                self._omitted.add((job, dataset))
                logger.warning(
                    "dataset %.200r of job %.200r has no namespace, and no naming rule gives it one: it is left out",
                    *(dataset, job),
                )

    async def _submit_events(self, events: list[_ReadEvent], offsets: Offsets | None = None) -> list[bool]:
        done: asyncio.Future[list[bool]] = self._loop.create_future()
        self._writer.submit([event.original for event in events], _Pending(events, done), offsets)
        return await done

    def _on_batch(self, batch: Batch[_Pending]) -> None:
        self._loop.call_soon_threadsafe(self._written.put_nowait, batch)

    async def _apply_committed(self) -> None:
        """Apply committed batches to the graph and answer their senders."""
        while True:
            batch = await self._written.get()
            if batch.error is not None:
                for submission in batch.submissions:
                    if not submission.tag.done.cancelled():
                        submission.tag.done.set_exception(batch.error)
            else:
                await self._accept_batch(batch)
                self._unsealed.set()
                if self.forwarder is not None:
                    self.forwarder.notify()
                if self.egress is not None:
                    self.egress.notify()
            self._written.task_done()
            # Its events need not stay in memory until the next batch.
            del batch
            while self._shall_refresh and self.graph.refresh_some(_EVENTS_PER_STEP):
                await asyncio.sleep(0)

    @property
    def _shall_refresh(self) -> bool:
        """Return whether the graph shall be refreshed ahead of the next read: if idle, or if many jobs have changed.

        Otherwise the lineage of a job would be derived for each of its events under load.
        """
        if self._progress is not None or not self._written.empty():
            return False
        return not self._writer.waiting or len(self.lineage.touched) > _MAX_TOUCHED

    async def _accept_batch(self, batch: Batch[_Pending]) -> None:
        """Apply a committed batch; before the service is ready, only answer: the state is built of the log."""
        if self._progress is not None:
            async with self._receiving:
                # It may have become ready while this waited.
                if self._progress is not None:
                    self._answer_batch(batch)
                    return
        async with self._applying:
            await self._apply_batch(batch)

    def _answer_batch(self, batch: Batch[_Pending]) -> None:
        self._received = batch.last
        for submission, flags in zip(batch.submissions, batch.stored, strict=True):
            self._count_events(flags)
            if not submission.tag.done.cancelled():
                submission.tag.done.set_result(flags)

    def _count_events(self, stored: list[bool]) -> None:
        self.accepted += len(stored)
        self.stored += sum(stored)
        self.duplicates += len(stored) - sum(stored)

    async def _apply_batch(self, batch: Batch[_Pending]) -> None:
        count = 0
        for submission, flags in zip(batch.submissions, batch.stored, strict=True):
            self._count_events(flags)
            for event, is_new in zip(submission.tag.events, flags, strict=True):
                if is_new:
                    applied = event_of(event.original, event.body, batch.accepted, event.locations)
                    self._apply_event(applied)
                    self.delays.observe(Stage.ACCEPTED, applied, batch.accepted / 1e9)
                    self.delays.observe(Stage.VISIBLE, applied, time.time())
                    self.emitter_queues.observe(applied)
                count += 1
                if count % _EVENTS_PER_STEP == 0:
                    await asyncio.sleep(0)
            if not submission.tag.done.cancelled():
                submission.tag.done.set_result(flags)
        self._state.position = max(self._state.position, batch.last)
        if self._state.needs_checkpoint:
            self._checkpoint_needed.set()

    def _apply_stored(self, stored: StoredEvent) -> None:
        """Apply the naming rules to an event that another instance has stored, and the event."""
        try:
            event = self.reader.event(stored.original, stored.accepted)
        except EventError:
            self._state.apply_stored(stored)
        else:
            self._apply_event(event)

    def _apply_event(self, event: Event) -> None:
        self.clamped += event.clamped
        if self._state.apply(event):
            for queries in (self.past_graphs, self._past_answers):
                queries.invalidate(event.order.time)
            self.change_feed.publish(event)
            self.ingest_metrics.record(time.time(), event.order.time / 1e9)

    def _state_path(self) -> Path | None:
        return self._state.state.path if self._state.state else None

    async def _save_periodically(self) -> None:
        """Make checkpoints, so that the next start reads few events of the log again."""
        pause = shortest = self._settings.checkpoint_seconds
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._checkpoint_needed.wait()
            self._checkpoint_needed.clear()
            began = time.monotonic()
            saved = True
            if self._state.has_lost_changes:
                saved = await self._replace_state()
            elif len(self.lineage.unsaved):
                saved = await self._save_state()
            if not saved:
                await asyncio.sleep(shortest)
            # Events that were applied meanwhile have set it for this checkpoint.
            if not self._state.needs_checkpoint:
                self._checkpoint_needed.clear()
            pause = max(shortest, _CHECKPOINT_SHARE * (time.monotonic() - began))

    async def _replace_state(self) -> bool:
        """Make the state again from the log; return False if that failed: a later attempt may succeed."""
        try:
            rebuilt = await self.rebuild()
        except (sqlite3.Error, StoreError, StoreUnusable):
            logger.exception(
                "the state that lost changes cannot be made again; archived runs may be missing until then"
            )
            return False
        logger.warning("the state that lost changes was made again from %d events", rebuilt.events)
        return True

    async def _release_periodically(self) -> None:
        """Remove from memory what only requests have read: they make no checkpoint due."""
        while True:
            await asyncio.sleep(_RELEASE_PAUSE)
            if self.lineage.has_excess:
                async with self._saving, self._applying:
                    for _ in self._state.release(_RELEASED_PER_CHECK):
                        await asyncio.sleep(0)

    async def _save_state(self) -> bool:
        """Make a checkpoint; return False if it failed: the next start reads more events of the log again."""
        async with self._saving:
            state = self._state
            try:
                for _ in state.save():
                    await asyncio.sleep(0)
                async with self._applying:
                    for _ in state.save():
                        await asyncio.sleep(0)
                    await run_to_end(state.commit)
                    for _ in state.release():
                        await asyncio.sleep(0)
            except (sqlite3.Error, StoreError):
                logger.exception("the state cannot be saved; the next start reads more of the log")
                return False
            return True

    async def _seal_segments(self) -> None:
        """Compress stored events in segments whenever there are enough new ones."""
        while True:
            try:
                while self.log.writes and await run_to_end(self.log.seal) > 0:
                    await asyncio.sleep(_SEALING_PAUSE)
            except StoreError:
                # Single events take more space, and are read all the same.
                logger.exception("events cannot be compressed in segments; the next attempt follows later events")
            enough = self.stored + events_per_seal()
            while self.stored < enough:
                self._unsealed.clear()
                await self._unsealed.wait()

    async def _compact_periodically(self, shortest: float) -> None:
        """Compact events as the settings demand, periodically; `shortest` is their shortest age in seconds."""
        settings = self._settings
        while True:
            try:
                horizons = Horizons.of_ages(time.time_ns(), settings.retain, settings.retain_namespaces)
                removed = await self.compact(horizons)
            except Exception:
                # Retention must survive any error: without it the log would grow until the disk is full.
                logger.exception("retention failed to compact the log; it will retry")
            else:
                if removed:
                    logger.info("retention compacted %d events", removed)
                    await run_to_end(self.log.shrink)
            await asyncio.sleep(min(3600.0, max(1.0, shortest / 10)))


async def _rows_of(state: Projection) -> ExportRows:
    """Return the rows of the export of a state to which no event is applied meanwhile."""
    rows = ExportRows()
    for _ in export_steps(state.lineage, state.graph, rows):
        await asyncio.sleep(0)
    return rows


async def _digest_of_export(state: Projection) -> bytes:
    """Return the digest of the export of a state to which no event is applied meanwhile."""
    digest = hashlib.sha256()
    for block in (await _rows_of(state)).blocks():
        digest.update(block)
        await asyncio.sleep(0)
    return digest.digest()
