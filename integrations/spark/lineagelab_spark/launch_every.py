# SPDX-License-Identifier: Apache-2.0
"""Launches a driver again and again: `python -m lineagelab_spark.launch_every SECONDS [--application NAME] MODULE`.

Between two runs there is no JVM, only this process. The seconds count from the end of a run, so that a slow one is
never followed by the next at once; the first waits as long. A run that fails is said, and tried again when it is due.
"""

import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

from lineagelab_spark import launch


def main(arguments: Sequence[str]) -> int:
    """Runs until SIGTERM or SIGINT, which stop a run under way too; returns 0."""
    every = float(arguments[0])
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while not stopped.wait(every):
        ending = launch.launch(arguments[1:])
        if ending.was_asked_for:
            break
        if not ending.well:
            print(f"{' '.join(arguments[1:])}: {ending}. It is tried again in {every:g} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
