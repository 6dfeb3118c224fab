# SPDX-License-Identifier: Apache-2.0
"""Lineage service of a stack, for commands that read from it."""

import os

from infra.cli.stack import Stack
from lineage.checks.http_client import KEY_VARIABLE


def service_of(lab: Stack) -> str:
    """Return the URL of a stack's service, and make its key that of the requests, unless the user has given one.

    Raises:
        LabError: the stack has no running lab.
    """
    url = lab.endpoints()["lineage"]
    if key := lab.lineage_authorization().get("Authorization"):
        os.environ.setdefault(KEY_VARIABLE, key.removeprefix("Bearer "))
    return url
