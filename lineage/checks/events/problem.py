# SPDX-License-Identifier: Apache-2.0
"""Violation of a rule by one event."""

from typing import NamedTuple

from lineage.checks.events.check_rules import Rule


class Problem(NamedTuple):
    """Violation of `rule` at a path in an event (`inputs[0].facets.schema`); the message does not repeat the path."""

    rule: Rule
    path: str
    message: str
