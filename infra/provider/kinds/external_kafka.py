# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ExternalKafka`: an existing Kafka cluster that responds and whose brokers can be reached."""

from confluent_kafka import KafkaException
from confluent_kafka.admin import ClusterMetadata

from infra.errors import LabError
from infra.model import external_settings
from infra.model.external import ExternalKafka
from infra.provider.connections import accepts_connections
from infra.provider.external_service import ExternalKind, external_error
from infra.provider.kafka_admin import METADATA_TIMEOUT_SECONDS, admin_client, broker_accepts_connections
from infra.provider.kind import OperationContext

PLAINTEXT = (
    "set it to a PLAINTEXT listener: the lab's services connect without TLS and without authentication, as the user "
    "ANONYMOUS"
)


class ExternalKafkaKind(ExternalKind[ExternalKafka]):
    """Existing Kafka clusters. Clients connect to the brokers' advertised addresses, so those are checked too."""

    name = "ExternalKafka"
    inputs = ExternalKafka

    def check(self, inputs: ExternalKafka, call: OperationContext) -> None:
        if not broker_accepts_connections(inputs.bootstrap):
            raise _error(inputs, "no broker accepts connections")
        for broker in _metadata(inputs).brokers.values():
            if not accepts_connections(str(broker.host), int(broker.port)):
                raise _error(
                    inputs,
                    f"broker {broker.id} advertises {broker.host}:{broker.port}, which this machine cannot reach",
                    "correct the broker's advertised.listeners, or set it to a listener that advertises an address "
                    "which can be reached from here",
                )


def _metadata(inputs: ExternalKafka) -> ClusterMetadata:
    try:
        return admin_client(inputs.bootstrap).list_topics(timeout=METADATA_TIMEOUT_SECONDS)
    except KafkaException as error:
        raise _error(inputs, error.args[0].str(), PLAINTEXT) from error


def _error(inputs: ExternalKafka, cause: str, remedy: str = "") -> LabError:
    return external_error(external_settings.KAFKA, f"use the Kafka cluster at {inputs.bootstrap}", cause, remedy)
