# SPDX-License-Identifier: Apache-2.0
"""What is told of a connector at each turn of its life, on a real worker: which events, of which run, and no others."""

import pytest

from tests.connect.cluster import lines_of, sink, source, struct, with_lineage
from tests.connect.rest import until
from tests.connect.stories import STATE_FACET, names, schema, state_of

STRINGS = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


def error_of(event):
    return event["run"]["facets"]["errorMessage"]


def test_a_source_that_is_deleted(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    told = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    assert schema(told, "outputs", name).keys() == {"order_id", "price", "supplier", "bid_time", "_key"}
    assert (names(told, "inputs"), names(told, "outputs")) == (set(), {name})
    cluster.rest.delete(name)
    story = cluster.await_told(name, "1 START", "1 ABORT")
    assert names(story.last, "outputs") == {name}
    assert schema(story.last, "outputs", name), "the end says all that is known"


def test_a_sink_that_is_deleted(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    cluster.produce(name, [struct({"id": "1"})])
    told = cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    assert schema(told, "inputs", name).keys() == {"id"}
    cluster.rest.delete(name)
    story = cluster.await_told(name, "1 START", "1 ABORT")
    assert (names(story.last, "inputs"), names(story.last, "outputs")) == ({name}, set())


def test_pause_and_resume_are_the_same_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_told(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_told(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.resume(name)
    cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING")


def test_stop_ends_the_run_and_resume_begins_another(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_told(name, "1 START")
    cluster.rest.stop(name)
    cluster.await_told(name, "1 START", "1 ABORT")
    cluster.rest.resume(name)
    cluster.await_told(name, "1 START", "1 ABORT", "2 START")


def test_stop_after_pause(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_told(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_told(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.stop(name)
    cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 ABORT")


def test_delete_and_create_with_equal_configuration_is_another_run(cluster, name):
    cluster.topic(name)
    config = with_lineage(source(name))
    cluster.create(name, config)
    cluster.await_told(name, "1 START")
    cluster.rest.delete(name)
    cluster.create(name, config)
    cluster.await_told(name, "1 START", "1 ABORT", "2 START")


def test_created_paused_it_starts_when_it_is_resumed(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)), "PAUSED")
    cluster.rest.await_states(name, "PAUSED")
    other = f"{name}-other"
    cluster.create(other, with_lineage(source(name)))
    cluster.await_told(other, "1 START")
    assert cluster.story(name).told() == []
    cluster.rest.resume(name)
    cluster.await_told(name, "1 START")


def test_a_change_that_leaves_the_datasets_alone_is_no_new_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_told(name, "1 START")
    cluster.rest.configure(name, with_lineage(source(name, pause__ms=10)))
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_told(name, "1 START", "1 ABORT")


def test_a_change_of_datasets_is_a_new_run(cluster, name, tmp_path):
    other = f"{name}-other"
    cluster.topic(name, other)
    cluster.produce(name, [struct({"id": "1"})])
    cluster.produce(other, [struct({"key": "1"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    cluster.rest.configure(name, with_lineage(sink(other, file=tmp_path / "out")))
    story = cluster.await_told(name, "1 START", "1 COMPLETE", "2 START")
    assert all(names(event, "inputs") == {name} for event in story.of_run(1))
    told = cluster.await_event(name, "of the other topic", lambda event: other in names(event, "inputs"))
    assert names(told, "inputs") == {other}
    cluster.await_event(name, "with its schema", lambda event: "key" in schema(event, "inputs", other))


def test_a_source_that_is_told_to_write_elsewhere_is_a_new_run(cluster, name):
    other = f"{name}-other"
    cluster.topic(name, other)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    cluster.rest.configure(name, with_lineage(source(other, shapes="bid")))
    cluster.await_told(name, "1 START", "1 COMPLETE", "2 START")
    told = cluster.await_event(name, "of the other topic", lambda event: other in names(event, "outputs"))
    assert names(told, "outputs") == {other}


def test_a_topic_that_a_source_no_longer_writes_is_not_told_of_the_next_run(cluster, name):
    kept, dropped = f"{name}-kept", f"{name}-dropped"
    cluster.topic(kept, dropped)
    cluster.create(name, with_lineage(source(kept, dropped)))
    cluster.await_event(name, "of both", lambda event: names(event, "outputs") == {kept, dropped})
    cluster.rest.configure(name, with_lineage(source(kept)))
    story = cluster.await_told(name, "1 START", "1 COMPLETE", "2 START")
    assert names(story.of_run(1)[-1], "outputs") == {kept, dropped}
    assert all(names(event, "outputs") == {kept} for event in story.of_run(2))


def test_a_life_that_is_over_at_once_has_its_start_and_its_end(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name, records=1, pause__ms=1)))
    until(lambda: cluster.values(name), "its only record")
    cluster.rest.delete(name)
    story = cluster.await_told(name, "1 START", "1 ABORT")
    assert names(story.last, "outputs") == {name}


def test_a_task_that_is_restarted_is_no_new_run(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_told(name, "1 START")
    for _ in range(2):
        cluster.rest.restart_task(name)
        cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.restart(name)
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_told(name, "1 START", "1 ABORT")


def test_poll_fails_and_a_restart_is_another_run(cluster, name, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    flag.touch()
    cluster.create(name, with_lineage(source(name, fail__at="records", fail__after__records=5, fail__flag=flag)))
    story = cluster.await_told(name, "1 START", "1 FAIL")
    assert "Failing at records after 5 records" in error_of(story.last)["message"]
    assert "ScriptedSourceTask.poll" in error_of(story.last)["stackTrace"]
    assert schema(story.last, "outputs", name)
    flag.unlink()
    cluster.rest.restart_task(name)
    cluster.await_told(name, "1 START", "1 FAIL", "2 START")


@pytest.mark.parametrize("tolerance", ["none", "all"])
def test_put_fails(cluster, name, tolerance):
    cluster.topic(name)
    cluster.produce(name, [struct({"id": str(number)}) for number in range(20)])
    cluster.create(name, with_lineage(sink(name, fail__at="records", errors__tolerance=tolerance)))
    story = cluster.await_told(name, "1 START", "1 FAIL")
    assert "Failing at records" in error_of(story.last)["stackTrace"]
    assert names(story.last, "inputs") == {name}


def test_a_converter_fails_before_the_first_record(cluster, name):
    cluster.topic(name)
    cluster.produce(name, [b"this is no JSON"])
    cluster.create(name, with_lineage(sink(name)))
    story = cluster.await_told(name, "1 START", "1 FAIL")
    assert "DataException" in error_of(story.last)["stackTrace"]
    assert names(story.last, "inputs") == {name}


def test_a_converter_fails_and_is_tolerated(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [b"this is no JSON", struct({"id": "1"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out", errors__tolerance="all")))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    assert cluster.story(name).told() == ["1 START"]
    until(lambda: len(lines_of(tmp_path / "out")) == 1, "the good record")


def failing_transform(config, **options):
    chain = {"transforms": "bad", "transforms.bad.type": "dev.lineagelab.testing.FailingTransform"}
    return config | chain | {f"transforms.bad.{option}": value for option, value in options.items()}


def test_a_transform_fails(cluster, name):
    cluster.topic(name)
    cluster.create(name, with_lineage(failing_transform(source(name), **{"fail.at": "records"})))
    story = cluster.await_told(name, "1 START", "1 FAIL")
    assert "FailingTransform.apply" in error_of(story.last)["stackTrace"]


def test_a_transform_fails_and_is_tolerated(cluster, name):
    cluster.topic(name)
    failing = failing_transform(source(name, errors__tolerance="all"), **{"fail.at": "records"})
    cluster.create(name, with_lineage(failing))
    cluster.await_told(name, "1 START")
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    cluster.await_told(name, "1 START", "1 ABORT")


@pytest.mark.parametrize("stage", ["task_start", "connector_start"])
def test_it_does_not_even_start(cluster, name, stage, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    flag.touch()
    cluster.create(name, with_lineage(source(name, fail__at=stage, fail__flag=flag)))
    story = cluster.await_told(name, "1 START", "1 FAIL")
    assert f"Failing at {stage}" in error_of(story.last)["stackTrace"]
    flag.unlink()
    cluster.rest.restart(name)
    cluster.await_told(name, "1 START", "1 FAIL", "2 START")


def test_a_connector_that_fails_while_its_tasks_run(cluster, name, tmp_path):
    cluster.topic(name)
    flag = tmp_path / "flag"
    config = with_lineage(source(name, fail__at="connector_start", fail__flag=flag))
    cluster.create(name, config)
    cluster.await_told(name, "1 START")
    flag.touch()
    cluster.rest.restart(name)
    until(lambda: cluster.rest.states(name)[0] == "FAILED", "the connector to fail")
    cluster.await_event(name, "that says so", lambda event: state_of(event) == "FAILED")


def test_one_of_three_tasks_fails(cluster, name, tmp_path):
    cluster.topic(name, partitions=3)
    cluster.produce(name, [struct({"id": "1"})], key=b"1")
    flag = tmp_path / "sick"
    flag.touch()
    sick = sink(name, fail__at="records", fail__flag=flag) | {
        "tasks.max": 3,
        # The others get the record when they notice, with a heartbeat, that the first one left.
        "consumer.override.heartbeat.interval.ms": 15000,
        "consumer.override.session.timeout.ms": 45000,
    }
    cluster.create(name, with_lineage(sick))
    until(lambda: "FAILED" in cluster.rest.states(name), "one task to fail")
    flag.unlink()
    told = cluster.await_event(
        name, "that says which", lambda event: "FAILED" in str(event["run"]["facets"][STATE_FACET])
    )
    assert told["eventType"] not in {"FAIL", "ABORT", "COMPLETE"}
    assert cluster.story(name).told()[0] == "1 START"


def test_records_that_are_no_records(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [None, struct({"id": "1"}), None, struct({"id": "2"})])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    until(lambda: len(lines_of(tmp_path / "out")) == 4, "all of them")
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name).keys() == {"id"})
    assert cluster.story(name).told() == ["1 START"]


def test_a_connector_without_the_transform_has_a_life_too(cluster, name):
    cluster.topic(name)
    cluster.create(name, sink(name))
    story = cluster.await_told(name, "1 START")
    assert names(story.last, "inputs") == {name}
    cluster.rest.delete(name)
    cluster.await_told(name, "1 START", "1 ABORT")


def test_what_was_delivered_is_counted(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [struct({"id": str(number)}) for number in range(50)])
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out")))
    until(lambda: len(lines_of(tmp_path / "out")) == 50, "all records")
    cluster.rest.delete(name)
    story = cluster.await_told(name, "1 START", "1 ABORT")
    rows = [
        event["inputs"][0].get("inputFacets", {}).get("inputStatistics", {}).get("rowCount", 0)
        for event in story.events
    ]
    assert sum(rows) == 50
