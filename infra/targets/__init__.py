# SPDX-License-Identifier: Apache-2.0
"""Targets turn the model into Pulumi resources. Nothing else knows where the lab runs."""
