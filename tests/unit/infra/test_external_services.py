# SPDX-License-Identifier: Apache-2.0
"""Labs that use existing services instead of their own: settings, rendered resources, addresses."""

import json
from dataclasses import replace

import pytest

from infra.catalog import (
    LabSettings,
    build_lab,
    check_settings,
    components,
    external_credentials,
    external_services,
)
from infra.errors import SettingsError
from infra.model import Address, Connector, DataResource, ExternalService, external_settings
from infra.settings import known_keys, parse_settings
from infra.targets.local.target import LocalTarget
from infra.user_files import UserFiles
from tests.unit.infra import rendered_labs
from tests.unit.infra.rendered_labs import LOCAL_SITE, OFFSET, docker_lab, docker_target
from tests.unit.infra.rendered_values import SITE as KUBERNETES_SITE
from tests.unit.infra.rendered_values import renderer

KAFKA = {"external_kafka": "kafka-1.example:9092,kafka-2.example:9192"}
REGISTRY = {"external_schema_registry": "https://registry.example/apis/ccompat/v7/"}
STORE = {"external_s3": "https://s3.example"}
POSTGRES = {"external_postgres": "lab@db.example:6432"}
EVERY = KAFKA | REGISTRY | STORE | POSTGRES

SERVICES = {
    "kafka": KAFKA,
    "schema_registry": REGISTRY,
    "object_store": STORE,
    "postgres": POSTGRES,
}
OWN_ADDRESSES = {
    "kafka": ("127.0.0.1:9192",),
    "schema_registry": ("127.0.0.1:8181/apis",),
    "object_store": ("127.0.0.1:9100",),
    "postgres": ("127.0.0.1:5532",),
}


def settings_with(**values):
    return LabSettings(port_offset=OFFSET, **values)


def local_lab(settings):
    site = replace(LOCAL_SITE, external=external_services(settings))
    return build_lab(site, settings, UserFiles()), site


def local_resources(settings):
    lab, site = local_lab(settings)
    launcher = rendered_labs.Launcher(
        rendered_labs.Programs(), rendered_labs.PROJECT, rendered_labs.STACK_ROOT / "credentials.env"
    )
    return {resource.key: resource for resource in LocalTarget(site, launcher, settings).render(lab)}


def text_of(resources):
    return json.dumps([[resource.kind, resource.inputs.properties()] for resource in resources.values()])


def properties(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_every_setting_of_an_existing_service_is_a_known_key():
    names = {value for name, value in vars(external_settings).items() if name.isupper()}
    assert names == {key for key in known_keys(LabSettings) if key.startswith("external")}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("externalKafka", "broker", "must be HOST:PORT"),
        ("externalKafka", "broker:9092,", "must be HOST:PORT"),
        ("externalKafka", "broker:99999", "must be HOST:PORT"),
        ("externalKafka", "PLAINTEXT://broker:9092", "must be HOST:PORT"),
        ("externalSchemaRegistry", "registry:8081", "must be http://HOST:PORT"),
        ("externalSchemaRegistry", "http://me:secret@registry:8081", "must not contain a user or password"),
        ("externalS3", "ftp://store:9000", "must be http://HOST:PORT"),
        ("externalS3", "http://store:9000/?bucket=a", "must be http://HOST:PORT"),
        ("externalS3", "http://store:port", "must be http://HOST:PORT"),
        ("externalPostgres", "me:secret@db:5432", "must not contain a password"),
        ("externalPostgres", "db", "must be HOST:PORT or USER@HOST:PORT"),
        ("externalPostgres", "one:5432,two:5432", "must be HOST:PORT or USER@HOST:PORT"),
    ],
)
def test_malformed_address_is_refused_with_its_key(key, value, message):
    with pytest.raises(SettingsError, match=rf"lineage-lab:{key} = .*{message}"):
        parse_settings({key: value}, LabSettings)


