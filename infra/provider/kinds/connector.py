# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Connector`: a connector of Kafka Connect. Created means that it and all of its tasks run."""

import socket
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

import httpx

from infra.errors import LabError
from infra.http_client import client
from infra.model.resources import RUNNING, Connector
from infra.model.secret_options import HIDDEN, has_password_in_url, is_reference, is_secret, references
from infra.provider.connect_worker import CutOff, Status, Worker
from infra.provider.failure import name_fields, refused_artifact
from infra.provider.kind import POLL_SECONDS, Call, Found, Kind

START_SECONDS = 120
"""How long a connector may take until all of its tasks run."""

HEAL_SECONDS = 20
"""How long one that is neither running nor failed, in a rebalance for instance, may take to become one of both."""

STEADY_SECONDS = 2
"""How long it has to run before that is believed: some fail with the first thing they do."""

STALE_SECONDS = 4
"""How long an old failure may still be shown after a connector was told to start anew."""

SURE = 0.9
"""How like a known option an unknown one must be to be taken for a slip of the hand."""


class ConnectorKind(Kind[Connector]):
    """A connector that is there already is taken over. Where it left off is kept by Kafka, under its name."""

    name = "Connector"
    inputs = Connector
    replace_on = frozenset({"worker", "cluster", "name"})

    def create(self, inputs: Connector, call: Call) -> dict[str, Any]:
        worker = _worker(inputs, "deploy", call)
        _refuse_foreign(inputs, worker)
        _check(inputs, worker)
        was_there = worker.config(inputs.name) is not None
        try:
            self._bring_to(inputs, worker, call)
        except BaseException:
            if not was_there:
                self.delete(inputs, Call())  # a call of its own: the one at hand may be the one that was stopped
            raise
        return {}

    def read(self, inputs: Connector, call: Call) -> Found[Connector] | None:
        worker = _worker(inputs, "look at", call)
        if not _answers(inputs.worker):
            return None  # Connect itself is gone: it is made anew, its connectors after it
        if worker.cluster() != inputs.cluster:
            return None
        try:
            config = worker.config(inputs.name)
        except CutOff:  # the broker is gone: what repairs that must not fail here. The next look will say
            return Found(inputs)
        if config is None:
            return None
        state = _settled(inputs, worker, call)
        return Found(inputs.model_copy(update={"config": _without_secrets(config, inputs.config), "state": state}))

    def update(self, old: Connector, new: Connector, call: Call) -> dict[str, Any]:
        worker = _worker(new, "change", call)
        _refuse_foreign(new, worker)
        _check(new, worker)
        self._bring_to(new, worker, call)
        return {}

    def delete(self, inputs: Connector, call: Call) -> None:
        if not _answers(inputs.worker):
            return  # Connect is gone; with its broker goes what it knew
        worker = _worker(inputs, "delete", call)
        if worker.cluster() != inputs.cluster:
            return  # somebody else's worker, and somebody else's connector
        try:
            worker.delete(inputs.name)
        except CutOff:  # its broker is gone, and with it what it knew: a lab that is broken can be taken down
            return
        for _ in call.poll(HEAL_SECONDS):
            if worker.config(inputs.name) is None:
                return
        raise LabError(f"could not {worker.doing}: the worker took the request, and still has it")

    def _bring_to(self, inputs: Connector, worker: Worker, call: Call) -> None:
        """Makes it have the wanted configuration and run, and waits until it does."""
        before = worker.status(inputs.name)
        if worker.config(inputs.name) != inputs.config:
            worker.put(inputs.name, inputs.config)
        if before and before.word in {"PAUSED", "STOPPED"}:
            worker.resume(inputs.name)
        if before and before.traces:
            worker.restart_failed(inputs.name)
        call.say("waiting until all of its tasks run")
        _await_running(inputs, worker, call, before)


def _worker(inputs: Connector, what: str, call: Call) -> Worker:
    return Worker(inputs.worker, f"{what} connector {inputs.name} at {inputs.worker}", call)


def _answers(url: str) -> bool:
    """Whether anything listens there; a request would be tried again for a while."""
    place = urlsplit(url)
    try:
        socket.create_connection((str(place.hostname), place.port or 80), timeout=5).close()
    except OSError:
        return False
    return True


def _refuse_foreign(inputs: Connector, worker: Worker) -> None:
    found = worker.cluster()
    if found != inputs.cluster:
        raise LabError(
            f"could not {worker.doing}: that worker is not this lab's; its cluster is {found}, not {inputs.cluster}. "
            "Another lab or program has the port: end it, or set another portOffset"
        )


