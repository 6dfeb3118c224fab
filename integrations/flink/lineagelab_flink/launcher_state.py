# SPDX-License-Identifier: Apache-2.0
"""State of a launcher, in a file that is replaced atomically."""

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lineagelab_common.files import replace_file
from lineagelab_flink.lifecycle import JobState, Phase

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobLineage:
    """Datasets and facets of the definition `definition`, stored so that the next launch need not derive them."""

    definition: str = ""
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    job_facets: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LauncherState:
    """Content of the file.

    Attributes:
        memory: state of the job.
        processing, version: of the current job, for events when the cluster no longer responds.
        job_state: Flink's state of the job when last observed, `STARTING` while not all its tasks run; empty for no job
            and after a stop of the launcher. `up` of a lab reads it.
        problem: why the job does not run (`job_problem`); empty while it does. `up` and `status` of a lab show it.
    """

    memory: JobState = field(default_factory=JobState)
    described: JobLineage = field(default_factory=JobLineage)
    processing: str = "STREAMING"
    version: str = ""
    job_state: str = ""
    problem: str = ""


def load(path: Path) -> LauncherState:
    """Read the file; return an empty state where it does not exist or, with a warning, is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        memory = JobState(**{**found["memory"], "phase": Phase[found["memory"]["phase"]]})
        return LauncherState(**{**found, "memory": memory, "described": JobLineage(**found["described"])})
    except FileNotFoundError:
        return LauncherState()
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("cannot read %s, the job will be found by its name: %s", path, error)
        return LauncherState()


def save(path: Path, state: LauncherState) -> None:
    """Replace the file; the new content survives a power failure.

    Raises:
        OSError: it cannot be written. Without it, a killed launcher might submit a job twice.
    """
    content = asdict(state)
    content["memory"]["phase"] = state.memory.phase.name
    replace_file(path, json.dumps(content, sort_keys=True))


class StateFile:
    """The state of a launcher and its file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.state = load(path)

    def update(self, **changes: object) -> None:
        """Change fields of the state, and write the file if any has changed.

        Raises:
            OSError: the file cannot be written.
        """
        changed: LauncherState = replace(self.state, **changes)  # type: ignore[arg-type]
        if changed != self.state:
            save(self._path, changed)
            self.state = changed
