# SPDX-License-Identifier: Apache-2.0
"""Java's stack traces and the registry's refusals, as texts that a person can use. Pure functions."""

import json
import re

LONGEST_CAUSE = 600
"""Characters: some connectors put a whole configuration into an exception's message."""

MOST_CAUSES = 5

_PACKAGE = re.compile(r"^(?:[a-z_$][\w$]*\.)+(?=[A-Z])")
_FIELD = re.compile(r"/fields/(\d+)(?:/\w+)*")
_ARTIFACT = re.compile(r"Incompatible artifact: (\S+)")


def causes(trace: str) -> list[str]:
    """The exceptions of a stack trace, outermost first, each with its message and without its package and frames.

    Of a long chain the first and the last ones: the root cause is the last.
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
    shown = [_PACKAGE.sub("", cause.strip())[:LONGEST_CAUSE] for cause in _without_repetition(found)]
    return shown if len(shown) <= MOST_CAUSES else [shown[0], "...", *shown[-(MOST_CAUSES - 1) :]]


def _without_repetition(found: list[str]) -> list[str]:
    """Without those whose message is nothing but the exception that comes next."""
    return [
        cause
        for place, cause in enumerate(found)
        if not (place + 1 < len(found) and cause.partition(": ")[2] == found[place + 1])
    ]


def refused_artifact(trace: str) -> str | None:
    """The subject whose rule a schema broke, where that is what a trace tells."""
    found = _ARTIFACT.search(trace)
    return found.group(1) if found else None


def name_fields(words: str, avro: str) -> str:
    """A registry's refusal with the names of the fields that it gives the places of.

    Args:
        words: `... at /fields/2/type/1`.
        avro: the schema whose places they are.
    """
    schema = json.loads(avro)
    fields = schema.get("fields", []) if isinstance(schema, dict) else []

    def named(match: re.Match[str]) -> str:
        place = int(match.group(1))
        return f"{match.group(0)} (field {fields[place]['name']})" if place < len(fields) else match.group(0)

    return _FIELD.sub(named, words)
