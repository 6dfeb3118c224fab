# SPDX-License-Identifier: Apache-2.0
"""Labs with TLS as they are rendered: what is encrypted, who trusts whom, and where passwords are."""

from dataclasses import replace

import pytest

from infra.catalog import LabSettings, build_lab, certified_services, check_settings
from infra.errors import SettingsError
from infra.model import KafkaAcls, Python, Service
from infra.namespaces import TOPIC_LINEAGE_EVENTS
from infra.project import PROJECT
from infra.services import kafka_access
from infra.services.kafka import CONFIG
from infra.settings import TLS
from infra.targets.container_paths import PROBE
from infra.targets.launch_script import Launcher
from infra.targets.local.target import LocalTarget
from tests.unit.infra.rendered_labs import (
    CHECKOUT,
    LOCAL_SITE,
    OFFSET,
    STACK_ROOT,
    Programs,
    docker_resources,
    docker_target,
    local_resources,
)
from tests.unit.infra.rendered_values import kubernetes_resources

SITE = replace(LOCAL_SITE, tls=True)
CERTIFIED = {"iceberg_catalog", "kafka", "lineage", "object_store", "postgres", "schema_registry"}


def settings(**more):
    return LabSettings(security=TLS, port_offset=OFFSET, **more)


def lab(**more):
    return build_lab(SITE, settings(**more))


def test_services_restart_with_a_new_certificate():
    launcher = Launcher(Programs(), PROJECT, STACK_ROOT / "credentials.env")
    rendered = {resource.key: resource for resource in LocalTarget(SITE, launcher, settings()).render(lab())}
    assert {key for key in CERTIFIED if not rendered[key].secret} == set()
    assert rendered["credentials"].inputs.certified == certified_services(settings())


def test_services_with_a_certificate():
    assert set(certified_services(settings())) == CERTIFIED
    assert set(certified_services(settings(profile="connect"))) == CERTIFIED - {"iceberg_catalog"}


def test_no_address_of_a_service_with_a_certificate_is_plain():
    plain = {
        f"http://127.0.0.1:{endpoint.port + OFFSET}"
        for part in lab().services
        for endpoint in part.endpoints
        if endpoint.tls
    }
    assert len(plain) == 8
    for part in (*lab().services, *lab().tasks):
        arguments = part.run.args if isinstance(part.run, Python) else ()
        texts = (*part.files.values(), *part.env.values(), *arguments)
        assert [address for address in plain for text in texts if address in text] == [], part.name


def test_resources_are_read_with_the_authority():
    for resource in lab().resources:
        inputs = resource.properties()
        address = inputs.get("endpoint") or inputs.get("registry") or ""
        assert not address.startswith("http://"), resource.key
        if resource.kind in {"Topic", "KafkaAcls", "Database", "Table"}:
            assert inputs["authority"].endswith("certificates/ca.pem"), resource.key


def test_no_password_is_in_a_file_that_others_read():
    for part in (*lab(lineage_history=True).services, *lab(lineage_history=True).tasks):
        for text in (*part.files.values(), *part.env.values()):
            assert "PlainLoginModule" not in text, part.name
        for text in part.secret_files.values():
            assert "password" not in text or "$" in text, part.name


def test_every_client_of_kafka_has_its_own_login():
    logins = {
        part.name: secret
        for part in lab(lineage_history=True).services
        for name, secret in part.secrets.items()
        if name == kafka_access.PASSWORD_VARIABLE
    }
    assert logins["connect"] == "KAFKA_CONNECT_PASSWORD"
    assert logins["orders_etl"] == "KAFKA_SPARK_PASSWORD"
    assert logins["lineage"] == "KAFKA_LINEAGE_PASSWORD"
    assert {logins[name] for name in logins if name.startswith("flink_")} == {"KAFKA_FLINK_PASSWORD"}
    assert {"shop", "iceberg_catalog", "schema_registry"}.isdisjoint(logins)


def test_both_listeners_of_the_broker_demand_a_login():
    config = lab().service("kafka").files[CONFIG]
    assert "listener.security.protocol.map=INSIDE:SASL_SSL,CONTROLLER:SASL_SSL\n" in config
    assert "PLAINTEXT" not in config
    assert "allow.everyone.if.no.acl.found=false\n" in config
    assert "super.users=User:admin\n" in config


def test_nobody_but_the_administrator_may_change_rights_or_delete_topics():
    for user, rules in kafka_access.rules(TOPIC_LINEAGE_EVENTS).items():
        for rule in rules:
            assert "all" not in rule.operations, user
            if rule.resource == "cluster":
                assert set(rule.operations) <= {"describe", "idempotent_write"}, user
            if rule.resource == "topic":
                assert "delete" not in rule.operations, user


