# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:CredentialsSecret`: the stack's credentials and certificates in a Secret that pods mount.

They are in no environment, argument or value of the chart and not in Pulumi's state.
"""

import base64
import binascii
from typing import Any

from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.credential_files import credential_files, fingerprint
from infra.targets.kubernetes.client import KubernetesObject, shared_cluster
from infra.targets.kubernetes.kind_inputs import CredentialsSecretInputs
from infra.targets.kubernetes.objects import SECRETS
from infra.targets.kubernetes.secret_keys import secret_key, secret_path


class CredentialsSecretKind(Kind[CredentialsSecretInputs]):
    """Copies the credentials to a Secret; with TLS the certificates, too, but not the key of the authority."""

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
        same = fingerprint(inputs, _files(found)) == inputs.fingerprint
        return ReadResult(inputs) if same else None

    def update(
        self, old: CredentialsSecretInputs, new: CredentialsSecretInputs, call: OperationContext
    ) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: CredentialsSecretInputs, call: OperationContext) -> None:
        shared_cluster(inputs.context).delete(SECRETS, inputs.namespace, inputs.name)


def _secret(inputs: CredentialsSecretInputs) -> KubernetesObject:
    """Return the Secret; the chart mounts its keys at the paths that they stand for."""
    data = {secret_key(path): base64.b64encode(content).decode() for path, content in credential_files(inputs).items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": inputs.name, "labels": inputs.labels},
        "type": "Opaque",
        "data": data,
    }


def _files(secret: KubernetesObject) -> dict[str, bytes]:
    """Return the files in a Secret by path; those that somebody has damaged are empty."""
    return {secret_path(key): _decoded(text) for key, text in (secret.get("data") or {}).items()}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""
