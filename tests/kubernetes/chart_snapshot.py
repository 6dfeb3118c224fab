# SPDX-License-Identifier: Apache-2.0
"""Text snapshots of the chart's objects: one for each component, without what all objects of a group have in common.

Scripts and configuration files are left out: they are those of the lab's own snapshots (`tests/unit/infra`). So are
network policies: their snapshot is the list of connections that they admit.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from infra.targets.kubernetes.names import COMPONENT_LABEL
from infra.targets.labels import PART_LABEL
from tests.kubernetes.chart_arrows import ANY_PORT, admitted_arrows
from tests.kubernetes.helm import Manifest
from tests.unit.infra.snapshot import difference, join

RELEASE, COMMON, CONNECTIONS = "release", "common", "connections"
"""Snapshots of objects that belong to no component, of what objects have in common, and of admitted connections."""

HASHES = {"checksum/config", "dev.lineage-lab.definition"}
"""Annotations that change with every script and configuration file."""

POD = "pod."
"""Beginning of the lines of a pod, of whatever object it is part of."""

WORKLOADS = {"CronJob", "Deployment", "StatefulSet"}
"""Kinds of the objects that run the parts of the lab."""

WITH = "pod with "
"""Beginning of the groups of pods with an optional feature; an object's snapshot names its own."""

OPTIONAL = {"init container": "[await]", "credentials": "[credentials]", "probe": "Probe.", "spread": "Spread"}
"""Optional features of a pod, and what their lines contain."""

Lines = list[str]


class ChartSnapshots:
    """Collector of the snapshot texts of releases."""

    def __init__(self) -> None:
        self._texts: dict[str, Lines] = defaultdict(list)
        self._objects: dict[tuple[str, str], str] = {}
        self._connections: dict[str, str] = {}
        self._common: dict[str, set[str]] = {}

    def add(self, title: str, manifests: list[Manifest], like: str = "") -> None:
        """Add a release; of one that is `like` another, only differences are kept."""
        self._add_connections(title, manifests, like)
        objects = dict(_objects(manifests))
        lines = {key: _object_lines(manifest) for key, manifest in objects.items()}
        if not like:
            self._common = _common_lines(lines)
        for key, manifest in objects.items():
            groups = _groups(key, lines[key])
            shared = set().union(*(self._common.get(group, set()) for group in groups))
            assert shared <= {*lines[key]}, f"{title}: {key} lacks {shared - {*lines[key]}}"
            features = [group for group in groups if group.startswith(WITH)]
            self._objects[title, key] = own = join([*features, *(line for line in lines[key] if line not in shared)])
            before = self._objects.get((like, key))
            if before != own:
                text = own if before is None else difference(before, own)
                self._texts[_component(manifest)] += [f"=== {title}: {key}", text]
        missing = [key for other, key in self._objects if other == like and (title, key) not in self._objects]
        self._texts[RELEASE] += [f"=== {title}: without", *missing] if missing else []

    def finish(self) -> dict[str, str]:
        """Return the text of each snapshot by name."""
        common = [line for group, lines in self._common.items() for line in (f"=== {group}", *sorted(lines))]
        return {name: join(texts) for name, texts in self._texts.items()} | {COMMON: join(common)}

    def _add_connections(self, title: str, manifests: list[Manifest], like: str) -> None:
        clients = defaultdict(list)
        for arrow in sorted(admitted_arrows(manifests)):
            port = "any port" if arrow.port == ANY_PORT else str(arrow.port)
            clients[f"{arrow.server}, {port}"].append(arrow.client)
        self._connections[title] = text = join(f"{server}: {', '.join(names)}" for server, names in clients.items())
        shown = difference(self._connections[like], text) if like else text
        self._texts[CONNECTIONS] += [f"=== {title}", shown]


