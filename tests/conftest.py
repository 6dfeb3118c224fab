# SPDX-License-Identifier: Apache-2.0
"""The `slow` marker of whole layers, and the deadline of slow tests.

`make test` runs what is not slow, `make test-all` everything. A test, a file or (here) a layer is marked `slow`.
"""

import functools
import os
import time
from pathlib import Path

import pytest

DEADLINE = "LINEAGE_LAB_TEST_DEADLINE"
"""Environment variable: seconds since the epoch by which the tests should end; without it all of them run."""

SLOW_LAYERS = frozenset({"connect", "docker", "flink", "kubernetes", "packages"})
"""Folders whose tests are all slow."""

RESERVED_SECONDS = 3 * 60
"""A slow test starts only this long before the deadline: most end within it, with the labs that they use."""

RESERVED_FOR_GROUP = {
    "docker": 25 * 60,
    "kubernetes": 5 * 60,
    "kubernetes/test_helm_alone.py": 8 * 60,
    "kubernetes/test_kubernetes_lab.py": 15 * 60,
}
"""The same for folders and files whose tests build on each other, or whose set-up takes long: all start, or none."""

TESTS = Path(__file__).parent


def layer_of(item):
    return item.path.relative_to(TESTS).parts[0]


def pytest_collection_modifyitems(items):
    for item in items:
        if layer_of(item) in SLOW_LAYERS:
            item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item):
    group = group_of(item.path.relative_to(TESTS))
    if item.get_closest_marker("slow") and not _may_start(group):
        pytest.skip(f"the time for slow tests was over ({DEADLINE}); alone: bin/lab test tests/{group}")


def group_of(path):
    """Return the file or folder whose tests start together, for a path in `tests/`."""
    return str(path) if str(path) in RESERVED_FOR_GROUP else path.parts[0]


def _may_start(group):
    return _was_begun(group) if group in RESERVED_FOR_GROUP else _is_time(RESERVED_SECONDS)


@functools.cache
def _was_begun(group):
    """The first test of a group decides for all of them."""
    return _is_time(RESERVED_FOR_GROUP[group])


def _is_time(reserved):
    deadline = os.environ.get(DEADLINE)
    return not deadline or time.time() < float(deadline) - reserved
