# SPDX-License-Identifier: Apache-2.0
"""`python -m infra.provider.in_cluster apply|await FOLDER [KEY...]`: the lab's resources, from inside a cluster.

`apply` creates or updates every resource, in the order of their dependencies, as Pulumi would; a lab that Helm installs
alone runs it as a Job. `await` waits until the services and resources with the given keys exist; pods run it before
their program, since all pods of a release start at once.

The folder has `resources.json`, a list of `{"key", "kind", "inputs", "needs"}`, and `services.json`, an object of
service -> `host:port`.
"""

import json
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from infra.errors import LabError
from infra.provider.connections import accepts_connections
from infra.provider.kind import Kind, OperationContext
from infra.provider.kinds import MODULES, Kinds

RETRY_SECONDS = 2
"""Time between two attempts."""

APPLY_SECONDS = 900
"""Time limit of `apply` for one resource: images of services may have to be pulled first."""

USAGE = "usage: python -m infra.provider.in_cluster apply FOLDER | await FOLDER KEY..."


@dataclass(frozen=True)
class Entry:
    """A resource to be created: its kind, its inputs, and the keys that must exist first."""

    key: str
    kind: str
    inputs: Mapping[str, Any]
    needs: tuple[str, ...]


@dataclass(frozen=True)
class ClusterLab:
    """Services and resources of a lab, as a pod sees them.

    Attributes:
        entries: resources by key.
        services: address of each service by its key.
        kinds: implementations of the resource kinds.
    """

    entries: Mapping[str, Entry]
    services: Mapping[str, str]
    kinds: Mapping[str, Kind[Any]]

    def exists(self, key: str, call: OperationContext) -> bool:
        """Return whether a service accepts connections, or a resource is as declared.

        Keys of neither are services without a probe: they count as existing.
        """
        if address := self.services.get(key):
            host, _, port = address.rpartition(":")
            return accepts_connections(host, int(port))
        if entry := self.entries.get(key):
            kind = self.kinds[entry.kind]
            return kind.read(kind.inputs.model_validate(entry.inputs), call) is not None
        return True

    def apply(self, key: str, call: OperationContext) -> str:
        """Create or update a resource; return what was done: `created`, `updated` or `unchanged`.

        Raises:
            LabError: the service rejected the resource.
        """
        entry = self.entries[key]
        kind = self.kinds[entry.kind]
        inputs = kind.inputs.model_validate(entry.inputs)
        found = kind.read(inputs, call)
        if found is None:
            kind.create(inputs, call)
            return "created"
        if found.inputs == inputs:
            return "unchanged"
        kind.update(found.inputs, inputs, call)
        return "updated"


def read_lab(folder: Path) -> ClusterLab:
    """Read the files of the folder."""
    resources = json.loads((folder / "resources.json").read_text(encoding="utf-8"))
    services = json.loads((folder / "services.json").read_text(encoding="utf-8"))
    entries = [Entry(one["key"], one["kind"], one["inputs"], tuple(one["needs"])) for one in resources]
    return ClusterLab({entry.key: entry for entry in entries}, services, Kinds(MODULES))


def in_order(entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield the keys of all resources, each after the resources that it needs."""
    done: set[str] = set()

    def visit(key: str) -> Iterator[str]:
        if key in done or key not in entries:
            return
        done.add(key)
        for need in entries[key].needs:
            yield from visit(need)
        yield key

    for key in entries:
        yield from visit(key)


def apply_all(lab: ClusterLab, call: OperationContext) -> None:
    """Create or update every resource.

    Raises:
        LabError: a resource could not be created in time.
    """
    for key in in_order(lab.entries):
        await_keys(lab, [need for need in lab.entries[key].needs if need in lab.services], call)
        print(f"{key}: {_apply_with_retries(lab, key, call)}", flush=True)


def _apply_with_retries(lab: ClusterLab, key: str, call: OperationContext) -> str:
    """Apply a resource; services that accept connections may still be starting."""
    failure = ""
    for _ in call.poll(APPLY_SECONDS, RETRY_SECONDS):
        try:
            return lab.apply(key, call)
        except LabError as error:
            if str(error) != failure:
                failure = str(error)
                print(f"{key}: {failure}; trying again", file=sys.stderr, flush=True)
    raise LabError(f"{key} could not be created within {APPLY_SECONDS} s: {failure}")


def await_keys(lab: ClusterLab, keys: Iterable[str], call: OperationContext) -> None:
    """Wait until everything exists, without a limit: the pod shows what it waits for."""
    for key in keys:
        shown = False
        while not _exists_now(lab, key, call):
            if not shown:
                print(f"waiting for {key}", flush=True)
                shown = True
            call.stopped.wait(RETRY_SECONDS)


def _exists_now(lab: ClusterLab, key: str, call: OperationContext) -> bool:
    """Return whether something exists; a service that does not respond yet is no error while it is awaited."""
    try:
        return lab.exists(key, call)
    except LabError as error:
        print(f"{key}: {error}", file=sys.stderr, flush=True)
        return False


def main(arguments: list[str]) -> int:
    """Run the command; return the exit status."""
    match arguments:
        case ["apply", folder]:
            keys = None
        case ["await", folder, *keys]:
            pass
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    lab, call = read_lab(Path(folder)), OperationContext(threading.Event(), note=partial(print, flush=True))
    try:
        apply_all(lab, call) if keys is None else await_keys(lab, keys, call)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
