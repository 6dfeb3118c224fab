# SPDX-License-Identifier: Apache-2.0
"""Snapshots: JSON encoding of records, which retention keeps of compacted events.

A record holds minima, maxima and last-writer-wins registers with their orders. So the record of the removed events,
merged with the remaining events, equals the record of all events: graph, run states and times are unchanged.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from lineage.events.event import ORDER_HASH_BYTES, Event, Order
from lineage.events.ids import DatasetId, JobId, JsonObject, RunId
from lineage.events.own_facets import CatalogKey, EntryKind, catalog_statement
from lineage.events.strict_json import canonical_json
from lineage.graph.catalog_record import CatalogEntry
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import DatasetStatement, PackedColumns
from lineage.graph.dataset_uses import Use, Uses
from lineage.graph.descriptive_facets import MERGED_FACETS, DescriptiveFacets
from lineage.graph.facet_references import referenced_datasets
from lineage.graph.job_record import Declaration, JobRecord
from lineage.graph.mergeable import Facets, Register, Span
from lineage.graph.name_statements import Change, LifecycleChange, NameStatements, Write
from lineage.graph.packed_json import PackedJson, packed_facet
from lineage.graph.processing import DEFAULT_INTERVAL
from lineage.graph.records import LineageRecords
from lineage.graph.run_history import Direction, Edge
from lineage.graph.run_record import RunRecord


class Subject(StrEnum):
    """Kind of a snapshot, in restore order: a run needs its job."""

    CATALOG = "catalog"
    DATASET = "dataset"
    JOB = "job"
    NAMESPACE = "namespace"
    RUN = "run"


class Key(NamedTuple):
    """Identity of a snapshot's subject: namespace and name; for runs the job's and the run's UUID.

    For a catalog entry its kind and name.
    """

    subject: Subject
    identity: tuple[str, ...]


class Snapshot(NamedTuple):
    """The record of one subject; `content` is JSON, in which objects and columns may be packed (see `plain_json`)."""

    key: Key
    content: JsonObject


def subjects_of(event: Event) -> set[Key]:
    """Return the keys of every record that an event changes."""
    if statement := catalog_statement(event):
        namespaces = {Key(Subject.NAMESPACE, (statement.key.name,))}
        return {Key(Subject.CATALOG, tuple(statement.key))} | (
            namespaces if statement.key.kind is EntryKind.NAMESPACE else set()
        )
    event = declared_job(event)
    datasets = referenced_datasets(event.body)
    for direction in ("inputs", "outputs"):
        datasets |= {DatasetId(ds["namespace"], ds["name"]) for ds in event.body.get(direction) or ()}
    if event.dataset is not None:
        datasets.add(event.dataset)
    keys = {Key(Subject.DATASET, tuple(dataset)) for dataset in datasets}
    keys |= {Key(Subject.NAMESPACE, (dataset.namespace,)) for dataset in datasets}
    if event.job is not None:
        keys |= {Key(Subject.JOB, tuple(event.job)), Key(Subject.NAMESPACE, (event.job.namespace,))}
    if event.run is not None:
        keys.add(run_key(event.run))
    return keys


def snapshots_of(lineage: LineageRecords) -> Iterator[Snapshot]:
    """Yield a snapshot of every record in memory; the content of each is JSON."""
    for key in lineage.catalog:
        yield _in_json(catalog_snapshot(lineage, key))
    for dataset in lineage.nodes.by_name:
        yield _in_json(dataset_snapshot(lineage, dataset))
    for job in lineage.jobs.values():
        yield _in_json(job_snapshot(lineage, job.id))
        starts = job.starts_by_run()
        for run in job.runs.loaded.values():
            yield _in_json(Snapshot(run_key(run.id), encode_run(run, starts.get(run.id.run, ()))))
    for namespace in lineage.namespaces:
        yield _in_json(namespace_snapshot(lineage, namespace))


def _in_json(snapshot: Snapshot) -> Snapshot:
    return Snapshot(snapshot.key, plain_json(snapshot.content))


def plain_json(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON in which packed objects and columns are plain, and hashes are hexadecimal."""
    match value:
        case PackedJson():
            return value.value
        case PackedColumns():
            return value.fields
        case bytes():
            return value.hex()
        case dict():
            return {key: plain_json(part) for key, part in value.items()}
        case list() | tuple():
            return [plain_json(part) for part in value]
        case _:
            return value


