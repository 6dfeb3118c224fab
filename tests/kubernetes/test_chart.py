# SPDX-License-Identifier: Apache-2.0
"""The chart: checks of Helm, values that it rejects, and the objects that it renders."""

import base64
import copy
import re
import signal
import subprocess
import time

import pytest

from infra import credentials
from infra.targets.container_paths import PROBE
from infra.targets.kubernetes.names import COMPONENT_LABEL, CREDENTIALS_SECRET, INSTANCE_LABEL
from infra.targets.kubernetes.secret_keys import secret_key
from lineage.access.hosts import HOSTS_VARIABLE
from tests.kubernetes.chart_values import PROFILES, SECRET, parts_of, rendered
from tests.kubernetes.helm import HelmError

COMMAND = "bin/lab render kubernetes --into values.yaml"
"""Remedy of incomplete values."""


def changed(profile, **parts):
    """Return values of a profile; each keyword is the key of a part, or of another section, with its changes."""
    values = copy.deepcopy(rendered(profile))
    for key, changes in parts.items():
        values[key] = {**values.get(key, {}), **changes}
    return values


def workloads(manifests):
    """Return Deployments and StatefulSets by name."""
    kinds = {"Deployment", "StatefulSet"}
    return {manifest["metadata"]["name"]: manifest for manifest in manifests if manifest["kind"] in kinds}


def named(manifests, kind):
    return {manifest["metadata"]["name"]: manifest for manifest in manifests if manifest["kind"] == kind}


def pods(manifests):
    """Return the pod templates of workloads, by name."""
    return {name: manifest["spec"]["template"] for name, manifest in workloads(manifests).items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_strict_lint_has_no_finding(helm, profile):
    findings = [line for line in helm.lint(rendered(profile)).splitlines() if line.startswith("[")]
    assert findings == ["[INFO] Chart.yaml: icon is recommended"]


def test_strict_lint_accepts_the_chart_without_values(helm):
    assert "0 chart(s) failed" in helm.lint()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kafka": {"replcas": 3}}, r"at '/kafka': additional properties 'replcas' not allowed"),
        ({"kafak": {"replicas": 3}}, r"additional properties 'kafak' not allowed"),
        (
            {"connect": {"resources": {"limit": {}}}},
            r"at '/connect/resources': additional properties 'limit' not allowed",
        ),
        ({"images": {"pullPolicy": "Sometimes"}}, r"at '/images/pullPolicy': value must be one of 'Always'"),
        ({"connect": {"replicas": "two"}}, r"at '/connect/replicas': got string, want integer"),
        ({"tasks": {"supplier_stats": {"replicas": 2}}}, r"additional properties 'replicas' not allowed"),
    ],
)
def test_mistyped_values_are_rejected_with_their_names(helm, changes, message):
    with pytest.raises(HelmError, match=message):
        helm.template(changed("full", **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kafka": {"image": ""}}, rf"values of kafka are incomplete \(no kafka.image\): write them with `{COMMAND}`"),
        ({"shop": {"script": ""}}, rf"values of shop are incomplete \(no shop.script\): write them with `{COMMAND}`"),
        ({"setup": {"image": ""}}, rf"values of setup are incomplete \(no setup.image\): write them with `{COMMAND}`"),
        ({"kafka": {"replicas": 2}}, r"kafka.replicas is 2 and kafka.replicaFiles has 3 entries: .*kafkaBrokers"),
        ({"postgres": {"replicas": 2}}, r"postgres.replicas is 2: this service runs as one replica"),
        ({"flinkJobmanager": {"replicas": 2}}, r"flinkJobmanager.replicas is 2: this service runs as one replica"),
        ({"networkPolicy": {"extraIngress": {"kafak": []}}}, r"extraIngress.kafak: the components are connect, "),
    ],
)
def test_values_that_cannot_work_are_rejected_with_a_remedy(helm, changes, message):
    with pytest.raises(HelmError, match=message):
        helm.template(changed("full", **changes))


def test_the_chart_without_rendered_values_is_rejected_with_the_command_that_writes_them(helm):
    with pytest.raises(HelmError, match=COMMAND):
        helm.template({})


@pytest.mark.parametrize("profile", PROFILES)
def test_every_selector_selects_the_pods_of_one_component(helm, profile):
    manifests = helm.template(rendered(profile))
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(manifests).items()}
    for kind in ("Service", "PodDisruptionBudget", "Deployment", "StatefulSet"):
        for name, manifest in named(manifests, kind).items():
            selector = manifest["spec"]["selector"]
            selector = selector if kind == "Service" else selector["matchLabels"]
            assert selector.keys() == {INSTANCE_LABEL, COMPONENT_LABEL}
            selected = {pod for pod, own in labels.items() if selector.items() <= own.items()}
            assert selected == {name.removesuffix("-pods")}


def test_generated_credentials_are_read_as_the_labs_own(helm):
    (secret,) = (one for one in helm.template(rendered("connect")) if one["kind"] == "Secret")
    values = credentials.parse(base64.b64decode(secret["data"]["credentials.env"]).decode())
    lengths = rendered("connect")["credentials"]["names"]
    assert {name: len(value) for name, value in values.items()} == lengths
    assert len(set(values.values())) == len(values)


