# SPDX-License-Identifier: Apache-2.0
"""Archived runs and checkpoints: whatever leaves memory, and whenever it restarts, every answer is the same."""

import json
import random
import re
import sqlite3

import pytest
from lineage_events import RULES, body, dataset, encode, read
from lineage_run_histories import BATCH, RunHistories

from lineage.events import canonical_json, read_original
from lineage.graph import (
    SETTLED,
    Graph,
    LineageRecords,
    adjacency,
    dataset_statements,
    export_graph,
    fold_events,
    records,
    run_outcome,
)
from lineage.graph.job_record import JobRecord
from lineage.graph.run_history import Direction
from lineage.graph.snapshot import encode_run, plain_json
from lineage.marquez.versions import DatasetVersions, job_versions
from lineage.rules.event_reader import EventReader
from lineage.store import EventLog, past_states, projection, run_retention, statement_retention
from lineage.store.graph_as_of import State, graph_at
from lineage.store.horizons import Horizon, Horizons
from lineage.store.past_states import past_state
from lineage.store.projection import Projection
from lineage.store.rows import compacted_through, known_since
from lineage.store.state_archive import StateArchive
from lineage.store.state_file import delete_states, new_state, open_state
from tests.fast_part import fast_part

READER = EventReader(RULES)
ACCEPTED = 2**62


class Restarts:
    """A log and its projection, which archives runs and releases records as early as it can."""

    def __init__(self, directory, max_recalled=0, max_in_memory=0):
        self._directory = directory
        self._max_recalled = max_recalled
        self._max_in_memory = max_in_memory
        self._log = EventLog(directory)
        self.state = self._started()

    def store(self, content):
        """Store an event, and apply it."""
        self._log.append([read_original(encode(content))], ACCEPTED)
        stored = self._log.event(read_original(encode(content)).hash)
        if stored is not None:  # not a duplicate of a compacted event
            assert self.state.apply_stored(stored)
        self.state.position = self._log.last()

    def save(self):
        for _ in self.state.save():
            pass
        self.state.commit()
        for _ in self.state.release():
            pass

    def restart(self, **options):
        """Start again, as after a kill: what follows the last checkpoint is read from the log."""
        self.state.state.close()
        self._log.close()
        self._log = EventLog(self._directory)
        self.state = self._started(**options)

    def compact(self):
        """Move all events that are in a checkpoint into snapshots."""
        self.save()
        while self._log.compact(READER, Horizons(Horizon(2**62))):
            pass

    def forget(self, coming):
        """Remove all runs that may go, as retention does after compaction; return them.

        Those of `coming` have later events.
        """
        self.compact()
        later = {content["run"]["runId"] for content in coming}
        self._log.runs_with_events = later.intersection
        gone = [run for part in self.state.forget_runs(Horizons(Horizon(2**62))) for run in part]
        self.save()
        self._log.forget_runs(self.state.forgotten_runs())
        self.state.clear_forgotten_runs()
        return gone

    def close(self):
        self.state.state.close()
        self._log.close()

    def _started(self, checkpoints=False, after_step=lambda _state: None):
        state = Projection(self._log, READER, open_state(self._directory, READER.rules, 0, self._log.last()))
        state.lineage.spare_runs = 0
        state.lineage.max_recalled = self._max_recalled
        state.lineage.max_jobs = state.lineage.max_datasets = self._max_in_memory
        for _ in state.build(checkpoints):
            after_step(state)
        return state


def answers(lineage):
    """Return everything that readers ask of the runs, by job."""
    graph = Graph(lineage)
    found = {"graph": export_graph(lineage, graph)}
    for dataset_name, record in sorted(lineage.datasets.items()):
        versions = [(version.order, version.run, version.fields, version.version) for version in record.versions()]
        found[str(dataset_name)] = versions, DatasetVersions(record).current_id
    for name, job in sorted(lineage.jobs.items()):
        runs = job.latest_runs(0, 99)
        edges = {edge for run in runs for edge in run.entry.edges} if all(run.entry for run in runs) else set()
        edges |= {(side, dataset) for run in runs for side in Direction for dataset in run.uses(side)}
        found[str(name)] = {
            "count": len(job.runs),
            "runs": [plain_json(encode_run(run, [])) for run in runs],
            "outcomes": [run_outcome(lineage, run, SETTLED) for run in runs],
            "nextStarts": [job.first_start_after(run.place.order, run.id.run) for run in runs],
            "pages": [[run.id.run for run in job.latest_runs(at, 2)] for at in range(len(runs))],
            "versions": [version[:3] for version in job_versions(lineage, job, graph.job_lineages[name])],
            "byId": [lineage.run(run.id.run, name).id for run in runs],
            "lastWith": [[job.last_run_with(edge, run.place.order) for run in runs] for edge in sorted(edges)],
        }
    return found


