# SPDX-License-Identifier: Apache-2.0
"""Kafka: one broker, or several, each with a KRaft controller in the same node."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from infra.model import (
    Address,
    Endpoint,
    ExternalKafka,
    Java,
    Listener,
    Prepare,
    Probe,
    Resource,
    Service,
    Site,
    Topic,
    external_settings,
)
from infra.namespaces import TOPIC_LINEAGE_EVENTS
from infra.services import jvm, kafka_access, tls
from infra.services.definition import EVERY_PROFILE, External, ServiceDefinition, require_kubernetes
from infra.services.external import ServersSetting, is_external, parse_servers
from infra.services.lineage_history import settings as lineage_history
from infra.services.properties import render_properties
from infra.settings import Settings, SettingsSection

NAME = "kafka"
BROKER = Endpoint("broker", 9092, published_as="kafka", advertised=True, tls=True)
CONTROLLER = Endpoint("controller", 9093, private=True, tls=True)
ENDPOINTS = (BROKER, CONTROLLER)

CONFIG = "broker.properties"
LOGGING = "log4j2.properties"
DATA = "data"


class KafkaSettings(SettingsSection):
    """Settings of the Kafka broker."""

    kafka_heap_mib: int = Field(384, ge=128, description="maximum heap of the Kafka broker, MiB")
    kafka_brokers: Literal[1, 3] = Field(
        1, description="brokers, with target kubernetes: 1, or 3 with three replicas of each topic; fixed once created"
    )
    external_kafka: ServersSetting = Field(
        "",
        description="existing Kafka cluster, HOST:PORT[,HOST:PORT]: plaintext, no authentication; empty: the lab runs "
        "a broker",
    )


def cluster_id(site: Site) -> str:
    """Return the cluster id of this lab: 16 bytes, base64-encoded as Kafka requires.

    The id is unique per lab, so that another broker at the same address is detected. It is empty for an existing
    cluster, whose id is not the lab's.
    """
    return "" if NAME in site.external else _uuid(f"kafka of {site.identity}")


def _uuid(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.b64encode(digest[:16], altchars=b"ab").decode().rstrip("=")


def brokers(settings: Settings) -> int:
    """Return the number of brokers, which is also the number of replicas of each topic."""
    return settings.section(KafkaSettings).kafka_brokers


def topic(site: Site, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> Topic:
    """Return a topic of this lab's cluster; `config` holds topic-level settings under Kafka's names."""
    return Topic(
        name=name,
        bootstrap=str(site.address(NAME, BROKER.name, "outside")),
        cluster=cluster_id(site),
        partitions=partitions,
        config=dict(config or {}),
        credentials=site.client_credentials if site.tls else None,
        authority=tls.client_authority(site),
        external=is_external(site, NAME),
        needs=(NAME,),
    )


def kafka_service(site: Site, settings: Settings) -> Service:
    """Return the broker; automatic topic creation is off, so that a misspelled name fails."""
    broker_settings = settings.section(KafkaSettings)
    config = site.file(NAME, CONFIG)
    options = (*jvm.SERVICE_OPTIONS, f"-Dlog4j2.configurationFile={site.file(NAME, LOGGING)}")
    service = Service(
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
                    args=("format", *_first_controllers(site, settings), "-t", cluster_id(site), "-c", config),
                    options=(*jvm.C1_ONLY, *options),
                ),
                unless=f"{site.volume(NAME, DATA)}/meta.properties",
            ),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(BROKER.name),
        files={**_common_files(site, settings), LOGGING: _LOGGING},
        replicas=brokers(settings),
        replica_files=_replica_files(site, settings),
        volumes=(DATA,),
        memory_mib=broker_settings.kafka_heap_mib + 150,
    )
    return kafka_access.with_logins(service, site)


def _common_files(site: Site, settings: Settings) -> dict[str, str]:
    if brokers(settings) > 1:
        return {}
    controller = site.listen(NAME, CONTROLLER.name)
    config = _broker_config(site.listeners(NAME, BROKER.name), controller, site)
    controllers = {"controller.quorum.bootstrap.servers": str(site.address(NAME, CONTROLLER.name))}
    return {CONFIG: render_properties({"node.id": 1, **controllers, **config, **_replication(1)})}


def _replica_files(site: Site, settings: Settings) -> tuple[Mapping[str, str], ...]:
    """Return the configuration of each of several brokers; each is its own node with its own addresses."""
    count = brokers(settings)
    if count == 1:
        return ()
    controller = Address(site.interface, CONTROLLER.port)
    controllers = {"controller.quorum.bootstrap.servers": ",".join(map(str, _controllers(site, count)))}
    configs = [
        {
            "node.id": node,
            **controllers,
            **_broker_config(site.replica_listeners(NAME, BROKER.name, node), controller, site),
            **_replication(count),
        }
        for node in range(count)
    ]
    return tuple({CONFIG: render_properties(config)} for config in configs)


def _first_controllers(site: Site, settings: Settings) -> tuple[str, ...]:
    """Return the options of `format` that name the controllers of a new cluster."""
    count = brokers(settings)
    if count == 1:
        return ("--standalone",)
    nodes = enumerate(_controllers(site, count))
    return ("--initial-controllers", ",".join(f"{n}@{at}:{_uuid(f'node {n} of {site.identity}')}" for n, at in nodes))


def _controllers(site: Site, count: int) -> list[Address]:
    return [Address(site.replica_host(NAME, node), CONTROLLER.port) for node in range(count)]


def _replication(count: int) -> dict[str, int]:
    """Return the replication of all topics; of three replicas, two must have a record before it is acknowledged."""
    logs = ("transaction.state.log", "share.coordinator.state.topic")
    in_sync = max(1, count - 1)
    factors = {f"{log}.replication.factor": count for log in (*logs, "offsets.topic")}
    minimums = {f"{log}.min.isr": in_sync for log in logs}
    topics = {"default.replication.factor": count, "min.insync.replicas": in_sync} if count > 1 else {}
    return {**factors, **minimums, **topics}


def _broker_config(listeners: tuple[Listener, ...], controller: Address, site: Site) -> dict[str, str | int | bool]:
    bound = {known.name: known.bind for known in listeners} | {"CONTROLLER": controller}
    return {
        "process.roles": "broker,controller",
        "listeners": _listener_list(bound),
        "advertised.listeners": _listener_list({known.name: known.reached for known in listeners}),
        "inter.broker.listener.name": listeners[0].name,
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in bound),
        "log.dirs": site.volume(NAME, DATA),
        "auto.create.topics.enable": False,
        "delete.topic.enable": True,
        "num.partitions": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.num.partitions": 4,
        "group.initial.rebalance.delay.ms": 0,
        "num.network.threads": 2,
        "num.io.threads": 4,
        **kafka_access.broker_properties(site, NAME, tuple(bound)),
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
logger.rights.name=kafka.authorizer.logger
logger.rights.level=info
logger.logins.name=org.apache.kafka.common.network.Selector
logger.logins.level=info
"""


def _check(settings: Settings) -> None:
    require_kubernetes(settings, "kafkaBrokers", brokers(settings))


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    history = TOPIC_LINEAGE_EVENTS if lineage_history.included(settings) else ""
    bootstrap = str(site.address(NAME, BROKER.name, "outside"))
    return kafka_access.acls(site, NAME, bootstrap, cluster_id(site), history)


def _external_address(settings: Settings) -> Address | None:
    servers = settings.section(KafkaSettings).external_kafka
    return parse_servers(servers) if servers else None


def _external_kafka(site: Site) -> ExternalKafka:
    return ExternalKafka(name=NAME, bootstrap=str(site.address(NAME, BROKER.name, "outside")))


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Kafka",
    build=kafka_service,
    endpoints=ENDPOINTS,
    external=External(external_settings.KAFKA, _external_address, _external_kafka),
    components=("kafka",),
    settings=KafkaSettings,
    check=_check,
    resources=_resources,
    client_environment=kafka_access.client_environment,
    tls_client_secrets={"KAFKA_SASL_PASSWORD": kafka_access.PASSWORDS[kafka_access.CLIENT]},
    profiles=EVERY_PROFILE,
    position=10,
)