def _objects(manifests: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Yield the objects by `Kind/name`, and the pods of executors, whose template is in a ConfigMap."""
    for manifest in manifests:
        name = re.sub("^setup-[0-9a-f]{8}$", "setup-HASH", manifest["metadata"]["name"])
        if manifest["kind"] != "NetworkPolicy":
            yield f"{manifest['kind']}/{name}", manifest
        if template := manifest.get("data", {}).get("executor.yaml"):
            pod = yaml.safe_load(template)
            yield f"Executor/{pod['metadata']['labels'][COMPONENT_LABEL]}", pod


def _object_lines(manifest: Manifest) -> Lines:
    """Return a line for each value, with placeholders for the component's own names; the pod's lines come last."""
    labels = manifest["metadata"]["labels"]
    rest, pod = _without_pod({key: value for key, value in manifest.items() if key not in {"kind", "data"}})
    rest |= {"data": sorted(manifest["data"])} if "data" in manifest else {}
    rest["metadata"] = {key: value for key, value in rest["metadata"].items() if key != "name"}
    lines = [*_lines(rest), *_lines(pod, POD.rstrip("."))] if pod else [*_lines(rest)]
    return [_with_placeholders(line, labels.get(COMPONENT_LABEL), labels.get(PART_LABEL)) for line in lines]


def _without_pod(manifest: Manifest) -> tuple[Manifest, Manifest | None]:
    """Return an object without the pod that it is or contains, and that pod."""
    spec = manifest.get("spec", {})
    if "containers" in spec:
        pod = {"spec": spec}
        return {key: value for key, value in manifest.items() if key != "spec"}, pod
    if job := spec.get("jobTemplate"):
        inner, pod = _without_pod(job)
        return manifest | {"spec": spec | {"jobTemplate": inner}}, pod
    outer = {key: value for key, value in spec.items() if key != "template"}
    return manifest | ({"spec": outer} if spec else {}), spec.get("template")


def _with_placeholders(line: str, component: str | None, part: str | None) -> str:
    path, _, value = line.partition(": ")
    path = path.replace(f"[{component}]", "[$COMPONENT]")
    if path.endswith(PART_LABEL) and value == part:
        return f"{path}: $PART"
    return f"{path}: {'$COMPONENT' if value == component else value}"


def _lines(value: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each value below `value`; list items with a name have it in their path."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            if key != "name" or not path.endswith(f"[{item}]"):
                yield from _lines("HASH" if key in HASHES else item, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _lines(item, f"{path}[{item.get('name', item.get('key', number))}]")
    else:
        yield f"{path}: {_text(value)}"


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.rstrip("\n").replace("\n", "\n  ")


def _component(manifest: Manifest) -> str:
    return manifest["metadata"]["labels"].get(COMPONENT_LABEL, RELEASE).removesuffix("-executor")


def _common_lines(objects: Mapping[str, Lines]) -> dict[str, set[str]]:
    """Return the lines that all members of a group have, by group, each line in the largest group only."""
    members: dict[str, list[set[str]]] = defaultdict(list)
    for key, lines in objects.items():
        for group, chosen in _groups(key, lines).items():
            members[group].append(chosen)
    common = {group: set.intersection(*each) for group, each in members.items() if len(each) > 1}
    for group in common.keys() - {"pod", "object"}:
        common[group] -= common["pod"] | (common["object"] if group != "Executor" else set())
    return {group: common[group] for group in sorted(common) if common[group]}


def _groups(key: str, lines: Lines) -> dict[str, set[str]]:
    """Return the groups of an object, and those of its lines that its members can have in common."""
    kind, pod = key.split("/")[0], {line for line in lines if line.startswith(POD)}
    rest = set(lines) - pod
    if kind == "Executor":
        return {kind: rest | pod, "pod": pod}
    groups = {"object": rest, kind: rest}
    if pod:
        groups["pod"] = pod
        if kind in WORKLOADS:
            groups["pod of a part"] = pod
        groups |= {WITH + name: {line for line in pod if words in line} for name, words in OPTIONAL.items()}
    return {group: chosen for group, chosen in groups.items() if chosen}
