# SPDX-License-Identifier: Apache-2.0
"""Values of the chart, rendered from the lab; differences from the same lab on Docker."""

import json
from difflib import ndiff

import pytest

from infra.catalog import ENDPOINTS
from infra.model import Service
from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.values import chart_services, value_name
from tests.unit.infra.rendered_labs import docker_lab, docker_target
from tests.unit.infra.rendered_values import rendered


def parts_of(values):
    services = [one for one in values.values() if isinstance(one, dict) and one.get("enabled") and "name" in one]
    return {one["name"]: one for one in [*services, *values["jobs"].values(), *values["tasks"].values()]}


def test_every_part_of_the_lab_is_in_the_values_once():
    lab, values = rendered()
    assert parts_of(values).keys() == {part.name for part in (*lab.services, *lab.tasks)}
    assert set(values["jobs"]) == {"orders_etl", "maintenance", "supplier_windows", "iceberg_ingestion"}
    assert values["marquez"] == {"enabled": False}


def test_configuration_differs_from_docker_in_the_replicas_own_addresses_only():
    _, values = rendered()
    parts = parts_of(values)
    differences = set()
    for part in (lab := docker_lab(docker_target())).services + lab.tasks:
        for name, text in part.files.items():
            ours = parts[part.name]["files"][name]
            changes = [line for line in ndiff(text.splitlines(), ours.splitlines()) if line[:2] in {"- ", "+ "}]
            differences |= {line.split("=")[0].split(":")[0] for line in changes}
    assert differences == {
        *("- rest.advertised.host.name", "+ rest.advertised.host.name"),
        *("- config.providers.env.param.allowlist.pattern", "+ config.providers.env.param.allowlist.pattern"),
        *("- spark.driver.host", "+ spark.driver.host"),
        *("- taskmanager.host",),
        *("- high-availability.cluster-id", "+ high-availability.cluster-id"),
    }


def test_resources_have_addresses_of_the_namespace_and_launched_jobs_are_left_out():
    _, values = rendered()
    kinds = {entry["kind"] for entry in values["setup"]["resources"]}
    assert kinds == {"Topic", "Subject", "Bucket", "Database", "Table", "Connector"}
    topic = next(entry for entry in values["setup"]["resources"] if entry["key"] == "topic/orders")
    assert topic["inputs"]["bootstrap"] == "kafka:9092"
    bucket = next(entry for entry in values["setup"]["resources"] if entry["key"] == "bucket/archive")
    assert bucket["inputs"]["credentials"] == "/run/lineage-lab/credentials.env"


def test_only_services_with_data_have_volumes_and_private_ports_are_not_published():
    _, values = rendered()
    assert values["kafka"]["volumes"] == ["data"]
    assert values["connect"]["volumes"] == []
    assert values["kafka"]["ports"] == [{"name": "broker", "port": 9092}]


def test_a_definition_changes_with_the_configuration_of_its_part_only():
    _, one = rendered()
    _, other = rendered(connect_heap_mib=512)
    before, after = parts_of(one), parts_of(other)
    assert {name for name in before if before[name]["definition"] != after[name]["definition"]} == {"connect"}


def test_a_definition_does_not_change_with_the_number_of_workers():
    """Pods are annotated with it: a change would restart all of them."""
    few, many = (parts_of(rendered(connect_workers=workers)[1])["connect"] for workers in (1, 2))
    assert few["definition"] == many["definition"]
    assert (few["replicas"], many["replicas"]) == (1, 2)


@pytest.mark.parametrize("setup", [True, False])
def test_setup_is_left_to_pulumi_or_done_by_the_chart(setup):
    assert rendered(setup)[1]["setup"]["enabled"] is setup


def test_names_in_the_values_are_spelled_as_helm_users_expect():
    assert [value_name(name) for name in ("kafka", "schema_registry", "flink_sql_gateway")] == [
        *("kafka", "schemaRegistry", "flinkSqlGateway"),
    ]


def test_every_service_of_the_lab_that_the_chart_knows_has_a_template_and_default_values():
    known = chart_services(CHART, ENDPOINTS)
    lab, _ = rendered()
    assert {value_name(part.name) for part in lab.services if isinstance(part, Service)} - known == {
        *("ordersEtl", "maintenance", "supplierWindows", "icebergIngestion"),
    }
    defaults = (CHART / "values.yaml").read_text()
    assert all(f"\n{name}:\n" in defaults for name in known)


def test_values_contain_no_path_of_this_machine():
    _, values = rendered()
    assert "/project/" not in json.dumps(values).replace("/opt/lineage-lab/project/", "")
    assert "of /project" not in json.dumps(values)
