# SPDX-License-Identifier: Apache-2.0
"""The fake of the vendor's plugin, run by the real engine on a real cluster."""

import os
import signal
import time
from pathlib import Path

import pytest
import yaml

from tests.kubernetes.kubernetes_project import TEMPLATE, KubernetesProject

PLUGIN = Path(__file__).parent / "plugin" / "bin"
RELEASE = "kubernetes:helm.sh/v3:Release"

UNREADY_POD = """
apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}}
spec: {containers: [{name: one, image: missing.invalid/none:0, imagePullPolicy: Never}]}
"""


@pytest.fixture
def project(tmp_path, cluster, monkeypatch):
    """A Pulumi project; its namespace is removed after the test."""
    monkeypatch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
    created = KubernetesProject(tmp_path / "project", cluster.folders.kubeconfig, cluster.binaries.helm)
    yield created
    cluster.api.delete(f"/api/v1/namespaces/{created.namespace}")


def up(project, *options):
    ended = project.up(*options)
    assert ended.status == 0, ended.text
    return ended.text


def test_a_release_is_installed_unchanged_by_a_refresh_upgraded_and_destroyed(project):
    project.release()
    up(project)
    assert project.config_map()["text"] == "hello"
    assert "3 unchanged" in up(project)  # with the provider and the stack itself
    assert "3 unchanged" in up(project, "--refresh")
    assert project.revision() == 1

    project.release(values={"text": "changed"})
    assert "1 updated" in up(project)
    assert (project.config_map()["text"], project.revision()) == ("changed", 2)

    ended = project.pulumi("destroy", "--yes", "--skip-preview")
    assert ended.status == 0, ended.text
    assert project.config_map() is None


def test_the_state_has_status_objects_and_inputs_with_defaults(project):
    project.release()
    up(project)
    found = project.state()["release"]
    outputs = found["outputs"]
    assert found["id"] == f"{project.namespace}/tiny"
    assert outputs["status"] == {
        "appVersion": "7",
        "chart": "tiny",
        "name": "tiny",
        "namespace": project.namespace,
        "revision": 1,
        "status": "deployed",
        "version": "1.0.0",
    }
    assert outputs["resourceNames"] == {"ConfigMap/v1": ["tiny"]}
    assert (outputs["values"], outputs["version"], outputs["timeout"]) == ({"text": "hello"}, "1.0.0", 300)
    assert (outputs["skipAwait"], outputs["description"]) == (False, "")
    assert "compat" not in found["inputs"]


def test_values_arrive_as_with_the_helm_command(project):
    """Numbers are floating-point numbers in templates, and an empty list overrides the chart's."""
    project.release(values={"number": 1 << 20, "list": []})
    up(project)
    assert project.config_map() == {"text": "default", "number": "1.048576e+06", "secret": "", "list": "[]"}
    assert "3 unchanged" in up(project, "--refresh")


def test_secret_values_are_encrypted_in_the_state(project):
    project.wanted["secret"] = "sesame"
    project.release()
    text = up(project)
    assert project.config_map()["secret"] == "sesame"
    assert "sesame" not in project.pulumi("stack", "export").text + text
    assert "3 unchanged" in up(project, "--refresh")
    project.wanted["secret"] = "changed"
    preview = project.pulumi("preview", "--diff")
    assert "~ secret: [secret]" in preview.text, preview.text
    assert "1 updated" in up(project)
    assert project.config_map()["secret"] == "changed"


def test_a_preview_with_unknown_values_installs_nothing(project):
    project.wanted["unknown"] = project.inputs(name="first")
    project.release()
    preview = project.pulumi("preview")
    assert preview.status == 0, preview.text
    assert "4 to create" in preview.text
    assert project.config_map() is None
    up(project)
    assert project.config_map()["text"] == "first"


