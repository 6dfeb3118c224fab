# SPDX-License-Identifier: Apache-2.0
"""Lineage of Trino's queries, from the events of its HTTP event listener."""
