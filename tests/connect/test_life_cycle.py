# SPDX-License-Identifier: Apache-2.0
"""Life cycle of connectors on a real worker: each change leads to the expected events, and to no others."""

import pytest

from tests.connect.cluster import lines_of, sink, source, struct, with_lineage
from tests.connect.event_history import STATE_FACET, names, schema, state_of
from tests.connect.rest import until

STRINGS = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


def error_of(event):
    return event["run"]["facets"]["errorMessage"]


def test_deleted_source(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    event = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    assert schema(event, "outputs", name).keys() == {"order_id", "price", "supplier", "bid_time", "_key"}
    assert (names(event, "inputs"), names(event, "outputs")) == (set(), {name})
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert names(history.last, "outputs") == {name}
    assert schema(history.last, "outputs", name), "the last event is complete"


def test_deleted_sink(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    cluster.produce(name, [struct({"id": "1"})])
    event = cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    assert schema(event, "inputs", name).keys() == {"id"}
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert (names(history.last, "inputs"), names(history.last, "outputs")) == ({name}, set())


def test_pause_and_resume_keep_the_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_transitions(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.resume(name)
    cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING")


def test_stop_ends_the_run_and_resume_starts_another(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    cluster.rest.stop(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")
    cluster.rest.resume(name)
    cluster.await_transitions(name, "1 START", "1 ABORT", "2 START")


def test_stop_after_pause(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_transitions(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.stop(name)
    cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 ABORT")


def test_recreation_with_equal_configuration_starts_another_run(cluster, name):
    cluster.topic(name)
    config = with_lineage(source(name))
    cluster.create(name, config)
    cluster.await_transitions(name, "1 START")
    cluster.rest.delete(name)
    cluster.create(name, config)
    cluster.await_transitions(name, "1 START", "1 ABORT", "2 START")


def test_connector_created_paused_starts_on_resume(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)), "PAUSED")
    cluster.rest.await_states(name, "PAUSED")
    other = f"{name}-other"
    cluster.create(other, with_lineage(source(name)))
    cluster.await_transitions(other, "1 START")
    assert cluster.history(name).transitions() == []
    cluster.rest.resume(name)
    cluster.await_transitions(name, "1 START")


def test_config_change_with_same_datasets_keeps_the_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    cluster.rest.configure(name, with_lineage(source(name, pause__ms=10)))
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


def test_config_change_with_other_datasets_starts_another_run(cluster, name, tmp_path):
    other = f"{name}-other"
    cluster.topic(name, other)
    cluster.produce(name, [struct({"id": "1"})])
    cluster.produce(other, [struct({"key": "1"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    cluster.rest.configure(name, with_lineage(sink(other, file=tmp_path / "out")))
    history = cluster.await_transitions(name, "1 START", "1 COMPLETE", "2 START")
    assert all(names(event, "inputs") == {name} for event in history.of_run(1))
    event = cluster.await_event(name, "of the other topic", lambda event: other in names(event, "inputs"))
    assert names(event, "inputs") == {other}
    cluster.await_event(name, "with its schema", lambda event: "key" in schema(event, "inputs", other))


def test_source_with_changed_topic_starts_another_run(cluster, name):
    other = f"{name}-other"
    cluster.topic(name, other)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    cluster.rest.configure(name, with_lineage(source(other, shapes="bid")))
    cluster.await_transitions(name, "1 START", "1 COMPLETE", "2 START")
    event = cluster.await_event(name, "of the other topic", lambda event: other in names(event, "outputs"))
    assert names(event, "outputs") == {other}


def test_removed_topic_is_not_an_output_of_the_next_run(cluster, name):
    kept, dropped = f"{name}-kept", f"{name}-dropped"
    cluster.topic(kept, dropped)
    cluster.create(name, with_lineage(source(kept, dropped)))
    cluster.await_event(name, "of both", lambda event: names(event, "outputs") == {kept, dropped})
    cluster.rest.configure(name, with_lineage(source(kept)))
    history = cluster.await_transitions(name, "1 START", "1 COMPLETE", "2 START")
    assert names(history.of_run(1)[-1], "outputs") == {kept, dropped}
    assert all(names(event, "outputs") == {kept} for event in history.of_run(2))


def test_short_lived_connector_has_start_and_end(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name, records=1, pause__ms=1)))
    until(lambda: cluster.values(name), "its only record")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert names(history.last, "outputs") == {name}


def test_restarted_task_keeps_the_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    for _ in range(2):
        cluster.rest.restart_task(name)
        cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.restart(name)
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


def test_failed_poll_and_restart_starts_another_run(cluster, name, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    flag.touch()
    cluster.create(name, with_lineage(source(name, fail__at="records", fail__after__records=5, fail__flag=flag)))
    history = cluster.await_transitions(name, "1 START", "1 FAIL")
    assert "Failing at records after 5 records" in error_of(history.last)["message"]
    assert "ScriptedSourceTask.poll" in error_of(history.last)["stackTrace"]
    assert schema(history.last, "outputs", name)
    flag.unlink()
    cluster.rest.restart_task(name)
    cluster.await_transitions(name, "1 START", "1 FAIL", "2 START")


@pytest.mark.parametrize("tolerance", ["none", "all"])
def test_failed_put(cluster, name, tolerance):
    cluster.topic(name)
    cluster.produce(name, [struct({"id": str(number)}) for number in range(20)])
    cluster.create(name, with_lineage(sink(name, fail__at="records", errors__tolerance=tolerance)))
    history = cluster.await_transitions(name, "1 START", "1 FAIL")
    assert "Failing at records" in error_of(history.last)["stackTrace"]
    assert names(history.last, "inputs") == {name}


def test_converter_failure_before_the_first_record(cluster, name):
    cluster.topic(name)
    cluster.produce(name, [b"not JSON"])
    cluster.create(name, with_lineage(sink(name)))
    history = cluster.await_transitions(name, "1 START", "1 FAIL")
    assert "DataException" in error_of(history.last)["stackTrace"]
    assert names(history.last, "inputs") == {name}


def test_tolerated_converter_failure(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [b"not JSON", struct({"id": "1"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out", errors__tolerance="all")))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    assert cluster.history(name).transitions() == ["1 START"]
    until(lambda: len(lines_of(tmp_path / "out")) == 1, "the good record")


def failing_transform(config, **options):
    chain = {"transforms": "bad", "transforms.bad.type": "dev.lineagelab.testing.FailingTransform"}
    return config | chain | {f"transforms.bad.{option}": value for option, value in options.items()}


def test_transform_failure(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(failing_transform(source(name), **{"fail.at": "records"})))
    history = cluster.await_transitions(name, "1 START", "1 FAIL")
    assert "FailingTransform.apply" in error_of(history.last)["stackTrace"]


def test_tolerated_transform_failure(cluster, name):
    cluster.topic(name)
    failing = failing_transform(source(name, errors__tolerance="all"), **{"fail.at": "records"})
    cluster.create(name, with_lineage(failing))
    cluster.await_transitions(name, "1 START")
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


@pytest.mark.parametrize("stage", ["task_start", "connector_start"])
def test_failure_at_start(cluster, name, stage, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    flag.touch()
    cluster.create(name, with_lineage(source(name, fail__at=stage, fail__flag=flag)))
    history = cluster.await_transitions(name, "1 START", "1 FAIL")
    assert f"Failing at {stage}" in error_of(history.last)["stackTrace"]
    flag.unlink()
    cluster.rest.restart(name)
    cluster.await_transitions(name, "1 START", "1 FAIL", "2 START")


def test_failed_connector_with_running_tasks(cluster, name, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    config = with_lineage(source(name, fail__at="connector_start", fail__flag=flag))
    cluster.create(name, config)
    cluster.await_transitions(name, "1 START")
    flag.touch()
    cluster.rest.restart(name)
    until(lambda: cluster.rest.states(name)[0] == "FAILED", "the connector to fail")
    cluster.await_event(name, "with state FAILED", lambda event: state_of(event) == "FAILED")


def test_one_failed_task_of_three(cluster, name, tmp_path):
    cluster.topic(name, partitions=3)
    cluster.produce(name, [struct({"id": "1"})], key=b"1")
    flag = tmp_path / "sick"
    flag.touch()
    sick = sink(name, fail__at="records", fail__flag=flag) | {
        "tasks.max": 3,
        # The other tasks take over after their heartbeat interval, so that one failure is observed first.
        "consumer.override.heartbeat.interval.ms": 15000,
        "consumer.override.session.timeout.ms": 45000,
    }
    cluster.create(name, with_lineage(sick))
    until(lambda: "FAILED" in cluster.rest.states(name), "one task to fail")
    flag.unlink()
    event = cluster.await_event(
        name, "with a failed task", lambda event: "FAILED" in str(event["run"]["facets"][STATE_FACET])
    )
    assert event["eventType"] not in {"FAIL", "ABORT", "COMPLETE"}
    assert cluster.history(name).transitions()[0] == "1 START"


def test_tombstones(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [None, struct({"id": "1"}), None, struct({"id": "2"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    until(lambda: len(lines_of(tmp_path / "out")) == 4, "all of them")
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name).keys() == {"id"})
    assert cluster.history(name).transitions() == ["1 START"]


def test_connector_without_the_transform(cluster, name):
    cluster.topic(name)
    cluster.create(name, sink(name))
    history = cluster.await_transitions(name, "1 START")
    assert names(history.last, "inputs") == {name}
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


def test_delivered_records_are_counted(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [struct({"id": str(number)}) for number in range(50)])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    until(lambda: len(lines_of(tmp_path / "out")) == 50, "all records")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    rows = [
        event["inputs"][0].get("inputFacets", {}).get("inputStatistics", {}).get("rowCount", 0)
        for event in history.events
    ]
    assert sum(rows) == 50
