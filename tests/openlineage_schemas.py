# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of the OpenLineage standard for tests of all layers; `lab setup --tests` installs them in the cache."""

from functools import cache

import pytest

from lineage.checks.events import Severity, Specification, SpecificationError
from lineage.checks.events.conformance import conformance_problems


@cache
def specification() -> Specification:
    """Return the standard; fail the test, with the remedy, where the schemas are neither installed nor accessible."""
    try:
        return Specification.open()
    except SpecificationError as error:
        pytest.fail(str(error), pytrace=False)


def conformance_errors(event: dict) -> list[str]:
    """Return the errors of an event, one line each; warnings such as an outdated schema URL are left out."""
    problems = conformance_problems(event, specification())
    return [f"{problem.path}: {problem.message}" for problem in problems if problem.rule.severity is Severity.ERROR]
