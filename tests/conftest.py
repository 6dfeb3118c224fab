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

RESERVED_FOR_LAYER = {"docker": 25 * 60, "kubernetes": 15 * 60}
"""The same for folders whose tests build on each other, or whose set-up takes long: all of them start, or none."""

TESTS = Path(__file__).parent


def layer_of(item):
    return item.path.relative_to(TESTS).parts[0]


def pytest_collection_modifyitems(items):
    for item in items:
        if layer_of(item) in SLOW_LAYERS:
            item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item):
    layer = layer_of(item)
    if item.get_closest_marker("slow") and not _may_start(layer):
        pytest.skip(f"the time for slow tests was over ({DEADLINE}); alone: bin/lab test tests/{layer}")


def _may_start(layer):
    return _was_begun(layer) if layer in RESERVED_FOR_LAYER else _is_time(RESERVED_SECONDS)


@functools.cache
def _was_begun(layer):
    """The first test of a folder decides for all of them."""
    return _is_time(RESERVED_FOR_LAYER[layer])


def _is_time(reserved):
    deadline = os.environ.get(DEADLINE)
    return not deadline or time.time() < float(deadline) - reserved
