# SPDX-License-Identifier: Apache-2.0
"""Credentials and, with TLS, certificates of a stack as files of its containers, in `CREDENTIALS_FOLDER`."""

from collections.abc import Mapping
from pathlib import Path

from infra import credentials
from infra.errors import LabError
from infra.project import CERTIFICATES_FOLDER
from infra.security import certificates
from infra.targets.container_paths import CREDENTIALS_NAME
from infra.targets.copied_credentials import CopiedCredentialsInputs


def credential_files(inputs: CopiedCredentialsInputs) -> dict[str, bytes]:
    """Return the files by path in the folder; the key of the authority is not one of them.

    Raises:
        LabError: a certificate cannot be read.
    """
    found = {CREDENTIALS_NAME: credentials.render(credentials.read(Path(inputs.path))).encode()}
    if inputs.certificates is None:
        return found
    try:
        files = certificates.files_of_services(Path(inputs.certificates), inputs.certified or ())
    except OSError as error:
        raise LabError(f"cannot read the lab's certificates: {error}; `bin/lab up` makes missing ones") from error
    return found | {f"{CERTIFICATES_FOLDER}/{path}": content for path, content in files.items()}


def fingerprint(inputs: CopiedCredentialsInputs, files: Mapping[str, bytes]) -> str:
    """Return the fingerprint of a copy, equal to that of the resource `Credentials` if nobody has changed it."""
    text = files.get(CREDENTIALS_NAME, b"").decode(errors="replace")
    found = credentials.fingerprint(credentials.parse(text))
    if inputs.certificates is None:
        return found
    kept = {path.removeprefix(f"{CERTIFICATES_FOLDER}/"): content for path, content in files.items()}
    return found + certificates.fingerprint_of(kept, inputs.certified or ())
