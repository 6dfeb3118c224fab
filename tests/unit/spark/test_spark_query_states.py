# SPDX-License-Identifier: Apache-2.0
"""State machine of a query's run, progress windows, and statistics, without Spark."""

import json
from typing import Any

import pytest

from lineagelab_spark import progress
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.description import Description, Output, accumulated
from lineagelab_spark.lifecycle import EventType, Lifecycle, RunPhase
from lineagelab_spark.progress import Window, rows_read

TOPIC = Dataset("kafka://kafka:9092", "orders", is_topic=True)
OTHER = Dataset("kafka://kafka:9092", "bids", is_topic=True)
TABLE = Dataset("s3://warehouse", "sales/orders")
SECOND = Dataset("s3://warehouse", "sales/orders_rejected")

NOTHING = Description()
READS = Description({TOPIC: {"a": "string"}})
WRITES = Description({TOPIC: {"a": "string"}}, {TABLE: Output({"a": "string"}, {TOPIC})})
WRITES_MORE = Description({TOPIC: {"a": "string"}}, {**WRITES.outputs, SECOND: Output({"a": "string"}, {TOPIC})})

START, RUNNING, COMPLETE, FAIL, ABORT = EventType

Step = tuple[float, Description, EventType | None, list[EventType]]
"""Time, description, final status, and expected events of the step."""


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([(0, NOTHING, None, []), (1, READS, None, []), (2, WRITES, None, [START])], id="first write"),
        pytest.param(
            [(0, NOTHING, None, []), (29, NOTHING, None, []), (30, NOTHING, None, [START]), (31, NOTHING, None, []),
             (40, WRITES, None, [RUNNING]), (41, WRITES, ABORT, [ABORT])],
            id="nothing to write for an interval",
        ),
        pytest.param([(0, NOTHING, None, []), (30, NOTHING, None, [START]), (60, NOTHING, None, [RUNNING]),
                      (61, NOTHING, ABORT, [ABORT])], id="nothing to write at all"),
        pytest.param([(0, WRITES, None, [START]), (29, WRITES, None, []), (30, WRITES, None, [RUNNING])], id="idle"),
        pytest.param(
            [(0, WRITES, None, [START]), (9, WRITES_MORE, None, [RUNNING]), (30, WRITES_MORE, None, []),
             (39, WRITES_MORE, None, [RUNNING])],
            id="a change is reported at once, and the next interval counts from it",
        ),
        pytest.param([(0, WRITES, None, [START]), (100, WRITES, None, [RUNNING]), (101, WRITES, None, [])], id="late"),
        pytest.param([(0, WRITES, None, [START]), (1, WRITES, COMPLETE, [COMPLETE])], id="end"),
        pytest.param([(0, WRITES, None, [START]), (1, WRITES_MORE, FAIL, [FAIL])], id="a change with the end"),
        pytest.param([(0, WRITES, COMPLETE, [START, COMPLETE])], id="ended before the first poll"),
        pytest.param([(0, READS, FAIL, [START, FAIL])], id="failed before it wrote"),
        pytest.param([(0, READS, ABORT, [])], id="stopped before it wrote"),
        pytest.param([(0, NOTHING, COMPLETE, [])], id="no input"),
        pytest.param(
            [(0, WRITES, None, [START]), (1, WRITES, ABORT, [ABORT]), (2, WRITES, FAIL, []), (99, WRITES, None, [])],
            id="one end",
        ),
    ],
)  # fmt: skip
def test_events_of_a_run_by_step(steps: list[Step]) -> None:
    state = Lifecycle(interval=30)
    for now, known, end, expected in steps:
        state, events = state.step(known, end, now)
        assert list(events) == expected

    assert (state.phase is RunPhase.ENDED) == any(end is not None for _, _, end, _ in steps)


