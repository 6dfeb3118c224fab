# SPDX-License-Identifier: Apache-2.0
"""Distribution of unit tests over xdist workers: one group per file, and one for all files that share a Spark session.

One Spark file has a session of its own, as it takes a quarter of their time.
"""

from pathlib import Path

import pytest

UNIT = Path(__file__).parent
SEPARATE_SPARK_FILE = "test_spark_lineage_truth.py"


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(UNIT):
            item.add_marker(pytest.mark.xdist_group(_group(item.path.relative_to(UNIT))))


def _group(file):
    return "spark" if file.parts[0] == "spark" and file.name != SEPARATE_SPARK_FILE else str(file)
