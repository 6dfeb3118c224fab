# SPDX-License-Identifier: Apache-2.0
"""Inputs of the kinds that write files on the user's machine."""

from infra.model.inputs import Inputs


class CredentialsInputs(Inputs):
    """`path` is the file."""

    path: str


class EnvironmentFileInputs(Inputs):
    """`values` are shell variables in the clear; those of `secrets` are credentials, by their name.

    `fingerprint` is that of the credentials: the file follows when they change.
    """

    path: str
    values: dict[str, str]
    secrets: dict[str, str]
    credentials: str
    fingerprint: str
