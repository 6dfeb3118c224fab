# SPDX-License-Identifier: Apache-2.0
"""Targets, which render the model as Pulumi resources of one runtime environment."""