def catalog_snapshot(lineage: LineageRecords, key: CatalogKey) -> Snapshot:
    """Return the snapshot of a catalog entry."""
    return Snapshot(Key(Subject.CATALOG, tuple(key)), _encode_catalog_entry(lineage.catalog[key]))


def dataset_snapshot(lineage: LineageRecords, name: DatasetId) -> Snapshot:
    """Return the snapshot of a dataset under one name."""
    return Snapshot(Key(Subject.DATASET, tuple(name)), _encode_dataset(lineage.nodes.by_name[name]))


def job_snapshot(lineage: LineageRecords, job: JobId) -> Snapshot:
    """Return the snapshot of a job, without its runs."""
    return Snapshot(Key(Subject.JOB, tuple(job)), _encode_job(lineage.jobs[job]))


def namespace_snapshot(lineage: LineageRecords, namespace: str) -> Snapshot:
    """Return the snapshot of a namespace."""
    return Snapshot(Key(Subject.NAMESPACE, (namespace,)), {"span": _encode_span(lineage.namespaces[namespace])})


def run_snapshot(lineage: LineageRecords, run: RunId) -> Snapshot:
    """Return the snapshot of a run in memory."""
    job = lineage.jobs[run.job]
    starts = [order for order, uuid in job.starts if uuid == run.run]
    return Snapshot(run_key(run), encode_run(job.runs.loaded[run.run], starts))


def restore(lineage: LineageRecords, snapshots: Iterable[Snapshot], settled: bool = False) -> None:
    """Restore snapshots into records that hold none of their subjects; runs must follow their jobs.

    They are `settled` if they were only not in memory: what follows from them for other records is in effect.
    """
    for (subject, identity), content in snapshots:
        match subject:
            case Subject.CATALOG:
                kind, name = identity
                lineage.restore_entry(CatalogKey(EntryKind(kind), name), _decode_catalog_entry(content))
            case Subject.DATASET:
                dataset = DatasetId(*identity)
                if "users" in content:
                    lineage.restore_users(dataset, (JobId(*job) for job in content["users"]))
                lineage.restore_dataset(_decode_dataset(dataset, content), settled)
            case Subject.JOB:
                job = JobId(*identity)
                lineage.restore_job(_decode_job(job, content), settled)
            case Subject.NAMESPACE:
                lineage.namespaces[identity[0]] = _decode_span(content["span"])
            case Subject.RUN:
                namespace, name, uuid = identity
                run = RunId(uuid, JobId(namespace, name))
                starts = [_decode_order(order) for order in content["starts"]]
                lineage.restore_run(decode_run(lineage, run, content), starts, settled)


def run_position(run: Snapshot) -> Order:
    """Return the position of a run among those of its job, as a sort key; runs are restored in this order.

    In another order the history of the job would need its archived runs.
    """
    return min(map(_decode_order, run.content["starts"]), default=_decode_order(run.content["span"][0]))


def run_key(run: RunId) -> Key:
    """Return the key of the snapshot of a run."""
    return Key(Subject.RUN, (*run.job, run.run))


def _encode_catalog_entry(entry: CatalogEntry) -> JsonObject:
    return {
        "span": _encode_span(entry.span),
        "described": [*_encode_order(entry.described.order), entry.described.value] if entry.described else None,
        "deleted": _encode_order(entry.deleted) if entry.deleted else None,
    }


def _decode_catalog_entry(content: JsonObject) -> CatalogEntry:
    described, deleted = content["described"], content["deleted"]
    return CatalogEntry(
        _decode_span(content["span"]),
        Register(_decode_order(described[:2]), described[2]) if described else None,
        _decode_order(deleted) if deleted else None,
    )


def _encode_dataset(record: DatasetRecord) -> JsonObject:
    return {
        "span": _encode_span(record.span),
        "facets": _encode_facets(record.facets),
        "describedFacets": _encode_described(record.facets),
        "readFacets": _encode_facets(record.read_facets),
        "describedReadFacets": _encode_described(record.read_facets),
        "sayings": [
            {
                "order": _encode_order(said.order),
                "run": _encode_run_id(said.run),
                "read": said.read,
                "fields": said.columns,
                "version": said.version,
            }
            for _, said in sorted(record.statements.loaded.items())
        ],
        "writes": [[*_encode_order(write.order), _encode_run_id(write.run)] for write in record.writes],
        "names": _encode_names(record.names) if record.names else None,
    }


def _encode_run_id(run: RunId | None) -> list[str] | None:
    return [run.run, *run.job] if run else None


def _decode_run_id(row: list[str] | None) -> RunId | None:
    return RunId(row[0], JobId(*row[1:])) if row else None


