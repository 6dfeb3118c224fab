# SPDX-License-Identifier: Apache-2.0
"""Files in the Secret of the credentials, which the chart mounts at `CREDENTIALS_FOLDER`."""

from collections.abc import Iterable

from infra.project import CERTIFICATES_FOLDER
from infra.security.certificate_files import paths_of_services


def certificate_paths(certified: Iterable[str]) -> list[str]:
    """Return the paths of the certificates of services, and of the authority."""
    return [f"{CERTIFICATES_FOLDER}/{path}" for path in paths_of_services(certified)]


def secret_key(path: str) -> str:
    """Return the key of a file, which must not contain `/`; the chart does the same (`lab.secretKey`)."""
    return path.replace("/", "__")


def secret_path(key: str) -> str:
    """Return the file that a key stands for."""
    return key.replace("__", "/")
