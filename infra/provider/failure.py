# SPDX-License-Identifier: Apache-2.0
"""Readable messages from Java stack traces and from the schema registry's rejections. Pure functions."""

import json
import re

MAX_CAUSE_LENGTH = 600
"""Characters per cause: some connectors put their full configuration into an exception's message."""

MAX_CAUSES = 5

_PACKAGE = re.compile(r"^(?:[a-z_$][\w$]*\.)+(?=[A-Z])")
_FIELD = re.compile(r"/fields/(\d+)(?:/\w+)*")
_ARTIFACT = re.compile(r"Incompatible artifact: (\S+)")


def causes(trace: str) -> list[str]:
    """Return the exceptions of a stack trace with their messages, outermost first, without packages and frames.

    A long chain is shortened to its first and its last exceptions; the root cause is the last.
    """
    found: list[str] = []
    in_message = False
    for line in trace.splitlines():
        if line.startswith(("\tat ", "\t...", "   at ")):
            in_message = False
        elif line.startswith("Caused by: "):
            found.append(line.removeprefix("Caused by: "))
            in_message = True
        elif in_message or not found:
            if found:
                found[-1] += f" {line.strip()}"
            else:
                found.append(line)
            in_message = True
    shown = [_PACKAGE.sub("", cause.strip())[:MAX_CAUSE_LENGTH] for cause in _without_repetition(found)]
    return shown if len(shown) <= MAX_CAUSES else [shown[0], "...", *shown[-(MAX_CAUSES - 1) :]]


def _without_repetition(found: list[str]) -> list[str]:
    """Drop exceptions whose message only repeats the next exception."""
    return [
        cause
        for place, cause in enumerate(found)
        if not (place + 1 < len(found) and cause.partition(": ")[2] == found[place + 1])
    ]


def incompatible_subject(trace: str) -> str | None:
    """Return the subject whose compatibility rule a schema violates, if the trace names one."""
    found = _ARTIFACT.search(trace)
    return found.group(1) if found else None


def add_field_names(message: str, avro: str) -> str:
    """Add field names to a registry's error message, which identifies fields by index.

    Args:
        message: for example `... at /fields/2/type/1`.
        avro: the schema that the indexes refer to.
    """
    schema = json.loads(avro)
    fields = schema.get("fields", []) if isinstance(schema, dict) else []

    def named(match: re.Match[str]) -> str:
        place = int(match.group(1))
        return f"{match.group(0)} (field {fields[place]['name']})" if place < len(fields) else match.group(0)

    return _FIELD.sub(named, message)