def _encode_names(names: NameStatements) -> JsonObject:
    return {
        "aliases": [[*alias, *_encode_order(order)] for alias, order in sorted(names.aliases.items())],
        "withdrawn": _encode_order(names.withdrawn) if names.withdrawn else None,
        "changes": [
            [*_encode_order(found.order), _encode_run_id(found.run), found.change, found.previous]
            for found in sorted(names.changes.values(), key=lambda change: change.order)
        ],
        "location": names.location,
    }


def _decode_names(content: JsonObject) -> NameStatements:
    changes = [
        LifecycleChange(
            _decode_order(row[:2]), _decode_run_id(row[2]), Change(row[3]), DatasetId(*row[4]) if row[4] else None
        )
        for row in content["changes"]
    ]
    return NameStatements(
        aliases={DatasetId(*row[:2]): _decode_order(row[2:]) for row in content["aliases"]},
        withdrawn=_decode_order(content["withdrawn"]) if content["withdrawn"] else None,
        changes={(found.run, found.change): found for found in changes},
        location=DatasetId(*content["location"]) if content["location"] else None,
    )


def _decode_dataset(identity: DatasetId, content: JsonObject) -> DatasetRecord:
    record = DatasetRecord(
        id=identity,
        span=_decode_span(content["span"]),
        facets=_decode_described(content["facets"], content.get("describedFacets")),
        read_facets=_decode_described(content["readFacets"], content.get("describedReadFacets")),
    )
    record.writes = tuple(Write(_decode_order(row[:2]), _decode_run_id(row[2])) for row in content.get("writes", ()))
    record.names = _decode_names(content["names"]) if content.get("names") else None
    for row in content["sayings"]:
        run = _decode_run_id(row["run"])
        columns = PackedColumns.of(row["fields"]) if isinstance(row["fields"], list) else row["fields"]
        record.statements.join(DatasetStatement(_decode_order(row["order"]), run, row["read"], columns, row["version"]))
    return record


def _encode_job(record: JobRecord) -> JsonObject:
    return {
        "span": _encode_span(record.span),
        "facets": _encode_facets(record.facets),
        "describedFacets": _encode_described(record.facets),
        "longestInterval": record.longest_interval,
        "declared": _encode_declaration(record.declared) if record.declared else None,
        "declaredFacets": _encode_facets(record.declared_facets),
        "controlFlow": _encode_facets(record.control_flow),
        "everDeclared": [[direction, *dataset] for direction, dataset in sorted(record.ever_declared)],
    }


def _encode_declaration(declared: Declaration) -> JsonObject:
    inputs, outputs = _encode_uses(declared.inputs), _encode_uses(declared.outputs)
    return {"order": _encode_order(declared.order), "inputs": inputs, "outputs": outputs}


def _decode_job(identity: JobId, content: JsonObject) -> JobRecord:
    ever: set[Edge] = {(Direction(direction), DatasetId(*dataset)) for direction, *dataset in content["everDeclared"]}
    return JobRecord(
        identity,
        _decode_span(content["span"]),
        facets=_decode_described(content["facets"], content.get("describedFacets")),
        longest_interval=content.get("longestInterval", DEFAULT_INTERVAL),
        declared=_decode_declaration(content["declared"]),
        declared_facets=_decode_facets(content["declaredFacets"]),
        control_flow=_decode_facets(content.get("controlFlow", {})),
        ever_declared=ever,
    )


def _decode_declaration(content: JsonObject | None) -> Declaration | None:
    if content is None:
        return None
    order = _decode_order(content["order"])
    span = Span(order, order)
    return Declaration(order, _decode_uses(content["inputs"], span), _decode_uses(content["outputs"], span))


def encode_run(run: RunRecord, starts: Iterable[Order]) -> JsonObject:
    """Return the content of the snapshot of a run; `starts` are its START events."""
    return {
        "span": _encode_span(run.span),
        "starts": [_encode_order(start) for start in starts],
        "ran": run.ran,
        "terminal": None
        if run.terminal is None
        else [run.terminal[0], _encode_order(run.terminal[1]), run.terminal[2]],
        "completed": _encode_order(run.completed) if run.completed else None,
        "claimed": run.claimed,
        "stated": _encode_order(run.stated) if run.stated else None,
        "replaced": {direction.value: _encode_order(order) for direction, order in run.replaced.items()},
        "facets": _encode_facets(run.facets),
        "jobFacets": _encode_facets(run.job_facets),
        "inputs": _encode_uses(run.named_inputs),
        "outputs": _encode_uses(run.named_outputs),
    }


