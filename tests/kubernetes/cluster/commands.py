# SPDX-License-Identifier: Apache-2.0
"""Execution of short commands."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.kubernetes.cluster.errors import ClusterError

_TIMEOUT = 300


def run(command: Sequence[str | Path], *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command to completion. Raises ClusterError with its output if it fails and `check` is set."""
    arguments = [str(part) for part in command]
    try:
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"`{' '.join(arguments)}` failed: {error}") from error
    if check and done.returncode != 0:
        output = (done.stderr or done.stdout).strip()
        raise ClusterError(f"`{' '.join(arguments)}` failed with status {done.returncode}: {output}")
    return done
