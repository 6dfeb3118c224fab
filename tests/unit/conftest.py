# SPDX-License-Identifier: Apache-2.0
"""How unit tests are spread over processes: those of a file stay together, and all that share a Spark session."""

from pathlib import Path

import pytest

UNIT = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(UNIT):
            item.add_marker(pytest.mark.xdist_group(_group(item.path.relative_to(UNIT))))


def _group(file):
    return "spark" if file.parts[0] == "spark" else str(file)
