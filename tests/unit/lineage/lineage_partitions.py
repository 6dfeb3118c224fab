# SPDX-License-Identifier: Apache-2.0
"""Graph export of events that are folded in partitions, as machines of a cluster would do it."""

import json
import pickle
from collections import defaultdict

from lineage.events import canonical_json
from lineage.graph.partitioned_fold import (
    PartitionFold,
    SharedState,
    dataset_row,
    deleted_namespaces,
    job_rows,
    linked_by_entry,
    linked_names,
    merged_dataset,
    merged_entry,
    partition_key,
)


def sent(record):
    """Return a record as another process receives it."""
    return pickle.loads(pickle.dumps(record))


def partitioned_export(events, partitions):
    """Return the export of `comparable` for a fold in partitions by job."""
    keys = sorted({partition_key(event) for event in events})
    folds = [PartitionFold() for _ in range(partitions)]
    for event in events:
        folds[keys.index(partition_key(event)) % partitions].apply(event)
    by_name, by_key = defaultdict(list), defaultdict(list)
    for fold in folds:
        for record in fold.datasets():
            by_name[record.id].append(sent(record))
        for key, entry in fold.entries():
            by_key[key].append(sent(entry))
    entries = [(key, merged_entry(parts)) for key, parts in by_key.items()]
    names = [linked_names(part) for parts in by_name.values() for part in parts]
    linked = set().union(*names, *(linked_by_entry(*found) for found in entries))
    deleted = deleted_namespaces(entries)
    merged = [merged_dataset(parts) for parts in by_name.values()]
    shared_records = [record for record in merged if record.id in linked or record.id.namespace in deleted]
    failed = [run for fold in folds for run in fold.failed_runs()]
    shared = sent(SharedState(shared_records, entries, failed))
    apart = [record for record in merged if record.id not in linked and record.id.namespace not in deleted]
    rows = [*shared.rows, *map(dataset_row, apart)]
    rows += [row for fold in folds for job in fold.jobs() for row in job_rows(sent(job), shared)]
    export = defaultdict(set)
    for row in rows:
        export[row.kind].add(canonical_json(row.content))
    return {kind: [json.loads(row) for row in sorted(found)] for kind, found in export.items()}


def comparable(export):
    """Return an export without what a fold in partitions leaves out: states of jobs, and empty lists."""
    jobs = [{key: value for key, value in job.items() if key != "state"} for job in export["jobs"]]
    return {key: rows for key, rows in {**export, "jobs": jobs}.items() if key != "version" and rows}
