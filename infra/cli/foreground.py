# SPDX-License-Identifier: Apache-2.0
"""Programs that share the terminal with a command of the lab, and so its Ctrl-C."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_in_foreground(words: Sequence[str | Path], environment: Mapping[str, str], folder: Path | None = None) -> int:
    """Run a program to its end; return its exit code.

    Raises:
        KeyboardInterrupt: after Ctrl-C, which the program received too, once it has ended.
    """
    process = subprocess.Popen(words, env=environment, cwd=folder)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise
