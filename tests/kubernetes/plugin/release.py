# SPDX-License-Identifier: Apache-2.0
"""Inputs and state of `kubernetes:helm.sh/v3:Release`."""

import copy
import secrets
from collections.abc import Mapping
from typing import Any

import yaml
from pulumi.runtime.rpc import UNKNOWN

from tests.kubernetes.plugin.helm import ReleaseRecord
from tests.vendor_plugin.properties import InvalidProperty, Properties, validate
from tests.vendor_plugin.secret_values import is_secret, make_secret, with_secrets_of, without_secrets

TOKEN = "kubernetes:helm.sh/v3:Release"

INPUTS = "__inputs"
"""Property of the state with all inputs, which is secret."""

TIMEOUT = 300
"""Seconds for which Helm waits for objects and hooks unless `timeout` is set."""

_FLAGS = """
allowNullValues atomic cleanupOnFail createNamespace dependencyUpdate devel disableCRDHooks disableOpenapiValidation
disableWebhooks forceUpdate lint recreatePods renderSubchartNotes replace resetValues reuseValues skipAwait skipCrds
takeOwnership verify waitForJobs
"""
ZEROS: Mapping[str, Any] = {
    **dict.fromkeys(_FLAGS.split(), False),
    **dict.fromkeys(("description", "keyring", "postrender", "version"), ""),
    "timeout": 0,
    "values": {},
}
"""Values of inputs that are not set, as the vendor's plugin keeps them in the state."""

UNSUPPORTED = frozenset(
    {"devel", "keyring", "manifest", "postrender", "repositoryOpts", "resourceNames", "valueYamlFiles", "verify"}
)
"""Inputs without an effect in the fake."""

SDK_ONLY = "compat"
"""Input that the SDK adds and the vendor's plugin drops."""

STATUS = ("appVersion", "chart", "name", "namespace", "revision", "status", "version")
"""Keys of the output `status`."""


def invalid_inputs(news: Properties) -> list[InvalidProperty]:
    """Return what is invalid in the inputs of the program."""
    import pulumi_kubernetes

    from tests.vendor_plugin.schema import argument_properties

    known = argument_properties(pulumi_kubernetes.helm.v3.ReleaseArgs)
    reason = "the fake plugin does not support this property (see tests/kubernetes/plugin)"
    unsupported = [InvalidProperty(name, reason) for name in sorted(news.keys() & UNSUPPORTED)]
    return [*validate(news, known), *unsupported]


def with_defaults(news: Properties, olds: Properties, name: str, namespace: str) -> Properties:
    """Return the inputs with defaults.

    Args:
        news: inputs of the program, without secrets.
        olds: inputs in the state; empty for a new release.
        name: name of the Pulumi resource, from which the name of a new release is generated.
        namespace: the provider's default namespace.
    """
    given = {key: value for key, value in news.items() if key != SDK_ONLY and value is not None}
    inputs = {**ZEROS, **given}
    inputs["name"] = given.get("name") or olds.get("name") or f"{name}-{secrets.token_hex(4)}"
    inputs["namespace"] = given.get("namespace") or namespace
    if not inputs["skipAwait"] and "timeout" not in given:
        inputs["timeout"] = TIMEOUT
    return inputs


def has_unknown(value: Any) -> bool:
    """Return whether a value or one within it is unknown during a preview."""
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    return any(has_unknown(item) for item in value) if isinstance(value, list) else value == UNKNOWN


def identifier(release: Mapping[str, Any]) -> str:
    """Return the id of a release in Pulumi's state."""
    return f"{release['namespace']}/{release['name']}"


def state_of(inputs: Properties, release: Properties, record: ReleaseRecord) -> Properties:
    """Return the state of a release in the cluster.

    Args:
        inputs: inputs of the last update, with secrets.
        release: properties of the release before; its values are merged with those of the cluster.
        record: the release in the cluster.
    """
    live = {
        "values": merged(release.get("values", {}), record.values),
        "version": record.metadata["version"],
        "resourceNames": resource_names(record.manifest),
        "status": {key: record.metadata[key] for key in STATUS if key in record.metadata},
    }
    return with_inputs({**release, **live}, inputs)


def preview_of(inputs: Properties) -> Properties:
    """Return the state that a preview expects, with unknown outputs."""
    return with_inputs({**without_secrets(inputs), "resourceNames": UNKNOWN, "status": UNKNOWN}, inputs)


def with_inputs(properties: Properties, inputs: Properties) -> Properties:
    """Return properties of the state with all inputs; those that are secret in the inputs are marked."""
    return {**with_secrets_of(properties, inputs), INPUTS: make_secret(inputs)}


def inputs_of(state: Properties) -> Properties:
    """Return the inputs that `with_inputs` added, with their secrets."""
    kept = state[INPUTS]
    return kept["value"] if is_secret(kept) else kept


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Properties:
    """Merge maps recursively; lists and scalars of `over` win."""
    found = copy.deepcopy(dict(base))
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = merged(found[key], value) if both else value
    return found


def resource_names(manifest: str) -> dict[str, list[str]]:
    """Return the names of the objects in a manifest by kind and version: `ConfigMap/v1`, `Deployment.apps/apps/v1`."""
    found: dict[str, set[str]] = {}
    for document in yaml.safe_load_all(manifest):
        if not document:
            continue
        version, metadata = document["apiVersion"], document["metadata"]
        group, _, _ = version.rpartition("/")
        kind = f"{document['kind']}.{group}" if group else document["kind"]
        name = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
        found.setdefault(f"{kind}/{version}", set()).add(name)
    return {key: sorted(names) for key, names in sorted(found.items())}