@pytest.mark.parametrize("service", SERVICES)
def test_an_existing_service_replaces_process_address_and_artefacts(service):
    own, other = local_resources(settings_with()), local_resources(settings_with(**SERVICES[service]))
    assert other[service].kind.startswith("External")
    assert "credentials" in other[service].needs
    assert [key for key in own if key not in other] == []
    text = text_of(other)
    assert [address for address in OWN_ADDRESSES[service] if address in text] == []
    ports = other["supervisor"].inputs.ports
    assert not any(purpose.split()[0] == service for purpose in ports)
    assert components(settings_with(**SERVICES[service])) < components(settings_with()) or service == "object_store"


@pytest.mark.parametrize("service", SERVICES)
def test_only_resources_in_an_existing_service_are_marked(service):
    lab, _ = local_lab(settings_with(**SERVICES[service]))
    marked = {resource.key for resource in lab.resources if isinstance(resource, DataResource) and resource.external}
    assert marked
    assert all(service in lab_needs(lab, key) for key in marked)
    plain, _ = local_lab(settings_with())
    assert not [resource for resource in plain.resources if isinstance(resource, DataResource) and resource.external]


def lab_needs(lab, key):
    """Return the keys of everything that a part needs, indirectly too."""
    parts = {part.key: part for part in lab.parts}
    found, pending = set(), [key]
    while pending:
        needed = parts[pending.pop()].needs
        pending += [need for need in needed if need not in found]
        found |= {*needed}
    return found


def test_services_use_the_existing_ones_by_their_own_protocols():
    lab, _ = local_lab(settings_with(**EVERY))
    worker = properties(lab.service("connect").files["connect.properties"])
    assert worker["bootstrap.servers"] == "kafka-1.example:9092,kafka-2.example:9192"
    assert worker["value.converter.schema.registry.url"] == "https://registry.example:443/apis/ccompat/v7"
    assert "value.converter.apicurio.registry.url" not in worker
    source, lake = (
        next(c for c in lab.resources_of(Connector) if c.name == n) for n in ("orders_source", "orders_lake")
    )
    assert source.cluster == ""
    assert [source.config[f"database.{name}"] for name in ("hostname", "port", "user")] == ["db.example", "6432", "lab"]
    assert lake.config["iceberg.catalog.s3.endpoint"] == "https://s3.example:443"
    catalog = lab.service("iceberg_catalog").env
    assert catalog["CATALOG_JDBC_URI"] == "jdbc:postgresql://db.example:6432/catalog"
    assert catalog["CATALOG_JDBC_USER"] == "lab"
    assert "--user" in lab.service("shop").run.args
    assert lab.service("orders_etl").env["SCHEMA_REGISTRY_URL"] == "https://registry.example:443/apis/ccompat/v7"


def test_worker_gets_topics_and_a_group_of_its_own_in_an_existing_cluster():
    lab, _ = local_lab(settings_with(**KAFKA))
    worker = properties(lab.service("connect").files["connect.properties"])
    assert worker["group.id"] == "lineage-lab-dev"
    options = (*(f"{kind}.storage.topic" for kind in ("config", "offset", "status")), "openlineage.state.topic")
    topics = {worker[option] for option in options}
    assert len(topics) == 4
    assert {f"topic/{topic}" for topic in topics} <= {*lab.service("connect").needs}
    assert {topic.config["cleanup.policy"] for topic in lab.resources if topic.name in topics} == {"compact"}


def test_lineage_rules_map_every_server_of_the_cluster_to_the_same_namespace():
    lab, _ = local_lab(settings_with(**KAFKA))
    [rule] = [rule for rule in json.loads(lab.service("lineage").files["rules.json"])["namespaces"] if "hosts" in rule]
    assert rule == {"canonical": "kafka://kafka:9092", "hosts": ["kafka-1.example:9092", "kafka-2.example:9192"]}


def test_page_does_not_list_existing_services():
    lab, _ = local_lab(settings_with(**EVERY))
    shown = {service["name"] for service in json.loads(lab.service("lineage").files["lab.json"])["services"]}
    assert shown.isdisjoint(SERVICES)
    assert "connect" in shown


