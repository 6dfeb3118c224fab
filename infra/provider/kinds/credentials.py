# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Credentials`: the stack's credentials, in a file with mode 0600."""

import os
import shutil
import stat
from pathlib import Path
from typing import Any

from infra import credentials
from infra.errors import LabError
from infra.provider.inputs import CredentialsInputs
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.security import certificates


class CredentialsKind(Kind[CredentialsInputs]):
    """Credentials file of the lab; a change of its output `fingerprint` restarts the processes that read it.

    The user gives credentials of existing services in environment variables. The file keeps them for later updates,
    beside those in JSON files of the user. With TLS, the certificates of the services lie in a folder beside it; a
    refresh finds those that are about to expire.
    """

    name = "Credentials"
    inputs = CredentialsInputs
    replace_on = frozenset({"path"})

    def create(self, inputs: CredentialsInputs, call: OperationContext) -> dict[str, Any]:
        given = _given(inputs)
        _require_given(inputs, given or {})
        found = credentials.fingerprint(credentials.ensure(Path(inputs.path), given, _in_files(inputs)))
        if inputs.certificates is not None:
            found += certificates.ensure(Path(inputs.certificates), inputs.hosts_by_service)
        return {"fingerprint": found}

    def read(self, inputs: CredentialsInputs, call: OperationContext) -> ReadResult[CredentialsInputs] | None:
        path = Path(inputs.path)
        if not path.exists():
            return None
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)
        values = credentials.read(path)
        if any(name not in values for name in credentials.NAMES):
            return None
        if not values.items() >= (_given(inputs) or {}).items():
            return None  # another password is given: create writes it
        if (inputs.files or {}).keys() - values.keys():
            return None
        found = credentials.fingerprint(values)
        if inputs.certificates is not None:
            folder, certified = Path(inputs.certificates), inputs.hosts_by_service
            if not certificates.are_valid(folder, certified):
                return None  # missing, or about to expire: create makes them
            found += certificates.fingerprint(folder, certified)
        return ReadResult(inputs, {"fingerprint": found})

    def update(self, old: CredentialsInputs, new: CredentialsInputs, call: OperationContext) -> dict[str, Any]:
        credentials.remove(Path(new.path), _names(old) - _names(new))
        if new.certificates is None:
            _remove_certificates(old)
        return self.create(new, call)

    def delete(self, inputs: CredentialsInputs, call: OperationContext) -> None:
        Path(inputs.path).unlink(missing_ok=True)
        _remove_certificates(inputs)


def _remove_certificates(inputs: CredentialsInputs) -> None:
    if inputs.certificates is not None:
        shutil.rmtree(inputs.certificates, ignore_errors=True)


def _names(inputs: CredentialsInputs) -> set[str]:
    """Return the names of the credentials that are not generated."""
    return {*(inputs.given or {}), *(inputs.files or {})}


def _in_files(inputs: CredentialsInputs) -> dict[str, str]:
    return {name: credentials.json_credential(Path(path)) for name, path in (inputs.files or {}).items()}


def _given(inputs: CredentialsInputs) -> dict[str, str] | None:
    """Return the credentials of existing services in the environment; None if there are no such services."""
    if inputs.given is None:
        return None
    variables = {name: credentials.variable(name) for name in inputs.given}
    return {name: os.environ[variable] for name, variable in variables.items() if os.environ.get(variable)}


def _require_given(inputs: CredentialsInputs, given: dict[str, str]) -> None:
    """Raise LabError if a credential of an existing service is neither in the environment nor in the file."""
    path = Path(inputs.path)
    known = {**(credentials.read(path) if path.exists() else {}), **given}
    missing = {name: setting for name, setting in (inputs.given or {}).items() if name not in known}
    if missing:
        settings = " and ".join(f"lineage-lab:{setting}" for setting in dict.fromkeys(missing.values()))
        variables = " and ".join(credentials.variable(name) for name in missing)
        raise LabError(
            f"{settings} needs the credentials of an existing service: set {variables} in the environment of `up`, or "
            f"write {' and '.join(f'{name}=...' for name in missing)} to {path}"
        )