@pytest.mark.parametrize("user", [kafka_access.CLIENT, kafka_access.SPARK])
def test_readers_write_nothing(user):
    operations = {operation for rule in kafka_access.rules()[user] for operation in rule.operations}
    assert {"write", "create", "alter_configs"}.isdisjoint(operations)


def test_the_lineage_service_has_rights_to_its_topic_alone():
    (topic,) = [rule for rule in kafka_access.rules("events")["lineage"] if rule.resource == "topic"]
    assert (topic.name, topic.pattern) == ("events", "literal")
    assert "lineage" not in kafka_access.rules()
    assert {acls.name for acls in lab().resources_of(KafkaAcls)} == {"client", "connect", "flink", "spark"}


def test_a_lab_without_tls_has_none_of_it():
    parts = build_lab(LOCAL_SITE, LabSettings(port_offset=OFFSET))
    assert parts.resources_of(KafkaAcls) == ()
    for part in parts.parts:
        assert "certificates/" not in repr(part), part.key
        if isinstance(part, Service):
            assert kafka_access.PASSWORD_VARIABLE not in part.secrets


def test_the_environment_file_names_authority_and_login_only_with_tls():
    plain = local_resources(LabSettings(port_offset=OFFSET))["lab.env"].inputs
    assert not {name for name in (*plain.values, *plain.secrets) if name.startswith(("KAFKA_", "LAB_CA", "PGSSL"))}


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"trino": True, "marquez": True}, "lineage-lab:marquez, lineage-lab:trino"),
        ({"spark": "cluster"}, "lineage-lab:spark"),
        ({"external_kafka": "kafka.example.org:9092"}, "lineage-lab:externalKafka"),
    ],
)
def test_settings_without_tls_are_named(more, named):
    with pytest.raises(SettingsError, match=f"cannot be combined with yet: {named}$"):
        check_settings(settings(**more))


def test_tls_with_the_defaults_is_accepted():
    for target in ("local", "docker", "kubernetes"):
        check_settings(settings(target=target))
    check_settings(settings(lineage_history=True, forecast=True, dbt=True, dashboard=True))


def test_programs_that_read_the_lake_trust_the_authority():
    found = lab(dashboard=True, dbt=True, forecast=True)
    for name in ("dashboard", "dbt_build", "price_forecast_training"):
        part = next(part for part in (*found.services, *found.tasks) if part.name == name)
        trusted = {part.env[variable] for variable in ("LAB_CA_FILE", "SSL_CERT_FILE", "AWS_CA_BUNDLE")}
        assert trusted == {SITE.certificate_file("ca.pem")}, name


DOCKER = docker_resources(
    docker_target(settings=LabSettings(target="docker", security=TLS, port_offset=OFFSET), tls=True)
)


def test_containers_have_certificates_for_their_host_names():
    inputs = DOCKER["credentials"].inputs
    assert inputs.certificates == str(CHECKOUT / ".lab" / "dev" / "certificates")
    assert inputs.hosts["object_store"] == ("object-store",)
    assert set(inputs.certified) == CERTIFIED
    copied = DOCKER["credentials/volume"].inputs
    assert (copied.certificates, copied.certified) == (inputs.certificates, inputs.certified)


def test_every_container_trusts_the_authority_and_restarts_with_a_new_certificate():
    containers = {key: found for key, found in DOCKER.items() if found.kind == "Container"}
    without = {
        key
        for key, found in containers.items()
        if not found.secret or "credentials/volume" not in found.needs or not found.inputs.volumes[-1].read_only
    }
    assert without == set()


def test_services_in_containers_have_no_path_of_this_machine():
    for key, found in DOCKER.items():
        if found.kind == "Container":
            assert f"{CHECKOUT}/.lab" not in "".join(found.inputs.command), key
    assert "/run/lineage-lab/certificates/kafka/chain.pem" in "".join(DOCKER["container/kafka"].inputs.command)


def test_clients_of_containers_are_outside():
    values = DOCKER["lab.env"].inputs.values
    authority = str(CHECKOUT / ".lab" / "dev" / "certificates" / "ca.pem")
    names = ("LAB_CA_FILE", "KAFKA_SSL_CA_LOCATION", "PGSSLROOTCERT", "AWS_CA_BUNDLE")
    assert {values[name] for name in names} == {authority}
    for key, found in DOCKER.items():
        if found.kind in {"Topic", "KafkaAcls", "Database", "Table"}:
            assert found.inputs.authority == authority, key


