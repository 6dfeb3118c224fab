# SPDX-License-Identifier: Apache-2.0
"""What holds for all layers: the heavy ones come last, and begin nothing once the time they were given is over."""

import functools
import os
import time
from pathlib import Path

import pytest

DEADLINE = "LINEAGE_LAB_TEST_DEADLINE"
"""Environment variable: seconds since 1970 after which no heavy test is begun; without it all of them run."""

HEAVY = frozenset({"connect", "flink", "page", "packages", "docker"})
"""Folders of tests that go deeper into what unit, stack and smoke tests have looked at."""

WHOLE_SECONDS = {"docker": 25 * 60}
"""What a folder takes whose tests build on each other: it is begun this long before the deadline, or not at all."""

TESTS = Path(__file__).parent


def pytest_runtest_setup(item):
    layer = item.path.relative_to(TESTS).parts[0]
    if layer in HEAVY and not (_is_begun if layer in WHOLE_SECONDS else _is_time)(layer):
        pytest.skip(f"the time for the heavy tests was over ({DEADLINE}); alone: bin/lab test {item.nodeid}")


def _is_time(layer):
    deadline = os.environ.get(DEADLINE)
    return not deadline or time.time() < float(deadline) - WHOLE_SECONDS.get(layer, 0)


_is_begun = functools.cache(_is_time)
"""The first test of a folder decides for all of them."""
