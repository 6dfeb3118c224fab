# SPDX-License-Identifier: Apache-2.0
"""Kafka Connect workers with the lineage plugin."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from infra.model import Java, Probe, Service, Site
from infra.services import jvm, kafka
from infra.services.connect import worker as connect
from infra.services.properties import render_properties
from infra.toolchain import Artifacts, pins
from infra.toolchain.progress import PlainProgress

EXTENSION = "dev.lineagelab.connect.OpenLineageRestExtension"
TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform"
KAFKA_NAMESPACE = "kafka://kafka:9092"
JOB_NAMESPACE = "connect-tests"
HEAP_MIB = 320
CONVERTERS = "org.apache.kafka.connect.json.JsonConverter"


class Release(NamedTuple):
    """Releases of Connect and of Java: the component with Connect's jars, and the major version of Java."""

    component: str = connect.COMPONENT
    java: int = 17

    def __str__(self) -> str:
        return f"{self.component}-java-{self.java}"

    def install(self) -> None:
        """Install Connect's jars if they are missing."""
        Artifacts.open().setup({self.component}, PlainProgress(sys.stderr))

    @property
    def ready(self) -> str:
        """Path of the REST API that responds when a worker is ready."""
        return "/health" if self.component == connect.COMPONENT else "/connectors"

    @property
    def extensions(self) -> dict[str, str | int | bool]:
        """Worker properties with the extensions of the REST API. The lab's guard needs Connect 4."""
        others = [connect.GUARD_EXTENSION] if self.component == connect.COMPONENT else []
        return {"rest.extension.classes": ",".join([EXTENSION, *others])}


THE_LABS = Release()
"""Releases of the lab's own workers."""

OTHER_RELEASES = (
    *(Release(component.name, java) for component in pins.OTHER_CONNECTS for java in (17, 21)),
    Release(java=21),
)
"""Other releases that the plugin supports."""


def worker(
    site: Site,
    plugin_path: Sequence[Path],
    options: Mapping[str, str | int | bool],
    broker: str = "",
    group: str = "tests",
    compiler: Sequence[str] = jvm.C1_ONLY,
    heap_mib: int = HEAP_MIB,
    release: Release = THE_LABS,
) -> Service:
    """Return a distributed worker; `options` are added to its properties.

    The C1 compiler alone suits a worker that processes few records. A short session timeout moves the tasks of a
    killed worker to another one within seconds.
    """
    own: dict[str, str | int | bool] = {
        **_common(site, plugin_path, broker),
        "group.id": group,
        **{f"{kind}.storage.topic": f"{group}-{kind}" for kind in ("config", "offset", "status")},
        **{f"{kind}.storage.replication.factor": 1 for kind in ("config", "offset", "status")},
        "offset.storage.partitions": 1,
        "status.storage.partitions": 1,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 500,
        "scheduled.rebalance.max.delay.ms": 500,
        **options,
    }
    return _service(site, "ConnectDistributed", {connect.CONFIG: render_properties(own)}, compiler, heap_mib, release)


def standalone(
    site: Site,
    plugin_path: Sequence[Path],
    options: Mapping[str, str | int | bool],
    broker: str,
    connectors: Mapping[str, Mapping[str, object]],
) -> Service:
    """Return a standalone worker with these connectors; it has no group and stores offsets in a file."""
    offsets = {"offset.storage.file.filename": site.file(connect.NAME, "offsets")}
    own = {**_common(site, plugin_path, broker), **offsets, **options}
    files = {
        f"{name}.properties": render_properties({"name": name, **{key: str(value) for key, value in config.items()}})
        for name, config in connectors.items()
    }
    return _service(site, "ConnectStandalone", {connect.CONFIG: render_properties(own), **files})


def _common(site: Site, plugin_path: Sequence[Path], broker: str) -> dict[str, str | int | bool]:
    listen = site.listen(connect.NAME, connect.REST.name)
    return {
        "bootstrap.servers": broker or str(site.address(kafka.NAME, kafka.BROKER.name)),
        "listeners": listen.url,
        "rest.advertised.host.name": listen.host,
        "rest.advertised.port": listen.port,
        "plugin.path": ",".join(str(folder) for folder in plugin_path),
        "plugin.discovery": "service_load",
        "key.converter": CONVERTERS,
        "value.converter": CONVERTERS,
        "connector.client.config.override.policy": "All",
        "offset.flush.interval.ms": 1000,
    }


def _service(
    site: Site,
    main: str,
    files: Mapping[str, str],
    compiler: Sequence[str] = jvm.C1_ONLY,
    heap_mib: int = HEAP_MIB,
    release: Release = THE_LABS,
) -> Service:
    """Return the service with its properties files as arguments."""
    logging = f"-Dlog4j2.configurationFile={site.file(connect.NAME, connect.LOGGING)}"
    return Service(
        name=connect.NAME,
        run=Java(
            release.component,
            f"org.apache.kafka.connect.cli.{main}",
            heap_mib,
            tuple(site.file(connect.NAME, file) for file in files),
            (*jvm.SERVICE_OPTIONS, "-XX:MetaspaceSize=96m", logging, *compiler),
            runtime=release.java,
        ),
        endpoints=connect.ENDPOINTS,
        ready=Probe(connect.REST.name, release.ready),
        files={**files, connect.LOGGING: _LOGGING},
    )


_LOGGING = """rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %X{connector.context}%m (%c{1})%n
logger.lineage.name=dev.lineagelab
logger.lineage.level=debug
"""


def lineage_options(url: str, group: str = "tests", **options: str | int) -> dict[str, str | int | bool]:
    """Return worker properties for lineage to `url`: short poll interval, and no heartbeats during a test.

    `options` are those of the plugin; `__` in a name is a dot.
    """
    own: dict[str, str | int] = {
        "transport.url": url,
        "transport.batch.endpoint": "/api/v1/lineage/batch",
        "namespace.kafka": KAFKA_NAMESPACE,
        "job.namespace": JOB_NAMESPACE,
        "interval.ms": 3_600_000,
        "poll.interval.ms": 100,
        "state.topic": f"{group}-lineage",
        "state.topic.replication.factor": 1,
        "errors.stack.trace": "include",
        "retry.backoff.ms": 100,
        "retry.backoff.max.ms": 500,
    }
    own |= {name.replace("__", "."): value for name, value in options.items()}
    return THE_LABS.extensions | {f"openlineage.{name}": value for name, value in own.items()}
