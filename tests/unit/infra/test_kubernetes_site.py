# SPDX-License-Identifier: Apache-2.0
"""Addresses on Kubernetes, and the configuration of several replicas."""

import pytest

from infra.catalog import LabSettings, build_lab, check_settings
from infra.errors import LabError
from infra.services import kafka
from infra.services.connect.worker import CONFIG, connect_service
from infra.targets.kubernetes.script import start_script
from tests.unit.infra.rendered_labs import DOCKER_LAUNCHER
from tests.unit.infra.rendered_values import SITE

THREE = LabSettings(target="kubernetes", kafka_brokers=3, connect_workers=2)


def properties(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_outside_addresses_are_forwarded_ports_and_inside_ones_host_names():
    assert str(SITE.address("schema_registry", "api")) == "schema-registry:8081"
    assert str(SITE.address("schema_registry", "api", "outside")) == "127.0.0.1:8181"
    assert str(SITE.for_clients_in_cluster().address("schema_registry", "api", "outside")) == "schema-registry:8081"


def test_each_of_three_brokers_advertises_its_own_pod_and_its_own_forwarded_port():
    service = kafka.kafka_service(SITE, THREE)
    configs = [properties(files[kafka.CONFIG]) for files in service.replica_files]
    assert [config["node.id"] for config in configs] == ["0", "1", "2"]
    assert [config["advertised.listeners"] for config in configs] == [
        f"INSIDE://kafka-{n}.kafka-pods:9092,OUTSIDE://127.0.0.1:{9192 + 100 * n}" for n in range(3)
    ]
    assert {config["controller.quorum.bootstrap.servers"] for config in configs} == {
        "kafka-0.kafka-pods:9093,kafka-1.kafka-pods:9093,kafka-2.kafka-pods:9093"
    }
    assert {config["default.replication.factor"] for config in configs} == {"3"}
    assert {config["min.insync.replicas"] for config in configs} == {"2"}
    assert kafka.CONFIG not in service.files


def test_a_single_broker_has_no_files_of_replicas():
    service = kafka.kafka_service(SITE, LabSettings(target="kubernetes"))
    assert (service.replicas, service.replica_files) == (1, ())
    assert properties(service.files[kafka.CONFIG])["offsets.topic.replication.factor"] == "1"


def test_start_script_copies_the_files_of_its_replica():
    script = start_script(kafka.kafka_service(SITE, THREE), DOCKER_LAUNCHER)
    assert 'cp "/etc/lineage-lab/replicas/$REPLICA/broker.properties" /var/lib/lineage-lab/files/broker.prop' in script
    assert "cp /etc/lineage-lab/files/log4j2.properties /var/lib/lineage-lab/files/log4j2.properties" in script
    assert "--initial-controllers" in script


def test_a_worker_advertises_its_pod_and_may_read_its_address():
    config = properties(connect_service(SITE, THREE).files[CONFIG])
    assert config["rest.advertised.host.name"] == "${env:POD_IP}"
    assert config["config.providers.env.param.allowlist.pattern"].endswith("|POD_IP")
    assert config["offset.storage.replication.factor"] == "3"


@pytest.mark.parametrize("setting", ["kafka_brokers", "connect_workers", "flink_taskmanagers"])
def test_several_replicas_are_refused_on_other_targets(setting):
    with pytest.raises(LabError, match=r"is 3, and target docker runs one replica of each service"):
        check_settings(LabSettings(target="docker", **{setting: 3}))


def spark_driver(name, **settings):
    lab = build_lab(SITE, LabSettings(target="kubernetes", **settings))
    driver = next(part for part in (*lab.services, *lab.tasks) if part.name == name)
    return driver, properties(driver.files["spark.properties"])


def test_a_batch_driver_creates_executor_pods_of_its_own_image():
    driver, config = spark_driver("supplier_stats", spark="kubernetes", spark_executors=3)
    assert config["spark.master"] == "k8s://https://kubernetes.default.svc"
    assert config["spark.driver.host"] == "${env:POD_IP}"
    assert config["spark.kubernetes.container.image"] == "${env:IMAGE}"
    assert config["spark.dynamicAllocation.maxExecutors"] == "3"
    assert "jobs.spark.launch_executor" in driver.run.uses
    assert driver.executor.secrets.items() < driver.secrets.items()
    assert "LINEAGE_API_KEY" not in driver.executor.secrets
    assert "jobs.spark.launch_executor" in start_script(driver.executor, DOCKER_LAUNCHER)


def test_a_streaming_driver_keeps_one_executor():
    _, config = spark_driver("orders_etl", spark="kubernetes")
    assert config["spark.executor.instances"] == "1"
    assert "spark.dynamicAllocation.enabled" not in config


def test_executors_in_pods_are_refused_on_other_targets():
    with pytest.raises(LabError, match=r"spark is kubernetes, and the lab's target is docker"):
        check_settings(LabSettings(target="docker", spark="kubernetes"))
