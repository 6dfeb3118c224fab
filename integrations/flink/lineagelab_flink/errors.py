# SPDX-License-Identifier: Apache-2.0
"""Errors of a launcher, and root causes of Java stack traces."""


class FlinkError(Exception):
    """The cluster rejected a request, which is retried later. `trace` is Flink's full error."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


class FlinkUnavailableError(FlinkError):
    """The cluster did not respond. `is_gone`: nothing listens at its address."""

    def __init__(self, message: str, *, is_gone: bool = False) -> None:
        super().__init__(message)
        self.is_gone = is_gone


class ScriptError(Exception):
    """An SQL file is invalid; a retry is pointless."""


_KAFKA_ERRORS = "org.apache.kafka.common.errors."
"""Package of Kafka's errors; that of Flink's SQL connector is below a package of Flink."""


def root_cause(trace: str) -> str:
    """Return the first line of the deepest cause in a Java stack trace, without the package of its class.

    Kafka's own errors name no topic; the nearest cause around them that says more follows in parentheses.
    """
    lines = trace.strip().splitlines()
    if not lines:
        return "no cause is given"
    causes = [lines[0], *(line for line in lines[1:] if line.lstrip().startswith("Caused by: "))]
    texts = [line.strip().removeprefix("Caused by: ") for line in causes]
    deepest = texts[-1]
    shown = _without_package(deepest)
    if _KAFKA_ERRORS in deepest.partition(":")[0]:
        around = [text.partition(": ")[2] for text in texts[:-1] if deepest not in text and ": " in text]
        return f"{shown} ({around[-1]})" if around else shown
    return shown


def _without_package(text: str) -> str:
    name, colon, message = text.partition(": ")
    return f"{name.rpartition('.')[2]}{colon}{message}" if " " not in name else text
