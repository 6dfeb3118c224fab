# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:CredentialsSecret`: the stack's credentials in a Secret that pods mount.

They are in no environment, argument or value of the chart and not in Pulumi's state.
"""

import base64
import binascii
from pathlib import Path
from typing import Any

from infra import credentials
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.container_paths import CREDENTIALS_NAME
from infra.targets.kubernetes.client import KubernetesObject, shared_cluster
from infra.targets.kubernetes.kind_inputs import CredentialsSecretInputs
from infra.targets.kubernetes.objects import SECRETS


class CredentialsSecretKind(Kind[CredentialsSecretInputs]):
    """Copies the credentials file to a Secret."""

    name = "CredentialsSecret"
    inputs = CredentialsSecretInputs
    replace_on = frozenset({"context", "namespace", "name"})

    def create(self, inputs: CredentialsSecretInputs, call: OperationContext) -> dict[str, Any]:
        cluster, body = shared_cluster(inputs.context), _secret(inputs)
        if cluster.find(SECRETS, inputs.namespace, inputs.name) is None:
            cluster.create(SECRETS, inputs.namespace, body)
        else:
            cluster.replace(SECRETS, inputs.namespace, body)
        return {}

    def read(
        self, inputs: CredentialsSecretInputs, call: OperationContext
    ) -> ReadResult[CredentialsSecretInputs] | None:
        found = shared_cluster(inputs.context).find(SECRETS, inputs.namespace, inputs.name)
        if found is None:
            return None
        same = credentials.fingerprint(credentials.parse(_content(found))) == inputs.fingerprint
        return ReadResult(inputs) if same else None

    def update(
        self, old: CredentialsSecretInputs, new: CredentialsSecretInputs, call: OperationContext
    ) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: CredentialsSecretInputs, call: OperationContext) -> None:
        shared_cluster(inputs.context).delete(SECRETS, inputs.namespace, inputs.name)


def _secret(inputs: CredentialsSecretInputs) -> KubernetesObject:
    text = credentials.render(credentials.read(Path(inputs.path)))
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": inputs.name, "labels": inputs.labels},
        "type": "Opaque",
        "data": {CREDENTIALS_NAME: base64.b64encode(text.encode()).decode()},
    }


def _content(secret: KubernetesObject) -> str:
    """Return the credentials file in a Secret; empty if somebody has damaged it."""
    encoded = (secret.get("data") or {}).get(CREDENTIALS_NAME, "")
    try:
        return base64.b64decode(encoded).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
