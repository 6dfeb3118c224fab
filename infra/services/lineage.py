# SPDX-License-Identifier: Apache-2.0
"""Lineage service: receives the events of all emitters and serves the lineage graph."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from infra import credentials
from infra.errors import SettingsError
from infra.model import Endpoint, Part, Probe, Python, Resource, Service, Site, Task
from infra.namespaces import TOPIC_LINEAGE_EVENTS, lineage_service_rules
from infra.project import PROJECT
from infra.services import iceberg_catalog, kafka, kafka_access, postgres, tls
from infra.services.definition import EVERY_PROFILE, ServiceDefinition
from infra.services.external import reject_loopback_host
from infra.services.lineage_history import settings as history
from infra.services.marquez import api as marquez
from infra.services.overview import overview
from infra.settings import DURATION, BooleanSetting, Settings, SettingsSection, duration_seconds
from lineage.alerts.webhook import WebhooksError, read_webhooks

NAME = "lineage"
API = Endpoint("api", 5000, scheme="http", published_as="lineage", tls=True)
ENDPOINTS = (API,)

DATA = "data"
DATABASE = "lineage"
"""Database of the event log, where it is in Postgres."""

RULES = "rules.json"
LAB = "lab.json"
PAGE = "page"
"""Component of the lineage page; optional, without it the service only serves its API."""

CONTRACT_FILE = "jobs/lineage_contract.yaml"
CONTRACT = PROJECT / CONTRACT_FILE

HEARTBEAT = "LINEAGE_HEARTBEAT_SECONDS"
"""Environment variable of emitters with the interval of the events of running jobs."""

DEFAULT_SECONDS = 30
"""Interval without the variable."""

_SENDS = frozenset({"LINEAGE_URL", "OPENLINEAGE_URL"})

EMITTER_SECRETS: dict[str, str] = {"LINEAGE_API_KEY": credentials.LINEAGE_INGEST_KEY}
"""Environment variable of the lab's own emitters with their key, which they always send."""

SPOOL_COMPONENT = "spool-transport"
"""Component with the transport by which OpenLineage's agents keep events until the service has accepted them."""

SERVICE_SECRETS = {
    name: name for name in (credentials.LINEAGE_ADMIN_KEY, credentials.LINEAGE_INGEST_KEY, credentials.LINEAGE_READ_KEY)
}

STORE_SECRETS = {"LINEAGE_STORE_PASSWORD": credentials.POSTGRES_PASSWORD}
"""Environment variable of the service with the password of its log in Postgres."""


NAMESPACE_DURATIONS = rf"^([^,=]+=({DURATION.strip('^$')}|never)(,|$))*$"
"""`NAMESPACE=DURATION[,NAMESPACE=DURATION]`."""


class LineageSettings(SettingsSection):
    """Settings of the lineage service."""

    lineage_retain: str = Field(
        "30d", pattern=DURATION, description="age after which the lineage service compacts events: 12h, 30d"
    )
    lineage_retain_namespaces: str = Field(
        "",
        pattern=NAMESPACE_DURATIONS,
        description="lineageRetain of the jobs of single namespaces: history=7d,audit=never",
    )
    lineage_store: Literal["sqlite", "postgres"] = Field(
        "sqlite",
        description="event log: sqlite, a file of the lineage service; postgres, a database of the lab's Postgres",
    )
    lineage_keys: BooleanSetting = Field(
        False, description="true: reading and sending lineage require an API key, which the lab's emitters have"
    )
    lineage_webhooks: str = Field(
        "",
        description="file of the webhooks that receive alerts from the lineage service: webhooks.json",
    )
    lineage_heartbeat: str = Field(
        "30s",
        pattern=DURATION,
        description="interval of the events of running streaming jobs; three of them without one raise an alert",
    )
    lineage_hosts: str = Field(
        "",
        pattern=r"^[A-Za-z0-9.,-]*$",
        description="further host names of the lineage service, for example behind a proxy: lineage.example.org,...",
    )


