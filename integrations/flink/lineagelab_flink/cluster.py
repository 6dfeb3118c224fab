# SPDX-License-Identifier: Apache-2.0
"""Cluster on which a launcher runs its job."""

from typing import Protocol

from lineagelab_flink.rest import FlinkClient

CHECKPOINT_FOLDER = "execution.checkpointing.dir"
"""Flink's option: folder below which each job has one for its checkpoints."""


class Cluster(Protocol):
    """Cluster of a job.

    Attributes:
        client: of its JobManager.
    """

    client: FlinkClient

    def has_no_jobs(self) -> bool:
        """Return whether no JobManager runs, so that no job can; False where only the JobManager knows its jobs."""

    def take_failure(self) -> str:
        """Return once why the launcher's own JobManager has ended by an error; empty if it has not."""

    def restart_taskmanager(self) -> None:
        """Start the TaskManager again if it is the launcher's and has ended."""

    def checkpoint_folder(self) -> str:
        """Return the value of `CHECKPOINT_FOLDER`, empty for none. Raises FlinkError."""

    def close(self) -> None:
        """Close connections, and end what the launcher has started."""


class SessionCluster:
    """Cluster at an address, which others start and stop and on which other jobs run, too."""

    def __init__(self, url: str) -> None:
        self.client = FlinkClient(url)

    def has_no_jobs(self) -> bool:
        return False

    def take_failure(self) -> str:
        return ""

    def restart_taskmanager(self) -> None:
        """Leave it to whoever has started the TaskManagers."""

    def checkpoint_folder(self) -> str:
        return self.client.setting(CHECKPOINT_FOLDER)

    def close(self) -> None:
        self.client.close()
