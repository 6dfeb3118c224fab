# SPDX-License-Identifier: Apache-2.0
"""Publication of all events of the log to a Kafka topic, each exactly once, for stores such as the lake."""

from lineage.egress.kafka_target import KafkaTarget
from lineage.egress.kafka_topic import KafkaEgress

__all__ = ["KafkaEgress", "KafkaTarget"]