def unsent_events(site: Site, program: str) -> str:
    """Return the folder in which the agent of a program keeps events; its next run sends what is left."""
    return f"{site.scratch(program)}/unsent-events"


def emitter_environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables of emitters that the settings change."""
    heartbeat = duration_seconds(settings.section(LineageSettings).lineage_heartbeat)
    return {} if heartbeat == DEFAULT_SECONDS else {HEARTBEAT: str(heartbeat)}


def with_emitter_environment(part: Part, settings: Settings) -> Part:
    """Return a service or task that sends lineage with `emitter_environment`; other parts unchanged."""
    if not isinstance(part, Service | Task) or not _SENDS & part.env.keys():
        return part
    return replace(part, env={**part.env, **emitter_environment(settings)})


def lineage_service(site: Site, settings: Settings) -> Service:
    """Return the lineage service, which starts before all that send events and stops after them.

    `_with_overview` adds the file `LAB`.
    """
    listen = site.listen(NAME, API.name)
    return Service(
        name=NAME,
        run=Python(
            "lineage",
            (
                *("--host", listen.host, "--port", str(listen.port), *_encryption_options(site)),
                *("--data", site.volume(NAME, DATA), "--rules", site.file(NAME, RULES)),
                *("--retain", settings.section(LineageSettings).lineage_retain, "--lab", site.file(NAME, LAB)),
                *(("--page", f"{site.component(PAGE)}/site") if site.has(PAGE) else ()),
                *_store_options(site, settings),
                *_retention_options(settings.section(LineageSettings)),
                *_access_options(settings.section(LineageSettings)),
                *_forwarding_options(site, settings),
                *_publishing_options(site, settings),
            ),
            reads=(CONTRACT_FILE,),
            components=(PAGE,) if site.has(PAGE) else (),
        ),
        needs=tuple(resource.key for resource in _resources(site, settings)),
        endpoints=ENDPOINTS,
        ready=Probe(API.name, "/health"),
        files={RULES: _render_json(_namespace_rules(site))},
        volumes=(DATA,),
        env=_webhooks_environment(settings) | tls.python_environment(site),
        secrets=_secrets(settings) | _publishing_secrets(site, settings),
        secret_files=_publishing_login(site, settings),
        memory_mib=256,
    )


def _with_overview(service: Service, site: Site, settings: Settings, services: Mapping[str, Service]) -> Service:
    """Return the service with the file `LAB`, the overview of all services."""
    content = overview(site, settings, services, site.project_file(CONTRACT_FILE))
    return replace(service, files={**service.files, LAB: _render_json(content)})


def _render_json(content: object) -> str:
    return json.dumps(content, indent=2) + "\n"


def stores_in_postgres(settings: Settings) -> bool:
    """Return whether the event log is a database of the lab's Postgres."""
    return settings.section(LineageSettings).lineage_store == "postgres"


def _encryption_options(site: Site) -> tuple[str, ...]:
    if not site.tls:
        return ()
    return "--certificate", tls.certificate(site, NAME), "--certificate-key", tls.key(site, NAME)


def _store_options(site: Site, settings: Settings) -> tuple[str, ...]:
    if not stores_in_postgres(settings):
        return ()
    server = site.address(postgres.NAME, postgres.SQL.name)
    return "--store", f"postgresql://{postgres.user(site)}@{server}/{DATABASE}"


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (postgres.database(site, DATABASE),) if stores_in_postgres(settings) else ()


def _retention_options(settings: LineageSettings) -> tuple[str, ...]:
    namespaces = (given for given in settings.lineage_retain_namespaces.split(",") if given)
    return tuple(word for given in namespaces for word in ("--retain-namespace", given))


def _access_options(settings: LineageSettings) -> tuple[str, ...]:
    hosts = (host for host in settings.lineage_hosts.split(",") if host)
    options = [word for host in hosts for word in ("--allowed-host", host)]
    return (*options, *(("--require-keys",) if settings.lineage_keys else ()))


def _secrets(settings: Settings) -> dict[str, str]:
    webhooks = {name: name for name in _secret_files(settings)}
    return SERVICE_SECRETS | (STORE_SECRETS if stores_in_postgres(settings) else {}) | webhooks


