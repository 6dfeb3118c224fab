# SPDX-License-Identifier: Apache-2.0
"""The kit's own Pulumi provider, package `labkit`: one base class, one file per resource kind."""

PACKAGE = "labkit"
"""The package's name in Pulumi."""
