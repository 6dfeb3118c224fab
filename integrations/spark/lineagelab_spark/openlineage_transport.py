# SPDX-License-Identifier: Apache-2.0
"""Delivery by OpenLineage's Python client: its configuration, transports, authentication, TLS, filters and tags.

The spool is the queue, and the client's transport delivers: an event leaves the spool when the transport has confirmed
it. Two transports of the client lose events without an error; here they are replaced:

- `async_http` has a queue of its own: events are sent by `http`, with the same options.
- `kafka` and `msk-iam` log a failed delivery: here it raises, and the event is kept for a retry.

A `composite` transport confirms by its own rule: with `continue_on_failure: true`, its default, one receiver that
accepts an event is enough.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from openlineage.client import OpenLineageClient
from openlineage.client.client import Event
from openlineage.client.event_v2 import InputDataset, Job, JobEvent, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import parent_run
from openlineage.client.serde import Serde
from openlineage.client.transport import Transport, TransportFactory, get_default_factory
from openlineage.client.transport.kafka import KafkaTransport
from requests import HTTPError

from lineagelab_common.client import RejectedError, UnavailableError, is_retriable
from lineagelab_common.events import Json
from lineagelab_spark.configuration_error import ConfigurationError

DOCUMENTATION = "https://openlineage.io/docs/client/python/configuration"

KAFKA_TIMEOUT = 30.0
"""Seconds for the confirmation of one event by the brokers, as the `http` transport has with its retries."""

_CONFIG = "OPENLINEAGE_CONFIG"
_FILE = "openlineage.yml"


class OpenLineageReceiver:
    """Receiver of a spool that hands events to an `OpenLineageClient`.

    Attributes:
        url: the transport, for logs; it contains no key.
    """

    def __init__(self, client: OpenLineageClient) -> None:
        self._client = client
        self.url = f"OpenLineage transport {client.transport.kind}"

    @property
    def is_disabled(self) -> bool:
        """True if the configuration says that no event is sent."""
        return self._client.transport.kind == "noop"

    def send(self, event: bytes) -> None:
        """Emit one event. See `lineagelab_common.spool.Receiver`.

        Raises:
            RejectedError: it will never be accepted.
            UnavailableError: a later attempt may succeed.
        """
        try:
            self._client.emit(client_event(json.loads(event)))
        except UnavailableError:
            raise
        except HTTPError as error:
            if error.response is None or is_retriable(error.response.status_code):
                raise UnavailableError(str(error), has_answered=error.response is not None) from error
            raise RejectedError(f"HTTP status {error.response.status_code} {error.response.text[:300]}") from error
        except OSError as error:  # also errors of connections: those of requests derive from it
            raise UnavailableError(str(error) or type(error).__name__, has_answered=False) from error
        except Exception as error:
            # Transports raise what they like. The event keeps its place for some attempts, then lets others pass.
            raise UnavailableError(f"{type(error).__name__}: {error}", has_answered=True) from error


def open_receiver(config: Mapping[str, Any] | None = None) -> OpenLineageReceiver:
    """Return the receiver that the client's configuration names.

    Args:
        config: configuration in the form of `openlineage.yml`. It is merged with that file (`OPENLINEAGE_CONFIG`, the
            working directory, or `~/.openlineage`) and the variables `OPENLINEAGE__*`, as the client does.

    Raises:
        ConfigurationError: it is invalid, or no transport is configured.
    """
    _check_file()
    try:
        client = OpenLineageClient(config=json.loads(json.dumps(config or {})), factory=_ConfirmingFactory())
    except Exception as error:
        # The client raises KeyError, RuntimeError, TypeError, ValueError and ImportError for invalid values.
        reason = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise ConfigurationError(
            f"cannot configure the OpenLineage client: {reason}. Correct {_FILE}, {_CONFIG} or the OPENLINEAGE_* "
            f"variables; see {DOCUMENTATION}"
        ) from error
    if client.transport.kind == "console" and not (client.config.transport or {}).get("type"):
        raise ConfigurationError(
            "no receiver of lineage events is configured: pass a url, set OPENLINEAGE_URL, write the transport into "
            f"{_FILE}, or set OPENLINEAGE_DISABLED=true; see {DOCUMENTATION}"
        )
    _confirm(client.transport)
    return OpenLineageReceiver(client)


def client_event(event: Json) -> RunEvent | JobEvent:
    """Return an event as an object of the client, for its filters, tags and message keys. Its JSON stays the same."""
    job = Job(event["job"]["namespace"], event["job"]["name"], dict(event["job"].get("facets", {})))
    inputs = [InputDataset(**dataset) for dataset in event["inputs"]]
    outputs = [OutputDataset(**dataset) for dataset in event["outputs"]]
    common: Json = {"eventTime": event["eventTime"], "producer": event["producer"], "job": job}
    if "run" not in event:
        return JobEvent(**common, inputs=inputs, outputs=outputs)
    facets = dict(event["run"].get("facets", {}))
    if "parent" in facets:
        facets["parent"] = _parent(facets["parent"])  # an object: the key of Kafka messages is read from it
    run = Run(event["run"]["runId"], facets)
    return RunEvent(**common, run=run, eventType=RunState(event["eventType"]), inputs=inputs, outputs=outputs)


def _parent(facet: Json) -> parent_run.ParentRunFacet:
    run, job, root = facet["run"], facet["job"], None
    if "root" in facet:
        first = facet["root"]
        root_job = parent_run.RootJob(first["job"]["namespace"], first["job"]["name"])
        root = parent_run.Root(parent_run.RootRun(first["run"]["runId"]), root_job)
    return parent_run.ParentRunFacet(
        parent_run.Run(run["runId"]), parent_run.Job(job["namespace"], job["name"]), root, producer=facet["_producer"]
    )


def _check_file() -> None:
    """Raise ConfigurationError if the configuration file is missing or invalid: the client would ignore that."""
    named = os.environ.get(_CONFIG, "")
    if named and not Path(named).is_file():
        raise ConfigurationError(f"{_CONFIG} names {named}, which is not a file: correct or unset it")
    candidates = [Path(named)] if named else [Path(_FILE), Path.home() / ".openlineage" / _FILE]
    path = next((each for each in candidates if each.is_file()), None)
    if path is None:
        return
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigurationError(f"cannot read the OpenLineage configuration {path}: {error}") from error
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"the OpenLineage configuration {path} is not a mapping with `transport`: see {DOCUMENTATION}"
        )


class _ConfirmingFactory(TransportFactory):
    """Factory of the client's transports, without its asynchronous one."""

    def create(self, config: dict[str, Any] | None = None) -> Transport:
        return get_default_factory().create(_synchronous(config) if config else config)


