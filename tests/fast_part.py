# SPDX-License-Identifier: Apache-2.0
"""Parameters of tests that are repeated with generated cases: `make test` runs the first ones, `make test-all` all."""

from collections.abc import Iterable

import pytest


def fast_part(values: Iterable[object], fast: int = 1) -> list[object]:
    """Return parameters; all after the first `fast` ones are marked slow."""
    return [
        value if index < fast else pytest.param(value, marks=pytest.mark.slow) for index, value in enumerate(values)
    ]
