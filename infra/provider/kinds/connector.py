# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Connector`: a Kafka Connect connector; created when the connector and all of its tasks run."""

from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.model.resources import RUNNING, Connector
from infra.model.secret_options import HIDDEN, has_password_in_url, is_reference, is_secret, references
from infra.provider.connect_worker import BrokerUnreachable, ConnectorStatus, ConnectWorker
from infra.provider.connections import NO_RESPONSE, url_accepts_connections
from infra.provider.failure import add_field_names, incompatible_subject
from infra.provider.kind import POLL_SECONDS, Kind, OperationContext, ReadResult, ServiceUnreachable

START_SECONDS = 120
"""Time limit for all tasks of a connector to start."""

RECOVERY_TIMEOUT_SECONDS = 20
"""Time limit for a connector that is neither running nor failed (during a rebalance) to become one of the two."""

MIN_RUNNING_SECONDS = 2
"""Time that a connector must run to count as started: some fail at their first operation."""

STALE_FAILURE_SECONDS = 4
"""Time for which the worker may still report an earlier failure after a restart request."""

TYPO_SIMILARITY = 0.9
"""Minimum similarity (difflib ratio) of an unknown option to a known one to count as a typo."""


class ConnectorKind(Kind[Connector]):
    """Connectors; `create` adopts an existing connector, whose offsets Kafka stores under its name."""

    name = "Connector"
    inputs = Connector
    replace_on = frozenset({"worker", "cluster", "name"})
    addresses = frozenset({"worker"})

    def create(self, inputs: Connector, call: OperationContext) -> dict[str, Any]:
        worker = _worker(inputs, "deploy", call)
        _require_own_cluster(inputs, worker)
        _validate_options(inputs, worker)
        existed = worker.config(inputs.name) is not None
        try:
            self._reconcile(inputs, worker, call)
        except BaseException:
            if not existed:
                with suppress(ServiceUnreachable):  # the first error matters
                    self.delete(inputs, OperationContext())  # a new context, as `call` may have been interrupted
            raise
        return {}

    def read(self, inputs: Connector, call: OperationContext) -> ReadResult[Connector] | None:
        worker = _worker(inputs, "read", call)
        if not url_accepts_connections(inputs.worker):
            raise ServiceUnreachable(f"could not {worker.action}: {NO_RESPONSE}")
        if not _is_expected(inputs, worker.cluster()):
            return None
        try:
            config = worker.config(inputs.name)
        except BrokerUnreachable:  # the same refresh repairs the broker and must not fail here
            return ReadResult(inputs)
        if config is None:
            return None
        state = _wait_until_settled(inputs, worker, call)
        return ReadResult(inputs.model_copy(update={"config": _without_secrets(config, inputs.config), "state": state}))

    def update(self, old: Connector, new: Connector, call: OperationContext) -> dict[str, Any]:
        worker = _worker(new, "change", call)
        _require_own_cluster(new, worker)
        _validate_options(new, worker)
        self._reconcile(new, worker, call)
        return {}

    def delete(self, inputs: Connector, call: OperationContext) -> None:
        worker = _worker(inputs, "delete", call)
        if not url_accepts_connections(inputs.worker):
            raise ServiceUnreachable(f"could not {worker.action}: {NO_RESPONSE}")
        if not _is_expected(inputs, worker.cluster()):
            return  # the worker belongs to another lab
        try:
            worker.delete(inputs.name)
        except BrokerUnreachable as error:
            raise ServiceUnreachable(str(error)) from error
        for _ in call.poll(RECOVERY_TIMEOUT_SECONDS):
            if worker.config(inputs.name) is None:
                return
        raise LabError(f"could not {worker.action}: the worker accepted the request but still lists the connector")

    def _reconcile(self, inputs: Connector, worker: ConnectWorker, call: OperationContext) -> None:
        """Apply the configuration, start the connector and wait until it runs."""
        before = worker.status(inputs.name)
        if worker.config(inputs.name) != inputs.config:
            worker.put(inputs.name, inputs.config)
        if before and before.overall_state in {"PAUSED", "STOPPED"}:
            worker.resume(inputs.name)
        if before and before.traces:
            worker.restart_failed(inputs.name)
        call.report("waiting for all tasks to run")
        _await_running(inputs, worker, call, before)


def _worker(inputs: Connector, verb: str, call: OperationContext) -> ConnectWorker:
    return ConnectWorker(inputs.worker, f"{verb} connector {inputs.name} at {inputs.worker}", call)


def _is_expected(inputs: Connector, cluster: str) -> bool:
    return not inputs.cluster or cluster == inputs.cluster


def _require_own_cluster(inputs: Connector, worker: ConnectWorker) -> None:
    found = worker.cluster()
    if not _is_expected(inputs, found):
        raise LabError(
            f"could not {worker.action}: the worker belongs to another lab "
            f"(Kafka cluster {found}, expected {inputs.cluster}). "
            "Stop that lab or program, or set another lineage-lab:portOffset"
        )


