# SPDX-License-Identifier: Apache-2.0
"""Reader of the notes (JSON files) that services write for operators, on this machine or in containers."""

import json
from collections.abc import Callable
from pathlib import Path

Reader = Callable[[str], str]
"""Returns the text at a location; raises OSError where there is none."""

_readers: dict[str, Reader] = {}


def register_reader(scheme: str, reader: Reader) -> None:
    """Register the reader of locations that begin with `scheme:`; it receives the rest of the location."""
    _readers[scheme] = reader


def read_notes(location: str) -> str:
    """Return the text at a location: a path on this machine, or `SCHEME:...` of a registered reader.

    Raises:
        OSError: no such file.
        LabError: the place that holds the file cannot be reached.
    """
    scheme, separator, rest = location.partition(":")
    if separator and scheme in _readers:
        return _readers[scheme](rest)
    return Path(location).read_text(encoding="utf-8")


def launcher_problem(location: str) -> str:
    """Return from a launcher's notes why its job does not run, a phrase for messages; empty while it runs.

    Args:
        location: of the notes; empty for none.

    Raises:
        LabError: the place that holds the notes cannot be reached.
    """
    return _noted(location, "problem")


def launched_job_state(location: str) -> str:
    """Return from a launcher's notes the state of its job, which is RUNNING once all tasks run; empty for no job.

    Args:
        location: of the notes.

    Raises:
        LabError: the place that holds the notes cannot be reached.
    """
    return _noted(location, "job_state")


def _noted(location: str, key: str) -> str:
    if not location:
        return ""
    try:
        return str(json.loads(read_notes(location)).get(key, ""))
    except (OSError, ValueError):
        return ""  # no notes written yet
