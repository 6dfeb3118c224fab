# SPDX-License-Identifier: Apache-2.0
"""The objects of the chart at a real API server, in a namespace with restricted Pod Security; nothing is created."""

import pytest
import yaml

from infra.targets.kubernetes.names import ENFORCED_LEVEL
from tests.kubernetes.chart_values import PROFILES, rendered

DRY_RUN = ("--dry-run=server", "--warnings-as-errors")


@pytest.fixture
def strict_namespace(namespace, kubectl):
    """Namespace whose API server also warns of workloads with pods that Pod Security would reject."""
    kubectl.run("label", "namespace", namespace.namespace, f"pod-security.kubernetes.io/warn={ENFORCED_LEVEL}")
    return namespace


@pytest.mark.parametrize("profile", PROFILES)
def test_the_server_accepts_every_object_without_a_warning(strict_namespace, helm, profile):
    manifests = helm.template(rendered(profile), "--namespace", strict_namespace.namespace)
    accepted = strict_namespace.apply(*manifests, options=DRY_RUN).splitlines()
    assert len(accepted) == len(manifests)
    assert all(line.endswith("created (server dry run)") for line in accepted)


def bare_pods(manifests):
    """Yield a pod of every pod template: of workloads, Jobs, tasks, Spark executors and the test."""
    for manifest in manifests:
        name, spec = manifest["metadata"]["name"], manifest.get("spec", {})
        if manifest["kind"] == "Pod":
            yield pod(name, manifest)
        elif manifest["kind"] == "CronJob":
            yield pod(name, spec["jobTemplate"]["spec"]["template"])
        elif "template" in spec:
            yield pod(name, spec["template"])
        if template := manifest.get("data", {}).get("executor.yaml"):
            executor = yaml.safe_load(template)
            executor["spec"]["containers"][0]["image"] = "set-by-spark"
            yield pod(f"{name}-executor", executor)


def pod(name, template):
    spec = template["spec"]
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    uses_claim = any(mount["name"] == "data" for mount in spec["containers"][0].get("volumeMounts", []))
    spec = spec | {"volumes": spec.get("volumes", []) + (claims if uses_claim else [])}
    metadata = {"name": name, "labels": template["metadata"]["labels"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def test_bare_pods_of_every_template_are_admitted_without_a_warning(strict_namespace, helm):
    strict_namespace.run("create", "serviceaccount", "spark")
    manifests = helm.template(rendered("full"))
    pods = list(bare_pods(manifests))
    executors = [one for one in pods if one["metadata"]["name"].endswith("-executor")]
    assert len(executors) == 5
    assert len(pods) == len(executors) + sum(
        one["kind"] in {"Deployment", "StatefulSet", "Job", "CronJob", "Pod"} for one in manifests
    )
    assert len(strict_namespace.apply(*pods, options=DRY_RUN).splitlines()) == len(pods)
