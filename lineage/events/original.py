# SPDX-License-Identifier: Apache-2.0
"""An event as its emitter sent it: what the log stores."""

import hashlib
from dataclasses import dataclass

from lineage.events.ids import JsonObject
from lineage.events.strict_json import canonical_json, parse_json
from lineage.events.timestamps import parse_time
from lineage.events.validation import Kind, validate_event


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """Validated event under the names that its emitter uses.

    `data` is the JSON as it came, `body` the same parsed, which must not be changed. `hash` is the SHA-256 of its
    canonical JSON: events that differ in white space or in the order of keys are equal. `time` is the stated event time
    in nanoseconds, `run` the UUID in lower case, None for job and dataset events.
    """

    kind: Kind
    hash: bytes
    time: int
    run: str | None
    body: JsonObject
    data: bytes

    @property
    def namespace(self) -> str:
        """Return the namespace of the job; of the dataset, if the event has no job."""
        owner: JsonObject = self.body.get("job") or self.body["dataset"]
        namespace: str = owner["namespace"]
        return namespace


def read_original(data: bytes) -> Original:
    """Read one event as sent by an emitter.

    Raises:
        MalformedJson: the bytes are not JSON that every consumer reads alike.
        InvalidEvent: a field is missing or wrong.
    """
    kind, body = validate_event(parse_json(data))
    return Original(
        kind=kind,
        hash=hashlib.sha256(canonical_json(body)).digest(),
        time=parse_time(body["eventTime"]),
        run=body["run"]["runId"].lower() if kind is Kind.RUN else None,
        body=body,
        data=data,
    )
