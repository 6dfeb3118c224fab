# SPDX-License-Identifier: Apache-2.0
"""Run ids, parent runs and times in OpenLineage's notation."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from uuid import UUID

DEFAULT_NAMESPACE = "default"
"""OpenLineage's default job namespace."""

PARENT = "OPENLINEAGE_PARENT_ID"
"""Environment variable with the parent of a process' runs, `namespace/job/runId`."""

ROOT_PARENT = "OPENLINEAGE_ROOT_PARENT_ID"
"""Environment variable with the first run of the hierarchy that the parent belongs to, in the same form."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ParentRun:
    """Parent of a run; `root` is the first run of the hierarchy, None if it is not known."""

    namespace: str
    job: str
    run_id: str
    root: "ParentRun | None" = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "ParentRun | None":
        """Return the parent in the environment variables `PARENT` and `ROOT_PARENT`; None without the first one.

        Raises:
            ValueError: one of them is invalid.
        """
        parent, root = environment.get(PARENT, ""), environment.get(ROOT_PARENT, "")
        if not parent:
            return None
        return replace(cls.parse(parent), root=cls.parse(root) if root else None)

    @classmethod
    def parse(cls, text: str) -> "ParentRun":
        """Parse `namespace/job/runId`; the namespace may contain slashes.

        Raises:
            ValueError: the text has another form.
        """
        namespace, job, run_id = ["", "", "", *text.rsplit("/", 2)][-3:]
        try:
            UUID(run_id)
        except ValueError:
            namespace = ""
        if not namespace or not job:
            raise ValueError(f"invalid parent run {text!r}: expected namespace/job/runId, the run id being a UUID")
        return cls(namespace, job, run_id)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.job}/{self.run_id}"


def parent_variables(parent: ParentRun) -> dict[str, str]:
    """Return the environment variables of a program that has this parent, as `ParentRun.from_environment` reads."""
    return {PARENT: str(parent), ROOT_PARENT: str(parent.root or parent)}


def new_run_id() -> str:
    """Return a UUID of version 7 for a run that starts now."""
    return uuid7(time.time_ns(), os.urandom(10))


def uuid7(nanoseconds: int, random: bytes) -> str:
    """Return a UUID of version 7, which sorts by time: nanoseconds since 1970, and 10 random bytes."""
    data = bytearray((nanoseconds // 10**6).to_bytes(6, "big") + random)
    data[6] = data[6] & 0x0F | 0x70
    data[8] = data[8] & 0x3F | 0x80
    return str(UUID(bytes=bytes(data)))


def timestamp(milliseconds: int) -> str:
    """Return an event time, given in milliseconds since 1970, always with three fractional digits."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    """Return the current event time."""
    return timestamp(time.time_ns() // 10**6)