def _webhooks_environment(settings: Settings) -> dict[str, str]:
    """Return the variable that restarts the service, and nothing else, when the file of webhooks changes."""
    _check_webhooks(settings)  # plain Pulumi checks no settings
    return {f"{name}_REVISION": credentials.file_revision(path) for name, path in _secret_files(settings).items()}


def _secret_files(settings: Settings) -> dict[str, Path]:
    """Return the file of webhooks: it has secrets, so the service gets its content as a credential."""
    given = settings.section(LineageSettings).lineage_webhooks
    return {credentials.LINEAGE_WEBHOOKS: PROJECT / given} if given else {}


def _check_webhooks(settings: Settings) -> None:
    """Raise SettingsError if the file of webhooks cannot be used, or the service cannot reach one of them."""
    for path in _secret_files(settings).values():
        try:
            webhooks = read_webhooks(path)
        except WebhooksError as error:
            raise SettingsError(f"lineageWebhooks: {error}") from error
        for webhook in webhooks:
            reject_loopback_host(settings, f"lineageWebhooks: the URL of {webhook.name!r}", webhook.host)


def _forwarding_options(site: Site, settings: Settings) -> tuple[str, ...]:
    """Return the options that forward all events to Marquez, if included; the service retries until Marquez is up."""
    if not marquez.included(site, settings):
        return ()
    return "--forward-to", site.address(marquez.NAME, marquez.API.name).url


def _publishing_options(site: Site, settings: Settings) -> tuple[str, ...]:
    """Return the options that publish all events to Kafka, if included; the service retries until the topic exists."""
    if not history.included(settings):
        return ()
    servers = str(site.address(kafka.NAME, kafka.BROKER.name))
    login = ("--kafka-config", _kafka_config(site)) if site.tls else ()
    return "--publish-topic", TOPIC_LINEAGE_EVENTS, "--kafka-servers", servers, *login


def _kafka_config(site: Site) -> str:
    return f"{site.scratch(NAME)}/kafka.properties"


def _logs_in(site: Site, settings: Settings) -> bool:
    """Return whether the service publishes to a Kafka with TLS."""
    return site.tls and history.included(settings)


def _publishing_login(site: Site, settings: Settings) -> dict[str, str]:
    if not _logs_in(site, settings):
        return {}
    return {_kafka_config(site): kafka_access.librdkafka_login(site, kafka_access.LINEAGE)}


def _publishing_secrets(site: Site, settings: Settings) -> dict[str, str]:
    if not _logs_in(site, settings):
        return {}
    return {kafka_access.PASSWORD_VARIABLE: kafka_access.PASSWORDS[kafka_access.LINEAGE]}


def _namespace_rules(site: Site) -> dict[str, object]:
    inside = site.address(kafka.NAME, kafka.BROKER.name, "inside")
    outside = site.address(kafka.NAME, kafka.BROKER.name, "outside")
    brokers = [str(server) for server in (*inside.each, *outside.each)]
    local = [broker.replace("127.0.0.1", "localhost") for broker in brokers]
    return lineage_service_rules(brokers + local, site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url)


def _client_environment(site: Site) -> dict[str, str]:
    return {"OPENLINEAGE_URL": site.address(NAME, API.name, "outside").url}


DEFINITION = ServiceDefinition(
    name=NAME,
    build=lineage_service,
    complete=_with_overview,
    endpoints=ENDPOINTS,
    settings=LineageSettings,
    check=_check_webhooks,
    resources=_resources,
    client_environment=_client_environment,
    client_secrets={
        "OPENLINEAGE_API_KEY": credentials.LINEAGE_INGEST_KEY,
        "LINEAGE_API_KEY": credentials.LINEAGE_INGEST_KEY,
        "LINEAGE_READ_KEY": credentials.LINEAGE_READ_KEY,
        "LINEAGE_ADMIN_KEY": credentials.LINEAGE_ADMIN_KEY,
    },
    secret_files=_secret_files,
    profiles=EVERY_PROFILE,
    position=0,
)
