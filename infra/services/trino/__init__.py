# SPDX-License-Identifier: Apache-2.0
"""Trino on the lake, and the receiver of its queries' lineage."""
