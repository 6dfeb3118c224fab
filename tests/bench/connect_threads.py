# SPDX-License-Identifier: Apache-2.0
"""CPU time of a JVM's threads by name, from its thread dump."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_THREAD = re.compile(r'^"(?P<name>.*)".* cpu=(?P<millis>[\d.]+)ms .*nid=(?P<id>\w+)', re.MULTILINE)

Threads = Mapping[tuple[str, str], float]
"""CPU seconds by name and native id of the thread."""


def read_threads(java: Path, process: int) -> Threads:
    """Return the live threads of JVM `process`, read with the jcmd next to `java`. Raises CalledProcessError."""
    words = [str(java.with_name("jcmd")), str(process), "Thread.print"]
    dump = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return parse_thread_dump(dump)


def parse_thread_dump(dump: str) -> Threads:
    """Parse a thread dump."""
    found = _THREAD.finditer(dump)
    return {(thread["name"], thread["id"]): float(thread["millis"]) / 1000 for thread in found}


def cpu_seconds_between(before: Threads, after: Threads, names: Sequence[str]) -> float:
    """Return CPU seconds of threads whose name contains one of `names`, without those that ended in between."""
    return sum(
        seconds - before.get(thread, 0.0)
        for thread, seconds in after.items()
        if any(name in thread[0] for name in names)
    )
