# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a launcher and the cluster."""


class FlinkError(Exception):
    """Something was refused: it is said, and tried again later. `trace` is all that Flink says."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


class FlinkAwayError(FlinkError):
    """The cluster does not answer."""


class ScriptError(Exception):
    """An SQL file cannot be used: no other try will change that."""


def root_cause(trace: str) -> str:
    """The first line of the deepest cause in a Java stack trace, without the class's package."""
    lines = trace.strip().splitlines()
    if not lines:
        return "no cause is given"
    deepest = next((line for line in reversed(lines) if line.lstrip().startswith("Caused by: ")), lines[0])
    text = deepest.strip().removeprefix("Caused by: ")
    name, colon, message = text.partition(": ")
    return f"{name.rpartition('.')[2]}{colon}{message}" if " " not in name else text