def test_datasets_of_a_run_are_never_removed() -> None:
    before = Description(
        {TOPIC: {"a": "string"}, OTHER: {"b": "int"}}, {TABLE: Output({"a": "string"}, {TOPIC, OTHER})}
    )
    now = Description({TOPIC: {"c": "long"}}, {SECOND: Output({"c": "long"}, {TOPIC})})

    both = accumulated(before, now)

    assert both.inputs == {TOPIC: {"a": "string", "c": "long"}, OTHER: {"b": "int"}}
    assert {table: output.inputs for table, output in both.outputs.items()} == {TABLE: {TOPIC, OTHER}, SECOND: {TOPIC}}
    assert not both.is_cross_product
    assert before.inputs[TOPIC] == {"a": "string"}


def test_table_written_later_is_not_an_input() -> None:
    before = Description({TOPIC: {}, SECOND: {}}, {TABLE: Output({}, {TOPIC, SECOND})})
    now = Description({TOPIC: {}}, {TABLE: Output({}, {TOPIC}), SECOND: Output({}, {TOPIC})})

    both = accumulated(before, now)

    assert both.inputs == {TOPIC: {}}
    assert both.is_cross_product


def batch(number: int, **changes: Any) -> str:
    reported: dict[str, Any] = {
        "batchId": number,
        "timestamp": f"2026-01-01T00:00:0{number}.000Z",
        "batchDuration": 100,
        "numInputRows": 10,
        "sources": [
            {
                "description": "KafkaV2[Subscribe[orders]]",
                "endOffset": {"orders": {"0": 5, "1": 5}},
                "latestOffset": {"orders": {"0": 8, "1": 6}},
                "numInputRows": 10,
            }
        ],
        "sink": {"description": "lake.sales.orders", "numOutputRows": 7},
    }
    return json.dumps(reported | changes)


def window(*batches: str) -> Window:
    total = Window()
    for text in batches:
        total = total.plus(progress.parse(text))
    return total


def test_window_is_the_sum_of_its_batches() -> None:
    total = window(batch(3), batch(4, batchDuration=300))

    assert total == Window(
        batches=2, rows=20, milliseconds=400, longest=300, source_rows=(20,), behind=4, written=14, last_batch=4
    )


def test_duration_of_spark_3_5_is_that_of_the_trigger() -> None:
    text = json.loads(batch(3)) | {"durationMs": {"addBatch": 80, "triggerExecution": 120}}
    del text["batchDuration"]
    assert window(json.dumps(text)).milliseconds == 120


def test_batch_function_has_unknown_output_rows() -> None:
    assert window(batch(1), batch(2, sink={"description": "ForeachBatchSink", "numOutputRows": -1})).written is None


@pytest.mark.parametrize(
    ("end", "latest", "behind"),
    [
        ('{"orders":{"0":5}}', '{"orders":{"0":9}}', 4),
        ({"orders": {"0": 5}}, {"orders": {"0": 5, "1": 3}}, 0),
        ({"orders": {"0": 5}}, None, None),
        ({"version": 1, "snapshot_id": 3, "position": 1}, None, None),
        ("7", "9", None),
        ("seven", "nine", None),
    ],
    ids=["JSON in JSON", "a new partition", "no latest", "Iceberg", "rate", "text"],
)
def test_lag_of_a_source(end: object, latest: object, behind: int | None) -> None:
    source = {"endOffset": end, "latestOffset": latest, "numInputRows": 1}

    assert progress.parse(batch(1, sources=[source])).sources[0].behind == behind


def test_rows_are_counted_by_dataset_if_unambiguous() -> None:
    of_two = Window(rows=30, source_rows=(10, 20))

    assert rows_read(of_two, [Source((TOPIC,)), Source((OTHER,))]) == {TOPIC: 10, OTHER: 20}
    assert rows_read(of_two, [Source((TOPIC,)), Source()]) == {TOPIC: 30}
    assert rows_read(Window(rows=10, source_rows=(10,)), [Source((TOPIC,)), Source((TOPIC,))]) == {TOPIC: 10}
    assert rows_read(Window(rows=10, source_rows=(10,)), [Source((TOPIC, OTHER))]) == {}
    assert rows_read(of_two, [Source((TOPIC, OTHER)), Source((TABLE,))]) == {TABLE: 20}
