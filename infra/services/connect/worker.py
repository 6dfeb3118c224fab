# SPDX-License-Identifier: Apache-2.0
"""Kafka Connect: a distributed worker with one plugin folder per connector."""

from collections.abc import Mapping

from pydantic import Field

from infra import credentials
from infra.model import Connector, Endpoint, Java, Probe, Service, Site, Topic
from infra.namespaces import LINEAGE_EXTENSION, connect_lineage_settings
from infra.services import jvm, kafka, kafka_access, lineage, postgres, schema_registry, tls
from infra.services.definition import EVERY_PROFILE, ServiceDefinition, WebPage, require_kubernetes
from infra.services.properties import render_properties
from infra.settings import BooleanSetting, Settings, SettingsSection
from infra.user_files import NO_USER_FILES, PLUGIN_FOLDER, ConnectorPlugins

NAME = "connect"
COMPONENT = "connect"
REST = Endpoint("rest", 8083, scheme="http", published_as="connect")
ENDPOINTS = (REST,)

PLUGINS = (
    *("connect-file", "connect-lineage", "debezium-postgres"),
    *("connect-restarts", "iceberg-sink", "registry-converter", "rest-guard", "s3-archive-sink"),
)
"""Components on the worker's plugin path; Connect loads each in a separate class loader."""

FILE_CONNECTORS = "connect-file"
"""Component of `PLUGINS` that is on the path on request: whoever reaches the port reads and writes files with it."""

GUARD_EXTENSION = "dev.lineagelab.rest.ConnectRequestGuard"
"""Class that refuses requests of pages in the user's browser; Connect itself authenticates nobody."""

RESTARTS_EXTENSION = "dev.lineagelab.restarts.FailedTaskRestarts"
"""Class that restarts failed connectors and tasks, which Connect itself does not."""

CONFIG = "connect.properties"
LOGGING = "log4j2.properties"
GROUP = "connect"
"""Group of the workers, and prefix of their topics, in the lab's own Kafka cluster."""

STORAGE_TOPICS = {"config": 1, "offset": 4, "status": 2}
"""Topics of the worker by kind, and their partitions; the one with the configuration has always one."""

LINEAGE_TOPIC = "lineage"
"""Kind of the lineage plugin's topic, which has one partition."""

SECRETS = (credentials.POSTGRES_PASSWORD, credentials.S3_ACCESS_KEY, credentials.S3_SECRET_KEY)
"""Credentials that connector configurations can reference; other environment variables are not exposed."""

LINEAGE_SECRETS = {"OPENLINEAGE_TRANSPORT_AUTH_BEARER_TOKEN": credentials.LINEAGE_INGEST_KEY}
"""Environment variable by which the lineage plugin reads its key; connector configurations cannot reference it."""

PROVIDER = "env"
"""Name of the worker's ConfigProvider for environment variables."""


class ConnectSettings(SettingsSection):
    """Settings of the Kafka Connect worker."""

    connect_heap_mib: int = Field(768, ge=256, description="maximum heap of the Kafka Connect worker, MiB")
    connect_workers: int = Field(
        1, ge=1, le=16, description="workers of Kafka Connect; more than one with target kubernetes"
    )
    connect_file_connectors: BooleanSetting = Field(
        False, description="offer Kafka's file connectors, which read and write every file that the worker may"
    )
    connect_restarts: BooleanSetting = Field(
        True, description="restart failed connectors and tasks, first after 10 s, then ever later, up to 5 min"
    )


def plugins(settings: Settings) -> tuple[str, ...]:
    """Return the components on the worker's plugin path."""
    offered = settings.section(ConnectSettings).connect_file_connectors
    return tuple(name for name in PLUGINS if offered or name != FILE_CONNECTORS)


def secret(name: str) -> str:
    """Return a reference to one of `SECRETS` for a connector's configuration, resolved when a task starts.

    Raises:
        ValueError: connectors have no access to that credential.
    """
    if name not in SECRETS:
        raise ValueError(f"credential {name} is not available to connectors; available: {', '.join(SECRETS)}")
    return f"${{{PROVIDER}:{name}}}"


def connector(site: Site, name: str, config: Mapping[str, str], needs: tuple[str, ...] = ()) -> Connector:
    """Return a connector of this lab's worker; addresses in `config` are as seen by the worker."""
    return Connector(
        name=name,
        worker=site.address(NAME, REST.name, "outside").url,
        cluster=kafka.cluster_id(site),
        config=dict(config),
        needs=(NAME, *needs),
    )


