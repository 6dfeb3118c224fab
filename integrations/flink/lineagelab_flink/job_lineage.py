# SPDX-License-Identifier: Apache-2.0
"""Lineage of a job as its launcher keeps it: declared in a file, or derived with Flink's planner."""

import logging
from collections.abc import Sequence
from pathlib import Path

from lineagelab_flink.columns import PlannerError, derive_lineage
from lineagelab_flink.declared_columns import Aliases, DeclarationError, declaration
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import JobLineage

log = logging.getLogger(__name__)


def declared_lineage(identity: str, columns: Path, aliases: Aliases) -> JobLineage:
    """Return the lineage that a file declares of the job with an identity. Raises FlinkError where it is invalid."""
    try:
        found = declaration(columns, aliases)
    except DeclarationError as error:
        raise FlinkError(str(error)) from error
    return JobLineage(identity, found.inputs, found.outputs, found.job_facets)


def derived_lineage(name: str, identity: str, command: Sequence[str], script: str = "") -> JobLineage:
    """Return the lineage of the job with an identity that a command prints. Raises FlinkError.

    Args:
        name: of the job.
        identity: of its definition.
        command: see `derive_lineage`.
        script: its standard input.
    """
    try:
        found = derive_lineage(script, command)
    except PlannerError as error:
        raise FlinkError(str(error)) from error
    if found.unknown:
        log.warning("the lineage of %s is incomplete: %s", name, "; ".join(found.unknown))
    return JobLineage(identity, found.inputs, found.outputs, found.job_facets)
