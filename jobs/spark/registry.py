# SPDX-License-Identifier: Apache-2.0
"""Client for writer schemas of a schema registry with Confluent's API."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from jobs.spark.runtime import JobError

TIMEOUT_SECONDS = 15.0
RETRY_TIMEOUT_SECONDS = 600.0
"""Maximum duration of retries for an unavailable registry. A restart takes about a minute."""

INITIAL_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.5, 15.0
_SCHEMA_NOT_FOUND = 404

log = logging.getLogger(__name__)

Wait = Callable[[float], None]
"""Sleep for a number of seconds; raises if the query is being stopped."""


@dataclass(frozen=True)
class Registry:
    """Schema registry, accessed without a proxy. `url` is the root of its API: `http://host:port/apis/ccompat/v7`."""

    url: str

    def avro_schema(self, schema_id: int) -> str | None:
        """Return the schema with this id as JSON text; None if it does not exist or is not an Avro record.

        Raises:
            JobError: the request failed.
        """
        address = f"{self.url.rstrip('/')}/schemas/ids/{schema_id}"
        try:
            answer = _get(address)
        except (OSError, HTTPException, ValueError) as error:
            raise JobError(
                f"cannot get schema {schema_id} from the registry at {address}: {error}. "
                "Check that the schema registry runs there"
            ) from error
        return None if answer is None else _avro_record(answer)

    def await_schema(self, schema_id: int, wait: Wait) -> str | None:
        """Return `avro_schema`, with retries while the registry is unavailable.

        Retries with exponential backoff for up to `RETRY_TIMEOUT_SECONDS`: without the schema, valid records would be
        rejected, and a restart of the job would not help.

        Args:
            schema_id: schema id.
            wait: sleep between attempts.

        Raises:
            JobError: the registry is still unavailable.
        """
        deadline, pause = time.monotonic() + RETRY_TIMEOUT_SECONDS, INITIAL_BACKOFF_SECONDS
        while True:
            try:
                schema = self.avro_schema(schema_id)
            except JobError as error:
                if time.monotonic() + pause > deadline:
                    raise
                if pause == INITIAL_BACKOFF_SECONDS:
                    log.warning("%s. Retrying for up to %.0f s", error, RETRY_TIMEOUT_SECONDS)
            else:
                if pause > INITIAL_BACKOFF_SECONDS:
                    log.info("the registry at %s responds again", self.url)
                return schema
            wait(pause)
            pause = min(2 * pause, MAX_BACKOFF_SECONDS)


def _get(address: str) -> dict[str, Any] | None:
    """Return the response; None if the schema does not exist."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(Request(address, headers={"Accept": "application/json"}), timeout=TIMEOUT_SECONDS) as reply:
            answer = json.load(reply)
    except HTTPError as error:
        with error:
            if error.code == _SCHEMA_NOT_FOUND and _is_registry_error(error):
                return None
            raise
    if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
        raise ValueError("the response is not that of a schema registry")
    return answer


def _is_registry_error(error: HTTPError) -> bool:
    """Return True for a JSON error of a registry: any other 404 indicates a wrong address."""
    try:
        return "error_code" in json.load(error)
    except (ValueError, TypeError):
        return False


def _avro_record(answer: dict[str, Any]) -> str | None:
    text = str(answer["schema"])
    if answer.get("schemaType", "AVRO") != "AVRO":
        return None
    try:
        schema = json.loads(text)
    except json.JSONDecodeError:
        return None
    return text if isinstance(schema, dict) and schema.get("type") == "record" else None
