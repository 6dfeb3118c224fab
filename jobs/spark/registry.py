# SPDX-License-Identifier: Apache-2.0
"""Writers' schemas by id, from a schema registry that has Confluent's API."""

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
PATIENCE_SECONDS = 600.0
"""For a registry that is away. Its restart takes a minute; who has waited that long wants somebody to look."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 15.0
_SCHEMA_NOT_FOUND = 404

log = logging.getLogger(__name__)

Wait = Callable[[float], None]
"""Waits for some seconds; raises where there is no more time."""


@dataclass(frozen=True)
class Registry:
    """A registry, reached without any proxy. `url` is the root of its API: `http://host:port/apis/ccompat/v7`."""

    url: str

    def avro_schema(self, schema_id: int) -> str | None:
        """The schema with this id, as JSON text. None where the registry has none, or one that is no Avro record.

        Raises:
            JobError: the registry cannot be asked.
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
        """`avro_schema`, of a registry that may be away for a while.

        It is asked again for `PATIENCE_SECONDS`: to take sound records for broken ones would be wrong, and to end the
        job would not bring it back.

        Args:
            schema_id: the id.
            wait: waits between two attempts.

        Raises:
            JobError: it is still away.
        """
        given_up, pause = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE_SECONDS
        while True:
            try:
                schema = self.avro_schema(schema_id)
            except JobError as error:
                if time.monotonic() + pause > given_up:
                    raise
                if pause == FIRST_PAUSE_SECONDS:
                    log.warning("%s. Asking again for up to %.0f s", error, PATIENCE_SECONDS)
            else:
                if pause > FIRST_PAUSE_SECONDS:
                    log.info("the registry at %s answers again", self.url)
                return schema
            wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _get(address: str) -> dict[str, Any] | None:
    """The answer; None where there is no such schema."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(Request(address, headers={"Accept": "application/json"}), timeout=TIMEOUT_SECONDS) as reply:
            answer = json.load(reply)
    except HTTPError as error:
        with error:
            if error.code == _SCHEMA_NOT_FOUND and _is_registry_s(error):
                return None
            raise
    if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
        raise ValueError("the answer is not a registry's")
    return answer


def _is_registry_s(error: HTTPError) -> bool:
    """A registry says what is missing in JSON. A 404 of somebody else's only says that the address is wrong."""
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
