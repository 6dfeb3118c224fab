# SPDX-License-Identifier: Apache-2.0
"""Ways into the service beside HTTP."""

from lineage.ingress.kafka_source import KafkaSource
from lineage.ingress.kafka_topic import IngressTarget, KafkaIngress

__all__ = ["IngressTarget", "KafkaIngress", "KafkaSource"]
