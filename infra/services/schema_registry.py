# SPDX-License-Identifier: Apache-2.0
"""Schema registry: Apicurio with an H2 file database; serves its own API and Confluent's."""

from typing import Literal

from pydantic import Field

from infra.model import (
    Address,
    Endpoint,
    ExternalSchemaRegistry,
    Java,
    Probe,
    Service,
    Site,
    Subject,
    external_settings,
)
from infra.services import jvm, tls
from infra.services.definition import EVERY_PROFILE, External, ServiceDefinition
from infra.services.external import UrlSetting, is_external, parse_url
from infra.services.properties import render_properties
from infra.settings import Settings, SettingsSection

NAME = "schema_registry"
COMPONENT = "apicurio-registry"
CONFLUENT_API = "/apis/ccompat/v7"
"""Path of the API for clients of Confluent's registry."""

API = Endpoint("api", 8081, scheme="http", published_as="schema_registry", published_path=CONFLUENT_API, tls=True)
MANAGEMENT = Endpoint("management", 8082, scheme="http")
ENDPOINTS = (API, MANAGEMENT)

CONVERTER = "dev.lineagelab.converter.RegistryAvroConverter"
CONVERTERS_API = "/apis/registry/v2"
"""Path of the API version that the converter uses; the server also has newer ones."""

COMPATIBILITY = "BACKWARD"
"""Default compatibility of subjects: readers with the new schema can read data of the previous one."""

CONFIG = "application.properties"
DATA = "data"


class SchemaRegistrySettings(SettingsSection):
    """Settings of the schema registry."""

    schema_registry_heap_mib: int = Field(160, ge=96, description="maximum heap of the schema registry, MiB")
    external_schema_registry: UrlSetting = Field(
        "",
        description="existing schema registry: URL of its Confluent API, of Apicurio http://HOST:PORT/apis/ccompat/v7; "
        "no authentication; empty: the lab runs a registry",
    )


def schema_registry_service(site: Site, settings: Settings) -> Service:
    """Return the registry."""
    return Service(
        name=NAME,
        run=Java(
            COMPONENT,
            "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
            settings.section(SchemaRegistrySettings).schema_registry_heap_mib,
            options=(
                *(*jvm.SERVICE_OPTIONS, *jvm.C1_ONLY),
                f"-Dquarkus.config.locations={site.file(NAME, CONFIG)}",
            ),
            class_path="quarkus-run.jar",
            runtime=21,
        ),
        endpoints=ENDPOINTS,
        # With TLS, the port of the API may listen later than that of its health.
        ready=Probe(API.name, f"{CONFLUENT_API}/subjects") if site.tls else Probe(MANAGEMENT.name, "/health/ready"),
        files={CONFIG: render_properties(_config(site))},
        volumes=(DATA,),
        memory_mib=settings.section(SchemaRegistrySettings).schema_registry_heap_mib + 120,
    )


def confluent_api(site: Site, seen_from: Literal["inside", "outside"] = "inside") -> str:
    """Return the URL of the registry's Confluent API."""
    url = site.address(NAME, API.name, seen_from).url
    return url if NAME in site.external else url + CONFLUENT_API


def subject(site: Site, name: str, avro: str) -> Subject:
    """Return a subject of the registry, managed through Confluent's API."""
    registry = confluent_api(site, "outside")
    return Subject(name=name, registry=registry, avro=avro, external=is_external(site, NAME), needs=(NAME,))


def avro_converter(site: Site) -> dict[str, str | int | bool]:
    """Return the `value.converter` options for Avro in Confluent's wire format.

    Schemas of source connectors are registered automatically under `TOPIC-value`; the registry rejects schemas that
    violate the compatibility rule of the subject.
    """
    options: dict[str, str | int | bool] = {
        **_converters_api(site),
        "apicurio.registry.as-confluent": True,
        "apicurio.registry.use-id": "contentId",
        "apicurio.registry.headers.enabled": False,
        "apicurio.registry.auto-register": True,
        "apicurio.registry.auto-register.if-exists": "RETURN_OR_UPDATE",
        "apicurio.registry.artifact-resolver-strategy": "io.apicurio.registry.serde.strategy.TopicIdStrategy",
    }
    return {"value.converter": CONVERTER} | {f"value.converter.{name}": value for name, value in options.items()}


def _converters_api(site: Site) -> dict[str, str | int | bool]:
    """Return the options of the API that the converter uses: the registry's own, or Confluent's of any other one."""
    if NAME in site.external:
        return {"schema.registry.url": confluent_api(site)}
    return {"apicurio.registry.url": site.address(NAME, API.name).url + CONVERTERS_API}


def _config(site: Site) -> dict[str, str | int | bool]:
    listen, management = site.listen(NAME, API.name), site.listen(NAME, MANAGEMENT.name)
    return {
        "quarkus.http.host": listen.host,
        **_listening(site, listen.port),
        "quarkus.management.host": management.host,
        "quarkus.management.port": management.port,
        "apicurio.storage.kind": "sql",
        "apicurio.storage.sql.kind": "h2",
        # By default H2 acknowledges a commit up to 0.5 s before it is durable. Every Kafka record contains a schema id:
        # if a killed registry lost an id and assigned it to another schema, records would become unreadable.
        "apicurio.datasource.url": f"jdbc:h2:file:{site.volume(NAME, DATA)}/registry;WRITE_DELAY=0",
        "apicurio.datasource.jdbc.initial-size": 1,
        "apicurio.datasource.jdbc.min-size": 1,
        "apicurio.rules.global.compatibility": COMPATIBILITY,
        "quarkus.banner.enabled": False,
        "quarkus.http.access-log.enabled": False,
        "quarkus.log.console.format": "%d{yyyy-MM-dd HH:mm:ss} %p %m (%c{1})%e%n",
        "quarkus.log.level": "WARN",
        'quarkus.log.category."io.apicurio".level': "WARN",
        'quarkus.log.category."io.quarkus".level': "ERROR",
    }


def _listening(site: Site, port: int) -> dict[str, str | int | bool]:
    if not site.tls:
        return {"quarkus.http.port": port}
    return {
        "quarkus.http.insecure-requests": "disabled",
        "quarkus.http.ssl-port": port,
        "quarkus.http.ssl.certificate.files": tls.certificate(site, NAME),
        "quarkus.http.ssl.certificate.key-files": tls.key(site, NAME),
    }


def _external_address(settings: Settings) -> Address | None:
    url = settings.section(SchemaRegistrySettings).external_schema_registry
    return parse_url(url) if url else None


def _external_registry(site: Site) -> ExternalSchemaRegistry:
    return ExternalSchemaRegistry(name=NAME, url=confluent_api(site, "outside"))


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Schema registry",
    build=schema_registry_service,
    endpoints=ENDPOINTS,
    external=External(external_settings.SCHEMA_REGISTRY, _external_address, _external_registry),
    components=(COMPONENT,),
    settings=SchemaRegistrySettings,
    profiles=EVERY_PROFILE,
    position=20,
)