def test_outputs_and_variables_have_the_existing_addresses_under_their_usual_names():
    values = local_resources(settings_with(**EVERY))["lab.env"].inputs
    assert (
        values.values.items()
        >= {
            "LAB_KAFKA": "kafka-1.example:9092,kafka-2.example:9192",
            "LAB_S3": "https://s3.example:443",
            "LAB_POSTGRES": "db.example:6432",
            "LAB_SCHEMA_REGISTRY": "https://registry.example:443/apis/ccompat/v7",
            "AWS_ENDPOINT_URL_S3": "https://s3.example:443",
            "PGHOST": "db.example",
            "PGPORT": "6432",
            "PGUSER": "lab",
        }.items()
    )
    assert "LAB_S3_CONSOLE" not in values.values
    assert values.secrets.keys() >= {"PGPASSWORD", "AWS_SECRET_ACCESS_KEY"}


def test_credentials_of_existing_services_are_given_and_others_generated():
    assert external_credentials(settings_with()) == {}
    assert external_credentials(settings_with(**STORE)) == {
        "S3_ACCESS_KEY": "externalS3",
        "S3_SECRET_KEY": "externalS3",
    }
    assert local_resources(settings_with(**POSTGRES))["credentials"].inputs.given == {
        "POSTGRES_PASSWORD": "externalPostgres"
    }
    assert "given" not in local_resources(settings_with())["credentials"].inputs.properties()


def test_containers_use_the_same_addresses():
    settings = LabSettings(target="docker", port_offset=OFFSET, **EVERY)
    target = docker_target(settings=settings)
    site = replace(target.site, external=external_services(settings))
    target = replace(target, containers=replace(target.containers, site=site))
    rendered = {resource.key: resource for resource in target.render(docker_lab(target))}
    assert isinstance(rendered["kafka"].inputs, ExternalService)
    assert not {"container/kafka", "container/postgres", "volume/object_store"} & rendered.keys()
    text = text_of(rendered)
    own_names = ("=kafka:9092", "postgresql://postgres:", "object-store:9000", "schema-registry:8081")
    assert [name for name in own_names if name in text] == []


@pytest.mark.parametrize("target", ["docker", "kubernetes"])
@pytest.mark.parametrize("address", ["localhost:9092", "127.0.0.1:9092", "kafka.example:9092,LOCALHOST:9092"])
def test_loopback_is_refused_where_services_run_in_containers(target, address):
    with pytest.raises(
        SettingsError, match=r"lineage-lab:externalKafka .*with target \w+ that is the container itself"
    ):
        check_settings(LabSettings(target=target, external_kafka=address))
    check_settings(LabSettings(external_kafka=address))


def test_profile_without_the_service_ignores_its_setting():
    connect_only = settings_with(profile="connect", **POSTGRES)
    assert external_services(connect_only) == {"postgres": Address("db.example", 6432, user="lab")}


def test_chart_values_have_neither_service_nor_generated_credentials():
    settings = LabSettings(target="kubernetes", **EVERY)
    site = replace(KUBERNETES_SITE, external=external_services(settings))
    lab = build_lab(site, settings, UserFiles())
    resources = build_lab(site.for_clients_in_cluster(), settings, UserFiles()).resources
    values = replace(renderer(), site=site, settings=settings).values(lab, resources, setup=True)
    names = ("kafka", "schemaRegistry", "objectStore", "postgres")
    assert [values[name] for name in names] == [{"enabled": False}] * 4
    own = {"LINEAGE_ADMIN_KEY", "LINEAGE_INGEST_KEY", "LINEAGE_READ_KEY"}
    assert values["credentials"]["names"].keys() == own
    assert values["credentials"]["given"] == ["POSTGRES_PASSWORD", "S3_ACCESS_KEY", "S3_SECRET_KEY"]
    checks = {entry["key"]: entry["kind"] for entry in values["setup"]["resources"]}
    assert checks.items() >= {"kafka": "ExternalKafka", "postgres": "ExternalPostgres"}.items()
    assert values["setup"]["services"].keys().isdisjoint(SERVICES)
    assert {"kafka"} <= {*values["connect"]["needs"]}