def _validate_options(inputs: Connector, worker: ConnectWorker) -> None:
    """Validate a connector's options before anything is changed.

    Raises:
        LabError: lists every invalid option and its cause.
    """
    known = worker.validate(inputs.name, inputs.config)
    if known is None:
        raise LabError(f"could not {worker.action}: {_missing_class_message(inputs.config['connector.class'], worker)}")
    problems = [
        f"  {option['value']['name']}: {error}" for option in known for error in option["value"]["errors"] or ()
    ]
    problems += [
        f"  {name}: is a secret in plaintext, readable by every client of the worker: "
        "use a reference, ${provider:key}"
        for name in plaintext_secrets(inputs.config, known)
    ]
    problems += [f"  {typo}" for typo in misspelled_options(inputs.config, known)]
    if problems:
        raise LabError(f"could not {worker.action}: invalid options:\n" + "\n".join(dict.fromkeys(problems)))


def _missing_class_message(name: str, worker: ConnectWorker) -> str:
    there = worker.plugins()
    near = get_close_matches(name, there, n=1)
    guess = f"; did you mean {near[0]}?" if near else "."
    return f"connector.class = {name} is not installed in this worker{guess} Installed: {', '.join(there)}"


def plaintext_secrets(config: dict[str, str], known: list[dict[str, Any]]) -> list[str]:
    """Return options that are secrets, by their type PASSWORD or by name, and do not contain a reference."""
    passwords = {option["definition"]["name"] for option in known if option["definition"]["type"] == "PASSWORD"}
    return sorted(
        name
        for name, value in config.items()
        if value and (name in passwords or is_secret(name)) and not is_reference(value)
    )


def misspelled_options(config: dict[str, str], known: list[dict[str, Any]]) -> list[str]:
    """Return unknown options that resemble a known, unset one: Connect would ignore them."""
    names = {str(option["definition"]["name"]) for option in known}
    unset = names - config.keys()
    return [
        f"{name}: unknown connector option; did you mean {near[0]}?"
        for name in sorted(config.keys() - names)
        if (near := get_close_matches(name, unset, n=1, cutoff=TYPO_SIMILARITY))
    ]


def _without_secrets(found: dict[str, str], wanted: dict[str, str]) -> dict[str, str]:
    """Mask values that may be passwords, entered by hand, before the configuration is stored in the state."""
    return {
        name: HIDDEN
        if value != wanted.get(name)
        and not is_reference(value)
        and (is_secret(name) or has_password_in_url(value) or references(wanted.get(name, "")) or name not in wanted)
        else value
        for name, value in found.items()
    }


def _wait_until_settled(inputs: Connector, worker: ConnectWorker, call: OperationContext) -> str:
    """Return the connector's overall status once it leaves STARTING, or STARTING after the timeout."""
    overall = "STARTING"
    for _ in call.poll(RECOVERY_TIMEOUT_SECONDS):
        status = worker.status(inputs.name)
        overall = status.overall_state if status else "STARTING"
        if overall != "STARTING":
            return overall
    return overall


def _await_running(
    inputs: Connector, worker: ConnectWorker, call: OperationContext, before: ConnectorStatus | None
) -> None:
    """Wait until the connector and its tasks have run for `MIN_RUNNING_SECONDS`.

    Raises:
        LabError: the connector failed, with the causes, or did not start in time.
    """
    running_polls = 0
    reported = status = None
    for turn, _ in enumerate(call.poll(START_SECONDS)):
        status = worker.status(inputs.name)
        overall = status.overall_state if status else "STARTING"
        if overall != reported:
            call.report(f"{overall.lower()}: {_describe_progress(status)}")
            reported = overall
        running_polls = running_polls + 1 if overall == RUNNING else 0
        if running_polls * POLL_SECONDS >= MIN_RUNNING_SECONDS:
            return
        is_stale = before is not None and status is not None and before.traces == status.traces
        if status and overall == "FAILED" and (not is_stale or turn * POLL_SECONDS >= STALE_FAILURE_SECONDS):
            raise LabError(
                f"connector {inputs.name} failed:\n{_failure_causes(inputs, status)}\nSee: bin/lab logs connect"
            )
    raise LabError(
        f"connector {inputs.name} was not running after {START_SECONDS} s: {_describe_progress(status)}. "
        "See: bin/lab logs connect"
    )


def _describe_progress(status: ConnectorStatus | None) -> str:
    if status is None:
        return "not yet listed by the worker"
    tasks = ", ".join(f"task {task.number} {task.state}" for task in status.tasks) or "no tasks yet"
    return f"connector {status.state}, {tasks}"


def _failure_causes(inputs: Connector, status: ConnectorStatus) -> str:
    """Return the causes of a failure; of a rejected schema, with the names of the fields concerned."""
    reasons = status.failure()
    subject = incompatible_subject(reasons)
    registry = next((value for name, value in inputs.config.items() if name.endswith("apicurio.registry.url")), None)
    if subject is None or registry is None:
        return reasons
    try:
        schema = client().get(f"{registry}/groups/default/artifacts/{subject}", timeout=10)
        return add_field_names(reasons, schema.raise_for_status().text)
    except (httpx.HTTPError, ValueError):
        return reasons  # field indexes only, as the schema cannot be fetched