def test_a_preview_requires_no_cluster_and_an_update_names_the_reason(project, monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    project.release()
    preview = project.pulumi("preview")
    assert preview.status == 0, preview.text
    ended = project.up()
    assert ended.status != 0
    assert "can't create Helm Release with unreachable cluster" in ended.text


def test_a_typo_is_rejected_before_anything_is_installed(project):
    inputs = {"chart": "./chart", "name": "tiny", "namespace": project.namespace, "skipAwiat": True, "atomic": "yes"}
    project.wanted["raw"] = [[RELEASE, "tiny", inputs]]
    ended = project.up()
    assert ended.status != 0
    for text in ("skipAwiat", "the vendor's schema has no such property", "must be of type bool, not 'yes'"):
        assert text in ended.text
    assert project.config_map() is None


@pytest.mark.parametrize(
    ("token", "inputs", "text"),
    [
        (RELEASE, {"chart": "./chart", "postrender": "cat"}, "the fake plugin does not support this property"),
        (RELEASE, {"chart": "./missing"}, "check the chart name and repository configuration"),
        ("kubernetes:core/v1:ConfigMap", {}, "the fake plugin does not support kubernetes:core/v1:ConfigMap"),
    ],
    ids=["unsupported property", "missing chart", "unsupported resource"],
)
def test_what_the_fake_cannot_do_is_rejected(project, token, inputs, text):
    project.wanted["raw"] = [[token, "one", inputs]]
    ended = project.up()
    assert ended.status != 0
    assert text in ended.text


def test_an_invalid_setting_of_the_provider_is_rejected(project):
    project.wanted["provider"] = {"kube_client_settings": {"qps": 5}}
    project.release()
    ended = project.up()
    assert ended.status != 0
    assert "kubeClientSettings" in ended.text
    assert project.config_map() is None


def test_a_release_that_somebody_uninstalled_is_installed_again(project):
    project.release()
    up(project)
    assert project.helm("uninstall", "tiny", "--wait").returncode == 0
    assert "1 created" in up(project, "--refresh")
    assert project.config_map()["text"] == "hello"


def test_destroy_without_refresh_fails_for_a_release_that_somebody_uninstalled(project):
    project.release()
    up(project)
    assert project.helm("uninstall", "tiny", "--wait").returncode == 0
    ended = project.pulumi("destroy", "--yes", "--skip-preview")
    assert ended.status != 0
    assert "release: not found" in ended.text
    ended = project.pulumi("destroy", "--yes", "--skip-preview", "--refresh")
    assert ended.status == 0, ended.text


def test_changed_values_of_somebody_are_reset_and_added_ones_are_kept(project):
    project.release()
    up(project)
    values = ("--set", "text=foreign", "--set", "number=5")
    assert project.helm("upgrade", "tiny", str(project.folder / "chart"), *values).returncode == 0
    assert "3 unchanged" in up(project)
    assert "1 updated" in up(project, "--refresh")
    assert project.config_map()["text"] == "hello"


def test_a_changed_chart_is_an_update_only_with_another_version(project):
    project.release()
    up(project)
    changed = TEMPLATE + "  more: text\n"
    project.write_chart(changed)
    assert "3 unchanged" in up(project)
    project.write_chart(changed, version="1.0.1")
    assert "1 updated" in up(project)
    assert project.config_map()["more"] == "text"


def test_a_removed_value_is_an_update(project):
    project.release(values={"text": "hello", "number": 5})
    up(project)
    project.release()
    assert "1 updated" in up(project)
    assert project.config_map()["number"] == "1"
    assert "3 unchanged" in up(project, "--refresh")


def test_another_name_replaces_the_release(project):
    project.release()
    up(project)
    project.release(name="other")
    assert "1 replaced" in up(project)
    assert project.config_map() is None
    assert project.config_map("other")["text"] == "hello"


def test_a_generated_name_is_kept(project):
    project.release(name=None)
    up(project)
    name = project.state()["release"]["outputs"]["name"]
    assert name.startswith("release-")
    assert "3 unchanged" in up(project)


def test_a_failed_release_is_kept_and_upgraded(project):
    project.write_chart(UNREADY_POD)
    project.release(timeout=1)
    ended = project.up()
    assert ended.status != 0
    assert "was created, but failed to initialize completely" in ended.text
    assert project.state()["release"]["outputs"]["status"]["status"] == "failed"
    project.write_chart()
    assert "1 updated" in up(project)
    assert (project.config_map()["text"], project.revision()) == ("hello", 2)


def test_a_failed_atomic_release_is_removed(project):
    project.write_chart(UNREADY_POD)
    project.release(timeout=1, atomic=True)
    ended = project.up()
    assert ended.status != 0
    assert project.helm("status", "tiny").returncode != 0
    assert "release" not in project.state()


def test_a_release_without_await_is_not_waited_for(project):
    project.write_chart(UNREADY_POD)
    project.release(skip_await=True)
    up(project)
    assert project.state()["release"]["outputs"]["timeout"] == 0


def test_a_template_that_fails_leaves_no_release(project):
    project.write_chart('{{ fail "no such thing" }}')
    project.release()
    ended = project.up()
    assert ended.status != 0
    assert "no such thing" in ended.text
    assert "release" not in project.state()


def test_the_cancellation_of_an_update_ends_an_installation(project):
    project.write_chart(UNREADY_POD)
    project.release()
    started = time.monotonic()
    with project.start("up", "--yes", "--skip-preview") as update:
        while project.helm("status", "tiny").returncode != 0:
            assert update.poll() is None
            assert time.monotonic() < started + 60
            time.sleep(0.2)
        update.send_signal(signal.SIGINT)
        text, _ = update.communicate(timeout=60)
    assert update.returncode != 0
    assert "context canceled" in text, text
    assert project.state()["release"]["outputs"]["status"]["status"] == "failed"


def test_the_provider_selects_context_cluster_and_namespace(project, monkeypatch):
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    name = config["contexts"][0]["name"]
    away = {"name": "away", "cluster": {"server": "https://127.0.0.1:1"}}
    config["clusters"].append(away)
    config["contexts"].append({"name": "away", "context": config["contexts"][0]["context"] | {"cluster": "away"}})
    path = project.folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config | {"current-context": "away"}))
    monkeypatch.setenv("KUBECONFIG", str(path))
    project.wanted["provider"] = {"context": name, "namespace": project.namespace}
    project.release(namespace=None)
    up(project)
    assert project.config_map()["text"] == "hello"

    cluster = config["contexts"][0]["context"]["cluster"]
    project.wanted["provider"] = {"context": "away", "cluster": cluster, "namespace": project.namespace}
    project.release(namespace=None, values={"text": "changed"})
    up(project)
    assert project.config_map()["text"] == "changed"


def test_another_cluster_in_the_kubeconfig_replaces_the_provider_and_its_releases(project):
    contents = Path(os.environ["KUBECONFIG"]).read_text()
    project.wanted["provider"] = {"kubeconfig": contents}
    project.release()
    up(project)
    config = yaml.safe_load(contents)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    project.wanted["provider"] = {"kubeconfig": yaml.safe_dump(config)}
    preview = project.pulumi("preview")
    assert "+-2 to replace" in preview.text, preview.text


def test_an_unreachable_cluster_fails_a_refresh(project):
    project.wanted["provider"] = {"cluster_identifier": "one"}
    project.release()
    up(project)
    project.wanted["provider"] = {"cluster_identifier": "one", "context": "missing"}
    ended = project.up("--refresh", "--run-program")
    assert ended.status != 0
    assert "PULUMI_K8S_DELETE_UNREACHABLE" in ended.text
