# SPDX-License-Identifier: Apache-2.0
"""Sources and sinks without storage: OpenLineage's listener gives them no namespace, and the others are reported."""

import os

import pytest

from infra.namespaces import KAFKA_NAMESPACE
from lineagelab_flink.launch_sql import SqlJob
from lineagelab_flink.script import script
from tests.flink.launched import ReportedLineage, until
from tests.flink.test_launch_sql import produce

TOPIC = """
CREATE TEMPORARY TABLE words (number INT, word STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '${{KAFKA_BOOTSTRAP}}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json');
"""
GENERATED = """
CREATE TEMPORARY TABLE generated (number INT, word STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
INSERT INTO words SELECT number, word FROM generated;
"""
PRINTED = """
CREATE TEMPORARY TABLE printed (number INT, word STRING) WITH ('connector' = 'print');
INSERT INTO printed SELECT number, word FROM words;
"""


@pytest.mark.parametrize(("statements", "side"), [(GENERATED, "outputs"), (PRINTED, "inputs")], ids=["source", "sink"])
def test_the_topic_of_a_job_without_another_dataset_is_reported(flink, service, broker, name, statements, side):
    broker.topic(name)
    produce(broker, name, range(3))
    text = script([(f"{name}.sql", TOPIC.format(topic=name) + statements)], {"KAFKA_BOOTSTRAP": broker.bootstrap})
    SqlJob(name, text, flink.gateway_url, ()).submit(os.urandom(16).hex(), "", "owner:nobody")
    until(lambda: [job.state for job in flink.jobs(name)] == ["FINISHED"], f"the end of {name}")
    reported = ReportedLineage(service.url, name)
    reported.await_states("COMPLETED")
    reported.await_edges({"inputs": [], "outputs": [], side: [f"{KAFKA_NAMESPACE} {name}"]})
