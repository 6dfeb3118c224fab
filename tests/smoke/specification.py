# SPDX-License-Identifier: Apache-2.0
"""Judges events by the standard's own JSON schemas, core and facets, where those are at hand."""

from functools import cache
from pathlib import Path

from lineage.checks.events import Specification


@cache
def _specification(folder: Path) -> Specification:
    return Specification.from_folder(folder)


def errors_of(event: dict, folder: Path) -> list[str]:
    """What is wrong with an event, one line each; a facet that the standard does not know is custom."""
    return [f"{path}: {message}" for path, message in _specification(folder).errors(event)]
