# SPDX-License-Identifier: Apache-2.0
"""Differences between two graph exports (`GET /api/v1/graph`). No I/O."""

from lineage.checks.diff.compare import diff_graphs
from lineage.checks.diff.difference import Change, Difference, Kind, Subject
from lineage.checks.diff.texts import diff_texts

__all__ = ["Change", "Difference", "Kind", "Subject", "diff_graphs", "diff_texts"]
