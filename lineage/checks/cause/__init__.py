# SPDX-License-Identifier: Apache-2.0
"""The cause of a wrong number: what changed upstream of a column, most likely cause first. Pure."""

from lineage.checks.cause.change import Change, ChangeKind
from lineage.checks.cause.ranking import Cause, Finding, find_cause
from lineage.checks.cause.report import render_json, render_text
from lineage.checks.cause.upstream import Upstream

__all__ = ["Cause", "Change", "ChangeKind", "Finding", "Upstream", "find_cause", "render_json", "render_text"]
