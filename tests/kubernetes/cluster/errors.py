# SPDX-License-Identifier: Apache-2.0
"""Errors of the test cluster."""

from infra.errors import LabError


class ClusterError(LabError):
    """The cluster, or an operation on it, failed."""


class ClusterUnavailable(ClusterError):
    """This machine cannot run the cluster; the message is one line."""