def test_an_existing_secret_replaces_the_generated_one(helm):
    manifests = helm.template(changed("connect", credentials={"existingSecret": "mine"}))
    assert not named(manifests, "Secret")
    assert CREDENTIALS_SECRET not in str(manifests)
    volumes = {volume["name"]: volume for volume in pods(manifests)["connect"]["spec"]["volumes"]}
    assert volumes["credentials"]["secret"]["secretName"] == "mine"


def test_credentials_of_existing_services_are_never_generated(helm):
    changes = {"given": ["S3_ACCESS_KEY", "S3_SECRET_KEY"]}
    with pytest.raises(HelmError, match=r"credentials.existingSecret: .* for S3_ACCESS_KEY, S3_SECRET_KEY"):
        helm.template(changed("connect", credentials=changes))
    assert helm.template(changed("connect", credentials=changes | {"existingSecret": "mine"}))


@pytest.mark.parametrize("key", ["files", "script", "podAnnotations"])
def test_only_pods_with_a_changed_configuration_are_replaced(helm, key):
    text = {"files": {"connect.properties": "x=1"}, "script": "exit 0", "podAnnotations": {"mine": "1"}}
    before, after = (
        pods(helm.template(values)) for values in (rendered("full"), changed("full", connect={key: text[key]}))
    )
    assert {name for name in before if before[name] != after[name]} == {"connect"}


@pytest.mark.parametrize("key", ["connect", "flinkTaskmanager", "icebergCatalog"])
def test_another_number_of_replicas_replaces_no_pod(helm, key):
    few, many = (pods(helm.template(changed("full", **{key: {"replicas": number}}))) for number in (1, 3))
    assert few == many


def test_new_credentials_replace_the_pods_that_use_them(helm):
    before = pods(helm.template(rendered("full")))
    after = pods(helm.template(changed("full", credentials={"fingerprint": "other"})))
    users = {name for name, part in parts_of(rendered("full")).items() if part["secrets"]}
    assert {name for name in before if before[name] != after[name]} == users & before.keys()


@pytest.mark.parametrize(
    "changes",
    [
        {"setup": {"script": "exit 0"}},
        {"setup": {"podResources": {"limits": {"memory": "300Mi"}}}},
        {"images": {"pullPolicy": "Always"}},
    ],
)
def test_a_changed_setup_job_is_a_new_job(helm, changes):
    """Kubernetes rejects changes of a Job's pod template."""
    (before,), (after,) = (
        named(helm.template(values), "Job") for values in (rendered("full"), changed("full", **changes))
    )
    assert before != after


def test_pods_of_a_single_replica_are_stopped_before_their_successors_start(helm):
    strategies = {
        name: one["spec"]["strategy"] for name, one in named(helm.template(rendered("full")), "Deployment").items()
    }
    several = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert strategies.pop("connect") == strategies.pop("flink-taskmanager") == several
    assert set(map(str, strategies.values())) == {str({"type": "Recreate"})}


def test_a_service_that_is_left_out_has_no_objects(helm):
    manifests = helm.template(changed("connect", shop={"enabled": False}))
    assert "shop" not in {manifest["metadata"]["name"] for manifest in manifests}


def test_usual_values_reach_every_pod(helm):
    scheduling = {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "lab", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
    }
    values = changed(
        "full", kafka=scheduling, setup=scheduling, images={"pullPolicy": "Always", "pullSecrets": ["pull"]}
    )
    manifests = helm.template({**values, "storage": {"className": "fast", "size": "9Gi"}})
    specs = {name: pod["spec"] for name, pod in pods(manifests).items()}
    (job,) = named(manifests, "Job").values()
    (test,) = named(manifests, "Pod").values()
    everyone = [*specs.values(), job["spec"]["template"]["spec"], test["spec"]]
    assert all(spec["imagePullSecrets"] == [{"name": "pull"}] for spec in everyone)
    assert {container["imagePullPolicy"] for spec in everyone for container in spec["containers"]} == {"Always"}
    for spec in (specs["kafka"], job["spec"]["template"]["spec"], test["spec"]):
        assert {key: spec[key] for key in scheduling} == scheduling
    for workload in named(manifests, "StatefulSet").values():
        (claim,) = workload["spec"]["volumeClaimTemplates"]
        assert claim["spec"]["storageClassName"] == "fast"
        assert claim["spec"]["resources"]["requests"]["storage"] == "9Gi"


def test_the_page_is_published_on_request_only(helm):
    assert not named(helm.template(rendered("connect")), "Ingress")
    wanted = {"enabled": True, "host": "lab.example.org", "className": "nginx", "annotations": {"a": "b"}}
    (ingress,) = named(helm.template(changed("connect", ingress=wanted)), "Ingress").values()
    (rule,) = ingress["spec"]["rules"]
    assert (rule["host"], ingress["spec"]["ingressClassName"]) == ("lab.example.org", "nginx")
    assert rule["http"]["paths"][0]["backend"] == {"service": {"name": "lineage", "port": {"number": 5000}}}


