# SPDX-License-Identifier: Apache-2.0
"""One alert."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from lineage.events.ids import DatasetId, JobId, JsonObject, identity_json
from lineage.events.timestamps import format_time


class AlertKind(StrEnum):
    """Kind of a problem."""

    FAILED = "failed"
    """The latest run of a job failed."""

    STALE = "stale"
    """A streaming run sends no events any more, and has not ended."""

    QUALITY = "quality"
    """A data quality assertion failed in the latest run of a job."""

    SCHEMA = "schema"
    """Columns were removed or retyped, and not every reader of the dataset has run since."""

    CONTRACT = "contract"
    """The lineage, a schema or freshness differs from the lineage contract."""


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that is wrong.

    Attributes:
        kind: what is wrong.
        subject: the job or dataset, None for a difference from the contract.
        occurrence: distinguishes it from others of the same kind and subject: a run, a time, a finding.
        text: one line for people, without line breaks.
        since: event time in nanoseconds; None if it is not known.
    """

    kind: AlertKind
    subject: JobId | DatasetId | None
    occurrence: str
    text: str
    since: int | None

    @property
    def id(self) -> str:
        """Return an id that is the same for the same occurrence, also after a restart: 16 hexadecimal digits."""
        kind = "" if self.subject is None else "job" if isinstance(self.subject, JobId) else "dataset"
        parts = (self.kind, kind, *(self.subject or ()), self.occurrence)
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_json(self) -> JsonObject:
        """Return `{"id", "kind", "subject": {"type", "namespace", "name"} | null, "text", "since"}`."""
        subject = None
        if self.subject is not None:
            subject = {"type": "JOB" if isinstance(self.subject, JobId) else "DATASET", **identity_json(self.subject)}
        since = None if self.since is None else format_time(self.since)
        return {"id": self.id, "kind": self.kind, "subject": subject, "text": self.text, "since": since}