def decode_run(lineage: LineageRecords, identity: RunId, content: JsonObject) -> RunRecord:
    """Return the run of a snapshot; facets that equal those of its job are shared, if the job is known."""
    job = lineage.jobs.get(identity.job)
    terminal, stated = content["terminal"], content.get("stated")
    completed = content.get("completed", terminal[1] if terminal and terminal[2] == "COMPLETE" else None)
    starts = [_decode_order(start) for start in content["starts"]]
    span = _decode_span(content["span"])
    return RunRecord(
        identity,
        span,
        first_start=min(starts, default=None),
        last_start=max(starts, default=None),
        ran=content["ran"],
        terminal=None if terminal is None else (terminal[0], _decode_order(terminal[1]), terminal[2]),
        completed=_decode_order(completed) if completed else None,
        claimed=content.get("claimed"),
        stated=_decode_order(stated) if stated else None,
        replaced={Direction(key): _decode_order(order) for key, order in content.get("replaced", {}).items()},
        facets=_decode_facets(content["facets"]),
        job_facets=_decode_facets(content["jobFacets"], job.facets if job else None),
        named_inputs=_decode_uses(content["inputs"], span, lineage),
        named_outputs=_decode_uses(content["outputs"], span, lineage),
    )


def _encode_uses(uses: Uses) -> list[JsonObject]:
    return [
        {
            "namespace": dataset.namespace,
            "name": dataset.name,
            "last": _encode_order(use.last),
            "facets": _encode_facets(use),
            "transfer": None if use.transfer is None else _encode_facets(use.transfer),
        }
        for dataset, use in sorted(uses.items(), key=lambda item: item[0])
    ]


def _decode_uses(rows: list[JsonObject], span: Span, lineage: LineageRecords | None = None) -> Uses:
    """Decode datasets of a run or declaration; `span` stands for times that older snapshots leave out."""
    uses: Uses = {}
    for row in rows:
        dataset = DatasetId(row["namespace"], row["name"])
        known = lineage.nodes.by_name.in_memory(dataset) if lineage else None
        last, transfer = row.get("last"), row.get("transfer")
        use = uses[dataset] = Use(_decode_order(last) if last else span.last)
        use.restore(_decode_registers(row["facets"], known.facets if known else None))
        use.transfer = _decode_facets(transfer) if transfer is not None else None
    return uses


def _encode_facets(facets: Facets) -> JsonObject:
    return {name: [*_encode_order(register.order), register.stored] for name, register in facets.registers().items()}


def _decode_facets(content: JsonObject, owner: Facets | None = None) -> Facets:
    """Decode facets; values equal to those of `owner` are shared to save memory."""
    return Facets.of(_decode_registers(content, owner))


def _decode_registers(content: JsonObject, owner: Facets | None = None) -> dict[str, Register]:
    registers = {}
    for name, (time, digest, value) in content.items():
        shared = owner.shared(name, value) if owner else packed_facet(name, value)
        registers[name] = Register(_decode_order((time, digest)), shared)
    return registers


def _encode_described(facets: DescriptiveFacets) -> list[list[object]]:
    found = sorted(facets.described(), key=lambda pair: (pair[0], pair[1].order, canonical_json(pair[1].value)))
    return [[name, *_encode_order(register.order), register.value] for name, register in found]


def _decode_described(content: JsonObject, described: list[list[Any]] | None) -> DescriptiveFacets:
    """Decode facets of a job or dataset; older snapshots have the last one of all producers among the others."""
    registers = _decode_registers(content)
    rows = [(name, registers.pop(name)) for name in MERGED_FACETS if name in registers]
    rows += [(name, Register(_decode_order([time, digest]), value)) for name, time, digest, value in described or ()]
    return DescriptiveFacets.of_producers(registers, rows)


def _encode_span(span: Span) -> list[list[object]]:
    return [_encode_order(span.first), _encode_order(span.last)]


def _decode_span(content: list[list[object]]) -> Span:
    return Span(_decode_order(content[0]), _decode_order(content[1]))


def _encode_order(order: Order) -> list[object]:
    return [order.time, order.hash]


def _decode_order(content: Sequence[Any]) -> Order:
    """Decode an order; in JSON its hash is hexadecimal, in older snapshots of the log that of a whole event."""
    time, digest = content
    return Order(time, digest if type(digest) is bytes else bytes.fromhex(digest)[:ORDER_HASH_BYTES])