@pytest.mark.parametrize(
    ("ingress", "allowed"),
    [
        ({"enabled": True, "host": "lab.example.org"}, ["lab.example.org"]),
        ({"enabled": True, "host": "*.example.org"}, [".example.org"]),
        ({"enabled": True, "host": ""}, []),
        ({"enabled": False, "host": "lab.example.org"}, []),
    ],
)
def test_the_lineage_service_accepts_the_host_of_the_ingress(helm, ingress, allowed):
    found = pods(helm.template(changed("connect", ingress=ingress)))
    variables = {
        name: [one["value"] for one in container["env"] if one["name"] == HOSTS_VARIABLE]
        for name, pod in found.items()
        for container in pod["spec"]["containers"]
    }
    assert variables.pop("lineage") == allowed
    assert not any(variables.values())


@pytest.mark.parametrize("profile", PROFILES)
def test_the_test_pod_checks_every_service_with_a_probe(helm, profile):
    (test,) = named(helm.template(rendered(profile)), "Pod").values()
    script = test["spec"]["containers"][0]["command"][-1]
    checks = [line.strip() for line in script.splitlines() if line.strip().startswith("check ")]
    probes = {name: part["probe"] for name, part in parts_of(rendered(profile)).items() if "probe" in part}
    wanted = [
        f"check {name} {probe['port']}"
        + (f" '{probe['path']}'" if probe["path"] else "")
        + (" /run/lineage-lab/certificates/ca.pem" if "scheme" in probe else "")
        for name, probe in probes.items()
    ]
    assert sorted(checks) == sorted(wanted)
    assert f"{PROBE} " in script


def test_a_program_that_sigint_stops_gets_it_for_sigterm(helm, tmp_path):
    """Also one that a POSIX shell starts in the background, for which the signal is disabled."""
    pod = pods(helm.template(rendered("connect")))["postgres"]
    started, script = tmp_path / "started", tmp_path / "start.sh"
    program = f"import time, pathlib; pathlib.Path('{started}').touch(); time.sleep(60)"
    script.write_text(f'exec python3 -c "{program}"\n')
    shell, option, command = pod["spec"]["containers"][0]["command"]
    with subprocess.Popen(
        [shell, option, command.replace("/etc/lineage-lab/start.sh", str(script))], stderr=-1
    ) as process:
        deadline = time.monotonic() + 30
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("status", [0, 3])
def test_the_exit_status_of_such_a_program_is_that_of_its_container(helm, tmp_path, status):
    pod = pods(helm.template(rendered("connect")))["postgres"]
    script = tmp_path / "start.sh"
    script.write_text(f"exit {status}\n")
    command = [
        part.replace("/etc/lineage-lab/start.sh", str(script)) for part in pod["spec"]["containers"][0]["command"]
    ]
    assert subprocess.run(command, check=False).returncode == status


def secret_volumes(manifests):
    """Return the volume of the credentials in the pods of every part, Spark's executors among them."""
    templates = [pod["spec"] for pod in pods(manifests).values()]
    templates += [test["spec"] for test in named(manifests, "Pod").values()]
    return [one["secret"] for spec in templates for one in spec.get("volumes", ()) if one["name"] == "credentials"]


def test_certificates_are_mounted_where_programs_read_them(helm):
    values = rendered("tls")
    volumes = secret_volumes(helm.template(values))
    assert len(volumes) > 10
    for volume in volumes:
        assert volume["secretName"] == SECRET
        paths = {item["path"]: item["key"] for item in volume["items"]}
        assert paths.keys() == {"credentials.env", *values["credentials"]["certificates"]}
        assert paths["certificates/kafka/chain.pem"] == secret_key("certificates/kafka/chain.pem")
        assert all(re.fullmatch(r"[-._a-zA-Z0-9]+", key) for key in paths.values())


def test_without_tls_the_whole_secret_is_mounted(helm):
    assert not any("items" in volume for volume in secret_volumes(helm.template(rendered("full"))))


def test_probes_of_services_with_a_certificate_are_encrypted(helm):
    found = pods(helm.template(rendered("tls")))
    schemes = {
        name: container["readinessProbe"]["httpGet"].get("scheme")
        for name, pod in found.items()
        for container in pod["spec"]["containers"]
        if "httpGet" in container.get("readinessProbe", {})
    }
    encrypted = {name for name, scheme in schemes.items() if scheme == "HTTPS"}
    assert encrypted == {"iceberg-catalog", "lineage", "object-store", "schema-registry"}
    assert "connect" in schemes


def test_the_chart_makes_no_certificates_and_says_which_it_needs(helm):
    message = r"credentials\.existingSecret: name a Secret with the certificates.*certificates__kafka__chain\.pem"
    with pytest.raises(HelmError, match=message):
        helm.template(changed("tls", credentials={"existingSecret": ""}))
