# SPDX-License-Identifier: Apache-2.0
"""Periodic launcher of a driver: `python -m lineagelab_spark.launch_every SECONDS [--application NAME] MODULE`.

Between two runs only this process is alive, no JVM. The interval is the delay from the end of a run to the next start;
the first run waits as long. A failed run is logged and retried after the interval.
"""

import sys
from collections.abc import Sequence

from lineagelab_common.stop_signal import StopSignal
from lineagelab_spark import launch


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT, which also stop the current run; return 0."""
    every = float(arguments[0])
    stopped = StopSignal()
    stopped.install()
    while not stopped.wait(every):
        ending = launch.launch(arguments[1:])
        if ending.stop_requested:
            break
        if not ending.succeeded:
            print(f"{' '.join(arguments[1:])}: {ending}. Next run in {every:g} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
