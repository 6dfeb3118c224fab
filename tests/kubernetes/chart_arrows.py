# SPDX-License-Identifier: Apache-2.0
"""Connections between components: those that their configuration names, and those that network policies admit."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.targets.kubernetes.names import COMPONENT_LABEL, object_name
from tests.kubernetes.chart_values import Values, parts_of
from tests.kubernetes.helm import Manifest

ANY_PORT = 0

_SPLIT_HOST = re.compile(r"(?P<prefix>[\w.]*?)(?:HOST|hostname|host|address)\W{1,3}(?P<host>[\w-]+)")
"""Host of an address whose port is a setting with the same prefix: `rest.address`, `MARQUEZ_HOST`."""


@dataclass(frozen=True, order=True)
class Arrow:
    """A component connects to a port of another one."""

    client: str
    server: str
    port: int = ANY_PORT


def named_arrows(values: Values) -> set[Arrow]:
    """Return the connections that scripts and files name as `host:port`, and those of init containers and setup.

    Executors of Spark, and TaskManagers of Flink, connect to what the jobs name that they run.
    """
    parts, resources = parts_of(values), {entry["key"]: entry for entry in values["setup"]["resources"]}
    found = set()
    for name, part in parts.items():
        text = _text(part) + (_connectors(resources.values()) if name == "connect" else "")
        programs = [name, *([f"{name}-executor"] if "executor" in part else [])]
        programs += ["flink-taskmanager"] if _is_flink_job(part, values) else []
        found |= {Arrow(program, *address) for program in programs for address in _addresses(text, parts)}
        found |= {Arrow(name, *address) for need in part["needs"] for address in _awaited(need, values, resources)}
    for key, entry in resources.items():
        needs = [key, *(need for need in entry["needs"] if need not in resources)]
        found |= {Arrow("setup", *address) for need in needs for address in _awaited(need, values, resources)}
    return found | {Arrow("test", name, part["probe"]["port"]) for name, part in parts.items() if "probe" in part}


def flink_job_arrows(values: Values, clients: Iterable[str]) -> set[Arrow]:
    """Return the connections of Flink's services on behalf of its jobs: they plan and coordinate them."""
    parts = parts_of(values)
    texts = [_text(part) for part in parts.values() if _is_flink_job(part, values)]
    return {Arrow(client, *address) for client in clients for text in texts for address in _addresses(text, parts)}


def admitted_arrows(manifests: Iterable[Manifest]) -> set[Arrow]:
    """Return the connections that the network policies of a release admit."""
    found = set()
    for policy in (manifest["spec"] for manifest in manifests if manifest["kind"] == "NetworkPolicy"):
        for rule in policy.get("ingress", []):
            ports = [entry["port"] for entry in rule.get("ports", [])] or [ANY_PORT]
            clients = [name for peer in rule["from"] for name in _components(peer["podSelector"])]
            servers = _components(policy["podSelector"])
            found |= {Arrow(client, server, port) for client in clients for server in servers for port in ports}
    return found


def _components(selector: Mapping[str, Any]) -> list[str]:
    (expression,) = selector["matchExpressions"]
    assert (expression["key"], expression["operator"]) == (COMPONENT_LABEL, "In")
    return expression["values"]


def _is_flink_job(part: Values, values: Values) -> bool:
    return part["name"] in values["jobs"] and "flink_jobmanager" in part["needs"]


def _text(part: Values) -> str:
    files = [part["files"], *part.get("replicaFiles", [])]
    return "\n".join([part["script"], *(text for group in files for text in group.values())])


def _connectors(resources: Iterable[Values]) -> str:
    """Return the configuration of all connectors, which the workers run."""
    return _properties(*(entry["inputs"]["config"] for entry in resources if entry["kind"] == "Connector"))


def _properties(*groups: Mapping[str, Any]) -> str:
    return "\n".join(f"{key}={value}" for group in groups for key, value in group.items() if key != "config")


def _addresses(text: str, parts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the host and port of every address of a part that a text contains; replicas have the name of their part."""
    for name in parts:
        for port in re.findall(rf"(?<![\w.-])(?:{name}|{name}-\d\.{name}-pods):(\d+)", text):
            yield name, int(port)
    for match in _SPLIT_HOST.finditer(text):
        port = re.search(rf"(?<![\w.]){re.escape(match['prefix'])}(?:PORT|port)\W{{1,3}}(\d+)", text)
        if match["host"] in parts and port:
            yield match["host"], int(port[1])


def _awaited(key: str, values: Values, resources: Mapping[str, Values]) -> Iterator[tuple[str, int]]:
    """Yield the addresses to which `await` connects for a key."""
    if address := values["setup"]["services"].get(key):
        host, port = address.split(":")
        yield host, int(port)
    elif key in resources:
        yield from _addresses(_properties(resources[key]["inputs"]), parts_of(values))
    else:
        assert object_name(key) in parts_of(values), f"{key} is neither a resource nor a part"
