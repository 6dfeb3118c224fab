# SPDX-License-Identifier: Apache-2.0
"""What holds for all layers: the heavy ones come last, and begin nothing once the time they were given is over."""

import os
import time
from pathlib import Path

import pytest

DEADLINE = "LINEAGE_LAB_TEST_DEADLINE"
"""Environment variable: seconds since 1970 after which no heavy test is begun; without it all of them run."""

HEAVY = frozenset({"connect", "flink", "page", "docker"})
"""Folders of tests that go deeper into what unit, stack and smoke tests have looked at."""

TESTS = Path(__file__).parent


def pytest_runtest_setup(item):
    deadline = os.environ.get(DEADLINE)
    layer = item.path.relative_to(TESTS).parts[0]
    if deadline and layer in HEAVY and time.time() > float(deadline):
        pytest.skip(f"the time for the heavy tests was over ({DEADLINE}); alone: bin/lab test {item.nodeid}")
