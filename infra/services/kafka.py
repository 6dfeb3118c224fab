# SPDX-License-Identifier: Apache-2.0
"""Kafka: broker and KRaft controller in one node."""

import base64
import hashlib
from collections.abc import Mapping

from pydantic import Field

from infra.model import Address, Endpoint, Java, Prepare, Probe, Service, Site, Topic
from infra.services import jvm
from infra.services.definition import EVERY_PROFILE, ServiceDefinition
from infra.services.properties import render_properties
from infra.settings import Settings, SettingsSection

NAME = "kafka"
BROKER = Endpoint("broker", 9092, published_as="kafka", advertised=True)
CONTROLLER = Endpoint("controller", 9093, private=True)
ENDPOINTS = (BROKER, CONTROLLER)

CONFIG = "broker.properties"
LOGGING = "log4j2.properties"
DATA = "data"


class KafkaSettings(SettingsSection):
    """Settings of the Kafka broker."""

    kafka_heap_mib: int = Field(384, ge=128, description="maximum heap of the Kafka broker, MiB")


def cluster_id(site: Site) -> str:
    """Return the cluster id of this lab: 16 bytes, base64-encoded as Kafka requires.

    The id is unique per lab, so that another broker at the same address is detected.
    """
    digest = hashlib.sha256(f"kafka of {site.identity}".encode()).digest()
    return base64.b64encode(digest[:16], altchars=b"ab").decode().rstrip("=")


def topic(site: Site, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> Topic:
    """Return a topic of this lab's cluster; `config` holds topic-level settings under Kafka's names."""
    return Topic(
        name=name,
        bootstrap=str(site.address(NAME, BROKER.name, "outside")),
        cluster=cluster_id(site),
        partitions=partitions,
        config=dict(config or {}),
        needs=(NAME,),
    )


def kafka_service(site: Site, settings: Settings) -> Service:
    """Return the broker; automatic topic creation is off, so that a misspelled name fails."""
    broker_settings = settings.section(KafkaSettings)
    config = site.file(NAME, CONFIG)
    options = (*jvm.SERVICE_OPTIONS, f"-Dlog4j2.configurationFile={site.file(NAME, LOGGING)}")
    return Service(
        name=NAME,
        run=Java(
            "kafka",
            "kafka.Kafka",
            broker_settings.kafka_heap_mib,
            (config,),
            (*jvm.DELAYED_C2, *options),
        ),
        prepare=(
            Prepare(
                Java(
                    "kafka",
                    "kafka.tools.StorageTool",
                    heap_mib=64,
                    args=("format", "--standalone", "-t", cluster_id(site), "-c", config),
                    options=(*jvm.C1_ONLY, *options),
                ),
                unless=f"{site.volume(NAME, DATA)}/meta.properties",
            ),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(BROKER.name),
        files={CONFIG: render_properties(_broker_config(site)), LOGGING: _LOGGING},
        volumes=(DATA,),
        memory_mib=broker_settings.kafka_heap_mib + 150,
    )


def _broker_config(site: Site) -> dict[str, str | int | bool]:
    single_replica = {
        f"{log}.{setting}": 1
        for log in ("transaction.state.log", "share.coordinator.state.topic")
        for setting in ("replication.factor", "min.isr")
    }
    listeners = site.listeners(NAME, BROKER.name)
    bound = {known.name: known.bind for known in listeners} | {"CONTROLLER": site.listen(NAME, CONTROLLER.name)}
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "listeners": _listener_list(bound),
        "advertised.listeners": _listener_list({known.name: known.reached for known in listeners}),
        "inter.broker.listener.name": listeners[0].name,
        "controller.quorum.bootstrap.servers": str(site.address(NAME, CONTROLLER.name)),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in bound),
        "log.dirs": site.volume(NAME, DATA),
        "auto.create.topics.enable": False,
        "delete.topic.enable": True,
        "num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.num.partitions": 4,
        **single_replica,
        "group.initial.rebalance.delay.ms": 0,
        "num.network.threads": 2,
        "num.io.threads": 4,
    }


def _listener_list(addresses: Mapping[str, Address]) -> str:
    return ",".join(f"{name}://{address}" for name, address in addresses.items())


_LOGGING = """rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %m (%c{1})%n
logger.server.name=kafka.server
logger.server.level=info
"""


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Kafka",
    build=kafka_service,
    endpoints=ENDPOINTS,
    components=("kafka",),
    settings=KafkaSettings,
    profiles=EVERY_PROFILE,
    position=10,
)