def test_all_listeners_of_a_broker_in_a_container_demand_a_login():
    config = "".join(DOCKER["container/kafka"].inputs.command)
    assert "listener.security.protocol.map=INSIDE:SASL_SSL,OUTSIDE:SASL_SSL,CONTROLLER:SASL_SSL\n" in config


def test_probes_of_containers_check_the_certificate():
    authority = "/run/lineage-lab/certificates/ca.pem"
    for name in ("iceberg_catalog", "lineage", "object_store", "schema_registry"):
        (_, probe, host, _, path, trusted) = DOCKER[f"container/{name}"].inputs.healthcheck.tests
        assert (probe, host, path[0], trusted) == (PROBE, "127.0.0.1", "/", authority), name


KUBERNETES = kubernetes_resources(
    LabSettings(target="kubernetes", security=TLS, port_offset=OFFSET, kafka_brokers=3, spark="kubernetes"), tls=True
)


def test_pods_have_certificates_for_their_names_in_the_cluster():
    hosts = KUBERNETES["credentials"].inputs.hosts
    assert hosts["object_store"] == (
        "object-store",
        "object-store.lineage-lab-dev",
        "object-store.lineage-lab-dev.svc",
        "object-store.lineage-lab-dev.svc.cluster.local",
    )
    assert hosts["kafka"][4:] == ("kafka-0.kafka-pods", "kafka-1.kafka-pods", "kafka-2.kafka-pods")
    assert set(hosts) == CERTIFIED


def test_the_secret_has_the_certificates_and_not_the_key_of_the_authority():
    inputs = KUBERNETES["credentials/secret"].inputs
    assert inputs.certificates == str(CHECKOUT / ".lab" / "dev" / "certificates")
    assert set(inputs.certified) == CERTIFIED
    files = KUBERNETES["release"].inputs.values["credentials"]["certificates"]
    assert {"certificates/ca.pem", "certificates/ca.p12", "certificates/kafka/private.key"} < set(files)
    assert not [file for file in files if "ca.key" in file]


def test_every_pod_restarts_with_a_new_certificate():
    workloads = {key: found for key, found in KUBERNETES.items() if found.kind == "Workload"}
    assert len(workloads) > 8
    assert {key for key, found in workloads.items() if not found.secret} == set()
    values = KUBERNETES["release"].inputs.values
    for part in (*values["jobs"].values(), *values["tasks"].values(), values["kafka"], values["shop"]):
        assert part["secrets"] is True, part["name"]


def test_all_listeners_of_several_brokers_demand_a_login():
    for files in KUBERNETES["release"].inputs.values["kafka"]["replicaFiles"]:
        assert "listener.security.protocol.map=INSIDE:SASL_SSL,OUTSIDE:SASL_SSL,CONTROLLER:SASL_SSL\n" in files[CONFIG]


def test_clients_of_pods_are_outside_and_those_in_the_cluster_have_its_paths():
    authority = str(CHECKOUT / ".lab" / "dev" / "certificates" / "ca.pem")
    assert KUBERNETES["lab.env"].inputs.values["LAB_CA_FILE"] == authority
    for key, found in KUBERNETES.items():
        if found.kind in {"Topic", "KafkaAcls", "Database", "Table"}:
            assert found.inputs.authority == authority, key
    entries = KUBERNETES["release"].inputs.values["setup"]["resources"]
    inside = {entry["inputs"]["authority"] for entry in entries if "authority" in entry["inputs"]}
    assert inside == {"/run/lineage-lab/certificates/ca.pem"}


def test_executors_log_in_to_kafka_as_their_drivers_do():
    job = KUBERNETES["release"].inputs.values["jobs"]["orders_etl"]
    for script in (job["script"], job["executor"]["script"]):
        assert "/tmp/kafka.jaas" in script
        assert 'username="spark"' in script
        assert "KAFKA_SPARK_PASSWORD" in script
    (options,) = [
        line for line in job["files"]["spark.properties"].splitlines() if line.startswith("spark.executor.defaultJava")
    ]
    assert "-Djavax.net.ssl.trustStore=/run/lineage-lab/certificates/ca.p12" in options
    assert "-Djava.security.auth.login.config=/tmp/kafka.jaas" in options


def test_the_program_that_awaits_resources_in_the_cluster_trusts_the_authority():
    setup = KUBERNETES["release"].inputs.values["setup"]
    for script in (setup["script"], setup["awaitScript"]):
        assert "export LAB_CA_FILE=/run/lineage-lab/certificates/ca.pem" in script
        assert "export AWS_CA_BUNDLE=/run/lineage-lab/certificates/ca.pem" in script
