# SPDX-License-Identifier: Apache-2.0
"""Network policies of the chart against the connections that the rendered configuration names."""

import pytest

from tests.kubernetes.chart_arrows import ANY_PORT, Arrow, admitted_arrows, flink_job_arrows, named_arrows
from tests.kubernetes.chart_values import PROFILES, parts_of, rendered

UNNAMED = {
    Arrow("connect", "connect"),  # workers forward requests to the leader, whose pod has told its address
    Arrow("flink-jobmanager", "flink-taskmanager"),  # TaskManagers register with the address of their pod
    Arrow("flink-taskmanager", "flink-taskmanager"),  # exchange of records
}
"""Connections whose addresses no configuration names."""

NAMED_ONLY = {
    # Flink's services have one configuration, which also has the address at which the gateway listens.
    Arrow(client, "flink-sql-gateway", 8085)
    for client in ("flink-jobmanager", "flink-taskmanager", "flink-sql-gateway")
}
"""Addresses in the configuration of components that do not connect to them."""


@pytest.fixture(params=PROFILES)
def profile(request):
    return request.param


@pytest.fixture
def admitted(helm, profile):
    return admitted_arrows(helm.template(rendered(profile)))


def without_ports(arrows):
    return {Arrow(arrow.client, arrow.server) for arrow in arrows}


def test_every_connection_that_the_configuration_names_is_admitted(admitted, profile):
    named = named_arrows(rendered(profile)) - NAMED_ONLY
    assert {(arrow.client, arrow.server) for arrow in named} > {("connect", "kafka"), ("setup", "postgres")}
    any_port = {(arrow.client, arrow.server) for arrow in admitted if arrow.port == ANY_PORT}
    missing = {arrow for arrow in named - admitted if (arrow.client, arrow.server) not in any_port}
    assert not missing


def test_no_connection_is_admitted_that_nothing_uses(admitted, profile):
    """Jobs are admitted as a group: some job uses each of their connections."""
    values = rendered(profile)
    named = named_arrows(values) - NAMED_ONLY
    used = named | flink_job_arrows(values, ("flink-jobmanager", "flink-sql-gateway")) | UNNAMED
    programs = {
        name: part for name, part in parts_of(values).items() if part["name"] in values["jobs"] | values["tasks"]
    }
    pairs = [{name, f"{name}-executor"} for name, part in programs.items() if "executor" in part]
    spark = {Arrow(client, server) for pods in pairs for client in pods for server in pods}
    jobs = {*programs, *(f"{name}-executor" for name in programs)}

    def grouped(arrows):
        return {Arrow("jobs" if arrow.client in jobs else arrow.client, arrow.server) for arrow in arrows}

    assert without_ports(admitted) >= spark
    unused = grouped(admitted - spark) - grouped(used)
    assert not unused


def test_a_policy_denies_every_other_connection_to_every_pod(helm, profile):
    policies = [one for one in helm.template(rendered(profile)) if one["kind"] == "NetworkPolicy"]
    (deny,) = (policy["spec"] for policy in policies if policy["metadata"]["name"] == "deny-by-default")
    assert deny == {
        "podSelector": {"matchLabels": {"app.kubernetes.io/instance": "lineage-lab"}},
        "policyTypes": ["Ingress"],
    }
    selectors = [policy["spec"]["podSelector"]["matchLabels"] for policy in policies]
    assert selectors == [deny["podSelector"]["matchLabels"]] * len(policies)


def test_a_service_that_was_added_admits_what_awaits_it(helm):
    values = rendered("connect")
    shop = {**values["shop"], "needs": ["query_engine"]}
    engine = {**values["connect"], "name": "query_engine", "ports": [{"name": "http", "port": 8090}], "needs": []}
    manifests = helm.template({**values, "shop": shop, "jobs": {"query_engine": engine}})
    found = {arrow for arrow in admitted_arrows(manifests) if arrow.server == "query-engine"}
    assert found == {Arrow("shop", "query-engine", 8090), Arrow("test", "query-engine", 8090)}


def test_rules_of_the_user_and_of_the_ingress_are_added(helm):
    mine = {"from": [{"podSelector": {"matchLabels": {"app": "mine"}}}], "ports": [{"port": 9092}]}
    changes = {"networkPolicy": {"extraIngress": {"kafka": [mine]}}, "ingress": {"enabled": True}}
    manifests = helm.template({**rendered("connect"), **changes})
    rules = {one["metadata"]["name"]: one["spec"].get("ingress") for one in manifests if one["kind"] == "NetworkPolicy"}
    assert mine in rules["kafka"]
    assert {"from": [{"namespaceSelector": {}}], "ports": [{"port": 5000}]} in rules["lineage"]


def test_policies_can_be_switched_off(helm):
    manifests = helm.template({**rendered("connect"), "networkPolicy": {"enabled": False}})
    assert "NetworkPolicy" not in {manifest["kind"] for manifest in manifests}
