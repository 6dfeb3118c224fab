# SPDX-License-Identifier: Apache-2.0
"""What a launcher remembers, on disk: a file that is replaced as a whole."""

import json
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lineagelab_common.files import replace_file
from lineagelab_flink.lifecycle import Memory, Phase


@dataclass(frozen=True)
class Described:
    """What was found out about a job, and for which definition: no other launch need find it out again."""

    definition: str = ""
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    job_facets: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remembered:
    """A file's content.

    Attributes:
        processing, version: of the job under way, for events when the cluster can no longer be asked.
        problem: why the last submission came to nothing, for people and for `labkit`.
    """

    memory: Memory = field(default_factory=Memory)
    described: Described = field(default_factory=Described)
    processing: str = "STREAMING"
    version: str = ""
    problem: str = ""


def load(path: Path) -> Remembered:
    """What the file has; nothing where it is not there, or damaged, which is said."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        memory = Memory(**{**found["memory"], "phase": Phase[found["memory"]["phase"]]})
        return Remembered(**{**found, "memory": memory, "described": Described(**found["described"])})
    except FileNotFoundError:
        return Remembered()
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path} cannot be read, the job is looked for by its name: {error}", file=sys.stderr)
        return Remembered()


def save(path: Path, remembered: Remembered) -> None:
    """Replaces the file; after that a power cut loses nothing.

    Raises:
        OSError: it cannot be written. Without it, a killed launcher might submit a job twice.
    """
    said = asdict(remembered)
    said["memory"]["phase"] = remembered.memory.phase.name
    replace_file(path, json.dumps(said, sort_keys=True))


class Notebook:
    """What is remembered, and the file that has it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.kept = load(path)

    def keep(self, **changes: object) -> None:
        """Remembers, on disk where something has changed.

        Raises:
            OSError: it cannot be written.
        """
        changed: Remembered = replace(self.kept, **changes)  # type: ignore[arg-type]
        if changed != self.kept:
            save(self._path, changed)
            self.kept = changed
