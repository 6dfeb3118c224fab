# SPDX-License-Identifier: Apache-2.0
"""What the threads of a JVM have used, as the JVM itself tells it by name."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_THREAD = re.compile(r'^"(?P<name>.*)".* cpu=(?P<millis>[\d.]+)ms .*nid=(?P<id>\w+)', re.MULTILINE)

Threads = Mapping[tuple[str, str], float]
"""Seconds of processor time by name and the system's number of the thread."""


def threads(java: Path, process: int) -> Threads:
    """All that live, asked of the JVM `process` by the tool beside `java`. Raises CalledProcessError: there is none."""
    words = [str(java.with_name("jcmd")), str(process), "Thread.print"]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return parse(told)


def parse(told: str) -> Threads:
    """Of a thread dump."""
    found = _THREAD.finditer(told)
    return {(thread["name"], thread["id"]): float(thread["millis"]) / 1000 for thread in found}


def used_between(before: Threads, after: Threads, names: Sequence[str]) -> float:
    """Seconds that threads with one of `names` in theirs took; what ended in between is not in it."""
    return sum(
        seconds - before.get(thread, 0.0)
        for thread, seconds in after.items()
        if any(name in thread[0] for name in names)
    )