def bodies_of(seed):
    return [event.original.body for event in RunHistories(seed).make()]


@pytest.mark.parametrize("compacting", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_archived_runs_change_no_answer(tmp_path, monkeypatch, seed, compacting):
    monkeypatch.setattr(dataset_statements, "MAX_LOADED", 1)
    monkeypatch.setattr(dataset_statements, "KEPT", 1)
    chance = random.Random(seed)
    contents = [content for part in range(3) for content in bodies_of(100 * seed + part)]
    expected = answers(fold_events(read(content) for content in contents))
    arrival = [*contents, *chance.choices(contents, k=len(contents) // 3)]
    if seed % 3:
        chance.shuffle(arrival)
    else:
        arrival.sort(key=lambda content: content["eventTime"])
    service = Restarts(tmp_path, max_recalled=seed % 4, max_in_memory=seed % 3)
    for content in arrival:
        service.store(content)
        if chance.random() < 0.05:
            service.save()
        if chance.random() < 0.05:
            if chance.random() < 0.3:
                delete_states(tmp_path)
            service.restart()
        if compacting and chance.random() < 0.03:
            service.compact()
    assert sum(job.runs.archived for job in service.state.lineage.jobs.values()) > 0
    for _ in range(2):
        assert export_graph(service.state.lineage, service.state.graph) == expected["graph"]
        assert answers(service.state.lineage) == expected
        service.restart()
    service.close()


@pytest.mark.parametrize("compacting", [False, True])
@pytest.mark.parametrize("seed", fast_part(range(8)))
def test_past_graphs_are_those_of_the_events_until_then(tmp_path, monkeypatch, seed, compacting):
    monkeypatch.setattr(past_states, "_MIN_EVENTS", 1)
    monkeypatch.setattr(past_states, "_EVENTS_PER_RECORD", 0)
    chance = random.Random(seed)
    contents = sorted((c for part in range(3) for c in bodies_of(100 * seed + part)), key=lambda c: c["eventTime"])
    if seed % 2:
        for at in chance.sample(range(len(contents)), 6):  # some arrive late
            contents.insert(min(len(contents), at + chance.randrange(20)), contents.pop(at))
    service = Restarts(tmp_path, max_recalled=seed % 4, max_in_memory=seed % 3)
    for count, content in enumerate(contents):
        service.store(content)
        if chance.random() < 0.1:
            service.save()
        if chance.random() < 0.05:
            service.restart()
        if compacting and count == len(contents) // 3:
            service.compact()
    service.save()
    events = [read(content) for content in contents]
    state = State(service.state.state.path, service.state.state.digest)
    used = 0
    for at in sorted({event.order.time for event in events}):
        lineage = fold_events(event for event in events if event.order.time <= at)
        expected = canonical_json(export_graph(lineage, Graph(lineage)))
        connection = sqlite3.connect(tmp_path / "lineage.db")
        try:
            since = known_since(connection)
            if since is not None and at < since:
                continue
            used += past_state(service.state.state.reader, at, compacted_through(connection)) is not None
        finally:
            connection.close()
        assert graph_at(tmp_path / "lineage.db", at, READER) == expected
        assert graph_at(tmp_path / "lineage.db", at, READER, state) == expected
    assert used > 5
    service.close()


def with_other_runs(content, part):
    """Return an event of a history with UUIDs that are not those of another part."""
    other = re.sub(r'"runId": "\w', f'"runId": "{part:x}', json.dumps(content))
    return json.loads(other)


@pytest.mark.parametrize("kept", [0, 2])
@pytest.mark.parametrize("seed", range(12))
def test_the_graph_does_not_change_as_old_runs_go(tmp_path, monkeypatch, seed, kept):
    monkeypatch.setattr(run_retention, "KEPT_RUNS", kept)
    chance = random.Random(seed)
    contents = [with_other_runs(content, part) for part in range(4) for content in bodies_of(100 * seed + part)]
    contents.sort(key=lambda content: content["eventTime"])
    service = Restarts(tmp_path, max_recalled=seed % 3, max_in_memory=seed % 2)
    gone = []
    for count, content in enumerate(contents, 1):
        service.store(content)
        if chance.random() < 0.04 or count == len(contents):
            before = export_graph(service.state.lineage, service.state.graph)
            counts = {job: len(record.runs) for job, record in service.state.lineage.jobs.items()}
            found = service.forget(contents[count:])
            counts = {job: number - sum(run.job == job for run in found) for job, number in counts.items()}
            for rebuild in (False, chance.random() < 0.5):
                assert export_graph(service.state.lineage, service.state.graph) == before
                lineage = service.state.lineage
                assert {job: len(record.runs) for job, record in lineage.jobs.items()} == counts
                assert {job: len(record.latest_runs(0, 999)) for job, record in lineage.jobs.items()} == counts
                if rebuild:
                    delete_states(tmp_path)
                service.restart()
            gone += found
    assert gone
    assert {service.state.lineage.run(run.run, run.job) for run in gone} == {None}
    service.close()


def test_past_graph_without_a_usable_state(tmp_path, monkeypatch):
    monkeypatch.setattr(past_states, "_MIN_EVENTS", 1)
    monkeypatch.setattr(past_states, "_EVENTS_PER_RECORD", 0)
    service = Restarts(tmp_path)
    for number in range(1, 5):
        for content in batch_run(number, inputs=[dataset("a")], outputs=[dataset("b")]):
            service.store(content)
            service.save()
    file, digest = service.state.state.path, service.state.state.digest
    log, at = tmp_path / "lineage.db", read(batch_run(3)[0]).order.time
    expected = graph_at(log, at, READER)
    assert service.state.state.reader.execute("SELECT count(*) FROM past_states").fetchone() == (8,)
    (tmp_path / "damaged").write_bytes(b"not a database" * 99)
    for unusable in (
        State(file, "of other rules"),
        State(tmp_path / "none", digest),
        State(tmp_path / "damaged", digest),
    ):
        assert graph_at(log, at, READER, unusable) == expected
    service.state.state.connection.execute("UPDATE past_parts SET body = x'00'")
    service.save()
    assert graph_at(log, at, READER, State(file, digest)) == expected
    service.close()


def batch_run(number, event_type="COMPLETE", **options):
    start = body("START", 10 * number, run=number, job="nightly", job_facets={"jobType": BATCH})
    return [
        start,
        body(event_type, 10 * number + 5, run=number, job="nightly", job_facets={"jobType": BATCH}, **options),
    ]


def test_memory_holds_few_runs_of_a_long_history(tmp_path):
    service = Restarts(tmp_path)
    for number in range(1, 200):
        for content in batch_run(number, inputs=[dataset("a")], outputs=[dataset("b")]):
            service.store(content)
    (job,) = service.state.lineage.jobs.values()
    assert len(job.runs.loaded) <= 2
    assert len(job.runs) == 199
    service.save()
    service.restart()
    (job,) = service.state.lineage.jobs.values()
    assert (len(job.runs.loaded) <= 2, len(job.runs)) == (True, 199)
    service.close()


def test_a_run_that_ends_replaces_the_one_before_it(tmp_path):
    service = Restarts(tmp_path)
    service.state.lineage.spare_runs = records.SPARE_RUNS
    loaded = []
    for number in range(1, 6):
        for event_type, second in (("START", 2 * number), ("FAIL" if number == 3 else "COMPLETE", 2 * number + 1)):
            service.store(body(event_type, second, run=number, outputs=[dataset("orders")]))
            (job,) = service.state.lineage.jobs.values()
            loaded.append(len(job.runs.loaded))
    # The run before the failed one states the lineage.
    assert loaded == [1, 1, 2, 1, 2, 2, 3, 1, 2, 1]
    service.close()


def test_records_not_used_lately_leave_memory(tmp_path):
    service = Restarts(tmp_path, max_in_memory=2)
    for number in range(1, 9):
        start, end = batch_run(number, inputs=[dataset(f"in {number}")], outputs=[dataset(f"out {number}")])
        for content in (start, end):
            content["job"]["name"] = f"job {number}"
            service.store(content)
    lineage = service.state.lineage
    service.state.graph.refresh()
    expected = answers(lineage)
    assert (lineage.jobs.size_in_memory, lineage.nodes.by_name.size_in_memory) == (8, 16)
    service.save()
    assert (lineage.jobs.size_in_memory, lineage.nodes.by_name.size_in_memory) == (2, 2)
    assert answers(lineage) == expected
    service.restart()
    assert (service.state.lineage.jobs.size_in_memory, len(service.state.lineage.jobs)) == (0, 8)
    assert service.state.lineage.datasets.size_in_memory == 0
    assert export_graph(service.state.lineage, service.state.graph) == expected["graph"]
    lineage = service.state.lineage
    sizes = (lineage.jobs.size_in_memory, lineage.datasets.size_in_memory, lineage.nodes.by_name.size_in_memory)
    assert sizes == (0, 0, 0), "an export keeps what it read"
    assert answers(service.state.lineage) == expected
    service.close()


def test_a_long_log_is_read_with_few_records_in_memory(tmp_path, monkeypatch):
    service = Restarts(tmp_path, max_in_memory=1)
    for number in range(1, 200):
        start, _ = batch_run(number)
        service.store({**start, "job": {**start["job"], "name": f"job {number}"}})
    expected = answers(service.state.lineage)
    delete_states(tmp_path)
    sizes = []
    monkeypatch.setattr(projection, "MAX_UNSAVED", 100)
    service.restart(checkpoints=True, after_step=lambda state: sizes.append(state.lineage.jobs.size_in_memory))
    assert max(sizes) < 160
    assert answers(service.state.lineage) == expected
    service.close()


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_job_is_read_without_its_archived_runs(tmp_path, order):
    service = Restarts(tmp_path)
    for number in range(3, 30):
        for content in batch_run(number, inputs=[dataset("a")], outputs=[dataset("b")]):
            service.store(content)
    for second, number in enumerate(order):  # the UUIDs of the retained runs are in order of time, or not
        start, _ = batch_run(number)
        service.store({**start, "eventTime": f"2026-06-01T00:00:0{second}Z"})
    service.save()
    service.restart()
    (job,) = service.state.lineage.jobs.values()
    assert len(job.runs.loaded) > 1
    assert not job.runs.recalled
    service.close()


def test_late_failure_uncovers_the_archived_run_before(tmp_path):
    service = Restarts(tmp_path)
    contents = [content for number in (1, 2, 3) for content in batch_run(number, inputs=[dataset("a")])]
    contents += batch_run(4, inputs=[dataset("b")])
    for content in contents:
        service.store(content)
    late = body("FAIL", 46, run=4, job="nightly", job_facets={"jobType": BATCH})
    service.store(late)
    assert answers(service.state.lineage) == answers(fold_events(read(content) for content in [*contents, late]))
    service.close()


def test_start_that_arrives_late_recalls_no_history(tmp_path, monkeypatch):
    service = Restarts(tmp_path)
    contents = [content for number in range(1, 9) for content in batch_run(number, outputs=[dataset("b")])[::-1]]
    monkeypatch.setattr(JobRecord, "recall_history", lambda job: pytest.fail("the history is read"))
    for content in contents:
        service.store(content)
    monkeypatch.undo()
    assert answers(service.state.lineage) == answers(fold_events(map(read, contents)))
    service.close()


def test_backfill_reads_the_history_of_a_job_once(tmp_path, monkeypatch):
    service = Restarts(tmp_path, max_recalled=1)
    recent, old = range(20, 40), range(1, 20)
    contents = [content for number in (*recent, *old) for content in batch_run(number, outputs=[dataset("b")])]
    found = []
    runs = StateArchive.runs
    monkeypatch.setattr(StateArchive, "runs", lambda archive, job: found.append(job) or runs(archive, job))
    for content in contents:
        service.store(content)
    assert len(found) == 1
    monkeypatch.undo()
    assert answers(service.state.lineage) == answers(fold_events(map(read, contents)))
    service.close()


def test_state_of_other_rules_is_made_again(tmp_path):
    service = Restarts(tmp_path)
    for content in batch_run(1, inputs=[dataset("a")]):
        service.store(content)
    service.save()
    service.close()
    rules = type(RULES)()
    assert open_state(tmp_path, rules, 0, 99).position is None
    assert len(list(tmp_path.glob("state-*.db"))) == 1


def test_damaged_state_is_made_again(tmp_path):
    service = Restarts(tmp_path)
    for content in batch_run(1, inputs=[dataset("a")]):
        service.store(content)
    service.save()
    expected = canonical_json(export_graph(service.state.lineage, Graph(service.state.lineage)))
    service.close()
    (file,) = tmp_path.glob("state-*.db")
    file.write_bytes(b"not a database" * 1000)
    service = Restarts(tmp_path)
    assert canonical_json(export_graph(service.state.lineage, Graph(service.state.lineage))) == expected
    service.close()


def test_state_ahead_of_its_log_is_made_again(tmp_path):
    state = new_state(tmp_path, RULES)
    state.commit(7)
    state.close()
    assert open_state(tmp_path, RULES, 0, 6).position is None


def test_run_of_several_jobs_is_found_in_each(tmp_path):
    service = Restarts(tmp_path)
    for job in ("one", "two"):
        for number in (1, 2):
            service.store(body("START", number, run=number, job=job, job_facets={"jobType": BATCH}))
            service.store(body("COMPLETE", number + 3, run=number, job=job, job_facets={"jobType": BATCH}))
    lineage: LineageRecords = service.state.lineage
    for job in lineage.jobs.values():
        for run in job.latest_runs(0, 9):
            assert lineage.run(run.id.run, job.id).id == run.id
    service.close()


def test_start_from_a_checkpoint_derives_no_lineage_again(tmp_path, monkeypatch):
    service = Restarts(tmp_path)
    for content in bodies_of(7):
        service.store(content)
    service.save()
    expected = canonical_json(export_graph(service.state.lineage, service.state.graph))
    monkeypatch.setattr(adjacency, "derive_job_lineage", lambda *_: pytest.fail("a lineage is derived"))
    service.restart()
    assert canonical_json(export_graph(service.state.lineage, service.state.graph)) == expected
    assert service.state.graph.job_lineages.keys() == service.state.lineage.jobs.keys()
    service.close()


@pytest.mark.parametrize("rebuilding", [False, True])
def test_old_versions_of_datasets_go(tmp_path, monkeypatch, rebuilding):
    monkeypatch.setattr(statement_retention, "KEPT_VERSIONS", 3)
    service = Restarts(tmp_path)
    for number in range(1, 41):
        fields = [{"name": f"column {number}", "type": "int"}]
        for content in batch_run(number, outputs=[dataset("b", schema={"fields": fields})]):
            service.store(content)
    ((name, record),) = service.state.lineage.datasets.items()
    before = answers(service.state.lineage)["graph"], DatasetVersions(record).current_id
    assert len(record.versions()) == 40
    service.forget([])
    if rebuilding:
        delete_states(tmp_path)
    service.restart()
    record = service.state.lineage.datasets[name]
    assert (answers(service.state.lineage)["graph"], DatasetVersions(record).current_id) == before
    kept = [version.fields[0]["name"] for version in record.versions()]
    assert kept[-3:] == ["column 38", "column 39", "column 40"]
    assert len(kept) <= 3 + dataset_statements.MAX_LOADED
    if not rebuilding:
        rows = service.state.state.reader.execute("SELECT count(*) FROM statements, columns").fetchone()
        assert rows == (9,), "3 statements, and 3 lists of columns"
    service.close()


def test_a_crash_before_runs_leave_the_log_is_repaired_by_the_next_retention(tmp_path, monkeypatch):
    monkeypatch.setattr(run_retention, "KEPT_RUNS", 0)
    service = Restarts(tmp_path)
    for number in range(1, 9):
        for content in batch_run(number, outputs=[dataset("b")]):
            service.store(content)
    with monkeypatch.context() as patch:
        patch.setattr(EventLog, "forget_runs", crash)
        with pytest.raises(SystemExit):
            service.forget([])
    service.restart()
    late = batch_run(1)[0]
    late["eventType"] = "RUNNING"
    service.store(late)  # its run is new again
    service.forget([])
    delete_states(tmp_path)
    service.restart()
    (job,) = service.state.lineage.jobs.values()
    # The last one has the current edges.
    assert {run.id.run for run in job.latest_runs(0, 99)} == {late["run"]["runId"], batch_run(8)[0]["run"]["runId"]}
    service.close()


def crash(*_given):
    raise SystemExit
