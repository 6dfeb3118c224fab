# SPDX-License-Identifier: Apache-2.0
"""Inputs, changes and commands of the fake of the vendor's Kubernetes plugin, and its conformance to the SDK."""

import pulumi_kubernetes
import pytest
import yaml
from pulumi.runtime.rpc import UNKNOWN

from tests.kubernetes.plugin import release as releases
from tests.kubernetes.plugin.commands import (
    INSTALL_FLAGS,
    UPGRADE_FLAGS,
    install_arguments,
    uninstall_arguments,
    upgrade_arguments,
)
from tests.kubernetes.plugin.kubeconfig import active_cluster, default_namespace, read_kubeconfig, with_overrides
from tests.kubernetes.plugin.merge import Change, Changed, changes
from tests.kubernetes.plugin.server import SUPPORTED
from tests.vendor_plugin.schema import argument_properties
from tests.vendor_plugin.secret_values import contains_secret, make_secret, with_secrets_of, without_secrets

MANIFEST = """
---
# Source: tiny/templates/empty.yaml
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b, namespace: n}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: two}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
"""


def test_the_fake_uses_names_of_the_sdk():
    inputs = argument_properties(pulumi_kubernetes.helm.v3.ReleaseArgs)
    flags = {*INSTALL_FLAGS.values(), *UPGRADE_FLAGS.values()}
    assert inputs.keys() >= releases.ZEROS.keys() | releases.UNSUPPORTED | flags | {releases.SDK_ONLY}
    assert {name for name, known in inputs.items() if known.required} == {"chart"}
    assert all(inputs[name].shape is type(value) for name, value in releases.ZEROS.items() if value != {})
    assert argument_properties(pulumi_kubernetes.ProviderArgs).keys() >= SUPPORTED


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({"chart": "c", "skipAwiat": True}, "skipAwiat", "has no such property"),
        ({"name": "c"}, "chart", "requires it"),
        ({"chart": "c", "atomic": "yes"}, "atomic", "of type bool, not 'yes'"),
        ({"chart": "c", "values": []}, "values", "must be an object"),
        ({"chart": "c", "repositoryOpts": {"repo": "r"}}, "repositoryOpts", "does not support"),
        ({"chart": "c", "valueYamlFiles": ["f"]}, "valueYamlFiles", "does not support"),
    ],
)
def test_an_invalid_input_is_reported_with_its_path(inputs, path, reason):
    (found,) = releases.invalid_inputs(inputs)
    assert found.path == path
    assert reason in found.reason


def test_values_of_any_type_and_unknown_values_are_valid():
    values = {"a": [1, {"b": None}], "c": UNKNOWN}
    assert releases.invalid_inputs({"chart": "c", "compat": "true", "timeout": UNKNOWN, "values": values}) == []


def test_defaults_depend_on_await_and_on_the_state():
    inputs = releases.with_defaults({"chart": "c", "compat": "true"}, {}, "lab", "n")
    assert inputs["name"].startswith("lab-")
    assert (inputs["namespace"], inputs["timeout"], inputs["skipAwait"]) == ("n", 300, False)
    assert "compat" not in inputs
    kept = releases.with_defaults({"chart": "c", "skipAwait": True}, inputs, "lab", "n")
    assert (kept["name"], kept["timeout"]) == (inputs["name"], 0)


def test_an_update_sets_what_differs_from_the_state_and_removes_what_the_new_inputs_lack():
    old = {"values": {"kept": 1, "gone": 2, "files": {"a/b.sql": "x"}}, "timeout": 300}
    new = {"values": {"kept": 1, "new": [], "files": {}}, "timeout": 10}
    state = {"values": {"kept": 5, "gone": 2, "files": {"a/b.sql": "x"}, "foreign": 1}, "timeout": 300, "status": {}}
    assert changes(old, new, state) == [
        Changed("timeout", Change.UPDATE),
        Changed('values.files["a/b.sql"]', Change.DELETE),
        Changed("values.gone", Change.DELETE),
        Changed("values.kept", Change.UPDATE),
        Changed("values.new", Change.ADD),
    ]
    assert changes(new, new, {**state, "values": {**new["values"], "foreign": 1}, "timeout": 10}) == []


def test_lists_are_compared_as_a_whole():
    old = {"values": {"list": [{"a": 1}, {"a": 2}]}}
    new = {"values": {"list": [{"a": 1}]}}
    assert changes(old, new, old) == [Changed("values.list", Change.UPDATE)]


def test_objects_are_listed_by_kind_and_version():
    assert releases.resource_names(MANIFEST) == {
        "ConfigMap/v1": ["one", "two"],
        "Deployment.apps/apps/v1": ["n/b"],
    }


def test_options_of_the_commands_follow_the_inputs():
    release = releases.with_defaults({"chart": "c", "name": "lab", "skipAwait": True, "timeout": 9}, {}, "lab", "n")
    common = ["--namespace", "n", "--values", "-", "--timeout", "9s"]
    assert install_arguments(release) == ["install", "lab", "c", *common]
    assert upgrade_arguments(release, "n") == ["upgrade", "lab", "c", *common, "--history-max", "0"]
    assert uninstall_arguments(release) == ["uninstall", "lab", "--namespace", "n", "--timeout", "9s"]
    waiting = {**release, "skipAwait": False, "waitForJobs": True, "disableWebhooks": True, "description": "d"}
    assert install_arguments(waiting)[-5:] == ["9s", "--wait", "--wait-for-jobs", "--description", "d"]
    assert "--no-hooks" in install_arguments(waiting)
    assert "--no-hooks" not in upgrade_arguments(waiting, "n")
    assert "--wait" in uninstall_arguments(waiting)


def test_secrets_are_marked_in_the_same_places():
    marked = {"values": {"plain": 1, "secret": make_secret("s"), "list": [1, make_secret(2)]}}
    plain = {"values": {"plain": 1, "secret": "s", "list": [1, 2], "added": 3}, "name": "n"}
    found = with_secrets_of(plain, marked)
    assert found == {
        "values": {"plain": 1, "secret": make_secret("s"), "list": make_secret([1, 2]), "added": 3},
        "name": "n",
    }
    assert without_secrets(found) == plain
    assert contains_secret(found)
    assert not contains_secret(plain)


def kubeconfig(current, **servers):
    return {
        "current-context": current,
        "clusters": [{"name": name, "cluster": {"server": server}} for name, server in servers.items()],
        "contexts": [{"name": name, "context": {"cluster": name, "namespace": f"of-{name}"}} for name in servers],
    }


def test_the_first_of_several_kubeconfigs_wins(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(yaml.safe_dump(kubeconfig("one", one="https://1")))
    second.write_text(yaml.safe_dump(kubeconfig("two", one="https://other", two="https://2")))
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}:{tmp_path / 'missing'}")
    config = read_kubeconfig({})
    assert active_cluster(config) == {"server": "https://1"}
    assert default_namespace(config) == "of-one"
    other = with_overrides(config, {"context": "two", "cluster": "one"})
    assert (active_cluster(other), default_namespace(other)) == ({"server": "https://1"}, "of-two")


def test_the_kubeconfig_of_a_provider_is_a_path_or_contents(tmp_path):
    contents = yaml.safe_dump(kubeconfig("one", one="https://1"))
    (tmp_path / "config").write_text(contents)
    for given in (contents, str(tmp_path / "config")):
        assert active_cluster(read_kubeconfig({"kubeconfig": given})) == {"server": "https://1"}
    assert active_cluster(read_kubeconfig({"kubeconfig": str(tmp_path / "missing")})) is None
    assert default_namespace({}) == "default"
