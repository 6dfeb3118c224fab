# SPDX-License-Identifier: Apache-2.0
"""The kit's own Pulumi provider, package `labkit`: one base class, one file per resource kind."""

PACKAGE = "labkit"
"""The package's name in Pulumi."""

DROP_UNREACHABLE = "LABKIT_DROP_UNREACHABLE"
"""Environment variable of `lab down`: resources of unreachable services are dropped from the state, as the data of the
services is deleted too."""
