# SPDX-License-Identifier: Apache-2.0
"""Errors of a launcher, and root causes of Java stack traces."""


class FlinkError(Exception):
    """The cluster rejected a request, which is retried later. `trace` is Flink's full error."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


class FlinkUnavailableError(FlinkError):
    """The cluster did not respond."""


class ScriptError(Exception):
    """An SQL file is invalid; a retry is pointless."""


def root_cause(trace: str) -> str:
    """Return the first line of the deepest cause in a Java stack trace, without the package of its class."""
    lines = trace.strip().splitlines()
    if not lines:
        return "no cause is given"
    deepest = next((line for line in reversed(lines) if line.lstrip().startswith("Caused by: ")), lines[0])
    text = deepest.strip().removeprefix("Caused by: ")
    name, colon, message = text.partition(": ")
    return f"{name.rpartition('.')[2]}{colon}{message}" if " " not in name else text
