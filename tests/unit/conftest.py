# SPDX-License-Identifier: Apache-2.0
"""How unit tests are spread over processes: those of a file stay together, and so do those that share Spark's session.

One file of these is worth a session of its own: it takes a quarter of their time.
"""

from pathlib import Path

import pytest

UNIT = Path(__file__).parent
APART = "test_spark_lineage_truth.py"


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(UNIT):
            item.add_marker(pytest.mark.xdist_group(_group(item.path.relative_to(UNIT))))


def _group(file):
    return "spark" if file.parts[0] == "spark" and file.name != APART else str(file)
