# SPDX-License-Identifier: Apache-2.0
"""What two graph exports differ in. Pure; knows the export's shape (`GET /api/v1/graph`) alone."""

from lineage.checks.diff.compare import diff_graphs
from lineage.checks.diff.difference import Change, Difference, Kind, Subject

__all__ = ["Change", "Difference", "Kind", "Subject", "diff_graphs"]