def _synchronous(config: Any) -> Any:  # noqa: ANN401 - part of a configuration
    """Replace the type `async_http` in a configuration and in those of the transports in it."""
    if isinstance(config, dict):
        return {
            key: "http" if (key, value) == ("type", "async_http") else _synchronous(value)
            for key, value in config.items()
        }
    return [_synchronous(each) for each in config] if isinstance(config, list) else config


def _confirm(transport: Transport) -> None:
    """Make the Kafka transports of a client raise errors of delivery."""
    inner = getattr(transport, "transport", None)
    for each in (*getattr(transport, "transports", ()), *([inner] if isinstance(inner, Transport) else ())):
        _confirm(each)
    if isinstance(transport, KafkaTransport):
        transport.emit = _ConfirmedKafka(transport)  # type: ignore[method-assign]


class _ConfirmedKafka:
    """Replacement of a Kafka transport's `emit`."""

    def __init__(self, transport: KafkaTransport) -> None:
        self._transport = transport

    def __call__(self, event: Event) -> None:
        transport = self._transport
        producer: Any = transport.producer
        failed: list[object] = []

        def delivered(error: object, _: object) -> None:
            if error is not None:
                failed.append(error)

        producer.produce(
            topic=transport.topic,
            key=transport.message_key or transport._get_message_key(event),
            value=Serde.to_json(event).encode(),
            on_delivery=delivered,
        )
        if producer.flush(KAFKA_TIMEOUT):
            producer.purge()
            producer.flush(0)
            raise UnavailableError(f"no confirmation within {KAFKA_TIMEOUT:g} s", has_answered=False)
        if failed:
            raise UnavailableError(str(failed[0]), has_answered=False)