def _check(inputs: Connector, worker: Worker) -> None:
    """Asks the connector what it thinks of its options, before anything is changed.

    Raises:
        LabError: naming every option that is wrong, and why.
    """
    known = worker.validate(inputs.name, inputs.config)
    if known is None:
        raise LabError(f"could not {worker.doing}: {_no_such_class(inputs.config['connector.class'], worker)}")
    complaints = [
        f"  {option['value']['name']}: {error}" for option in known for error in option["value"]["errors"] or ()
    ]
    complaints += [
        f"  {name}: is a secret and stands there in the clear, where everybody who asks the worker can read it: "
        "write a reference, ${provider:key}"
        for name in secrets_in_the_clear(inputs.config, known)
    ]
    complaints += [f"  {slip}" for slip in slips(inputs.config, known)]
    if complaints:
        raise LabError(f"could not {worker.doing}: its options are refused:\n" + "\n".join(dict.fromkeys(complaints)))


def _no_such_class(name: str, worker: Worker) -> str:
    there = worker.plugins()
    near = get_close_matches(name, there, n=1)
    guess = f"; did you mean {near[0]}?" if near else "."
    return f"connector.class = {name} is no connector that this worker has{guess} It has {', '.join(there)}"


def secrets_in_the_clear(config: dict[str, str], known: list[dict[str, Any]]) -> list[str]:
    """Options that are passwords, by the connector's own word or by their name, and are no references."""
    passwords = {option["definition"]["name"] for option in known if option["definition"]["type"] == "PASSWORD"}
    return sorted(
        name
        for name, value in config.items()
        if value and (name in passwords or is_secret(name)) and not is_reference(value)
    )


def slips(config: dict[str, str], known: list[dict[str, Any]]) -> list[str]:
    """Options that nobody knows and that are nearly one that is known and not set: Connect would pass over them."""
    names = {str(option["definition"]["name"]) for option in known}
    unset = names - config.keys()
    return [
        f"{name}: is no option of this connector; did you mean {near[0]}?"
        for name in sorted(config.keys() - names)
        if (near := get_close_matches(name, unset, n=1, cutoff=SURE))
    ]


def _without_secrets(found: dict[str, str], wanted: dict[str, str]) -> dict[str, str]:
    """A configuration as it may be kept in the state: whoever changed it by hand may have written a password."""
    return {
        name: HIDDEN
        if value != wanted.get(name)
        and not is_reference(value)
        and (is_secret(name) or has_password_in_url(value) or references(wanted.get(name, "")) or name not in wanted)
        else value
        for name, value in found.items()
    }


def _settled(inputs: Connector, worker: Worker, call: Call) -> str:
    """What it does, once it does anything; STARTING where it does not get that far."""
    word = "STARTING"
    for _ in call.poll(HEAL_SECONDS):
        status = worker.status(inputs.name)
        word = status.word if status else "STARTING"
        if word != "STARTING":
            return word
    return word


def _await_running(inputs: Connector, worker: Worker, call: Call, before: Status | None) -> None:
    """Waits until everything has run for a while.

    Raises:
        LabError: it failed, with the reasons; or it did not come to run.
    """
    steady = 0
    said = status = None
    for turn, _ in enumerate(call.poll(START_SECONDS)):
        status = worker.status(inputs.name)
        word = status.word if status else "STARTING"
        if word != said:
            call.say(f"{word.lower()}: {_progress(status)}")
            said = word
        steady = steady + 1 if word == RUNNING else 0
        if steady * POLL_SECONDS >= STEADY_SECONDS:
            return
        is_stale = before is not None and status is not None and before.traces == status.traces
        if status and word == "FAILED" and (not is_stale or turn * POLL_SECONDS >= STALE_SECONDS):
            raise LabError(f"connector {inputs.name} failed:\n{_reasons(inputs, status)}\nSee: lab logs connect")
    raise LabError(
        f"connector {inputs.name} was not running after {START_SECONDS} s: {_progress(status)}. See: lab logs connect"
    )


def _progress(status: Status | None) -> str:
    if status is None:
        return "the worker does not show it yet"
    tasks = ", ".join(f"task {task.number} {task.state}" for task in status.tasks) or "no tasks yet"
    return f"connector {status.state}, {tasks}"


def _reasons(inputs: Connector, status: Status) -> str:
    """Why it failed; where a registry refused a schema, with the names of the fields that it is about."""
    reasons = status.failure()
    subject = refused_artifact(reasons)
    registry = next((value for name, value in inputs.config.items() if name.endswith("apicurio.registry.url")), None)
    if subject is None or registry is None:
        return reasons
    try:
        schema = client().get(f"{registry}/groups/default/artifacts/{subject}", timeout=10)
        return name_fields(reasons, schema.raise_for_status().text)
    except (httpx.HTTPError, ValueError):
        return reasons  # the places of the fields have to do, as the registry does not say what is there
