# SPDX-License-Identifier: Apache-2.0
"""HTTP in front of the service."""

from lineage.api.app import create_app

__all__ = ["create_app"]
