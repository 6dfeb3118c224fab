# SPDX-License-Identifier: Apache-2.0
"""The lab installed by Helm without Pulumi, by the commands of the how-to guide, in the reduced profile."""

import re
import subprocess

import httpx
import pytest

from infra.project import PROJECT
from infra.services.overview import enabled_features
from lineage.checks.contract import compare, load
from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon
from tests.kubernetes.kubectl import Kubectl
from tests.kubernetes.kubernetes_lab import KubernetesLab, load_images

pytestmark = pytest.mark.smoke

GUIDE = PROJECT / "docs" / "how-to" / "run-on-kubernetes.md"
NAMESPACE = "lineage-lab"
"""Namespace in the guide."""


def commands():
    """Return the commands of the guide's section, one for each line."""
    section = GUIDE.read_text().split("## With Helm alone")[1]
    return re.search(r"```\n(.*?)```", section, re.DOTALL)[1].strip().splitlines()


def run(command, folder):
    print(f"$ {command}")
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(cluster, base_image, tmp_path_factory):
    """The namespace after all commands of the guide but the last, which forwards a port until it is stopped."""
    lab = KubernetesLab()
    values = tmp_path_factory.mktemp("helm") / "values.yaml"
    *steps, forward = commands()
    assert "port-forward" in forward
    with lab.configured():
        load_images(lab, cluster)
        try:
            for step in steps:
                # The reduced profile; everything else is as in the guide.
                chosen = step.replace("render kubernetes", f"render kubernetes --stack {lab.stack}")
                run(chosen.replace("values.yaml", str(values)), PROJECT)
            yield Kubectl(NAMESPACE)
        finally:
            subprocess.run(["helm", "uninstall", "lineage-lab", "--namespace", NAMESPACE], check=False)
            Kubectl().run("delete", "namespace", NAMESPACE)


def test_the_guides_commands_install_a_lab_whose_lineage_matches_the_contract(installed):
    installed.await_condition("condition=complete", "job/supplier-stats-1", seconds=300)
    contract = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text())
    features = enabled_features(KubernetesLab().settings)
    with installed.port_forward("service/lineage", 5000) as port:
        graph = httpx.get(f"http://127.0.0.1:{port}/api/v1/graph", timeout=30).raise_for_status().json()
        page = httpx.get(f"http://127.0.0.1:{port}/", timeout=30)
    report = compare(contract, graph, features)
    assert report.is_complete, report.render_text()
    assert page.status_code == 200


def test_the_chart_created_every_resource_and_an_upgrade_keeps_the_credentials(installed, tmp_path):
    log = installed.run("logs", "--selector", "app.kubernetes.io/component=setup", "--tail=100")
    assert "connector/orders_source: created" in log
    before = installed.get("secret", "lineage-lab-credentials")["data"]
    done = subprocess.run(
        ["helm", "upgrade", "lineage-lab", "charts/lineage-lab", "--namespace", NAMESPACE, "--reuse-values"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert installed.get("secret", "lineage-lab-credentials")["data"] == before
