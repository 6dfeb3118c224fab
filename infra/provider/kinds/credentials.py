# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Credentials`: the stack's generated credentials, in a file with mode 0600."""

import stat
from pathlib import Path
from typing import Any

from infra import credentials
from infra.provider.inputs import CredentialsInputs
from infra.provider.kind import Kind, OperationContext, ReadResult


class CredentialsKind(Kind[CredentialsInputs]):
    """Credentials file of the lab; a change of its output `fingerprint` restarts the processes that read it."""

    name = "Credentials"
    inputs = CredentialsInputs
    replace_on = frozenset({"path"})

    def create(self, inputs: CredentialsInputs, call: OperationContext) -> dict[str, Any]:
        return {"fingerprint": credentials.fingerprint(credentials.ensure(Path(inputs.path)))}

    def read(self, inputs: CredentialsInputs, call: OperationContext) -> ReadResult[CredentialsInputs] | None:
        path = Path(inputs.path)
        if not path.exists():
            return None
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)
        values = credentials.read(path)
        if any(name not in values for name in credentials.NAMES):
            return None
        return ReadResult(inputs, {"fingerprint": credentials.fingerprint(values)})

    def update(self, old: CredentialsInputs, new: CredentialsInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: CredentialsInputs, call: OperationContext) -> None:
        Path(inputs.path).unlink(missing_ok=True)
