# SPDX-License-Identifier: Apache-2.0
"""The `slow` marker of whole layers, the deadline of slow tests, and the folder of temporary files.

`make test` runs what is not slow, `make test-all` everything. A test, a file or (here) a layer is marked `slow`.
"""

import functools
import os
import tempfile
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
    "docker/test_python_jobs.py": 15 * 60,
    "kubernetes": 5 * 60,
    "kubernetes/test_helm_alone.py": 8 * 60,
    "kubernetes/test_kubernetes_lab.py": 15 * 60,
    "kubernetes/test_python_jobs.py": 20 * 60,
}
"""The same for folders and files whose tests build on each other, or whose set-up takes long: all start, or none."""

TESTS = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory):
    """Remove at the end what tests, their processes and their Spark drivers leave in the folder of temporary files.

    Killed ones remove nothing. The folders of `tmp_path`, which pytest keeps for a while, are elsewhere.
    """
    tmp_path_factory.getbasetemp()
    with (
        tempfile.TemporaryDirectory(prefix="lineage-lab-tests-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(tempfile, "tempdir", None)
        patch.setenv("TMPDIR", folder)
        patch.setenv("SPARK_SUBMIT_OPTS", f"-Djava.io.tmpdir={folder}")
        yield


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
