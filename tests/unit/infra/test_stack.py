# SPDX-License-Identifier: Apache-2.0
"""A stack as the command sees it: its name, and locks of updates that were killed."""

import os
import platform
import subprocess
import sys

import pytest

from infra.cli.stack import Stack, _is_dead
from infra.errors import LabError


@pytest.mark.parametrize("name", ["", "two words", "../up", "-dash", "a/b"])
def test_a_name_that_cannot_be_a_stacks_is_refused(name):
    with pytest.raises(LabError, match="cannot name a stack"):
        Stack(name, None)


HERE = platform.node()


def lock(pid, hostname=HERE):
    return {"pid": pid, "username": "me", "hostname": hostname, "timestamp": "2026-01-01T00:00:00Z"}


def test_a_lock_whose_holder_is_gone_is_dead():
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert _is_dead(lock(ended.pid))


def test_a_process_that_took_over_the_number_is_not_the_holder():
    assert _is_dead(lock(os.getpid()))


def test_a_lock_of_another_machine_is_left_alone():
    assert not _is_dead(lock(1, "elsewhere"))