def connect_service(site: Site, settings: Settings, foreign: ConnectorPlugins = NO_USER_FILES.plugins) -> Service:
    """Return the worker, with the plugins of the user.

    Its classes need 80 MB of metaspace; with an initial size of 96 MB, the JVM starts without two garbage collections.
    """
    service = Service(
        name=NAME,
        run=Java(
            COMPONENT,
            "org.apache.kafka.connect.cli.ConnectDistributed",
            settings.section(ConnectSettings).connect_heap_mib,
            (site.file(NAME, CONFIG),),
            (
                *jvm.SERVICE_OPTIONS,
                *jvm.DELAYED_C2,
                *tls.java_options(site),
                "-XX:MetaspaceSize=96m",
                f"-Dlog4j2.configurationFile={site.file(NAME, LOGGING)}",
            ),
            components=plugins(settings),
            reads=foreign.files,
        ),
        needs=(
            kafka.NAME,
            *(topic.key for topic in internal_topics(site)),
            *kafka_access.needs(site, kafka_access.CONNECT),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(REST.name, "/health"),
        files={CONFIG: render_properties(_worker_config(site, settings, foreign)), LOGGING: _LOGGING},
        replicas=settings.section(ConnectSettings).connect_workers,
        env={"AWS_REGION": credentials.S3_REGION},
        secrets={name: name for name in SECRETS} | LINEAGE_SECRETS,
        memory_mib=settings.section(ConnectSettings).connect_heap_mib + 200,
    )
    return kafka_access.with_login(service, site, kafka_access.CONNECT)


def _worker_config(site: Site, settings: Settings, foreign: ConnectorPlugins) -> dict[str, str | int | bool]:
    folders = [site.component(name) for name in plugins(settings)]
    if foreign.files:
        folders.append(site.project_file(PLUGIN_FOLDER))
    listen, reached = site.listen(NAME, REST.name), site.address(NAME, REST.name)
    own = site.own_host_variable  # other workers forward requests to the leader
    return {
        "bootstrap.servers": str(site.address(kafka.NAME, kafka.BROKER.name)),
        **_logins(site),
        "group.id": _group(site),
        "listeners": listen.url,
        "rest.advertised.host.name": f"${{{PROVIDER}:{own}}}" if own else reached.host,
        "rest.advertised.port": reached.port,
        "plugin.path": ",".join(folders),
        # Discover plugins through META-INF/services; scanning all classes takes 20 s and 500 MB.
        "plugin.discovery": "hybrid_warn" if foreign.undeclared else "service_load",
        # Defaults for connectors that do not configure converters.
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        **schema_registry.avro_converter(site),
        "exactly.once.source.support": "enabled",
        "connector.client.config.override.policy": "All",
        "config.providers": PROVIDER,
        f"config.providers.{PROVIDER}.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        f"config.providers.{PROVIDER}.param.allowlist.pattern": "|".join((*SECRETS, own) if own else SECRETS),
        **_storage_topics(_group(site), kafka.brokers(settings)),
        "offset.flush.interval.ms": 5000,
        # A killed worker is removed from the group after 6 s; its tasks restart immediately on a remaining worker.
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 2000,
        "scheduled.rebalance.max.delay.ms": 1000,
        "rest.extension.classes": ",".join(_extensions(settings)),
        "rest.guard.hosts": reached.host,
        **_lineage(site, settings),
    }


def _logins(site: Site) -> dict[str, str]:
    """Return how the worker logs in to Kafka, and how producers, consumers and admin clients of its connectors do."""
    own = kafka_access.client_properties(site)
    return {
        f"{client}{name}": value for client in ("", "producer.", "consumer.", "admin.") for name, value in own.items()
    }


def _extensions(settings: Settings) -> tuple[str, ...]:
    restarts = (RESTARTS_EXTENSION,) if settings.section(ConnectSettings).connect_restarts else ()
    return (LINEAGE_EXTENSION, GUARD_EXTENSION, *restarts)


def _lineage(site: Site, settings: Settings) -> dict[str, str]:
    """Return the settings of the lineage plugin, which buffers events while the lineage service is unavailable."""
    database = site.address(postgres.NAME, postgres.SQL.name)
    topic = {"openlineage.state.topic": f"{_group(site)}-{LINEAGE_TOPIC}"} if kafka.NAME in site.external else {}
    heartbeat = lineage.emitter_environment(settings).get(lineage.HEARTBEAT)
    interval = {"openlineage.interval.ms": str(int(heartbeat) * 1_000)} if heartbeat else {}
    found = connect_lineage_settings(site.address(lineage.NAME, lineage.API.name).url, str(database))
    return found | interval | topic


def _group(site: Site) -> str:
    """Return the group of the workers; an existing cluster may have workers and topics under Connect's usual names."""
    return f"lineage-lab-{site.stack}" if kafka.NAME in site.external else GROUP


def internal_topics(site: Site) -> tuple[Topic, ...]:
    """Return the topics of worker and lineage plugin in an existing cluster, so that they are removed with the lab.

    In the lab's own cluster, worker and plugin create them.
    """
    if kafka.NAME not in site.external:
        return ()
    compacted = {"cleanup.policy": "compact"}
    return tuple(
        kafka.topic(site, f"{_group(site)}-{kind}", partitions, compacted)
        for kind, partitions in {**STORAGE_TOPICS, LINEAGE_TOPIC: 1}.items()
    )


def _storage_topics(group: str, replicas: int) -> dict[str, str | int | bool]:
    """Return the settings of the worker's topics."""
    return {
        **{f"{kind}.storage.topic": f"{group}-{kind}" for kind in STORAGE_TOPICS},
        **{f"{kind}.storage.replication.factor": replicas for kind in STORAGE_TOPICS},
        **{f"{kind}.storage.partitions": count for kind, count in STORAGE_TOPICS.items() if kind != "config"},
    }


def _resources(site: Site, settings: Settings) -> tuple[Topic, ...]:
    return internal_topics(site)


_LOGGING = """rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %X{connector.context}%m (%c{1})%n
logger.runtime.name=org.apache.kafka.connect.runtime
logger.runtime.level=info
logger.rest.name=org.apache.kafka.connect.runtime.rest
logger.rest.level=warn
logger.plugins.name=org.apache.kafka.connect.runtime.isolation
logger.plugins.level=warn
logger.converter.name=io.apicurio.registry.serde
logger.converter.level=error
logger.schemas.name=io.apicurio.registry.resolver.ERCache
logger.schemas.level=off
"""


def _check(settings: Settings) -> None:
    require_kubernetes(settings, "connectWorkers", settings.section(ConnectSettings).connect_workers)


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Kafka Connect",
    build=connect_service,
    endpoints=ENDPOINTS,
    components=(COMPONENT, *PLUGINS),
    settings=ConnectSettings,
    check=_check,
    resources=_resources,
    web_page=WebPage(REST, "/connectors?expand=status"),
    profiles=EVERY_PROFILE,
    position=30,
)
